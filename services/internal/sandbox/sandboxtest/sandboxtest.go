// Package sandboxtest builds the program that a sandbox executes, for tests of packages that start match functions. A
// test's own binary is not suitable when it has the race detector in it: compiling a Go function then takes a minute,
// and the detector's shadow memory is more than RLIMIT_DATA allows.
package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds the child into dir and returns the file, for Options.Binary. Call it from TestMain, with a folder that
// TestMain removes.
func Build(dir string) (string, error) {
	file := filepath.Join(dir, "child")
	return file, Program(file, "matchmaker.dev/services/internal/sandbox/sandboxtest/child")
}

// Program builds a program, a package as the go command names it here, into a file. The go command's run would leave
// out the names of functions, which stacks have.
func Program(file, name string) error {
	return build(file, exec.Command("go", "run", "-ldflags=-s=false"), name)
}

// Module builds a match function in Go: a package, as the go command names it in a folder. Its stacks have the names of
// functions. Temporary files are in dir.
func Module(dir, folder, name string) ([]byte, error) { return module(dir, folder, name, "-s=false") }

// Shipped builds one of the functions that ship, as matchfn/pack does, so that its machine code is the same everywhere
// and is made once. Functions is the path of their folder.
func Shipped(dir, functions, name string) ([]byte, error) {
	return module(dir, functions, "./"+name, "-s -w -buildid=")
}

func module(dir, folder, name, link string) ([]byte, error) {
	file := filepath.Join(dir, "module.wasm")
	cmd := exec.Command("go", "run", "-trimpath", "-buildmode=c-shared")
	cmd.Args = append(cmd.Args, "-ldflags="+link)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if err := build(file, cmd, name); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// build builds a program into a file. Unlike build, the go command's run takes a program from the cache when another
// test had it linked before.
func build(file string, run *exec.Cmd, name string) error {
	run.Args = append(run.Args, "-exec", "cp", name, file)
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", run, err, out)
	}
	return nil
}
