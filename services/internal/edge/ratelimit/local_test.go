package ratelimit_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/state"
)

func TestLocalLimitsEachCaller(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	l := ratelimit.NewLocal("reads", state.Rate{PerSecond: 2, Burst: 3}, func() time.Time { return now })
	take := func(project, whose string) time.Duration {
		err := l.Allow(project, whose)
		if err == nil {
			return 0
		}
		f, ok := errors.AsType[*problem.Error](err)
		if !ok || f.Kind != problem.Limited || f.Limit == nil || f.Limit.Name != "reads" || f.Limit.Amount != 3 ||
			f.Limit.Window != 1500*time.Millisecond {
			t.Fatalf("%v", err)
		}
		return f.RetryAfter
	}
	for i, want := range []time.Duration{0, 0, 0, 500 * time.Millisecond, 500 * time.Millisecond} {
		if after := take("demo", "ada"); after != want {
			t.Errorf("request %d is to come again in %v, want %v", i, after, want)
		}
	}
	if take("demo", "bob") != 0 || take("other", "ada") != 0 {
		t.Error("somebody else is limited")
	}
	now = now.Add(400 * time.Millisecond)
	if after := take("demo", "ada"); after != 100*time.Millisecond {
		t.Errorf("come again in %v, want 100ms", after)
	}
	now = now.Add(100 * time.Millisecond)
	if take("demo", "ada") != 0 || take("demo", "ada") == 0 {
		t.Error("half a second gains one, and no more")
	}
	now = now.Add(time.Hour)
	for range 3 {
		if take("demo", "ada") != 0 {
			t.Error("a bucket has not filled in an hour")
		}
	}
	if take("demo", "ada") == 0 {
		t.Error("a bucket holds more than its burst")
	}
}

// A refusal of a caller takes nothing from its project, nor one of the project from the caller.
func TestLocalLimitsCallersWithinTheirProject(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { return now }
	each := ratelimit.NewLocal("each", state.Rate{PerSecond: 1, Burst: 2}, clock)
	all := ratelimit.NewLocal("all", state.Rate{PerSecond: 2, Burst: 4}, clock)
	for i, step := range []struct {
		project, caller, limit string
		code                   problem.Code
	}{
		{"demo", "ada", "", 0}, {"demo", "ada", "", 0},
		{"demo", "ada", "each", problem.PlayerLimited}, {"demo", "ada", "each", problem.PlayerLimited},
		{"demo", "", "", 0}, {"demo", "bob", "", 0}, // the fourth
		{"demo", "eve", "all", problem.ProjectLimited}, {"demo", "eve", "all", problem.ProjectLimited},
		{"demo", "", "all", problem.ProjectLimited}, {"other", "ada", "", 0},
		{"later", "", "", 0},
		{"demo", "eve", "", 0}, {"demo", "eve", "", 0}, {"demo", "bob", "all", problem.ProjectLimited},
	} {
		if step.project == "later" {
			now = now.Add(time.Second)
		}
		err := each.AllowWithin(all, step.project, step.caller)
		f, limited := errors.AsType[*problem.Error](err)
		if limited != (step.limit != "") ||
			limited && (f.Code != step.code || f.Limit.Name != step.limit || f.RetryAfter <= 0) {
			t.Errorf("request %d, of %q in %s: %v, want %q", i, step.caller, step.project, err, step.limit)
		}
	}
}

func TestLocalWithoutARateDoesNotLimit(t *testing.T) {
	l := ratelimit.NewLocal("reads", state.Rate{}, time.Now)
	for range 10_000 {
		if err := l.Allow("demo", "ada"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLocalForgetsNobodyTooEarly: each caller is allowed what a bucket that is never forgotten allows.
func TestLocalForgetsNobodyTooEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_700_000_000, 0)
		l := ratelimit.NewLocal("reads", state.Rate{PerSecond: 4, Burst: 5}, func() time.Time { return now })
		fill := map[string]float64{} // in requests
		at := map[string]time.Time{}
		for range rapid.IntRange(100, 400).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 1, 2, 3, 30}).Draw(t,
				"quarters")) * 250 * time.Millisecond)
			whose := rapid.SampledFrom([]string{"ada", "ada", "ada", "bob"}).Draw(t, "whose")
			left, known := fill[whose]
			if !known {
				left = 5
			} else {
				left = min(5, left+4*now.Sub(at[whose]).Seconds())
			}
			allowed := l.Allow("demo", whose) == nil
			if want := left >= 1; allowed != want {
				t.Fatalf("%s with %v left is allowed: %t", whose, left, allowed)
			}
			if allowed {
				left--
			}
			fill[whose], at[whose] = left, now
		}
	})
}

func TestLocalIsExactForConcurrentCallers(t *testing.T) {
	now := time.Now()
	l := ratelimit.NewLocal("reads", state.Rate{PerSecond: 1, Burst: 100}, func() time.Time { return now })
	var allowed atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for i := range 100 {
				if l.Allow("demo", "ada") == nil {
					allowed.Add(1)
				}
				_ = l.Allow("demo", fmt.Sprint(i))
			}
		})
	}
	callers.Wait()
	if n := allowed.Load(); n != 100 {
		t.Errorf("%d are allowed, want 100", n)
	}
}

func BenchmarkLocal(b *testing.B) {
	l := ratelimit.NewLocal("reads", state.Rate{PerSecond: 20, Burst: 200}, time.Now)
	players := make([]string, 10_000)
	for i := range players {
		players[i] = fmt.Sprint("player-", i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_ = l.Allow("demo", players[i%len(players)])
		i++
	}
}
