package registry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/problem"
)

func TestUploadsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(1)
		leave, err := a.enter(t.Context(), "one")
		must(t, err)
		for _, project := range []string{"one", "two"} {
			_, err = a.enter(t.Context(), project)
			if f, ok := errors.AsType[*problem.Error](err); !ok || f.Kind != problem.Limited || f.RetryAfter <= 0 {
				t.Errorf("the second upload got %v", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.enter(ctx, "one"); !errors.Is(err, context.Canceled) {
			t.Errorf("an upload that was canceled got %v", err)
		}
		time.AfterFunc(time.Second, leave)
		leave, err = a.enter(t.Context(), "two")
		must(t, err)
		leave()
		if len(a.projects) > 0 || !a.all.TryAcquire(1) {
			t.Errorf("%d projects are not given back, or the slot", len(a.projects))
		}
	})
}

func TestUploadsOfAProjectHoldUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(8)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		for range 20 {
			go func() {
				if leave, err := a.enter(ctx, "slow"); err == nil {
					<-ctx.Done()
					leave()
				}
			}()
		}
		synctest.Wait()
		began := time.Now()
		for range 2 {
			_, err := a.enter(t.Context(), "other")
			must(t, err)
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("waited %v", waited)
		}
	})
}
