package snapshot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/services/internal/state"
)

// MaxAge is how long a snapshot is of use at most, and how long its secret is kept: the feed has the changes of the
// last minute.
const MaxAge = time.Minute

// Secrets keeps secrets elsewhere than on this disk: a *state.Store.
type Secrets interface {
	KeepSecret(ctx context.Context, project, name string, age time.Duration) ([]byte, error)
	TakeSecret(ctx context.Context, project, name string) ([]byte, error)
}

// Folder has one file for each project. It is safe for concurrent use.
type Folder struct {
	dir     string
	most    int64
	secrets Secrets
	now     func() time.Time
	writing sync.Mutex
}

// Open makes the folder, if it is not there, for files of so many bytes together, and removes what is of no use.
func Open(dir string, most int64, secrets Secrets, now func() time.Time) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder, whose x bit is the way in
		return nil, err
	}
	f := &Folder{dir: dir, most: most, secrets: secrets, now: now}
	return f, f.Sweep()
}

const (
	ending  = ".index"
	unready = ".part"
)

func (f *Folder) path(project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:])+ending)
}

// Sweep removes files that are older than MaxAge.
func (f *Folder) Sweep() error {
	_, err := f.each(func(path string, info fs.FileInfo) error {
		if f.now().Sub(info.ModTime()).Abs() <= MaxAge {
			return nil
		}
		return os.Remove(path)
	})
	return err
}

// each calls do with each of the folder's files, and returns how many bytes they have.
func (f *Folder) each(do func(path string, info fs.FileInfo) error) (bytes int64, err error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(e.Name(), ending) && !strings.HasSuffix(e.Name(), unready) {
			continue // removed meanwhile, or not ours
		}
		bytes += info.Size()
		errs = append(errs, do(filepath.Join(f.dir, e.Name()), info))
	}
	return bytes, errors.Join(errs...)
}

// Write keeps what save writes, as the project's snapshot at a position of a feed, until ctx ends. It replaces an older
// one. It returns the file's bytes.
func (f *Folder) Write(
	ctx context.Context, project string, origin state.Origin, position uint64, save func(io.Writer) error,
) (int64, error) {
	if !origin.Known() || position == 0 {
		return 0, errors.New("a snapshot of an unknown feed is of no use")
	}
	h := Header{Project: project, Secret: rand.Text(), Origin: origin, Position: position, Written: f.now()}
	secret, err := f.secrets.KeepSecret(ctx, project, h.Secret, MaxAge) // before the lock: it may take long
	if err != nil {
		return 0, err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	path := f.path(project)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	used, err := f.each(func(string, fs.FileInfo) error { return nil })
	if err != nil {
		return 0, err
	}
	file, err := os.OpenFile(path+unready, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	out := &bounded{ctx: ctx, out: file, most: f.most - used}
	e, err := newEncoder(out, h, secret)
	if err == nil {
		err = save(e)
	}
	if err == nil {
		err = e.close()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(path+unready, path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(path+unready))
	}
	return out.written, nil
}

// bounded writes up to most bytes, until ctx ends.
type bounded struct {
	ctx           context.Context
	out           io.Writer
	written, most int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if err := context.Cause(b.ctx); err != nil {
		return 0, err
	}
	if b.written+int64(len(p)) > b.most {
		return 0, fmt.Errorf("there is room for %d bytes only", b.most)
	}
	n, err := b.out.Write(p)
	b.written += int64(n)
	return n, err
}

// Take gives load what Write kept of a project, if it is of this feed and not too old, and returns its position. It
// returns 0 and no error when there is none. The file is gone in any case. After an error what load got is void.
func (f *Folder) Take(
	ctx context.Context, project string, origin state.Origin, load func(io.Reader) error,
) (position uint64, err error) {
	path := f.path(project)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	if err := os.Remove(path); err != nil { // it would be read again
		return 0, err
	}
	h, head, err := readHeader(file)
	if err != nil {
		return 0, torn(err)
	}
	if err := f.check(h, project, origin); err != nil {
		return 0, err
	}
	secret, err := f.secrets.TakeSecret(ctx, project, h.Secret)
	if err != nil {
		return 0, err
	}
	if secret == nil {
		return 0, errors.New("its secret is gone")
	}
	s, err := newSealer(secret, head)
	if err != nil {
		return 0, err
	}
	d := &decoder{sealer: s, in: file}
	if err := load(d); err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, d)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d bytes of it were not read", n)
	}
	if err != nil {
		return 0, err
	}
	return h.Position, nil
}

// check returns an error unless the file is of this project and feed, and not too old.
func (f *Folder) check(h Header, project string, origin state.Origin) error {
	age := f.now().Sub(h.Written)
	switch {
	case h.Project != project:
		return errors.New("it is of another project")
	case !origin.Known() || h.Origin != origin || h.Position == 0:
		return errors.New("it is of another feed, or of a Redis that was replaced or restarted since")
	case age < 0 || age > MaxAge:
		return fmt.Errorf("it is %v old, and of use for %v", age.Round(time.Second), MaxAge)
	}
	return nil
}
