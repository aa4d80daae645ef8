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

// Load checks a module, compiles it unless its machine code is in the cache, and starts it once for a trial. A module
// that an earlier Load left costs nothing. A new Go module takes 2 s, one with machine code 0.2 s. Modules are loaded
// one at a time, because compiling may use Limits.CompileMemory. On success the caller holds the module until Release.
//
// Errors of the module are of the kind Invalid, and their details are for its author. When ctx ends, the error is that
// of ctx.
func (b *Box) Load(ctx context.Context, wasm []byte) (*Module, error) {
	if len(wasm) > b.limits.Module {
		return nil, problem.New(problem.Invalid, "the module has %d bytes, the limit is %d", len(wasm), b.limits.Module)
	}
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, problem.New(problem.Invalid, "this is no WebAssembly module: it does not begin with \\0asm and version 1")
	}
	sum := sha256.Sum256(wasm)
	hash := hex.EncodeToString(sum[:])
	if m := b.acquire(hash); m != nil {
		return m, nil
	}
	select {
	case b.folderLock <- struct{}{}:
		defer func() { <-b.folderLock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m := b.acquire(hash); m != nil { // another goroutine loaded it meanwhile
		return m, nil
	}
	manifest, err := b.prepare(ctx, hash, wasm)
	if err != nil {
		return nil, err
	}
	m := b.addToCache(&Module{Hash: hash, Size: len(wasm), Manifest: manifest})
	b.touch(hash)
	b.prune()
	return m, nil
}

// prepare stores, compiles and tries a module. When files from before are damaged the first try fails and removes them,
// and a second one makes them again. The caller has the folderLock.
func (b *Box) prepare(ctx context.Context, hash string, wasm []byte) (Manifest, error) {
	_, missing := os.Stat(b.folder(hash))
	manifest, err := b.tryPrepare(ctx, hash, wasm)
	if err != nil && missing == nil && ctx.Err() == nil {
		return b.tryPrepare(ctx, hash, wasm)
	}
	return manifest, err
}

// tryPrepare stores and compiles a module as far as that is not done yet, and starts it for a trial. It removes the
// files of a module that fails.
func (b *Box) tryPrepare(ctx context.Context, hash string, wasm []byte) (Manifest, error) {
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

// ErrNotCached is the error of Open for a module that is not on disk.
var ErrNotCached = errors.New("sandbox: the module is not cached")

// Open is Load for a module that is in the cache, also that of an earlier Box, by the hash of its [Module].
func (b *Box) Open(ctx context.Context, hash string) (*Module, error) {
	if m := b.acquire(hash); m != nil {
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
		return nil, ErrNotCached // damaged
	}
	return b.Load(ctx, wasm)
}

func (b *Box) folder(hash string) string         { return filepath.Join(b.dir, hash) }
func (b *Box) moduleFile(hash string) string     { return filepath.Join(b.folder(hash), "module.wasm") }
func (b *Box) compiledFolder(hash string) string { return filepath.Join(b.folder(hash), "cache") }

// store writes the module where the children read it. It writes nothing when the module is there, so that a full disk
// does no harm then.
func (b *Box) store(hash string, wasm []byte) error {
	if err := os.MkdirAll(b.compiledFolder(hash), 0o700); err != nil {
		return err
	}
	return writeFile(b.moduleFile(hash), wasm)
}

// writeFile writes a module to a file, unless the file has it already.
func writeFile(file string, wasm []byte) error {
	if stored, err := os.ReadFile(file); err == nil && bytes.Equal(stored, wasm) {
		return nil
	}
	// Written to another file first: a process that ends half way leaves no half module, and instances may have mapped the
	// old file.
	err := os.WriteFile(file+".new", wasm, 0o600) //nolint:gosec // a hash is no path
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		_ = os.Remove(file + ".new") // it takes space
	}
	return err
}

// compile makes sure that the machine code of a stored module is in its cache.
func (b *Box) compile(ctx context.Context, hash string) error {
	_, err := b.runToEnd(ctx, childSettings{
		Compile: true, Module: b.moduleFile(hash), Compiled: b.compiledFolder(hash),
		Memory: b.limits.Memory, Data: b.limits.CompileMemory,
	}, b.limits.Compile, "compiling",
		rule{path: b.folder(hash), access: readable}, rule{path: b.compiledFolder(hash), access: writable})
	return err
}

// refuse turns the error of a child into one for the author of the module, with the last lines that the module printed.
// It removes the module's files.
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
	const maxLines, maxLine, maxDetail = 5, 200, 2 * kib // names in a module, and what it prints, may have any length
	lines = slices.Clone(lines[max(0, len(lines)-maxLines):])
	for i, line := range lines {
		lines[i] = truncate(line, maxLine)
	}
	if len(lines) > 0 {
		detail = truncate(detail, maxDetail/2) + "; it printed: " + strings.Join(lines, " | ")
	}
	detail = strings.ToValidUTF8(truncate(detail, maxDetail), "")
	return problem.Wrap(problem.Invalid, err, "%s", detail)
}
