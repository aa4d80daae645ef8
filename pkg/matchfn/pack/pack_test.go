package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// duel is a function of this repository.
var duel = filepath.Join("..", "..", "..", "functions", "duel")

// A runner accepts the module, and packing it twice gives the same bytes.
func TestPackIsReproducibleAndSmall(t *testing.T) {
	first := filepath.Join(t.TempDir(), "new", "duel.zip")
	if err := pack(t.Context(), first, duel); err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "duel.zip")
	if err := pack(t.Context(), second, duel); err != nil {
		t.Fatal(err)
	}
	a, b := read(t, first), read(t, second)
	if !bytes.Equal(a, b) {
		t.Error("two archives differ")
	}
	if entries, _ := os.ReadDir(filepath.Dir(first)); len(entries) != 1 {
		t.Errorf("other files: %v", entries)
	}

	z, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 1 || z.File[0].Name != "duel.wasm" {
		t.Fatalf("the archive has %v", z.File)
	}
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	module, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	// The time to start and compile a module depends on its size. This finds encoding/json or fmt if one is imported by
	// mistake.
	if limit := 2_750_000; len(module) > limit {
		t.Errorf("the module has %d bytes, more than %d", len(module), limit)
	}
	bare := filepath.Join(t.TempDir(), "duel.wasm")
	if err := pack(t.Context(), bare, duel); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, bare), module) {
		t.Error("the bare module and that in the archive differ")
	}
	got := exports(t, module)
	for _, name := range []string{"memory", "_initialize", "mm_abi", "mm_alloc", "mm_run", "mm_manifest"} {
		if !slices.Contains(got, name) {
			t.Errorf("the module exports %q, not %q", got, name)
		}
	}
}

func TestPackReportsCompileErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "broken")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":  "module broken\n",
		"main.go": "package main\n\nfunc main() { undefinedThing() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	out := filepath.Join(t.TempDir(), "broken.zip")
	err := pack(t.Context(), out, dir)
	if err == nil || !strings.Contains(err.Error(), "undefinedThing") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("an archive was written: %v", err)
	}
}

func TestPackWritesOnlyZipAndWasm(t *testing.T) {
	err := pack(t.Context(), filepath.Join(t.TempDir(), "duel.tar"), duel)
	if err == nil || !strings.Contains(err.Error(), "neither a .zip nor a .wasm file") {
		t.Errorf("%v", err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exports returns the names in a module's export section.
func exports(t *testing.T, module []byte) []string {
	t.Helper()
	if !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")) {
		t.Fatal("not a WebAssembly module")
	}
	const exportSection = 7
	for rest := module[8:]; len(rest) > 0; {
		id := rest[0]
		size, rest2 := uvarint(t, rest[1:])
		body := rest2[:size]
		rest = rest2[size:]
		if id != exportSection {
			continue
		}
		var names []string
		count, body := uvarint(t, body)
		for range count {
			var n uint64
			n, body = uvarint(t, body)
			names = append(names, string(body[:n]))
			_, body = uvarint(t, body[n+1:]) // the kind is one byte
		}
		return names
	}
	t.Fatal("no exports")
	return nil
}

func uvarint(t *testing.T, b []byte) (uint64, []byte) {
	t.Helper()
	v, n := binary.Uvarint(b)
	if n <= 0 {
		t.Fatal("not a WebAssembly module")
	}
	return v, b[n:]
}
