package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"matchmaker.dev/services/internal/fault"
)

// Module is a match function that was checked and compiled.
type Module struct {
	Hash     string // SHA-256, in hexadecimal
	Size     int    // bytes
	Manifest Manifest
}

// Load checks a module, compiles it unless its machine code lies there from
// before, and starts it once for a trial. A module it has loaded before costs
// nothing. A cold Go module takes 2 s, a warm one 0.2 s, and one is done at a
// time: compiling may use Limits.CompileMemory.
//
// Faults of the module are of the kind Invalid, and their details are for its
// author. When ctx ends, the error is its error.
func (b *Box) Load(ctx context.Context, wasm []byte) (*Module, error) {
	if len(wasm) > b.limits.Module {
		return nil, fault.New(fault.Invalid, "the module has %d bytes, the limit is %d", len(wasm), b.limits.Module)
	}
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, fault.New(fault.Invalid, "this is no WebAssembly module: it does not begin with \\0asm and version 1")
	}
	sum := sha256.Sum256(wasm)
	hash := hex.EncodeToString(sum[:])

	select {
	case b.loading <- struct{}{}:
		defer func() { <-b.loading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m := b.loaded(hash); m != nil {
		return m, nil
	}
	if err := b.store(hash, wasm); err != nil {
		return nil, err
	}
	if err := b.compile(ctx, hash); err != nil {
		return nil, b.refuse(hash, "the module does not compile", err, nil)
	}
	var lines []string
	i, manifest, err := b.start(ctx, hash, "trial", func(line string) { lines = append(lines, line) })
	if err != nil {
		return nil, b.refuse(hash, "the module does not start", err, lines)
	}
	i.Close()

	m := &Module{Hash: hash, Size: len(wasm), Manifest: manifest}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.modules[hash] = m
	return m, nil
}

// Forget removes what is kept of a module. Its instances live on, no new ones
// can be started.
func (b *Box) Forget(m *Module) error {
	b.mu.Lock()
	delete(b.modules, m.Hash)
	b.mu.Unlock()
	return os.RemoveAll(b.folder(m.Hash))
}

func (b *Box) loaded(hash string) *Module {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.modules[hash]
}

func (b *Box) folder(hash string) string     { return filepath.Join(b.dir, hash) }
func (b *Box) moduleFile(hash string) string { return filepath.Join(b.folder(hash), "module.wasm") }
func (b *Box) cache(hash string) string      { return filepath.Join(b.folder(hash), "cache") }

// store writes the module where the children read it.
func (b *Box) store(hash string, wasm []byte) error {
	file := b.moduleFile(hash)
	if err := os.MkdirAll(b.folder(hash), 0o700); err != nil {
		return err
	}
	// Written aside first: a process that ended half way leaves no half module.
	if err := os.WriteFile(file+".new", wasm, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// compile makes sure that the machine code of a stored module is in its cache.
func (b *Box) compile(ctx context.Context, hash string) error {
	p, err := b.spawn(settings{
		Compile: true, Module: b.moduleFile(hash), Cache: b.cache(hash),
		Memory: b.limits.Memory, Data: b.limits.CompileMemory,
	}, func(string) {})
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
		return fault.Wrap(fault.Unavailable, err, "the module could not be checked")
	}
	detail := e.Detail
	if e.Cause != Invalid {
		detail = what + ": " + detail
	}
	const few = 5
	if len(lines) > 0 {
		detail += "; it printed: " + strings.Join(lines[max(0, len(lines)-few):], " | ")
	}
	return fault.Wrap(fault.Invalid, err, "%s", detail)
}
