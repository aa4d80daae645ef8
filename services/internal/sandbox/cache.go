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

// CacheLimits bound the modules that stay on disk while nobody holds them, so that they need not be compiled again. A
// module and its machine code take about five times the module's size. A zero member means the default.
type CacheLimits struct {
	Age   time.Duration // since it was last loaded or released: 7 days
	Bytes int64         // of all modules together, those that are held included: 1 GiB
}

func (k CacheLimits) complete() (CacheLimits, error) {
	if k.Age < 0 || k.Bytes < 0 {
		return k, fmt.Errorf("sandbox: the limits of the cache must not be negative: %v, %d bytes", k.Age, k.Bytes)
	}
	if k.Age == 0 {
		k.Age = defaults().Cache.Age
	}
	if k.Bytes == 0 {
		k.Bytes = defaults().Cache.Bytes
	}
	return k, nil
}

// pruneInterval is how often modules are removed that are too old.
const pruneInterval = time.Hour

// cacheEntry is a module on disk. It is not removed while somebody holds it.
type cacheEntry struct {
	module  *Module
	refs    int  // how many hold it
	suspect bool // it did not start any more: its files may be damaged
}

// acquire holds a module that is in the cache; nil when it is not.
func (b *Box) acquire(hash string) *Module {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.cached[hash]
	if e == nil || e.suspect {
		return nil
	}
	e.refs++
	return e.module
}

// addToCache adds a module that was just loaded, and holds it.
func (b *Box) addToCache(m *Module) *Module {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.cached[m.Hash]
	if e == nil {
		e = &cacheEntry{module: m}
		b.cached[m.Hash] = e
	}
	e.refs++
	e.suspect = false
	return e.module
}

// markSuspect makes the next Load or Open check the files of a module, when they may be to blame for a failed start:
// other processes can remove or damage them. The module itself is not to blame, since it started before.
func (b *Box) markSuspect(hash string, err error) {
	if e, ok := errors.AsType[*Error](err); ok && e.Cause != Died && e.Cause != Invalid {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.cached[hash]; e != nil {
		e.suspect = true
	}
}

// Release ends the hold of Load or Open. Instances go on; the caller may start no new ones. The module stays on disk as
// long as CacheLimits allow.
func (b *Box) Release(m *Module) {
	b.mu.Lock()
	e := b.cached[m.Hash]
	e.refs--
	last := e.refs == 0
	b.mu.Unlock()
	if last {
		b.touch(m.Hash)
	}
}

// touch notes that a module was used. On failure only its age is wrong.
func (b *Box) touch(hash string) {
	now := b.now()
	_ = os.Chtimes(b.folder(hash), now, now)
}

// evict forgets a module, so that its folder may be removed. It returns nil when somebody holds or loads the module.
// Who wants to load it meanwhile waits for the loading that is returned.
func (b *Box) evict(hash string) *loading {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.cached[hash]; e != nil && e.refs > 0 || b.loadings[hash] != nil {
		return nil
	}
	delete(b.cached, hash)
	l := &loading{ended: make(chan struct{})}
	b.loadings[hash] = l
	return l
}

// pruneRegularly prunes every pruneInterval, until Close.
func (b *Box) pruneRegularly() {
	defer close(b.pruneEnded)
	t := time.NewTicker(pruneInterval)
	defer t.Stop()
	for {
		b.prune()
		select {
		case <-t.C:
		case <-b.quit:
			return
		}
	}
}

// cachedModule is a module's folder.
type cachedModule struct {
	hash  string
	used  time.Time
	bytes int64
}

// DiskUse is what modules and their machine code take on disk, in bytes.
type DiskUse struct {
	Cached int64 // all of them
	Held   int64 // of that, modules that somebody holds: no limit of the cache removes them
}

// DiskUse returns what was found on disk last.
func (b *Box) DiskUse() DiskUse {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.disk
}

// prune removes modules until the CacheLimits hold, the longest unused first.
func (b *Box) prune() {
	b.pruning.Lock()
	defer b.pruning.Unlock()
	all, err := b.listCached()
	if err != nil {
		b.log.Warn("the folder of cached modules cannot be read", "folder", b.dir, "error", err)
		return
	}
	var total, held int64
	for _, s := range all {
		total += s.bytes
	}
	oldest := b.now().Add(-b.cacheLimits.Age)
	for _, s := range all {
		if total <= b.cacheLimits.Bytes && !s.used.Before(oldest) {
			break
		}
		l := b.evict(s.hash)
		if l == nil {
			continue
		}
		err := os.RemoveAll(b.folder(s.hash))
		b.endLoading(s.hash, l)
		if err != nil {
			b.log.Warn("an unused module cannot be removed", "module", s.hash, "error", err)
			continue
		}
		total -= s.bytes
	}
	b.mu.Lock()
	for _, s := range all {
		if e := b.cached[s.hash]; e != nil && e.refs > 0 {
			held += s.bytes
		}
	}
	before := b.disk
	b.disk = DiskUse{Cached: total, Held: held}
	b.mu.Unlock()
	if total > b.cacheLimits.Bytes && before.Cached <= b.cacheLimits.Bytes {
		b.log.Warn("modules that are in use take more of the disk than the cache may have: give --module-cache more, or "+
			"projects less machine code", "folder", b.dir, "bytes", total, "held", held, "limit", b.cacheLimits.Bytes)
	}
}

// listCached lists the modules on disk, the longest unused first.
func (b *Box) listCached() ([]cachedModule, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return nil, err
	}
	var all []cachedModule
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !isHash(e.Name()) {
			continue // removed meanwhile, or no module
		}
		all = append(all, cachedModule{hash: e.Name(), used: info.ModTime(), bytes: diskUsage(b.folder(e.Name()))})
	}
	slices.SortFunc(all, func(a, b cachedModule) int { return a.used.Compare(b.used) })
	return all, nil
}

// diskUsage is how many bytes the files below a folder have.
func diskUsage(folder string) (bytes int64) {
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

// isHash returns whether a name is a SHA-256 in hexadecimal, as the folders of modules are named.
func isHash(name string) bool {
	sum, err := hex.DecodeString(name)
	return err == nil && len(sum) == 32 && hex.EncodeToString(sum) == name
}
