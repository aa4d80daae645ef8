package sandbox

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/quota"
)

// CacheLimits bound the modules that stay on disk unheld, so that they need not be compiled again. A
// module and its machine code take about four times the module's size. A zero member means the default.
type CacheLimits struct {
	Age   time.Duration // since it was last loaded or released: 7 days
	Bytes int64         // of all modules together, those that are held included: 1 GiB
	// Held is the most that held modules may take: 3 GiB. An owner may hold a fair share.
	Held int64
}

func (k CacheLimits) complete() CacheLimits {
	d := defaults().Cache
	return CacheLimits{Age: cmp.Or(k.Age, d.Age), Bytes: cmp.Or(k.Bytes, d.Bytes), Held: cmp.Or(k.Held, d.Held)}
}

// pruneInterval is how often modules are removed that are too old.
const pruneInterval = time.Hour

// cacheEntry is a module on disk. It is not removed while it is held.
type cacheEntry struct {
	module  *Module
	holders map[string]int // how often each owner holds it
	suspect bool           // it did not start any more: its files may be damaged
}

// release ends a hold.
func (e *cacheEntry) release(owner string) {
	if e.holders[owner]--; e.holders[owner] == 0 {
		delete(e.holders, owner)
	}
}

// acquire holds a module that is in the cache; nil when it is not. It fails as hold does.
func (b *Supervisor) acquire(owner, hash string) (*Module, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.cached[hash]
	if e == nil || e.suspect {
		return nil, nil //nolint:nilnil // it is to be loaded
	}
	return b.hold(e, owner)
}

// hold holds a module for an owner, and returns it for the owner. It returns an error when held modules take too much.
// The caller has the lock.
func (b *Supervisor) hold(e *cacheEntry, owner string) (*Module, error) {
	if e.holders[owner] == 0 {
		own, others := e.module.disk(), int64(0)
		for _, c := range b.cached {
			switch {
			case c.holders[owner] > 0:
				own += c.module.disk()
			case len(c.holders) > 0 && c != e:
				others += c.module.disk()
			}
		}
		if most := b.cacheLimits.Held; own > quota.Share(others, most) {
			err := problem.New(problem.Unavailable, "the modules that run here would take %d MiB with their machine code, "+
				"%d MiB of them by this project; at most %d MiB are allowed (--max-module-disk), and a project may have "+
				"half of what the others leave: try again when other functions were deleted", toMiB(own+others), toMiB(own),
				most/mib).Exceeds("max-module-disk")
			err.RetryAfter = roomDelay
			return nil, err
		}
	}
	e.holders[owner]++
	held := *e.module
	held.owner = owner
	return &held, nil
}

// roomDelay is when to try again to hold a module after there was no room.
const roomDelay = time.Minute

// toMiB rounds up.
func toMiB(bytes int64) int64 { return (bytes + mib - 1) / mib }

// addToCache adds a module that was just loaded, and holds it for an owner.
func (b *Supervisor) addToCache(m *Module, owner string) (*Module, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.cached[m.Hash]
	if e == nil {
		e = &cacheEntry{module: m, holders: map[string]int{}}
		b.cached[m.Hash] = e
	}
	e.suspect = false
	return b.hold(e, owner)
}

// markSuspect makes the next Load or Open check the files of a module, when they may be to blame for a failed start:
// other processes can remove or damage them. The module itself is not to blame, since it started before.
func (b *Supervisor) markSuspect(hash string, err error) {
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
func (b *Supervisor) Release(m *Module) {
	b.mu.Lock()
	e := b.cached[m.Hash]
	e.release(m.owner)
	last := len(e.holders) == 0
	b.mu.Unlock()
	if last {
		b.touch(m.Hash)
	}
}

// touch notes that a module was used. On failure only its age is wrong.
func (b *Supervisor) touch(hash string) {
	now := b.now()
	_ = os.Chtimes(b.folder(hash), now, now)
}

// evict removes a module from memory and disk, unless it is held, loaded or removed already.
func (b *Supervisor) evict(hash string) (removed bool) {
	unlock, busy := b.loading.TryLock(hash)
	if busy != nil {
		return false
	}
	defer unlock()
	b.mu.Lock()
	held := b.cached[hash] != nil && len(b.cached[hash].holders) > 0
	if !held {
		delete(b.cached, hash)
	}
	b.mu.Unlock()
	if held {
		return false
	}
	err := os.RemoveAll(b.folder(hash))
	if err != nil {
		b.log.Warn("an unused module cannot be removed", "module", hash, "error", err)
	}
	return err == nil
}

// cachedModule is a module's folder.
type cachedModule struct {
	hash  string
	used  time.Time
	bytes int64
}

// DiskUse is the disk use of modules and their machine code, in bytes.
type DiskUse struct {
	Cached int64 // all of them, as found on disk last
	Held   int64 // those that are held now: CacheLimits.Held bounds them, and they are not removed
	Limits CacheLimits
}

// DiskUse returns the disk use of modules.
func (b *Supervisor) DiskUse() DiskUse {
	b.mu.Lock()
	defer b.mu.Unlock()
	use := DiskUse{Cached: b.disk, Limits: b.cacheLimits}
	for _, e := range b.cached {
		if len(e.holders) > 0 {
			use.Held += e.module.disk()
		}
	}
	use.Cached = max(use.Cached, use.Held)
	return use
}

// prune removes modules until the CacheLimits hold, the longest unused first.
func (b *Supervisor) prune() {
	b.pruning.Lock()
	defer b.pruning.Unlock()
	all, err := b.listCached()
	if err != nil {
		b.log.Warn("the folder of cached modules cannot be read", "folder", b.dir, "error", err)
		return
	}
	var total int64
	for _, s := range all {
		total += s.bytes
	}
	oldest := b.now().Add(-b.cacheLimits.Age)
	for _, s := range all {
		if total <= b.cacheLimits.Bytes && !s.used.Before(oldest) {
			break
		}
		if b.evict(s.hash) {
			total -= s.bytes
		}
	}
	b.mu.Lock()
	before := b.disk
	b.disk = total
	b.mu.Unlock()
	if total > b.cacheLimits.Bytes && before <= b.cacheLimits.Bytes {
		b.log.Warn("modules in use exceed the cache on disk: others are compiled again each time; give --module-cache more, "+
			"or projects less machine code", "folder", b.dir,
			"bytes", total, "held", b.DiskUse().Held, "limit", b.cacheLimits.Bytes)
	}
}

// listCached lists the modules on disk, the longest unused first.
func (b *Supervisor) listCached() ([]cachedModule, error) {
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

// isHash reports whether a name is a SHA-256 in hexadecimal, as the folders of modules are named.
func isHash(name string) bool {
	sum, err := hex.DecodeString(name)
	return err == nil && len(sum) == 32 && hex.EncodeToString(sum) == name
}
