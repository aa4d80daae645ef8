package allocator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/allocator/provider"
)

// slow is a provider whose allocations are pending for a number of polls.
type slow struct {
	provider.Provider
	polls []int // the refs of each
	ready int   // the first poll whose answer is a server
	takes time.Duration
}

func (s *slow) Poll(ctx context.Context, refs []provider.Ref) ([]provider.Result, error) {
	s.polls = append(s.polls, len(refs))
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	results := make([]provider.Result, len(refs))
	for i := range results {
		if results[i].Status = provider.Pending; len(s.polls) >= s.ready {
			results[i] = provider.Result{Status: provider.Allocated, Connection: "1.2.3.4:5"}
		}
	}
	return results, nil
}

func newPolling(p provider.Provider) *service {
	return &service{Options: Options{
		Provider: p, Settings: Settings{Timing: Timing{Poll: time.Second}, Call: time.Minute},
	}}
}

func TestOnePollIsForAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosting, p := &slow{ready: 3, takes: 100 * time.Millisecond}, new(poller)
		s := newPolling(hosting)
		began := time.Now()
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() {
				for {
					result, err := s.next(t.Context(), p, new(provider.Request))
					switch {
					case err != nil:
						t.Error(err)
					case result.Status == provider.Pending:
						continue
					}
					return
				}
			})
		}
		waiting.Wait()
		if passed := time.Since(began); len(hosting.polls) != 3 || passed != 3300*time.Millisecond {
			t.Errorf("polls of %v allocations in %v", hosting.polls, passed)
		}
		for _, n := range hosting.polls {
			if n != 3 {
				t.Errorf("polls of %v allocations", hosting.polls)
			}
		}
	})
}

// Synctest fails a test that leaves a goroutine that only time wakes.
func TestPollsEndWithTheLastThatWaits(t *testing.T) {
	for name, test := range map[string]struct {
		leave time.Duration
		polls int
	}{
		"before a poll": {500 * time.Millisecond, 0},
		"during a poll": {1500 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hosting, p := &slow{ready: 1, takes: time.Hour}, new(poller)
				s := newPolling(hosting)
				ctx, cancel := context.WithTimeout(t.Context(), test.leave)
				defer cancel()
				var waiting sync.WaitGroup
				for range 3 {
					waiting.Go(func() {
						if result, err := s.next(ctx, p, new(provider.Request)); err == nil {
							t.Errorf("an answer after the end: %v", result)
						}
					})
				}
				waiting.Wait()
				synctest.Wait()
				if len(hosting.polls) != test.polls || p.waiting != 0 || len(p.pending) != 0 {
					t.Errorf("%d polls, %d wait, %d questions", len(hosting.polls), p.waiting, len(p.pending))
				}
				// Later callers have polls of their own.
				hosting.takes = 0
				if result, err := s.next(t.Context(), p, new(provider.Request)); err != nil || result.Status != provider.Allocated {
					t.Errorf("later: %v, %v", result, err)
				}
			})
		})
	}
}

// telling is a provider whose polls say what they are told to.
type telling struct {
	provider.Provider
	result provider.Result
	err    error
}

func (p *telling) Poll(context.Context, []provider.Ref) ([]provider.Result, error) {
	return []provider.Result{p.result}, p.err
}

// What a poll says of an allocation reaches logs, traces and events, and so does what it says that the match has not.
func TestErrorsOfPollsDoNotRepeatTheMatch(t *testing.T) {
	r := &provider.Request{Teams: []provider.Team{{Name: "red", Tickets: []string{"t"}, Players: [][]string{{"ada"}}}},
		Properties: []byte(`{"map":"harbour-district"}`), Token: "header.claims.signature"}
	payload, err := r.Payload()
	if err != nil {
		t.Fatal(err)
	}
	saying := func(text string) []error {
		return []error{fmt.Errorf("status 500: %s", text), provider.Fail(provider.Contention, "busy: %s", text),
			provider.Fail(provider.Contention, "busy").Because(fmt.Errorf("status 429: %s", text))}
	}
	open := saying("the allocation has no image")
	for i, secret := range saying(string(payload[max(0, len(payload)-150):])) {
		for text, said := range map[string]error{"no image": open[i], "it repeats a secret": secret} {
			p := &telling{err: said}
			_, err := newPolling(p).pollOnce(t.Context(), []question{{request: r}})
			p.result, p.err = provider.Result{Err: said}, nil
			results, failed := newPolling(p).pollOnce(t.Context(), []question{{request: r}})
			if failed != nil {
				t.Fatal(failed)
			}
			for _, got := range []error{err, results[0].Err} {
				if got == nil || !strings.Contains(got.Error(), text) || provider.ReasonOf(got) != provider.ReasonOf(said) {
					t.Errorf("%v: %v, want %q in it", said, got, text)
				}
			}
		}
	}
	late := fmt.Errorf("call: %w", context.DeadlineExceeded)
	if _, err := newPolling(&telling{err: late}).pollOnce(t.Context(), []question{{request: r}}); !errors.Is(err, late) {
		t.Errorf("%v is not %v", err, late)
	}
}
