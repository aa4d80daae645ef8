package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRecordKeepsFilesThatExist(t *testing.T) {
	shell, service := newShell(t), newService(t)
	file := filepath.Join(t.TempDir(), "day.mmrec")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell.on(service, "record", "--out", file).expect(1, "", "mm: "+file+" exists: --force replaces it")
	shell.on(service, "record").expect(2, "", "missing flags: --out=FILE")
	shell.on(service, "record", "erase", file, "ada").expect(2, "", "--players")
	shell.on(service, "record", "--help").expect(0, "mm record start --help", "")
	shell.on(service, "record", "--out", file, "--for", "0s").expect(2, "", "--for must be more than 0")
	shell.on(service, "record", "--out", file, "--max-size", "0").expect(2, "", "--max-size must be 1 or more")
	shell.on(service, "record", "--out", "x", "--properties").expect(2, "", "--properties needs --players FILE")
	shell.on(service, "record", "--out", "x", "--players", "x").expect(2, "", "must be two files")
	other := filepath.Join(filepath.Dir(file), "other.mmrec")
	shell.on(service, "record", "start", "--out", other, "--players", file).expect(1, "", file+" exists")
	if _, err := os.Stat(other); err == nil {
		t.Error("a recording was begun without its list")
	}
	// A developer that may not record replaces nothing.
	shell.on(service, "record", "--out", file, "--force", "--token", "nobody").expect(1, "", "mm: ")
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file is %q, %v", text, err)
	}
}
