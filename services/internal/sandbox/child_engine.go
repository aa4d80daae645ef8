package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// version of the ABI: what mm_abi must return.
const version = 1

// page is the unit of linear memory.
const page = 64 * kib

// engine is wazero with one module in it.
type engine struct {
	ctx      context.Context // carries the memory's allocator and nothing that ends
	settings settings
	journal  *journal
	linear   *linear
	runtime  wazero.Runtime
	hosts    map[string]wazero.CompiledModule // what a module may import
	module   wazero.CompiledModule
	clock    stopped
}

func newEngine(ctx context.Context, s settings, j *journal) (*engine, error) {
	cache, err := wazero.NewCompilationCacheWithDir(s.Cache)
	if err != nil {
		return nil, err
	}
	e := &engine{settings: s, journal: j, linear: &linear{limit: s.Memory / page * page}}
	e.ctx = experimental.WithMemoryAllocator(ctx, e.linear)
	// No termination checks: the parent's SIGKILL does that for free. No debug
	// information: it would be kept in memory by every instance.
	e.runtime = wazero.NewRuntimeWithConfig(e.ctx, wazero.NewRuntimeConfigCompiler().
		WithCompilationCache(cache).WithDebugInfoEnabled(false))

	i32 := api.ValueTypeI32
	host := func(name string) wazero.HostFunctionBuilder {
		return e.runtime.NewHostModuleBuilder(name).NewFunctionBuilder()
	}
	e.hosts = map[string]wazero.CompiledModule{}
	for name, builder := range map[string]interface {
		Compile(context.Context) (wazero.CompiledModule, error)
	}{
		wasiModule: wasi_snapshot_preview1.NewBuilder(e.runtime),
		"env":      host("env").WithGoModuleFunction(api.GoModuleFunc(e.abort), []api.ValueType{i32, i32, i32, i32}, nil).Export("abort"),
		"mm": host("mm").WithGoModuleFunction(api.GoModuleFunc(sort), []api.ValueType{i32, i32, i32}, []api.ValueType{i32}).Export("sort").
			NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(gather), []api.ValueType{i32, i32, i32, i32, i32}, nil).Export("gather"),
	} {
		if e.hosts[name], err = builder.Compile(e.ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// compile takes the module's machine code from the cache or, in a process of its own, makes it.
func (e *engine) compile() (err error) {
	wasm, err := readFile(e.settings.Module)
	if err == nil && e.settings.Compile {
		wasm, err = ready(wasm, e.settings.Cache)
	}
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil { // the compiler has seen something new
			err = failure(Invalid, "the module cannot be compiled: %v", r)
		}
	}()
	if e.module, err = e.runtime.CompileModule(e.ctx, wasm); err != nil {
		if ofFiles(err) {
			return err
		}
		return failure(Invalid, "not a valid module: %v", err)
	}
	return nil
}

// ofFiles tells whether an error is one of the files that machine code is kept in, as of a disk that is full.
func ofFiles(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	return path || link
}

// compiled tells whether there is machine code. An instance must not make its own: it has neither the time nor the memory.
func (e *engine) compiled() error {
	if found, err := filepath.Glob(filepath.Join(e.settings.Cache, "*", "*")); err != nil || len(found) == 0 {
		return errors.New("its machine code is gone")
	}
	return nil
}

// ready makes of a module what instances run, and puts it beside its machine code. They map that file, so that there is one copy for all.
func ready(module []byte, cache string) ([]byte, error) {
	module = bytes.Clone(module)
	shorten(module)
	return module, put(readyFile(cache), module)
}

func readyFile(cache string) string { return filepath.Join(cache, "module.wasm") }

// stopped is a guest's monotonic clock: it moves only while the guest sleeps.
// The engine's own moves a millisecond at every reading, and Go's runtime, which
// reads it mostly while it collects garbage, concludes from that that
// collecting takes more than half of the time, gives it up, and runs out of memory.
type stopped int64

func (s *stopped) now() int64 { return 1 + int64(*s) } // Go refuses to start at 0

func (s *stopped) sleep(ns int64) { *s += stopped(max(ns, 0)) }

// start instantiates the module and runs its initialisation.
func (e *engine) start() (*guest, error) {
	for _, host := range e.hosts {
		if _, err := e.runtime.InstantiateModule(e.ctx, host, wazero.NewModuleConfig()); err != nil {
			return nil, err
		}
	}
	if err := e.check(); err != nil { // again: nobody says the one who compiled it saw the same file
		return nil, err
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithStdout(e.journal).WithStderr(e.journal).
		WithNanotime(e.clock.now, 1).WithNanosleep(e.clock.sleep)
	m, err := e.runtime.InstantiateModule(e.ctx, e.module, config)
	if err != nil {
		f := e.classify(err)
		if f.Cause == Trap && f.Stack == "" {
			f.Cause = Invalid // nothing of it ran: it could not be linked, as the import of a global or a table cannot
			f.Detail = "the module cannot be linked with what it imports: " + f.Detail
		}
		return nil, f
	}
	g := &guest{
		engine: e, mem: m.Memory(),
		allocFn: m.ExportedFunction("mm_alloc"), runFn: m.ExportedFunction("mm_run"), manifestFn: m.ExportedFunction("mm_manifest"),
	}
	if initialize := m.ExportedFunction("_initialize"); initialize != nil {
		if err := g.call(initialize); err != nil {
			return nil, err
		}
	}
	if err := g.call(m.ExportedFunction("mm_abi")); err != nil {
		return nil, err
	}
	if v := int32(g.stack[0]); v != version {
		return nil, failure(Invalid, "mm_abi returned %d, this system speaks version %d", v, version)
	}
	return g, nil
}

// abort is AssemblyScript's: it logs the message and ends the guest. Its
// arguments are pointers to strings, and a line and a column.
func (e *engine) abort(_ context.Context, m api.Module, args []uint64) {
	message, file := utf16At(m.Memory(), uint32(args[0])), utf16At(m.Memory(), uint32(args[1]))
	fmt.Fprintf(e.journal, "abort: %s at %s:%d:%d\n", message, file, uint32(args[2]), uint32(args[3]))
	panic(sys.NewExitError(255)) //nolint:forbidigo // how the engine is told to end a guest; the code is the one AssemblyScript documents
}

// classify finds the cause of what a call into the guest returned.
func (e *engine) classify(err error) *Error {
	text, stack, _ := strings.Cut(err.Error(), "\nwasm stack trace:\n")
	text = strings.TrimPrefix(text, "wasm error: ")
	stack = strings.ReplaceAll(stack, "\t", "") // empty for a stack overflow
	f := &Error{Cause: Trap, Detail: text, Stack: stack}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		f.Cause, f.Detail = Exit, fmt.Sprintf("it exited with code %d", exit.ExitCode())
	}
	if said := e.journal.words.said; said != "" {
		f.Detail = said + " (" + f.Detail + ")"
		if nameless(f.Stack) {
			f.Stack = "" // the log has one that says more
		}
	}
	if e.linear.refused {
		f.Cause = Memory
		f.Detail = fmt.Sprintf("it wanted more memory than the limit of %d MiB: %s", e.linear.limit/mib, f.Detail)
	}
	return f
}

// nameless tells whether a stack is of a module without names: frames like .$1409(i32) i32, and perhaps ... for the rest.
func nameless(stack string) bool {
	for frame := range strings.Lines(stack) {
		if !strings.HasPrefix(frame, ".$") && !strings.HasPrefix(frame, "...") {
			return false
		}
	}
	return true
}
