//go:build unix

package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// made is a folder of machine code of a module, and the module's hash.
func made(t *testing.T, n byte) (hash, folder string) {
	t.Helper()
	sum := sha256.Sum256([]byte{n})
	hash, folder = hex.EncodeToString(sum[:]), t.TempDir()
	file := filepath.Join(folder, "engine", hash)
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Repeat([]byte{n}, minCachedCode), 0o600); err != nil {
		t.Fatal(err)
	}
	return hash, folder
}

func openCode(t *testing.T) *codeCache {
	t.Helper()
	c, err := openCodeCache(filepath.Join(t.TempDir(), "code"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

func add(t *testing.T, c *codeCache, hash, folder string) {
	t.Helper()
	if err := c.add(hash, folder, ""); err != nil {
		t.Fatal(err)
	}
}

// Only what add wrote for a module is restored for it.
func TestOnlyIntactEntriesAreRestored(t *testing.T) {
	c := openCode(t)
	hash, folder := made(t, 1)
	other, ofOther := made(t, 2)
	add(t, c, hash, folder)
	add(t, c, other, ofOther)
	read := func(name string) []byte {
		entry, err := c.root.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return entry
	}
	good := read(hash)
	flip := func(at int) []byte { b := bytes.Clone(good); b[at] ^= 1; return b }
	forge := func(content string) []byte { return slices.Concat(checksum(hash, []byte(content)), []byte(content)) }
	for name, test := range map[string]struct {
		entry []byte
		most  int
		good  bool
	}{
		"as it was":             {good, minCachedCode, true},
		"beyond the limit":      {good, minCachedCode - 1, false},
		"a bit of the code":     {flip(len(good) - 1), gib, false},
		"a bit of the path":     {flip(sha256.Size), gib, false},
		"a bit of the checksum": {flip(0), gib, false},
		"cut off":               {good[:len(good)-1], gib, false},
		"longer":                {append(bytes.Clone(good), 0), gib, false},
		"empty":                 {nil, gib, false},
		"of another module":     {read(other), gib, false},
		// With the right checksum: only the user of the folder could write that.
		"outside of the folder":   {forge("../" + hash + "\x00code"), gib, false},
		"the module of instances": {forge("module.wasm\x00code"), gib, false},
		"the file of another":     {forge("a/b\x00code"), gib, false},
		"no path":                 {forge("code"), gib, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.root.WriteFile(hash, test.entry, 0o600); err != nil {
				t.Fatal(err)
			}
			to := t.TempDir()
			restored := c.restore(hash, to, test.most)
			if want := "engine/" + hash; test.good != (restored == want) || !test.good && restored != "" {
				t.Fatalf("restored %q", restored)
			}
			var files []string
			_ = filepath.WalkDir(filepath.Dir(to), func(path string, d fs.DirEntry, _ error) error {
				if d.Type().IsRegular() {
					files = append(files, path)
				}
				return nil
			})
			if len(files) > 0 != test.good {
				t.Errorf("there are %q", files)
			}
		})
	}
	if err := c.root.WriteFile(hash, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if restored := c.restore(hash, folder, gib); restored != "" {
		t.Errorf("a folder that has its machine code got %s", restored)
	}
}

// Many processes use one folder, which has room for two modules. What they read is whole, and what was not used for
// longest goes first.
func TestCodeCacheIsBounded(t *testing.T) {
	c := openCode(t)
	var hashes, folders []string
	for n := range byte(4) {
		hash, folder := made(t, n)
		hashes, folders = append(hashes, hash), append(folders, folder)
	}
	c.most = 2*minCachedCode + 1000
	var all sync.WaitGroup
	for g := range 4 {
		dir := t.TempDir()
		all.Go(func() {
			for k := range 50 {
				n := (g + k) % 4
				if err := c.add(hashes[n], folders[n], ""); err != nil {
					t.Error(err)
				}
				to := filepath.Join(dir, fmt.Sprint(k))
				restored := c.restore(hashes[n], to, gib)
				if restored == "" {
					continue // another one took its room
				}
				if b, err := os.ReadFile(filepath.Join(to, restored)); err != nil || len(b) != minCachedCode || b[0] != byte(n) {
					t.Errorf("module %d: %d bytes, %v", n, len(b), err)
				}
			}
		})
	}
	all.Wait()
	entries := func() (names []string) {
		list, err := fs.ReadDir(c.root.FS(), ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			names = append(names, e.Name())
		}
		return names
	}
	if got := entries(); len(got) > 2 {
		t.Errorf("there are %v", got)
	}

	for _, name := range entries() {
		if err := c.remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2 {
		add(t, c, hashes[n], folders[n])
		long := time.Now().Add(time.Duration(n-10) * time.Hour)
		if err := c.root.Chtimes(hashes[n], long, long); err != nil {
			t.Fatal(err)
		}
	}
	c.restore(hashes[0], t.TempDir(), gib)
	add(t, c, hashes[2], folders[2])
	want := []string{hashes[0], hashes[2]}
	slices.Sort(want)
	if got := entries(); !slices.Equal(got, want) {
		t.Errorf("there are %v, want %v", got, want)
	}
}

// owned is a folder with another owner.
type owned struct {
	fs.FileInfo
	uid uint32
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: o.uid} }

func TestFolderOfAnotherUserIsNotPrivate(t *testing.T) {
	dir := t.TempDir()
	me := uint32(os.Geteuid())
	for mode, want := range map[os.FileMode]bool{0o700: true, 0o500: true, 0o770: false, 0o702: false, 0o701: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := isPrivate(owned{info, me}); got != want {
			t.Errorf("with mode %o it is private: %t", mode, got)
		}
		if isPrivate(owned{info, me + 1}) {
			t.Errorf("with mode %o the folder of another user is private", mode)
		}
	}
}

// A child that was taken over may leave anything in its folder. Nothing from outside of it gets into an entry.
func TestEntryHasNothingFromOutside(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("secret", minCachedCode)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, leave := range map[string]func(file string) error{
		"link":   func(file string) error { return os.Symlink(secret, file) },
		"pipe":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"folder that is a link": func(file string) error {
			if err := os.Rename(secret, filepath.Join(filepath.Dir(secret), filepath.Base(file))); err != nil {
				return err
			}
			if err := os.Remove(filepath.Dir(file)); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(secret), filepath.Dir(file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := openCode(t)
			hash, folder := made(t, 1)
			file := filepath.Join(folder, "engine", hash)
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := leave(file); err != nil {
				t.Fatal(err)
			}
			if err := c.add(hash, folder, ""); err == nil {
				t.Error("it was added")
			}
			if all, err := fs.ReadDir(c.root.FS(), "."); err != nil || len(all) > 0 {
				t.Errorf("the folder has %v, %v", all, err)
			}
		})
	}
}
