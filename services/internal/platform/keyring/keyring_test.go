package keyring_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/keyring"
)

// clock is one that a test sets.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func line(id string, fill byte) string {
	return id + " " + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, 32)) + "\n"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, text string) (ring *keyring.Ring, path string, c *clock) {
	t.Helper()
	path, c = filepath.Join(t.TempDir(), "keys"), &clock{noon}
	write(t, path, text)
	ring, err := keyring.Open(path, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return ring, path, c
}

func seal(t *testing.T, r *keyring.Ring, text, about string) []byte {
	t.Helper()
	sealed, err := r.Seal([]byte(text), about)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealAndOpen(t *testing.T) {
	r, _, _ := open(t, "# ours\n\n"+line("k1", 1))
	sealed := seal(t, r, "hunter2", "p/c")
	if bytes.Contains(sealed, []byte("hunter")) {
		t.Errorf("the secret is readable in %q", sealed)
	}
	if bytes.Equal(sealed, seal(t, r, "hunter2", "p/c")) {
		t.Error("the same secret twice looks the same")
	}
	if got, err := r.Open(sealed, "p/c"); err != nil || string(got) != "hunter2" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := r.Open(sealed, "p/d"); err == nil {
		t.Errorf("it opens for another owner: %q", got)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if got, err := r.Open(changed, "p/c"); err == nil {
			t.Fatalf("byte %d was changed, and it opens: %q", i, got)
		}
		if got, err := r.Open(sealed[:i], "p/c"); err == nil {
			t.Fatalf("it was cut to %d bytes, and opens: %q", i, got)
		}
	}
}

func TestRotation(t *testing.T) {
	r, path, c := open(t, line("old", 1))
	before := seal(t, r, "s", "a")
	other, err := keyring.Open(path, c.now) // of another process
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, line("new", 2)+line("old", 1))
	after := seal(t, r, "s", "a")
	if r.Current(before) || !r.Current(after) {
		t.Error("a key that was put first does not encrypt")
	}
	for _, sealed := range [][]byte{before, after} {
		for _, ring := range []*keyring.Ring{r, other} {
			if got, err := ring.Open(sealed, "a"); err != nil || string(got) != "s" {
				t.Errorf("%q, %v", got, err)
			}
		}
	}
	// The old key is gone; repeated requests for it do not read the file each time.
	write(t, path, line("new", 2))
	c.t = c.t.Add(time.Hour)
	fresh, err := keyring.Open(path, c.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Open(before, "a"); !errors.Is(err, keyring.ErrNoKey) {
		t.Errorf("without its key: %v", err)
	}
	write(t, path, line("new", 2)+line("old", 1))
	if _, err := fresh.Open(before, "a"); !errors.Is(err, keyring.ErrNoKey) {
		t.Errorf("the file was read again at once: %v", err)
	}
	c.t = c.t.Add(5 * time.Second)
	if _, err := fresh.Open(before, "a"); err != nil {
		t.Errorf("the file was not read again: %v", err)
	}
	// A file that is broken meanwhile leaves the keys that are known.
	write(t, path, "what?")
	if _, err := fresh.Open(seal(t, fresh, "s", "a"), "a"); err != nil {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("HOSTING_KEYS", line("k", 7))
	r, err := keyring.Open("env:HOSTING_KEYS", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Open(seal(t, r, "s", "a"), "a"); err != nil || string(got) != "s" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := keyring.Open("env:NO_SUCH_KEYS", time.Now); err == nil ||
		!strings.Contains(err.Error(), "NO_SUCH_KEYS is not set") {
		t.Error(err)
	}
}

// A file may have a byte order mark. What is added to one of UTF-16 makes it UTF-8.
func TestFileOfAnEditor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	wide := "\xff\xfe"
	for _, c := range []byte(line("a", 1)) {
		wide += string([]byte{c, 0})
	}
	for _, text := range []string{"\ufeff" + line("a", 1), wide} {
		write(t, path, text)
		r, err := keyring.Open(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		sealed := seal(t, r, "s", "a")
		if _, err := keyring.Add(path, time.Now()); err != nil {
			t.Fatal(err)
		}
		if r, err = keyring.Open(path, time.Now); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Open(sealed, "a"); err != nil || string(got) != "s" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "is empty",
		"# nothing\n":               "no key",
		"hunter2hunter2":            "line 1: an id",
		"a hunter2 hunter2":         "line 1: an id",
		"a hunter2":                 "line 1: a key is 32 bytes",
		"a aHVudGVyMg==":            "line 1: a key is 32 bytes",
		"hünter2 aHVudGVyMg==":      "line 1: an id",
		line("a", 1) + "\na b c":    "line 3: an id",
		line("a", 1) + line("a", 2): "line 2: the id a is used twice",
		strings.Repeat("i", 65) + " " + line("", 1): "line 1: an id of at most 64",
	} {
		path := filepath.Join(t.TempDir(), "keys")
		write(t, path, text)
		if _, err := keyring.Open(path, time.Now); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hunter") {
			t.Errorf("%q: %v, want %q and nothing of the key", text, err, want)
		}
	}
	if _, err := keyring.Open(filepath.Join(t.TempDir(), "none"), time.Now); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	var sealed [][]byte
	for _, want := range []string{"2026-11-21", "2026-11-21.2", "2026-11-21.3"} {
		id, err := keyring.Add(path, noon)
		if err != nil || id != want {
			t.Fatalf("key %s, %v, want %s", id, err, want)
		}
		r, err := keyring.Open(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		sealed = append(sealed, seal(t, r, "s", "a"))
		for i, s := range sealed {
			if _, err := r.Open(s, "a"); err != nil {
				t.Errorf("with %d keys, what the key %d encrypted: %v", len(sealed), i, err)
			}
			if r.Current(s) != (i == len(sealed)-1) {
				t.Errorf("with %d keys, key %d is the first: %v", len(sealed), i, r.Current(s))
			}
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("files are left behind: %v, %v", files, err)
	}
	write(t, path, "what?")
	if _, err := keyring.Add(path, noon); err == nil {
		t.Error("a file that is no key ring was changed")
	}
}
