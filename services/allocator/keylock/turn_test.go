package keylock

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestOneAfterTheOther(t *testing.T) {
	var turns Turns
	counts := map[string]*int{"a": new(int), "b": new(int)} // the race detector sees who is not alone
	var all sync.WaitGroup
	for i := range 100 {
		id := []string{"a", "b"}[i%2]
		all.Go(func() {
			done, err := turns.Take(t.Context(), id)
			if err != nil {
				t.Error(err)
				return
			}
			*counts[id]++
			done()
		})
	}
	all.Wait()
	if *counts["a"] != 50 || *counts["b"] != 50 {
		t.Errorf("%d and %d turns", *counts["a"], *counts["b"])
	}
	if len(turns.all) != 0 {
		t.Errorf("%d turns are left over", len(turns.all))
	}
}

func TestWhoDoesNotWaitHasNoTurn(t *testing.T) {
	var turns Turns
	done, err := turns.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := turns.Take(ctx, "a"); !errors.Is(err, why) {
		t.Error(err)
	}
	if another, err := turns.Take(t.Context(), "b"); err != nil {
		t.Error(err)
	} else {
		another()
	}
	done()
	if done, err = turns.Take(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	done()
	if len(turns.all) != 0 {
		t.Errorf("%d turns are left over", len(turns.all))
	}
}
