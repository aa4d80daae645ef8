package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"matchmaker.dev/services/internal/sandbox"
)

// large is a good module with enough machine code for the folder that Supervisors share, different for each number.
func large(n int) []byte {
	var code []byte
	for range 4000 {
		code = append(code, cat(get(0), get(0), []byte{0xa7, 0x29, 3, 0, 0x7c, 0x21, 0})...) // local 0 += i64.load
	}
	return reactor(echo()).with(function{export: fmt.Sprint("number", n), params: []byte{i64}, results: []byte{i64},
		code: cat(code, get(0))}).bytes()
}

// codeFolder is where a Supervisor makes a folder for machine code.
func codeFolder(t *testing.T) string { return filepath.Join(t.TempDir(), "new", "code") }

// sharing is a Supervisor of its own with a folder of machine code.
func sharing(t *testing.T, code string, l sandbox.Limits) (b *sandbox.Supervisor, dir string) {
	t.Helper()
	dir = t.TempDir()
	return boxOf(t, sandbox.Options{Dir: dir, Code: code, Limits: l, Binary: child(t)}), dir
}

// works loads a module in a Supervisor of its own and runs it. It returns the machine code that the Supervisor used.
func works(t *testing.T, code string, wasm []byte) []byte {
	t.Helper()
	b, dir := sharing(t, code, sandbox.Limits{})
	m := load(t, b, wasm)
	i, _ := start(t, b, m)
	if got := run(t, i, "fine"); got != "fine" {
		t.Errorf("answer = %q", got)
	}
	found, err := filepath.Glob(filepath.Join(dir, m.Hash, "cache", "*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("machine code in %v, %v", found, err)
	}
	return contents(t, found[0])
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What one Supervisor compiled, the next one only reads: it gets a mark that the engine does not look at.
func TestMachineCodeIsShared(t *testing.T) {
	t.Parallel()
	code, wasm, mark := codeFolder(t), large(1), []byte("a mark")
	made := works(t, code, wasm)
	entry := filepath.Join(code, hashOf(wasm))
	sandbox.Forge(t, entry, hashOf(wasm), func(content []byte) []byte { return append(content, mark...) })
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(entry, long, long); err != nil {
		t.Fatal(err)
	}
	if got := works(t, code, wasm); !bytes.Equal(got, append(made, mark...)) {
		t.Error("the next Supervisor compiled the module again")
	}
	if info, err := os.Stat(entry); err != nil || !info.ModTime().After(long.Add(time.Minute)) {
		t.Errorf("its use is not noted: %v, %v", info, err)
	}
	// A limit on machine code holds as if it was compiled here.
	b, _ := sharing(t, code, sandbox.Limits{Code: len(made) - 1})
	if _, _, err := b.Load(t.Context(), "", wasm); err == nil {
		t.Error("machine code beyond the limit was accepted")
	}
	// What is made in no time is not kept.
	works(t, code, numbered(1))
	if all := cachedHashes(t, code); len(all) != 1 {
		t.Errorf("in the folder are %v", all)
	}
}

// Machine code that is not what a Supervisor wrote for this module is not run, and is replaced.
func TestDamagedMachineCodeIsReplaced(t *testing.T) {
	t.Parallel()
	code, wasm := codeFolder(t), large(1)
	works(t, code, wasm)
	entry := filepath.Join(code, hashOf(wasm))
	good := contents(t, entry)
	path, _, _ := bytes.Cut(good[32:], []byte{0})
	for name, bad := range map[string][]byte{
		"cut off": good[:len(good)-1],
		// With the right checksum, as another version of this program may have written it.
		"no code": sandbox.Entry(hashOf(wasm), append(bytes.Clone(path), make([]byte, 1<<16)...)),
		"of another engine": sandbox.Entry(hashOf(wasm), append([]byte("another/"+hashOf(nil)+"\x00"),
			make([]byte, 1<<16)...)),
	} {
		if err := os.WriteFile(entry, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if made := works(t, code, wasm); !bytes.HasSuffix(good, made) {
			t.Errorf("%s: other machine code was used", name)
		}
		if !bytes.Equal(contents(t, entry), good) {
			t.Errorf("%s: the entry was not replaced", name)
		}
	}
}

// A folder that other users can write to is left alone.
func TestOpenFolderOfMachineCodeIsNotUsed(t *testing.T) {
	t.Parallel()
	code := codeFolder(t)
	if err := os.MkdirAll(code, 0o755); err != nil {
		t.Fatal(err)
	}
	works(t, code, large(1))
	if all := cachedHashes(t, code); len(all) > 0 {
		t.Errorf("it has %v", all)
	}
}
