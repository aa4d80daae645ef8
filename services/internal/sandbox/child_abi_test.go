package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/sandbox"
)

// refusal is a module that Load refuses, and a part of what it says.
type refusal struct {
	wasm []byte
	says string
}

func refused(t *testing.T, b *sandbox.Supervisor, tests map[string]refusal) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m, _, err := b.Load(t.Context(), "", test.wasm)
			e, ok := errors.AsType[*problem.Error](err)
			if !ok || e.Kind != problem.Invalid || !strings.Contains(e.Detail, test.says) {
				t.Fatalf("Load = %v, %v; want Invalid with %q", m, err, test.says)
			}
			if len(e.Detail) > 3000 {
				t.Errorf("it says %d bytes", len(e.Detail))
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	good := reactor(echo())
	withImport := func(i imported) []byte { return reactor(echo(), i).bytes() }
	withGlobal := func(from, name string) []byte {
		m := reactor(echo())
		m.globals = [][2]string{{from, name}}
		return m.bytes()
	}
	noisy := reactor(echo()).with(function{export: "_initialize", code: cat(write(16, 60_000), unreachable)})
	noisy.imports, noisy.text = []imported{printing()}, strings.Repeat(strings.Repeat("y", 9_999)+"\n", 6)
	twoMiB := good
	twoMiB.pages = 33
	other, none := good, good
	other.memory, none.memory = "mem", "-"
	command := reactor(echo()).without("mm_abi").with(function{export: "_start"})

	dir := t.TempDir()
	b := boxOf(t, sandbox.Options{Dir: dir, Limits: sandbox.Limits{Memory: 2 << 20, Module: 100_000}, Binary: child(t)})
	refused(t, b, map[string]refusal{
		"nothing":    {nil, "no WebAssembly module"},
		"text":       {[]byte("(module)"), "no WebAssembly module"},
		"component":  {[]byte("\x00asm\x0d\x00\x01\x00"), "no WebAssembly module"},
		"cut off":    {good.bytes()[:40], "not a valid module"},
		"too long":   {bytes.Repeat(good.bytes(), 1000), "the limit is 100000"},
		"type error": {reactor(i32c(1)).bytes(), "not a valid module"},
		"foreign import": {withImport(imported{"env", "system", []byte{i32}, []byte{i32}}),
			"imports env.system(i32) -> i32, which does not exist: env has abort"},
		"foreign module": {withImport(imported{"gojs", "runtime.wasmExit", []byte{i32}, nil}),
			"imports gojs.runtime.wasmExit(i32): only wasi_snapshot_preview1, env.abort, mm.sort and mm.gather"},
		"no such call": {withImport(imported{"wasi_snapshot_preview1", "path_teleport", nil, nil}),
			"path_teleport(), which does not exist"},
		"unknown helper": {withImport(imported{"mm", "search", []byte{i32}, nil}),
			"imports mm.search(i32), which does not exist: mm has gather, sort"},
		"imported global": {withGlobal("env", "g"),
			`cannot be linked with what it imports: "g" is not exported in module "env"`},
		"foreign global": {withGlobal("gojs", "g"), `cannot be linked with what it imports: module[gojs] not instantiated`},
		"long import":    {withImport(imported{"env", strings.Repeat("x", 50_000), nil, nil}), "imports env.xxx"},
		"noise":          {noisy.bytes(), "the module does not start: unreachable; it printed: yyy"},
		"wrong import": {withImport(imported{"env", "abort", []byte{i32}, nil}),
			"imports env.abort(i32); it is env.abort(i32, i32, i32, i32)"},
		"no mm_run":   {good.without("mm_run").bytes(), "does not export mm_run(i32) -> i64"},
		"no mm_alloc": {good.without("mm_alloc").bytes(), "does not export mm_alloc(i32) -> i32"},
		"no mm_abi":   {good.without("mm_abi").bytes(), "does not export mm_abi() -> i32"},
		"a command":   {command.bytes(), "-buildmode=c-shared"},
		"wrong mm_run": {good.with(function{export: "mm_run", results: []byte{i32}, code: i32c(0)}).bytes(),
			"exports mm_run() -> i32; it must be mm_run(i32) -> i64"},
		"wrong start": {good.with(function{export: "_initialize", params: []byte{i32}}).bytes(),
			"exports _initialize(i32); it must be _initialize()"},
		"wrong manifest":  {good.with(function{export: "mm_manifest"}).bytes(), "it must be mm_manifest() -> i64"},
		"too much memory": {twoMiB.bytes(), "starts with 2112 KiB of memory, the limit is 2048 KiB"},
		"other memory":    {other.bytes(), "does not export its memory"},
		"hidden memory":   {none.bytes(), "does not export its memory"},
	})
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("refused modules left %v behind, %v", left, err)
	}
	load(t, b, good.bytes())
}

