package party

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// sweeper removes silent members from the parties of all projects. Every process does it: a change that two of them
// make is made once.
type sweeper struct {
	*service
	// every is the time from one sweep to the next, and gap the time without a listener from which on silence does not
	// count.
	every, gap time.Duration

	mu sync.Mutex
	// parties is how many there are in each project that has any.
	parties map[string]int64

	// failing has the parties whose change failed, and when each is tried again. One goroutine uses it.
	failing map[partyKey]time.Time
}

// partyKey names a party of a project.
type partyKey struct{ project, party string }

// findEvery is how often a process looks for projects with parties of which it has not heard.
const findEvery = time.Minute

// A party whose change failed is tried again after retryAfter. A sweep ends when mostFailures more parties fail: the
// state store may not answer.
const (
	retryAfter   = 10 * time.Second
	mostFailures = 8
)

func newSweeper(s *service) *sweeper {
	every := min(s.Settings.Silence/10, 5*time.Second)
	w := &sweeper{service: s, every: every, gap: 3 * every, parties: map[string]int64{},
		failing: map[partyKey]time.Time{}}
	s.Meter.ObservableGauge("matchmaker.parties", "{party}", "Parties that there are.",
		func(_ context.Context, observe telemetry.Observe) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for project, n := range w.parties {
				observe(float64(n), attribute.String("project", project))
			}
		})
	return w
}

// add makes a project one that is looked at.
func (w *sweeper) add(project string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.parties[project]; !known {
		w.parties[project] = 0
	}
}

// run looks at all parties until ctx ends.
func (w *sweeper) run(ctx context.Context) {
	var found time.Time
	for range wait.Every(ctx, w.every) {
		if now := time.Now(); now.Sub(found) >= findEvery && w.find(ctx) {
			found = now
		}
		w.mu.Lock()
		projects := slices.Collect(maps.Keys(w.parties))
		w.mu.Unlock()
		for _, project := range projects {
			if err := w.sweep(ctx, project); err != nil && ctx.Err() == nil {
				w.Log.WarnContext(ctx, "looking for silent members of parties", "project", project, "error", err)
			}
		}
	}
}

func (w *sweeper) find(ctx context.Context) bool {
	projects, err := w.Store.FindParties(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.Log.WarnContext(ctx, "looking for projects with parties", "error", err)
		}
		return false
	}
	for _, project := range projects {
		w.add(project)
	}
	return true
}

// sweep removes the silent members of a project's parties. A party whose change fails does not hold up the others.
func (w *sweeper) sweep(ctx context.Context, project string) error {
	number, silent, err := w.Store.SweepParties(ctx, project, w.Settings.Silence, w.gap)
	w.mu.Lock()
	if w.parties[project] = number; number == 0 && err == nil {
		delete(w.parties, project)
	}
	w.mu.Unlock()
	now, failures := w.Now(), 0
	maps.DeleteFunc(w.failing, func(_ partyKey, again time.Time) bool { return now.Sub(again) > findEvery })
	for _, one := range silent {
		this := partyKey{project, one.Party}
		again, known := w.failing[this]
		if now.Before(again) {
			continue
		}
		nobody := author{decline: one.Players, reason: reasonSilent}
		_, failure := w.change(ctx, project, one.Party, nobody, func(p *pb.Party) (*pb.Party, error) {
			return without(p, one.Players...), nil
		})
		if failure == nil || errors.Is(failure, state.ErrHeard) || problem.KindOf(failure) == problem.NotFound {
			delete(w.failing, this)
			continue
		}
		if ctx.Err() != nil || failures == mostFailures {
			return err
		}
		if w.failing[this] = now.Add(retryAfter); !known {
			failures++
			w.Log.WarnContext(ctx, "silent members of a party could not be removed, which is tried again",
				"project", project, "party", one.Party, "error", failure)
		}
	}
	return err
}
