package snapshot_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/runner/snapshot"
)

// vault is secrets in memory.
type vault map[string][]byte

func (v vault) KeepSecret(_ context.Context, project, name string, _ time.Duration) ([]byte, error) {
	secret := bytes.Repeat([]byte(name[:4]), 8)
	v[project+"/"+name] = secret
	return secret, nil
}

func (v vault) TakeSecret(_ context.Context, project, name string) ([]byte, error) {
	secret := v[project+"/"+name]
	delete(v, project+"/"+name)
	return secret, nil
}

var origin = state.Origin{Feed: "feed", History: "history"}

// text is more than two chunks.
var text = bytes.Repeat([]byte("ada waits. "), 15_000)

// place is a folder, its secrets and its clock.
type place struct {
	*snapshot.Folder
	dir     string
	secrets vault
	now     time.Time
}

func newPlace(t testing.TB, most int64) *place {
	t.Helper()
	p := &place{dir: filepath.Join(t.TempDir(), "snapshots"), secrets: vault{}, now: time.Now()}
	p.open(t, most)
	return p
}

func (p *place) open(t testing.TB, most int64) {
	t.Helper()
	var err error
	if p.Folder, err = snapshot.Open(p.dir, most, p.secrets, func() time.Time { return p.now }); err != nil {
		t.Fatal(err)
	}
}

func (p *place) write(t testing.TB, project string, content []byte) {
	t.Helper()
	n, err := p.Write(t.Context(), project, origin, 7, func(w io.Writer) error {
		for part := range slices.Chunk(content, 1000) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || n < int64(len(content)) {
		t.Fatalf("%d bytes, %v", n, err)
	}
}

func (p *place) take(t testing.TB, project string, of state.Origin) (content []byte, position uint64, err error) {
	t.Helper()
	position, err = p.Take(t.Context(), project, of, func(r io.Reader) (err error) {
		content, err = io.ReadAll(r)
		return err
	})
	return content, position, err
}

func (p *place) files(t testing.TB) (paths []string) {
	t.Helper()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		paths = append(paths, filepath.Join(p.dir, e.Name()))
	}
	return paths
}

func TestSnapshotIsTakenOnce(t *testing.T) {
	p := newPlace(t, 1<<20)
	for _, content := range [][]byte{nil, text[:1], text[:64<<10], text[:64<<10+1], text} {
		p.write(t, "p", text[:5]) // it is replaced
		p.write(t, "p", content)
		if got, position, err := p.take(t, "p", origin); err != nil || position != 7 || !bytes.Equal(got, content) {
			t.Errorf("%d bytes at %d, want %d at 7: %v", len(got), position, len(content), err)
		}
		if _, position, err := p.take(t, "p", origin); err != nil || position != 0 {
			t.Errorf("taken twice: %d, %v", position, err)
		}
		if left := p.files(t); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	}
}

// Nobody else may read what is kept, and it says nothing without its secret.
func TestSnapshotIsPrivate(t *testing.T) {
	p := newPlace(t, 1<<20)
	p.write(t, "p", text)
	path := p.files(t)[0]
	for name, want := range map[string]os.FileMode{p.dir: 0o700, path: 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v (%v)", name, info.Mode(), err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte("ada waits")) {
		t.Errorf("a player is named (%v)", err)
	}
	clear(p.secrets)
	if _, position, err := p.take(t, "p", origin); err == nil || position != 0 {
		t.Error("it was read without its secret")
	}
}

func TestSnapshotThatIsNoProofIsRefused(t *testing.T) {
	p := newPlace(t, 1<<20)
	refused := func(what, reason string, project string, of state.Origin, change func(data []byte) []byte) {
		t.Helper()
		p.write(t, "p", text)
		path := p.files(t)[0]
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if project != "p" { // its file has another name
			path = strings.ReplaceAll(path, filepath.Base(path), nameOf(t, project))
		}
		if err := os.WriteFile(path, change(data), 0o600); err != nil {
			t.Fatal(err)
		}
		_, position, err := p.take(t, project, of)
		if err == nil || position != 0 || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: position %d, error %v, want %q", what, position, err, reason)
		}
	}
	same := func(data []byte) []byte { return data }
	refused("another feed", "another feed", "p", state.Origin{Feed: "other", History: "history"}, same)
	refused("another Redis", "another feed", "p", state.Origin{Feed: "feed", History: "other"}, same)
	refused("another project", "another project", "q", origin, same)
	refused("an empty file", "unexpected EOF", "p", origin, func([]byte) []byte { return nil })
	const chunk = 4 + 64<<10 + 16
	for _, n := range []int{1, 11, 12, 100, len(text) / 2, len(text), len(text) + 1} {
		refused("a torn file", "unexpected EOF", "p", origin, func(data []byte) []byte { return data[:n] })
	}
	refused("a file without its last chunk", "unexpected EOF", "p", origin, func(data []byte) []byte {
		first := len(data) - (len(text)%(64<<10) + 4 + 16)
		return data[:first]
	})
	refused("chunks in another order", "authentication", "p", origin, func(data []byte) []byte {
		first := len(data) - (len(text)%(64<<10) + 4 + 16) - 2*chunk
		return slices.Concat(data[:first], data[first+chunk:first+2*chunk], data[first:first+chunk], data[first+2*chunk:])
	})
	refused("more than a file", "bytes follow", "p", origin, func(data []byte) []byte { return append(data, 0) })
	refused("another version", "another version", "p", origin, func(data []byte) []byte { data[7]++; return data })

	now := p.now
	refused("one that is too old", "old", "p", origin, func(data []byte) []byte {
		p.now = now.Add(snapshot.MaxAge + time.Second)
		return data
	})
	refused("one of the future", "old", "p", origin, func(data []byte) []byte { p.now = now; return data })
}

