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
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/services/internal/edge/problem"
)

// Manifest is what a function reads.
type Manifest = block.Manifest

// Module is a match function that was checked and compiled.
type Module struct {
	Hash     string // SHA-256, in hexadecimal
	Size     int    // bytes
	Code     int64  // bytes of its machine code
	Manifest Manifest

	owner string // that holds it
}

// disk returns its bytes on disk: its file and its machine code.
func (m *Module) disk() int64 { return int64(m.Size) + m.Code }

// Load checks a module, compiles it unless its machine code is in the cache, and starts it once for a trial. A new Go
// module takes 2 s, one with machine code 0.2 s. On success the caller holds the module until Release. Load returns the
// cost of this call also with an error.
//
// Owners take turns to compile, see stage. A module that an earlier Load left costs nothing. When another caller loads
// the same module, Load waits for it, which costs nothing either.
//
// Errors of the module are of the kind Invalid, and their details are for its author. When ctx ends, Load returns its
// error.
func (b *Supervisor) Load(ctx context.Context, owner string, wasm []byte) (*Module, Cost, error) {
	if len(wasm) > b.limits.Module {
		return nil, Cost{}, problem.New(problem.Invalid, "the module has %d bytes, the limit is %d", len(wasm),
			b.limits.Module)
	}
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, Cost{}, problem.New(problem.Invalid,
			"this is no WebAssembly module: it does not begin with \\0asm and version 1")
	}
	sum := sha256.Sum256(wasm)
	hash := hex.EncodeToString(sum[:])
	unlock, err := b.loading.Lock(ctx, hash)
	if err != nil {
		return nil, Cost{}, err
	}
	defer unlock()
	if m, err := b.acquire(owner, hash); m != nil || err != nil {
		return m, Cost{}, err
	}
	var m *Module
	cost, err := b.inStages(ctx, owner, func(ctx context.Context, s stage) (spent time.Duration, err error) {
		m, spent, err = b.prepare(ctx, hash, wasm, s)
		return spent, err
	})
	if err != nil {
		return nil, cost, err
	}
	m, err = b.addToCache(m, owner)
	b.touch(hash)
	b.prune()
	return m, cost, err
}

// prepare stores, compiles and tries a module. When files from before are damaged the first try fails and removes them,
// and a second one makes them again. It returns the processor time of its children.
func (b *Supervisor) prepare(ctx context.Context, hash string, wasm []byte, s stage) (*Module, time.Duration, error) {
	_, missing := os.Stat(b.folder(hash))
	restored := b.code.restore(hash, b.compiledFolder(hash), b.limits.Code)
	m, spent, err := b.tryPrepare(ctx, hash, wasm, s)
	if err != nil && (missing == nil || restored != "") && ctx.Err() == nil && (s.last || !needsMore(err)) {
		_ = b.code.remove(hash) // otherwise the next Supervisor tries it again, in vain
		restored = ""
		var more time.Duration
		m, more, err = b.tryPrepare(ctx, hash, wasm, s)
		spent += more
	}
	if err == nil {
		if err := b.code.add(hash, b.compiledFolder(hash), restored); err != nil {
			b.log.WarnContext(ctx, "machine code cannot be kept for others", "module", hash, "error", err)
		}
	}
	return m, spent, err
}

// tryPrepare stores and compiles a module as far as that is not done yet, and starts it for a trial. It removes the
// files of a module that fails.
func (b *Supervisor) tryPrepare(
	ctx context.Context, hash string, wasm []byte, s stage,
) (*Module, time.Duration, error) {
	if err := b.store(hash, wasm); err != nil {
		return nil, 0, problem.Wrap(problem.Unavailable, err, "the module could not be stored")
	}
	spent, err := b.compile(ctx, hash, s)
	if err != nil {
		return nil, spent, b.refuse(hash, "the module does not compile", err, nil)
	}
	var lines []string
	i, manifest, more, err := b.start(ctx, hash, "trial", s.start, func(line string) { lines = append(lines, line) })
	spent += more
	if err != nil {
		if !s.last && needsMore(err) {
			return nil, spent, err // the machine code is good
		}
		return nil, spent, b.refuse(hash, "the module does not start", err, lines)
	}
	i.Close()
	spent += i.process.childTime()
	code := diskUsage(b.compiledFolder(hash))
	return &Module{Hash: hash, Size: len(wasm), Code: code, Manifest: manifest}, spent, nil
}

