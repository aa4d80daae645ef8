package state_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// While a group is written others gather. When they are many, more are refused, each until a time of its own.
func TestAdmitRefusesWhenManyWaitToBeStored(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		const queued = 512
		written, goOn := make(chan struct{}), make(chan struct{})
		once, release := sync.OnceFunc(func() { close(written); <-goOn }), sync.OnceFunc(func() { close(goOn) })
		defer release()
		creator := s.Creator(func(context.Context, string, uint64, ...string) { once() })
		errs := make(chan error, queued+1)
		create := func(id string) { errs <- creator.Create(t.Context(), project, ticket(id, 0)) }
		go create("first")
		<-written
		must(t, creator.Admit(project))
		for i := range queued {
			go create(fmt.Sprint("t", i))
		}
		for began := time.Now(); creator.Admit(project) == nil; runtime.Gosched() {
			if time.Since(began) > 30*time.Second {
				t.Fatal("none is refused")
			}
		}
		var last time.Duration
		for range 1000 {
			f, is := errors.AsType[*problem.Error](creator.Admit(project))
			if !is || f.Code != problem.ProjectLimited || f.Limit.Name != "creates" || f.RetryAfter <= last-time.Second/10 {
				t.Fatalf("refused with %v, after %v", f, last)
			}
			last = f.RetryAfter
		}
		if last < time.Second/2 {
			t.Errorf("the last one may come again in %v", last)
		}
		must(t, creator.Admit("other"))
		release()
		for range queued + 1 {
			must(t, <-errs)
		}
		must(t, creator.Admit(project))
	})
}
