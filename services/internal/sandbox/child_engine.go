package sandbox

import (
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

// version is the version of the ABI, which mm_abi must return.
const version = 1

// page is the unit of linear memory in bytes.
const page = 64 * kib

// engine is wazero with one module in it.
type engine struct {
	ctx         context.Context // has the memory's allocator, and never ends
	settings    childSettings
	log         *guestLog
	memory      *linearMemory
	runtime     wazero.Runtime
	hostModules map[string]wazero.CompiledModule // what a module may import
	module      wazero.CompiledModule
	clock       guestClock
}

func newEngine(ctx context.Context, s childSettings, log *guestLog) (*engine, error) {
	cache, err := wazero.NewCompilationCacheWithDir(s.Compiled)
	if err != nil {
		return nil, err
	}
	e := &engine{settings: s, log: log, memory: &linearMemory{limit: s.Memory / page * page}}
	e.ctx = experimental.WithMemoryAllocator(ctx, e.memory)
	// No termination checks: the parent's SIGKILL costs nothing. No debug information: every instance would keep it in
	// memory.
	e.runtime = wazero.NewRuntimeWithConfig(e.ctx, wazero.NewRuntimeConfigCompiler().
		WithCompilationCache(cache).WithDebugInfoEnabled(false))

	i32 := api.ValueTypeI32
	host := func(name string) wazero.HostFunctionBuilder {
		return e.runtime.NewHostModuleBuilder(name).NewFunctionBuilder()
	}
	e.hostModules = map[string]wazero.CompiledModule{}
	for name, builder := range map[string]interface {
		Compile(context.Context) (wazero.CompiledModule, error)
	}{
		wasiModule: withoutFolders(e.runtime.NewHostModuleBuilder(wasiModule)),
		"env": host("env").WithGoModuleFunction(api.GoModuleFunc(e.abort), []api.ValueType{i32, i32, i32, i32},
			nil).Export("abort"),
		"mm": host("mm").WithGoModuleFunction(api.GoModuleFunc(sortNumbers), []api.ValueType{i32, i32, i32},
			[]api.ValueType{i32}).Export("sort").
			NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(gather), []api.ValueType{i32, i32, i32, i32, i32},
			nil).Export("gather"),
	} {
		if e.hostModules[name], err = builder.Compile(e.ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// withoutFolders adds the functions of WASI for a guest that has no folders. Programs count their folders from
// descriptor 3 on until fd_prestat_get fails with EBADF. The engine's own says of 0, 1 and 2 that they are folders.
func withoutFolders(b wazero.HostModuleBuilder) wazero.HostModuleBuilder {
	const i32, ebadf = api.ValueTypeI32, 8
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	noFolder := api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) {
		stack[0] = ebadf
	})
	for name, params := range map[string][]api.ValueType{
		"fd_prestat_get": {i32, i32}, "fd_prestat_dir_name": {i32, i32, i32},
	} {
		b = b.NewFunctionBuilder().WithGoModuleFunction(noFolder, params, []api.ValueType{i32}).Export(name)
	}
	return b
}

// compile reads the module's machine code, or makes it when this process is a compiler.
func (e *engine) compile() (err error) {
	wasm, err := readFile(e.settings.Module)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil { // the engine's compiler does not know what it found
			err = failure(Invalid, "the module cannot be compiled: %v", r)
		}
	}()
	if e.module, err = e.runtime.CompileModule(e.ctx, wasm); err != nil {
		if isTooLong(err) {
			return failure(Invalid, "its machine code would be larger than the limit of %d MiB", e.settings.Code/mib)
		}
		if isFileError(err) {
			return err
		}
		return failure(Invalid, "not a valid module: %v", err)
	}
	return nil
}

// isFileError reports whether an error is about the files of machine code, for example because the disk is full.
func isFileError(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	return path || link
}

// checkCompiled fails when there is no machine code. An instance must not make its own, for want of time and memory.
func (e *engine) checkCompiled() error {
	if found, err := filepath.Glob(filepath.Join(e.settings.Compiled, "*", "*")); err != nil || len(found) == 0 {
		return errors.New("its machine code is missing")
	}
	return nil
}

// guestClock is a guest's monotonic clock in nanoseconds. It moves only while the guest sleeps. The engine's own clock
// moves a millisecond at every reading. Go's runtime reads it mostly while it collects garbage, and would conclude that
// this takes more than half of the time, stop it, and run out of memory.
type guestClock int64

func (c *guestClock) now() int64 { return 1 + int64(*c) } // Go refuses to start at 0

func (c *guestClock) sleep(ns int64) { *c += guestClock(max(ns, 0)) }

// start instantiates the module and runs its _initialize.
func (e *engine) start() (*guest, error) {
	for _, host := range e.hostModules {
		if _, err := e.runtime.InstantiateModule(e.ctx, host, wazero.NewModuleConfig()); err != nil {
			return nil, err
		}
	}
	if err := e.check(); err != nil { // again: the compiler may have read another file
		return nil, err
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithStdout(e.log).WithStderr(e.log).
		WithNanotime(e.clock.now, 1).WithNanosleep(e.clock.sleep)
	m, err := e.runtime.InstantiateModule(e.ctx, e.module, config)
	if err != nil {
		f := e.classify(err)
		if f.Cause == Trap && f.Stack == "" {
			f.Cause = Invalid // none of it ran: it could not be linked, for example because it imports a global or a table
			f.Detail = "the module cannot be linked with what it imports: " + f.Detail
		}
		return nil, f
	}
	g := &guest{
		engine: e, mem: m.Memory(),
		allocFn: m.ExportedFunction("mm_alloc"), runFn: m.ExportedFunction("mm_run"),
		manifestFn: m.ExportedFunction("mm_manifest"),
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

// abort is env.abort of AssemblyScript: it logs the message and ends the guest. Its arguments are pointers to a message
// and a file name, a line and a column.
func (e *engine) abort(_ context.Context, m api.Module, args []uint64) {
	message, file := readString(m.Memory(), uint32(args[0])), readString(m.Memory(), uint32(args[1]))
	fmt.Fprintf(e.log, "abort: %s at %s:%d:%d\n", message, file, uint32(args[2]), uint32(args[3]))
	// How the engine is told to end a guest. AssemblyScript documents this code.
	panic(sys.NewExitError(255)) //nolint:forbidigo // see above
}

// classify finds the cause of an error of a call into the guest.
func (e *engine) classify(err error) *Error {
	text, stack, _ := strings.Cut(err.Error(), "\nwasm stack trace:\n")
	text = strings.TrimPrefix(text, "wasm error: ")
	stack = strings.ReplaceAll(stack, "\t", "") // empty for a stack overflow
	f := &Error{Cause: Trap, Detail: text, Stack: stack}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		f.Cause, f.Detail = Exit, fmt.Sprintf("it exited with code %d", exit.ExitCode())
	}
	if message := e.log.panics.message; message != "" {
		f.Detail = message + " (" + f.Detail + ")"
		if hasNoNames(f.Stack) {
			f.Stack = "" // the log has a better one
		}
	}
	if e.memory.refused {
		f.Cause = Memory
		f.Detail = fmt.Sprintf("it wanted more memory than the limit of %d MiB: %s", e.memory.limit/mib, f.Detail)
	}
	return f
}

// hasNoNames reports whether a stack is of a module without names: frames like .$1409(i32) i32, and perhaps ... for the
// rest.
func hasNoNames(stack string) bool {
	for frame := range strings.Lines(stack) {
		if !strings.HasPrefix(frame, ".$") && !strings.HasPrefix(frame, "...") {
			return false
		}
	}
	return true
}
