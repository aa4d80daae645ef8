package usage

import (
	"fmt"
	"testing"
	"time"
)

func TestUsageIsForgotten(t *testing.T) {
	const halfLife = 10 * time.Minute
	l, now := Ledger{HalfLife: halfLife}, time.Unix(1e9, 0)
	l.Add("a", 10*time.Second, now)
	now = now.Add(halfLife)
	l.Add("b", 6*time.Second, now)
	if a, b := l.Of("a", now), l.Of("b", now); a >= b || a < 4*time.Second {
		t.Errorf("a has %v, b %v", a, b)
	}
	for n := range 2 * maxOwners {
		l.Add(fmt.Sprint("stranger", n), time.Duration(n)*time.Microsecond, now)
	}
	if n := len(l.owners); n > maxOwners {
		t.Errorf("%d owners are known", n)
	}
	if l.Of("a", now) == 0 || l.Of("b", now) == 0 {
		t.Error("those with most usage are forgotten")
	}
}
