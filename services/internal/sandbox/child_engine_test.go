package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// When machine code cannot be written, for example because the disk is full, the module is not to blame.
func TestFullDiskIsNotBlamedOnTheModule(t *testing.T) {
	dir := t.TempDir()
	module := filepath.Join(dir, "module.wasm")
	if err := os.WriteFile(module, []byte("\x00asm\x01\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(dir, "cache")
	e, err := newEngine(t.Context(), childSettings{Module: module, Compiled: cache, Memory: page}, new(guestLog))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	err = e.compile()
	if _, blamed := errors.AsType[*Error](err); err == nil || blamed {
		t.Errorf("compile = %v, want an error of the file", err)
	}
}
