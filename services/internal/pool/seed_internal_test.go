package pool

import "testing"

// The key, the text and the hash are those that the authors of SipHash published.
func TestSeedHashesAsSipHashDoes(t *testing.T) {
	var bytes [16]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	s := seedIn(bytes[:])
	if got := s.sum(bytes[:15]); got != 0xa129ca6149be45e5 {
		t.Errorf("%x", got)
	}
	if again := seedIn(s.appendTo(nil)); again != s {
		t.Errorf("%x was stored as %x", s, again)
	}
	if one, other := newSeed(), newSeed(); one == other {
		t.Error("two seeds are the same")
	}
}
