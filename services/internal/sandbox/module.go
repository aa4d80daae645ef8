package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/problem"
)

// Module is a match function that was checked and compiled.
type Module struct {
	Hash     string // SHA-256, in hexadecimal
	Size     int    // bytes
	Manifest Manifest
}

// Load checks a module, compiles it unless its machine code lies there from
// before, and starts it once for a trial. One that is still there from an
// earlier Load costs nothing. A cold Go module takes 2 s, a warm one 0.2 s, and
// one is done at a time: compiling may use Limits.CompileMemory. After a success
// the caller holds the module until Release.
//
// Faults of the module are of the kind Invalid, and their details are for its
// author. When ctx ends, the error is its error.
func (b *Box) Load(ctx context.Context, wasm []byte) (*Module, error) {
	if len(wasm) > b.limits.Module {
		return nil, problem.New(problem.Invalid, "the module has %d bytes, the limit is %d", len(wasm), b.limits.Module)
	}
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, problem.New(problem.Invalid, "this is no WebAssembly module: it does not begin with \\0asm and version 1")
	}
	sum := sha256.Sum256(wasm)
	hash := hex.EncodeToString(sum[:])
	if m := b.hold(hash); m != nil {
		return m, nil
	}
	select {
	case b.loading <- struct{}{}:
		defer func() { <-b.loading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m := b.hold(hash); m != nil { // somebody else loaded it meanwhile
		return m, nil
	}
	manifest, err := b.load(ctx, hash, wasm)
	if err != nil {
		return nil, err
	}
	m := b.loaded(&Module{Hash: hash, Size: len(wasm), Manifest: manifest})
	b.touch(hash)
	b.prune()
	return m, nil
}

// load does the work of Load for a module that is to be stored, in its turn. What lies there from before may be
// damaged, which shows when it is used at the latest: then it is made again.
func (b *Box) load(ctx context.Context, hash string, wasm []byte) (Manifest, error) {
	_, missing := os.Stat(b.folder(hash))
	manifest, err := b.make(ctx, hash, wasm)
	if err != nil && missing == nil && ctx.Err() == nil {
		return b.make(ctx, hash, wasm)
	}
	return manifest, err
}

// make stores and compiles a module as far as that is not done yet, and starts it for a trial. Nothing is left of one that fails.
func (b *Box) make(ctx context.Context, hash string, wasm []byte) (Manifest, error) {
	if err := b.store(hash, wasm); err != nil {
		return Manifest{}, problem.Wrap(problem.Unavailable, err, "the module could not be stored")
	}
	if err := b.compile(ctx, hash); err != nil {
		return Manifest{}, b.refuse(hash, "the module does not compile", err, nil)
	}
	var lines []string
	i, manifest, err := b.start(ctx, hash, "trial", func(line string) { lines = append(lines, line) })
	if err != nil {
		return Manifest{}, b.refuse(hash, "the module does not start", err, lines)
	}
	i.Close()
	return manifest, nil
}

// ErrNotCached says that a module is not on disk.
var ErrNotCached = errors.New("sandbox: the module is not cached")

// Open is Load for a module that lies there from before, also from before this
// Box. It is told by its hash, which is that of [Module].
func (b *Box) Open(ctx context.Context, hash string) (*Module, error) {
	if m := b.hold(hash); m != nil {
		return m, nil
	}
	if !isHash(hash) {
		return nil, ErrNotCached
	}
	wasm, err := os.ReadFile(b.moduleFile(hash))
	if err != nil {
		return nil, ErrNotCached
	}
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != hash {
		return nil, ErrNotCached // a disk that lies
	}
	return b.Load(ctx, wasm)
}

func (b *Box) folder(hash string) string     { return filepath.Join(b.dir, hash) }
func (b *Box) moduleFile(hash string) string { return filepath.Join(b.folder(hash), "module.wasm") }
func (b *Box) cache(hash string) string      { return filepath.Join(b.folder(hash), "cache") }

// store writes the module where the children read it. Where it is already the disk may be full.
func (b *Box) store(hash string, wasm []byte) error {
	if err := os.MkdirAll(b.cache(hash), 0o700); err != nil {
		return err
	}
	return put(b.moduleFile(hash), wasm)
}

// put makes a file hold a module, unless it does already.
func put(file string, wasm []byte) error {
	if stored, err := os.ReadFile(file); err == nil && bytes.Equal(stored, wasm) {
		return nil
	}
	// Written aside first: a process that ended half way leaves no half module, and instances may have the one from before.
	err := os.WriteFile(file+".new", wasm, 0o600) //nolint:gosec // a hash is no path
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		_ = os.Remove(file + ".new") // it takes room
	}
	return err
}

// compile makes sure that the machine code of a stored module is in its cache.
func (b *Box) compile(ctx context.Context, hash string) error {
	p, err := b.spawn(settings{
		Compile: true, Module: b.moduleFile(hash), Cache: b.cache(hash),
		Memory: b.limits.Memory, Data: b.limits.CompileMemory,
	}, func(string) {}, rule{path: b.folder(hash), access: readable}, rule{path: b.cache(hash), access: writable})
	if err != nil {
		return err
	}
	defer p.release()
	err = p.within(ctx, b.limits.Compile, "compiling", func() error {
		_, _, err := p.receive(readyFrame, nil)
		return err
	})
	if err == nil {
		<-p.gone // it has nothing else to do
	}
	return err
}

// refuse turns the end of a child into the answer for the one who gave us the
// module, with the last lines that it printed. What was stored of it is removed.
func (b *Box) refuse(hash, what string, err error, lines []string) error {
	if removed := os.RemoveAll(b.folder(hash)); removed != nil {
		return errors.Join(err, removed)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	switch e.Cause {
	case Canceled, Closed:
		return err
	case Died:
		return problem.Wrap(problem.Unavailable, err, "the module could not be checked")
	}
	detail := e.Detail
	if e.Cause != Invalid {
		detail = what + ": " + detail
	}
	const few, short, most = 5, 200, 2 * kib // names in a module, and what it prints, may be of any length
	lines = slices.Clone(lines[max(0, len(lines)-few):])
	for i, line := range lines {
		lines[i] = cut(line, short)
	}
	if len(lines) > 0 {
		detail = cut(detail, most/2) + "; it printed: " + strings.Join(lines, " | ")
	}
	detail = strings.ToValidUTF8(cut(detail, most), "")
	return problem.Wrap(problem.Invalid, err, "%s", detail)
}
