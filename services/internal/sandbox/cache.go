package sandbox

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// CacheLimits bound what stays on disk of modules that nobody holds, so that they need not
// be compiled again when they come back: a module and its machine code, about
// five times the module's size. A zero member means the default.
type CacheLimits struct {
	Age   time.Duration // since it was last loaded or released: 7 days
	Bytes int64         // of all modules together, those that are held included: 1 GiB
}

func (k CacheLimits) complete() (CacheLimits, error) {
	if k.Age < 0 || k.Bytes < 0 {
		return k, fmt.Errorf("sandbox: what is kept must not be negative: %v, %d bytes", k.Age, k.Bytes)
	}
	if k.Age == 0 {
		k.Age = 7 * 24 * time.Hour
	}
	if k.Bytes == 0 {
		k.Bytes = gib
	}
	return k, nil
}

// tidyPause is how often modules are removed that have become too old.
const tidyPause = time.Hour

// held is a module on disk, and how many hold it. Nobody removes it while somebody does.
type held struct {
	module  *Module
	holders int
	// doubted is that it could not be started any more: perhaps it is not on disk as it was.
	doubted bool
}

// hold is a module that was loaded before and is still there, else nil.
func (b *Box) hold(hash string) *Module {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.modules[hash]
	if h == nil || h.doubted {
		return nil
	}
	h.holders++
	return h.module
}

// loaded is hold for a module that was loaded a moment ago.
func (b *Box) loaded(m *Module) *Module {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.modules[m.Hash]
	if h == nil {
		h = &held{module: m}
		b.modules[m.Hash] = h
	}
	h.holders++
	h.doubted = false
	return h.module
}

// doubt makes the next Load or Open look at what is on disk of a module, when it may be to blame for an error of a
// start: others than this process can remove or damage it. Nothing of the module itself had a part in such an error, since it started once.
func (b *Box) doubt(hash string, err error) {
	if e, ok := errors.AsType[*Error](err); ok && e.Cause != Died && e.Cause != Invalid {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.modules[hash]; h != nil {
		h.doubted = true
	}
}

// Release ends what Load or Open began. Instances live on; no new ones may be
// started by the one who released it. It stays on disk as long as CacheLimits allows.
func (b *Box) Release(m *Module) {
	b.mu.Lock()
	h := b.modules[m.Hash]
	h.holders--
	last := h.holders == 0
	b.mu.Unlock()
	if last {
		b.touch(m.Hash)
	}
}

// touch notes that a module was used. Its age is all that hangs on it.
func (b *Box) touch(hash string) {
	now := b.now()
	_ = os.Chtimes(b.folder(hash), now, now)
}

// drop forgets a module, so that its folder may be removed; false when somebody holds it.
func (b *Box) drop(hash string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.modules[hash]; h != nil && h.holders > 0 {
		return false
	}
	delete(b.modules, hash)
	return true
}

// tidy prunes now and then, until Close.
func (b *Box) tidy() {
	defer close(b.tidied)
	t := time.NewTicker(tidyPause)
	defer t.Stop()
	for {
		select {
		case b.loading <- struct{}{}:
			b.prune()
			<-b.loading
		case <-b.quit:
			return
		}
		select {
		case <-t.C:
		case <-b.quit:
			return
		}
	}
}

// shelved is a module's folder.
type shelved struct {
	hash  string
	used  time.Time
	bytes int64
}

// prune removes what is over the CacheLimits, the longest unused first. Only one at a
// time changes the folder: the caller has the turn.
func (b *Box) prune() {
	all, err := b.shelf()
	if err != nil {
		b.log.Warn("the folder of modules cannot be read", "folder", b.dir, "error", err)
		return
	}
	var total int64
	for _, s := range all {
		total += s.bytes
	}
	oldest := b.now().Add(-b.keep.Age)
	for _, s := range all {
		if total <= b.keep.Bytes && !s.used.Before(oldest) {
			return
		}
		if !b.drop(s.hash) {
			continue
		}
		if err := os.RemoveAll(b.folder(s.hash)); err != nil {
			b.log.Warn("a module that is not used any more cannot be removed", "module", s.hash, "error", err)
			continue
		}
		total -= s.bytes
	}
}

// shelf is all modules on disk, the longest unused first.
func (b *Box) shelf() ([]shelved, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return nil, err
	}
	var all []shelved
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !isHash(e.Name()) {
			continue // gone meanwhile, or not ours
		}
		all = append(all, shelved{hash: e.Name(), used: info.ModTime(), bytes: weigh(b.folder(e.Name()))})
	}
	slices.SortFunc(all, func(a, b shelved) int { return a.used.Compare(b.used) })
	return all, nil
}

// weigh is how many bytes the files below a folder have.
func weigh(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is not counted
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// isHash tells whether a name is a SHA-256 as the folders of modules are called.
func isHash(name string) bool {
	sum, err := hex.DecodeString(name)
	return err == nil && len(sum) == 32 && hex.EncodeToString(sum) == name
}
