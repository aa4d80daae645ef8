package runner

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// holders are instances that hold places, by name: the project, and the function.
type holders struct {
	t *testing.T
	*instanceQuota
	all map[string]*instancePlace
	got map[string]bool
}

func newHolders(t *testing.T, most int) *holders {
	return &holders{
		t: t, instanceQuota: &instanceQuota{most: most}, all: map[string]*instancePlace{}, got: map[string]bool{},
	}
}

// take makes an instance want a place. It gives it up when it is asked to, unless it is busy.
func (h *holders) take(name, project, function string) *instancePlace {
	l := h.newPlace(functionKey{project, function})
	h.all[name] = l
	ctx, cancel := context.WithCancel(h.t.Context())
	h.t.Cleanup(cancel)
	go func() {
		if !l.tryTake() && l.take(ctx) != nil {
			return
		}
		select {
		case <-l.asked:
			l.release()
		case <-ctx.Done():
		}
	}()
	synctest.Wait()
	return l
}

// expect fails unless these hold the places.
func (h *holders) expect(want ...string) {
	h.t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for name, l := range h.all {
		if l.held {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		h.t.Errorf("the places are held by %q, want %q", names, want)
	}
	if len(h.held) > h.most {
		h.t.Errorf("%d of %d places are taken", len(h.held), h.most)
	}
}

// A project that has all places gives some to others, those that have no run first. It keeps its share.
func TestPlacesAreSharedByProjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolders(t, 4)
		for n := range 6 {
			h.take(fmt.Sprint("a", n), "a", "f")
			time.Sleep(time.Millisecond) //nolint:forbidigo // the fake clock of synctest
		}
		h.expect("a0", "a1", "a2", "a3")
		h.all["a0"].setBusy(true)
		h.take("b0", "b", "f")
		h.expect("a0", "a2", "a3", "b0")
		h.take("b1", "b", "f")
		h.expect("a0", "a3", "b0", "b1")
		h.take("b2", "b", "f")
		h.expect("a0", "a3", "b0", "b1")
	})
}

// An instance that has no runs for a while is ended for a function without an instance.
func TestIdleInstanceMakesRoomForAFunctionWithoutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolders(t, 2)
		h.take("a", "p", "a")
		h.take("b", "q", "b")
		h.all["a"].setBusy(true)
		h.take("c", "p", "c")
		h.expect("a", "b")
		time.Sleep(placeIdle + placeRetry) //nolint:forbidigo // the fake clock of synctest
		h.expect("a", "c")
	})
}

// A new version of a function replaces the last instance of the old one when there is no place for both.
func TestNewVersionTakesThePlaceOfTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolders(t, 1)
		h.take("old", "p", "f")
		h.take("new", "p", "f")
		h.expect("old")
		time.Sleep(placeIdle + placeRetry) //nolint:forbidigo // the fake clock of synctest
		h.expect("new")
	})
}

// A slot that stops waiting gets no place, also when one is given to it at that moment.
func TestPlaceOfAWaiterThatLeavesGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolders(t, 1)
		first := h.take("a", "p", "a")
		first.setBusy(true)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		leaving := h.newPlace(functionKey{"q", "b"})
		go func() { gone <- leaving.take(ctx) }()
		synctest.Wait()
		h.take("c", "r", "c")
		cancel()
		if err := <-gone; err == nil {
			t.Fatal("it has a place")
		}
		first.release()
		h.expect("c")
	})
}
