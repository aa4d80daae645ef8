package sandbox

import (
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// export is a function of the ABI.
type export struct {
	name            string
	params, results []api.ValueType
	optional        bool
}

func exports() []export {
	i32, i64 := []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}
	return []export{
		{name: "mm_abi", results: i32},
		{name: "mm_alloc", params: i32, results: i32},
		{name: "mm_run", params: i32, results: i64},
		{name: "mm_manifest", results: i64, optional: true},
		{name: "_initialize", optional: true},
	}
}

// check checks the module's imports, exports and memory against the ABI.
func (e *engine) check() error {
	if err := e.checkImports(); err != nil {
		return err
	}
	has := e.module.ExportedFunctions()
	for _, x := range exports() {
		f, ok := has[x.name]
		switch {
		case !ok && x.optional:
		case !ok && has["_start"] != nil:
			return failure(Invalid, "the module is a command (it exports _start) and has no %s: build it as a reactor, "+
				"in Go with -buildmode=c-shared", signature(x.name, x.params, x.results))
		case !ok:
			return failure(Invalid, "the module does not export %s", signature(x.name, x.params, x.results))
		case !slices.Equal(f.ParamTypes(), x.params) || !slices.Equal(f.ResultTypes(), x.results):
			return failure(Invalid, "the module exports %s; it must be %s",
				signature(x.name, f.ParamTypes(), f.ResultTypes()), signature(x.name, x.params, x.results))
		}
	}
	memory, ok := e.module.ExportedMemories()["memory"]
	if !ok {
		return failure(Invalid, "the module does not export its memory under the name memory")
	}
	if least := int64(memory.Min()) * page; least > int64(e.memory.limit) {
		return failure(Invalid, "the module starts with %d KiB of memory, the limit is %d KiB", least/kib, e.memory.limit/kib)
	}
	return nil
}

func (e *engine) checkImports() error {
	for _, f := range e.module.ImportedFunctions() {
		from, name, _ := f.Import()
		full := signature(from+"."+name, f.ParamTypes(), f.ResultTypes())
		host, ok := e.hostModules[from]
		if !ok {
			return failure(Invalid, "the module imports %s: only %s, env.abort, mm.sort and mm.gather are there to import", full,
				wasiModule)
		}
		offered, ok := host.ExportedFunctions()[name]
		if !ok {
			return failure(Invalid, "the module imports %s, which does not exist: %s has %s",
				full, from, strings.Join(slices.Sorted(maps.Keys(host.ExportedFunctions())), ", "))
		}
		if !slices.Equal(f.ParamTypes(), offered.ParamTypes()) || !slices.Equal(f.ResultTypes(), offered.ResultTypes()) {
			return failure(Invalid, "the module imports %s; it is %s",
				full, signature(from+"."+name, offered.ParamTypes(), offered.ResultTypes()))
		}
	}
	for _, m := range e.module.ImportedMemories() {
		from, name, _ := m.Import()
		return failure(Invalid, "the module imports its memory %s.%s: it must export one", from, name)
	}
	return nil
}

const wasiModule = "wasi_snapshot_preview1"

// signature is a function with types as in WebAssembly's text format.
func signature(name string, params, results []api.ValueType) string {
	s := name + "(" + types(params) + ")"
	if len(results) > 0 {
		s += " -> " + types(results)
	}
	return s
}

func types(ts []api.ValueType) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = api.ValueTypeName(t)
	}
	return strings.Join(names, ", ")
}