// bomb is a module that takes much more time and memory to compile than its size suggests: ifs that all use many
// locals.
func bomb(locals, ifs int) []byte {
	body := new(bytes.Buffer)
	for n := range ifs {
		a, z := n%locals+1, (n*7+3)%locals+1
		body.Write(cat(get(0), []byte{0x04, 0x40}, get(a), i64c(int64(n)), []byte{0x7c, 0x21}, uleb(z), []byte{0x0b}))
	}
	body.Write(echo())
	m := reactor(nil)
	m.funcs[1].locals, m.funcs[1].code = locals, body.Bytes()
	return m.bytes()
}

func TestCompileBomb(t *testing.T) {
	t.Parallel()
	t.Run("time", func(t *testing.T) {
		b := newBox(t, sandbox.Limits{Compile: time.Second})
		refused(t, b, map[string]refusal{"bomb": {bomb(2000, 8000),
			"the module does not compile: compiling took longer than 1s"}})
		load(t, b, reactor(echo()).bytes())
	})
	t.Run("memory", func(t *testing.T) {
		b := newBox(t, sandbox.Limits{CompileMemory: 192 << 20, Compile: 2 * time.Minute})
		refused(t, b, map[string]refusal{"bomb": {bomb(2000, 8000),
			"the module does not compile: its process needed more memory"}})
		load(t, b, reactor(echo()).bytes())
	})
}

func TestLoadEndsWithContext(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := b.Load(ctx, "", bomb(2000, 8000)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Load = %v, want the context's error", err)
	}
	load(t, b, reactor(echo()).bytes())
}

func TestManifest(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Limits{})
	for text, want := range map[string][2]bool{ // whether the lists are nil: everything travels
		`{}`:                                   {true, true},
		`{"attributes":null,"future":1}`:       {true, true},
		`{"attributes":[],"properties":["a"]}`: {false, false},
		`{"attributes":["skill"],"comment":"äö"}`: {false, true},
		`{"attributeSettings":["by"]}`:            {false, true},
		`{"propertySettings":[]}`:                 {true, false},
	} {
		m := reactor(echo()).with(function{export: "mm_manifest", results: []byte{i64},
			code: answer(16, uint32(len(text)))})
		m.text = text
		got := load(t, b, m.bytes()).Manifest
		if got.EveryAttribute() != want[0] || got.EveryProperty() != want[1] {
			t.Errorf("%s: %#v", text, got)
		}
	}
	if m := load(t, b, reactor(echo()).bytes()).Manifest; m.Attributes != nil || m.Properties != nil {
		t.Errorf("no mm_manifest: %#v", m)
	}
	refusals := map[string]refusal{}
	for text, says := range map[string]string{
		`{"attributes":[""]}`:    "mm_manifest: attributes[0] is empty",
		`{"attributes":"skill"}`: "mm_manifest: attributes: a list of names is expected, got: string",
		`{"properties":["a",1]}`: "mm_manifest: properties: a list of names is expected, got: number",
		`["skill"]`:              "mm_manifest: a JSON object is expected, got: array",
		`skill`:                  "mm_manifest: it is no JSON: ",
	} {
		bad := reactor(echo()).with(function{export: "mm_manifest", results: []byte{i64},
			code: answer(16, uint32(len(text)))})
		bad.text = text
		refusals[text] = refusal{bad.bytes(), says}
	}
	refused(t, b, refusals)
}
