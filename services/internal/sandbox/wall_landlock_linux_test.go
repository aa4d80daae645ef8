package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A compiler can write only into its own folder of machine code, not into another function's.
func TestRulesetConfinesFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"own", "module", "other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "there"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newRuleset(exe)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip("this kernel has no Landlock, so there is nothing to test: the runner works without as well")
	}
	s = s.with(rule{path: filepath.Join(dir, "own"), access: writable}, rule{path: filepath.Join(dir, "module"),
		access: readable},
		rule{path: filepath.Join(dir, "nothing"), access: readable, optional: true})
	failed := make(chan map[string]error)
	go func() {
		runtime.LockOSThread() // the thread ends with the test
		if err := s.restrict(); err != nil {
			failed <- map[string]error{"restrict": err}
			return
		}
		read := func(name string) error {
			_, err := os.ReadFile(filepath.Join(dir, name))
			return err
		}
		write := func(name string) error { return os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600) }
		failed <- map[string]error{
			"write own/new": write("own/new"), "read own/new": read("own/new"),
			"rename own/new": os.Rename(filepath.Join(dir, "own/new"), filepath.Join(dir, "own/newer")),
			"remove own":     os.Remove(filepath.Join(dir, "own/newer")),
			"read module":    read("module/there"),
			"read binary":    opens(exe),

			"!write module":    write("module/there"),
			"!create module":   write("module/new"),
			"!remove module":   os.Remove(filepath.Join(dir, "module/there")),
			"!read other":      read("other/there"),
			"!write other":     write("other/there"),
			"!list other":      opens(filepath.Join(dir, "other")),
			"!read the system": opens("/etc/passwd"),
			"!make a link":     os.Symlink("/etc/passwd", filepath.Join(dir, "own/link")),
		}
	}()
	for what, err := range <-failed {
		if forbidden := what[0] == '!'; forbidden != errors.Is(err, os.ErrPermission) || !forbidden && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func opens(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return f.Close()
}
