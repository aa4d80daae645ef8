package project_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/cmd/mm/project"
)

// write writes the project of a function into a new folder.
func write(t *testing.T, parent, name string) string {
	t.Helper()
	dir := filepath.Join(parent, name)
	if err := project.Write(dir, name); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a command in a folder, without access to a module proxy.
func run(t *testing.T, dir, command string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Dir = dir
	// No variables of an outer make: with them, make prints the folders. Without their paths, packages in another folder
	// are taken from the go command's cache.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-trimpath", "GOWORK=", "MAKEFLAGS=", "MAKELEVEL=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestProjectBuildsWithNothingButGo(t *testing.T) {
	for name, parent := range map[string]func(t *testing.T, dir string){
		"alone": func(*testing.T, string) {},
		"inside a workspace": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "go.work"), []byte("go 1.26.0\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"inside a module": func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module outer\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outer := t.TempDir()
			parent(t, outer)
			// Windows has no file of this name, and Go no module path with it.
			dir := write(t, outer, "con.free-for-all")
			if out := run(t, dir, "go", "test", "-v", "./..."); !strings.Contains(out, "--- PASS: TestMatch/even_teams") {
				t.Errorf("go test prints\n%s", out)
			}
			_, err := os.Stat(filepath.Join(dir, "go.work"))
			if inside := name == "inside a workspace"; inside != (err == nil) {
				t.Errorf("its go.work: %v", err)
			}
		})
	}
}

func TestProjectIsInOrder(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), "ffa")
	run(t, dir, "go", "vet", "./...")
	if out := run(t, dir, "gofmt", "-l", "main.go", "rules.go", "main_test.go"); out != "" {
		t.Errorf("not formatted: %s", out)
	}
	if out := run(t, dir, "go", "mod", "tidy", "-diff"); out != "" {
		t.Errorf("not tidy:\n%s", out)
	}
}

func TestProjectMakesAModuleAndAnArchive(t *testing.T) {
	t.Parallel()
	dir := write(t, filepath.Join(t.TempDir(), "with a space"), "ffa")
	run(t, dir, "make")
	for name, magic := range map[string]string{"ffa.wasm": "\x00asm", "ffa.zip": "PK\x03\x04"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.HasPrefix(content, []byte(magic)) {
			t.Errorf("%s: %d bytes, %v", name, len(content), err)
		}
	}
	if out := run(t, dir, "make"); !strings.Contains(out, "Nothing to be done") {
		t.Errorf("make builds again without a change: %s", out)
	}
	run(t, dir, "make", "test")
	if help := run(t, dir, "make", "help"); strings.Count(help, "\n") != 6 {
		t.Errorf("make help prints\n%s", help)
	}
	run(t, dir, "make", "clean")
	if _, err := os.Stat(filepath.Join(dir, "ffa.zip")); !os.IsNotExist(err) {
		t.Errorf("after make clean: %v", err)
	}
}

func TestFilesOfAProjectNameItsFunction(t *testing.T) {
	dir := write(t, t.TempDir(), "ffa")
	for _, file := range []string{"config.json", "go.mod", "Makefile", "README.md", ".gitignore"} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !bytes.Contains(content, []byte("ffa")) || bytes.Contains(content, []byte("{{.")) {
			t.Errorf("%s: %v\n%s", file, err, content)
		}
	}
}

func TestWriteReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := project.Write(dir, "ffa"); err == nil || !strings.Contains(err.Error(), "not empty: nothing was written") {
		t.Errorf("into a folder that is not empty: %v", err)
	}
	if err := project.Write(file, "ffa"); err == nil {
		t.Error("a file was accepted as a folder")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
	if err := project.Write(t.TempDir(), "ffa"); err != nil {
		t.Errorf("into an empty folder: %v", err)
	}
}

func TestReplaceSDKReplacesOnlyAnSDK(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), "ffa")
	sdk := filepath.Join(dir, "sdk")
	for name, change := range map[string]func() error{
		"removed": func() error { return os.RemoveAll(filepath.Join(sdk, "fake")) },
		"old":     func() error { return os.WriteFile(filepath.Join(sdk, "gone.go"), []byte("package old\n"), 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(name, err)
		}
	}
	if err := project.ReplaceSDK(dir); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "go", "test", "./...")
	if _, err := os.Stat(filepath.Join(sdk, "gone.go")); !os.IsNotExist(err) {
		t.Errorf("a file that the SDK does not have: %v", err)
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".sdk*")); len(hidden) > 0 {
		t.Errorf("other files: %v", hidden)
	}
	// Other folders are not changed.
	other := t.TempDir()
	if err := os.MkdirAll(filepath.Join(other, "sdk"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := project.ReplaceSDK(other); err == nil ||
		!strings.Contains(err.Error(), "is not the folder of a match function's project") {
		t.Errorf("in another folder: %v", err)
	}
}