// nameOf is the name of a project's file.
func nameOf(t *testing.T, project string) string {
	p := newPlace(t, 1<<20)
	p.write(t, project, nil)
	return filepath.Base(p.files(t)[0])
}

// A flipped bit anywhere is noticed.
func TestFlippedBitIsNoticed(t *testing.T) {
	p := newPlace(t, 1<<20)
	content := text[:300]
	p.write(t, "p", content)
	data, err := os.ReadFile(p.files(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		p.write(t, "p", content)
		path := p.files(t)[0]
		if data, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		data[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, position, err := p.take(t, "p", origin); err == nil || position != 0 {
			t.Fatalf("byte %d was changed, and the file was taken", i)
		}
	}
}

func TestFolderIsBounded(t *testing.T) {
	p := newPlace(t, 200_000)
	p.write(t, "p", text)
	fails := func(ctx context.Context, what string) {
		t.Helper()
		_, err := p.Write(ctx, "q", origin, 7, func(w io.Writer) error { _, err := w.Write(text); return err })
		if err == nil || len(p.files(t)) != 1 {
			t.Errorf("%s: %v, and there are %q", what, err, p.files(t))
		}
	}
	fails(t.Context(), "more than there is room for")
	ended, end := context.WithCancel(t.Context())
	end()
	p.open(t, 1<<30)
	fails(ended, "after its time")
	if _, err := p.Write(t.Context(), "q", state.Origin{Feed: "feed"}, 7, nil); err == nil {
		t.Error("a snapshot of an unknown feed was kept")
	}
	// What is too old goes, and what is not ours stays.
	if err := os.WriteFile(filepath.Join(p.dir, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.now = p.now.Add(snapshot.MaxAge + time.Minute)
	p.open(t, 1<<20)
	if left := p.files(t); len(left) != 1 || filepath.Base(left[0]) != "other" {
		t.Errorf("%q are left", left)
	}
}

func FuzzTake(f *testing.F) {
	p := newPlace(f, 1<<20)
	p.write(f, "p", text[:100])
	path := p.files(f)[0]
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("MMINDEX\x01\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		content, position, err := p.take(t, "p", origin)
		if err == nil && (position != 7 || !bytes.Equal(content, text[:100])) {
			t.Errorf("position %d and %q", position, content)
		}
		if len(p.files(t)) > 0 {
			t.Error("the file was not removed")
		}
	})
}
