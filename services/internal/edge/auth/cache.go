package auth

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// digest stands for a token, so that a memory dump of the cache holds none.
type digest = [sha256.Size]byte

// entrySize is about what an entry takes besides the texts of its principal, which are no longer than the token.
const entrySize = 400

// cache remembers verified tokens, the least recently used leaving first. It holds size of them at most, and bytes.
type cache struct {
	size    int
	bytes   int
	used    int
	mu      sync.Mutex
	entries map[digest]*list.Element
	recent  *list.List // of *entry, the most recently used in front
}

type entry struct {
	key       digest
	principal *Principal
	until     time.Time
	// size is about how many bytes the entry takes.
	size int
}

func newCache(size, bytes int) *cache {
	return &cache{size: size, bytes: bytes, entries: map[digest]*list.Element{}, recent: list.New()}
}

// get returns nil for tokens that are unknown or no longer good.
func (c *cache) get(key digest, now time.Time) *Principal {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.entries[key]
	if element == nil {
		return nil
	}
	e := element.Value.(*entry)
	if !now.Before(e.until) {
		c.remove(element)
		return nil
	}
	c.recent.MoveToFront(element)
	return e.principal
}

// usage returns how many tokens are remembered, and about how many bytes they take.
func (c *cache) usage() (tokens, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recent.Len(), c.used
}

func (c *cache) put(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element := c.entries[e.key]; element != nil {
		c.remove(element)
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.used += e.size
	for c.recent.Len() > c.size || c.used > c.bytes {
		c.remove(c.recent.Back())
	}
}

// remove forgets an entry.
func (c *cache) remove(element *list.Element) {
	e := c.recent.Remove(element).(*entry)
	delete(c.entries, e.key)
	c.used -= e.size
}
