package auth

import (
	"testing"
	"time"
)

func TestCacheForgetsTheLeastRecentlyUsed(t *testing.T) {
	now := time.Unix(1, 0)
	c := newCache(2)
	put := func(id byte, until time.Time) {
		c.put(&entry{key: digest{id}, principal: &Principal{Subject: string(rune(id))}, until: until})
	}
	known := func(id byte) bool {
		p := c.get(digest{id}, now)
		return p != nil && p.Subject == string(rune(id))
	}
	put('a', now.Add(time.Second))
	put('b', now.Add(time.Second))
	if !known('a') {
		t.Fatal("a is not known")
	}
	put('c', now.Add(time.Second))
	if known('b') || !known('a') || !known('c') {
		t.Errorf("a %v, b %v, c %v: b was used longest ago", known('a'), known('b'), known('c'))
	}
	put('c', now.Add(2*time.Second))
	put('c', now.Add(2*time.Second))
	now = now.Add(time.Second)
	if known('a') || !known('c') {
		t.Errorf("a %v, c %v: a is over, c was renewed", known('a'), known('c'))
	}
	if len(c.entries) != 1 || c.recent.Len() != 1 {
		t.Errorf("%d entries, %d listed: what is over takes no room", len(c.entries), c.recent.Len())
	}
}
