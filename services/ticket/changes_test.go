package ticket

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
)

func TestPokesOfAProjectAreCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var sent []string
		p := newChangeNotifier(func(_ context.Context, project string, position uint64) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, fmt.Sprintf("%v %s %d", time.Since(began), project, position))
		})
		changed := func(after time.Duration, project string, position uint64) {
			_ = wait.For(t.Context(), time.Until(began.Add(after)))
			p.changed(t.Context(), project, position)
			synctest.Wait()
		}
		const us = time.Microsecond
		changed(0, "a", 1)
		changed(100*us, "a", 3)
		changed(200*us, "a", 2) // groups may be told of in another order
		changed(300*us, "b", 7)
		changed(1500*us, "a", 4)
		changed(5000*us, "a", 5)
		_ = wait.For(t.Context(), time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		want := []string{"0s a 1", "300µs b 7", "1ms a 3", "2ms a 4", "5ms a 5"}
		if !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
		if len(p.later) != 0 {
			t.Errorf("%v are kept of projects to which nothing happens", p.later)
		}
	})
}
