package languages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

const (
	functions  = "../../functions"
	rustTarget = "wasm32-unknown-unknown"
)

// language is a language with an SDK in functions/examples.
type language struct {
	name        string
	folder, sdk string // in functions/examples
	extension   string
	// compiler and arguments build pair in a folder with the SDK, as the README of functions says.
	compiler, arguments string
	// find returns the program that is the compiler on this machine.
	find func() (string, error)
}

func languages() []language {
	return []language{
		{
			name: "C", folder: "c", sdk: "matchfn.h", extension: ".c", find: clang,
			compiler: "clang", arguments: "--target=wasm32 -nostdlib -O2 -mbulk-memory -Wl,--no-entry -o pair.wasm pair.c",
		},
		{
			name: "AssemblyScript", folder: "assemblyscript", sdk: "matchfn.ts", extension: ".ts", find: asc,
			compiler: "npx asc", arguments: "pair.ts -O3 -o pair.wasm",
		},
		{
			name: "Rust", folder: "rust", sdk: "matchfn.rs", extension: ".rs", find: rustc,
			compiler: "rustc", arguments: "--edition 2021 --target " + rustTarget +
				" --crate-type cdylib -C opt-level=3 -C strip=symbols -o pair.wasm pair.rs",
		},
	}
}

func clang() (string, error) {
	if _, err := exec.LookPath("wasm-ld"); err != nil {
		return "", fmt.Errorf("the linker of lld is missing: %w", err)
	}
	return exec.LookPath("clang")
}

// asc is the compiler that package-lock.json names; npx may take another one.
func asc() (string, error) {
	if _, err := exec.LookPath("node"); err != nil {
		return "", err
	}
	file, err := filepath.Abs(filepath.Join(functions, "examples/assemblyscript/node_modules/.bin/asc"))
	if err != nil {
		return "", err
	}
	return exec.LookPath(file)
}

// rustc is the first compiler with the library for WebAssembly. In the PATH rustup's, which lacks it, may come before
// Debian's.
func rustc() (string, error) {
	var tried []string
	for _, file := range []string{"rustc", "/usr/bin/rustc"} {
		folder, err := exec.Command(file, "--print", "target-libdir", "--target", rustTarget).Output()
		if err == nil {
			_, err = os.Stat(strings.TrimSpace(string(folder)))
		}
		if err == nil {
			return file, nil
		}
		tried = append(tried, fmt.Sprintf("%s: %v", file, err))
	}
	return "", fmt.Errorf("no rustc has the library for %s: %s", rustTarget, strings.Join(tried, "; "))
}

// build compiles a program, once: pair is the example, probe belongs to these tests.
func build(t testing.TB, l language, program string) []byte {
	t.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	if wasm := built.modules[l.name+" "+program]; wasm != nil {
		return wasm
	}
	source := filepath.Join(functions, "examples", l.folder, program+l.extension)
	if program == "probe" {
		source = filepath.Join("testdata/probe", program+l.extension)
	}
	wasm := compile(t, l, source)
	built.modules[l.name+" "+program] = wasm
	return wasm
}

// compile compiles a source file beside the SDK. A missing compiler fails the test; to skip would hide that nothing was
// tested.
func compile(t testing.TB, l language, source string, more ...string) []byte {
	t.Helper()
	if testing.Short() {
		t.Skip("make check runs it: it needs " + l.compiler)
	}
	compiler, err := l.find()
	if err != nil {
		t.Fatalf("%s cannot be compiled: %v\n.ci/install-compilers installs what it takes, or says what that is.", l.name,
			err)
	}
	dir := t.TempDir()
	for _, file := range []string{source, filepath.Join(functions, "examples", l.folder, l.sdk)} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := strings.TrimSuffix(filepath.Base(source), l.extension)
	arguments := strings.Fields(strings.ReplaceAll(l.arguments, "pair", program))
	return output(t, dir, compiler, append(arguments, more...)...)
}

// buildGo compiles Pair.
func buildGo(t testing.TB) []byte {
	t.Helper()
	wasm, err := sandboxtest.Module(t.TempDir(), ".", "./testdata/guest")
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// rules compiles the function rules.
func rules(t testing.TB) []byte {
	t.Helper()
	wasm, err := sandboxtest.Shipped(t.TempDir(), functions, "rules")
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// output runs a compiler in a folder and returns the module that it makes. A warning is an error, since others start
// from the examples.
func output(t testing.TB, dir, compiler string, arguments ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), compiler, arguments...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
		t.Fatalf("%v: %v\n%s", cmd, err, said)
	}
	for _, argument := range arguments {
		if strings.HasSuffix(argument, ".wasm") {
			wasm, err := os.ReadFile(filepath.Join(dir, argument))
			if err != nil {
				t.Fatal(err)
			}
			return wasm
		}
	}
	t.Fatalf("%v makes no module", cmd)
	return nil
}

// The README of functions says how the examples are built, as they are built here.
func TestReadmeSaysHowToBuild(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(functions, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range languages() {
		if command := l.compiler + " " + l.arguments + "\n"; !strings.Contains(string(readme), command) {
			t.Errorf("the README does not have: %s", command)
		}
	}
}
