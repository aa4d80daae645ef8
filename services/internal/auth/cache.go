package auth

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// digest stands for a token, so that a memory dump of the cache holds none.
type digest = [sha256.Size]byte

// cache remembers verified tokens, the least recently used leaving first.
type cache struct {
	size    int
	mu      sync.Mutex
	entries map[digest]*list.Element
	recent  *list.List // of *entry, the most recently used in front
}

type entry struct {
	key       digest
	principal *Principal
	until     time.Time
}

func newCache(size int) *cache {
	return &cache{size: size, entries: map[digest]*list.Element{}, recent: list.New()}
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
		c.recent.Remove(element)
		delete(c.entries, key)
		return nil
	}
	c.recent.MoveToFront(element)
	return e.principal
}

func (c *cache) put(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element := c.entries[e.key]; element != nil {
		element.Value = e
		c.recent.MoveToFront(element)
		return
	}
	c.entries[e.key] = c.recent.PushFront(e)
	if c.recent.Len() > c.size {
		oldest := c.recent.Remove(c.recent.Back()).(*entry)
		delete(c.entries, oldest.key)
	}
}