// ErrNotCached is the error of Open for a module that is not on disk.
var ErrNotCached = errors.New("sandbox: the module is not cached")

// Open is Load for a module that is in the cache, also of an earlier Supervisor, by the hash of its [Module].
func (b *Supervisor) Open(ctx context.Context, owner, hash string) (*Module, Cost, error) {
	if m, err := b.acquire(owner, hash); m != nil || err != nil {
		return m, Cost{}, err
	}
	if !isHash(hash) {
		return nil, Cost{}, ErrNotCached
	}
	wasm, err := os.ReadFile(b.moduleFile(hash))
	if err != nil {
		return nil, Cost{}, ErrNotCached
	}
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != hash {
		return nil, Cost{}, ErrNotCached // damaged
	}
	return b.Load(ctx, owner, wasm)
}

func (b *Supervisor) folder(hash string) string { return filepath.Join(b.dir, hash) }
func (b *Supervisor) moduleFile(hash string) string {
	return filepath.Join(b.folder(hash), "module.wasm")
}
func (b *Supervisor) compiledFolder(hash string) string {
	return filepath.Join(b.folder(hash), "cache")
}

// store writes the module where the children read it. It writes nothing when the module is there, so that a full disk
// does no harm then.
func (b *Supervisor) store(hash string, wasm []byte) error {
	if err := os.MkdirAll(b.compiledFolder(hash), 0o700); err != nil {
		return err
	}
	return writeFile(b.moduleFile(hash), wasm)
}

// writeFile writes a module to a file, unless the file has it already.
func writeFile(file string, wasm []byte) error {
	stored, err := os.ReadFile(file) //nolint:gosec // a hash or a local path
	if err == nil && bytes.Equal(stored, wasm) {
		return nil
	}
	// Written to another file first: a process that ends half way leaves no half module, and instances may have mapped
	// the old file.
	err = os.WriteFile(file+".new", wasm, 0o600) //nolint:gosec // as above
	if err == nil {
		err = os.Rename(file+".new", file) //nolint:gosec // as above
	}
	if err != nil {
		_ = os.Remove(file + ".new") //nolint:gosec // it takes space; as above
	}
	return err
}

// compile makes sure that the machine code of a stored module is in its cache.
func (b *Supervisor) compile(ctx context.Context, hash string, s stage) (time.Duration, error) {
	_, spent, err := b.runToEnd(ctx, childSettings{
		Compile: true, Module: b.moduleFile(hash), Compiled: b.compiledFolder(hash),
		Memory: b.limits.Memory, Data: s.memory, Code: b.limits.Code, Processor: seconds(s.processor), Background: s.last,
	}, s.compile, "compiling",
		rule{path: b.folder(hash), access: readable}, rule{path: b.compiledFolder(hash), access: writable})
	// The kernel ends a process that exceeds its processor time, and says nothing. It counts in ticks: the two differ.
	if e, ok := errors.AsType[*Error](err); ok && (e.Cause == Deadline || e.Cause == Died && spent >= s.processor/2) {
		err = failure(Deadline, "compiling took longer than %v", s.processor)
	}
	return spent, err
}

// seconds rounds up: the kernel counts whole ones.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// refuse turns the error of a child into an error for the author of the module, with the last lines that the module
// printed. It removes the module's files.
func (b *Supervisor) refuse(hash, what string, err error, lines []string) error {
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
