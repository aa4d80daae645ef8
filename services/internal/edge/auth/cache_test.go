package auth

import (
	"net/http"
	"testing"
	"time"

	"matchmaker.dev/pkg/client/transporttest"
)

func TestCacheForgetsTheLeastRecentlyUsed(t *testing.T) {
	now := time.Unix(1, 0)
	c := newCache(2, 1000)
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

func TestCacheIsBoundedInBytes(t *testing.T) {
	now := time.Unix(1, 0)
	c := newCache(100, 1000)
	for id := range byte(50) {
		c.put(&entry{key: digest{id}, principal: &Principal{}, until: now.Add(time.Second), size: 300})
		if c.used > 1000 || c.used != 300*c.recent.Len() || c.recent.Len() != len(c.entries) {
			t.Fatalf("%d bytes, %d listed, %d entries", c.used, c.recent.Len(), len(c.entries))
		}
	}
	if c.get(digest{49}, now) == nil || c.get(digest{46}, now) != nil {
		t.Error("the three that were used last should be there")
	}
	c.put(&entry{key: digest{49}, principal: &Principal{}, until: now.Add(time.Second), size: 400})
	if c.used != 1000 {
		t.Errorf("%d bytes after a token was put again, want 1000", c.used)
	}
	c.get(digest{49}, now.Add(time.Second))
	if c.used != 600 {
		t.Errorf("%d bytes after a token's end, want 600", c.used)
	}
	c.put(&entry{key: digest{60}, principal: &Principal{}, until: now.Add(time.Second), size: 2000})
	if c.used != 0 || len(c.entries) != 0 {
		t.Errorf("%d bytes, %d entries: what does not fit is not kept", c.used, len(c.entries))
	}
}

func TestConnectionThatDiesSilentlyIsReplaced(t *testing.T) {
	transporttest.ReplacesSilent(t, func() *http.Transport { return transport(time.Now).(*http.Transport) })
}
