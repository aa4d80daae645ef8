package keylock

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestOnlyOneHasTheLockOfAKey(t *testing.T) {
	var locks Locks
	counts := map[string]*int{"a": new(int), "b": new(int)} // the race detector finds two at once
	var all sync.WaitGroup
	for i := range 100 {
		key := []string{"a", "b"}[i%2]
		all.Go(func() {
			unlock, err := locks.Lock(t.Context(), key)
			if err != nil {
				t.Error(err)
				return
			}
			*counts[key]++
			unlock()
		})
	}
	all.Wait()
	if *counts["a"] != 50 || *counts["b"] != 50 {
		t.Errorf("locked %d and %d times", *counts["a"], *counts["b"])
	}
	if len(locks.held) != 0 {
		t.Errorf("%d locks are left over", len(locks.held))
	}
}

func TestWaitForALockEndsWithTheContext(t *testing.T) {
	var locks Locks
	unlock, err := locks.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := locks.Lock(ctx, "a"); !errors.Is(err, why) || err.Error() != "wait for another call for a: no time" {
		t.Error(err)
	}
	if another, err := locks.Lock(t.Context(), "b"); err != nil {
		t.Error(err)
	} else {
		another()
	}
	unlock()
	if unlock, err = locks.Lock(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	unlock()
	if len(locks.held) != 0 {
		t.Errorf("%d locks are left over", len(locks.held))
	}
}
