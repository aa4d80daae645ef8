package allocator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// brief makes an allocator give up soon.
func brief(o *allocator.Options) { o.Settings.Deadline = 300 * time.Millisecond }

// unless skips a change of the settings.
func unless(not bool, change func(*allocator.Options)) func(*allocator.Options) {
	if not {
		return func(*allocator.Options) {}
	}
	return change
}

func failing(err error) func(int, *provider.Request) (provider.Result, error) {
	return func(int, *provider.Request) (provider.Result, error) { return provider.Result{}, err }
}

func answering(connection string) func(int, *provider.Request) (provider.Result, error) {
	return func(int, *provider.Request) (provider.Result, error) {
		return provider.Result{Status: provider.Allocated, Connection: connection}, nil
	}
}

// failures are the ways to get no server, with their result for the tickets and the hosting system.
var failures = map[string]struct {
	allocate      func(n int, r *provider.Request) (provider.Result, error)
	code, detail  string
	final         bool // later tries would fail too
	mayHaveServer bool // a server is to be deallocated
}{
	"an empty fleet": {
		allocate: failing(provider.Fail(provider.FleetEmpty, "fleet \"blue\" has no free server")),
		code:     "AllocationError", detail: "fleet \"blue\" has no free server",
	},
	"a hosting maximum of zero": {
		allocate: failing(provider.Fail(provider.MaximumZero, "ask your account manager")),
		code:     "The hosting maximum of the fleet or its region is zero", detail: "ask your account manager",
		final: true,
	},
	"a fleet that does not exist": {
		allocate: failing(provider.Fail(provider.Refused, "there is no fleet \"blue\"")),
		code:     "AllocationError", detail: "there is no fleet \"blue\"", final: true,
	},
	"a failed allocation": {
		allocate: func(int, *provider.Request) (provider.Result, error) {
			return provider.Result{
				Status: provider.Failed, Err: provider.Fail(provider.Refused, "the image does not start"),
			}, nil
		},
		code: "AllocationError", detail: "the image does not start", final: true,
	},
	"a hosting system that is busy": {
		allocate: failing(provider.Fail(provider.Contention, "others were faster")),
		code:     "AllocationError", detail: "others were faster",
	},
	"a hosting system that is away": {
		allocate: failing(errors.New("dial tcp: connection refused")),
		code:     "AllocationError", detail: "the hosting system could not be reached", mayHaveServer: true,
	},
	"a hosting system that does not answer": {
		allocate: failing(fmt.Errorf("call: %w", context.DeadlineExceeded)),
		code:     "AllocationError", detail: "the hosting system gave no server in time", mayHaveServer: true,
	},
	"a connection that controls terminals": {
		allocate: answering("203.0.113.7:7777\x1b[2J"), code: "AllocationError", final: true, mayHaveServer: true,
		detail: "the hosting system's connection is none that players could use: spaces and control characters are not " +
			"allowed",
	},
	"a connection without end": {
		allocate: answering(strings.Repeat("a", 301)), code: "AllocationError", final: true, mayHaveServer: true,
		detail: "the hosting system's connection is none that players could use: more than 300 bytes",
	},
	"an answer that was lost, and a failed allocation": {
		allocate: func(n int, _ *provider.Request) (provider.Result, error) {
			if n == 1 {
				return provider.Result{}, errors.New("connection reset by peer")
			}
			return provider.Result{
				Status: provider.Failed, Err: provider.Fail(provider.Refused, "the image does not start"),
			}, nil
		},
		code: "AllocationError", detail: "the image does not start", final: true, mayHaveServer: true,
	},
	"an answer that was lost, and a refusal": {
		allocate: func(n int, _ *provider.Request) (provider.Result, error) {
			if n == 1 {
				return provider.Result{}, errors.New("connection reset by peer")
			}
			return provider.Result{}, provider.Fail(provider.Refused, "the key was revoked")
		},
		code: "AllocationError", detail: "the key was revoked", final: true, mayHaveServer: true,
	},
}

// failure is the event of a failed match.
func (w *world) failure() *pb.Event {
	w.t.Helper()
	entries, err := w.store.History(w.t.Context(), project, &pb.Bookmark{}, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, entry := range entries {
		for _, e := range entry.Events {
			if e.GetKind() == pb.Event_KIND_FAILED {
				return e
			}
		}
	}
	return nil
}

func TestTicketsGetTheErrorOfAFailure(t *testing.T) {
	for name, test := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{allocate: test.allocate}
			w := start(t, s, unless(test.final, brief))
			w.claim("m", "a", "b")
			w.send("m")
			want := &pb.Assignment{Error: test.code, MatchProperties: []byte(`{"map":"dust"}`)}
			for _, id := range []string{"a", "b"} {
				if got := w.result(id); !proto.Equal(got, want) {
					t.Errorf("ticket %s got %v, want %v", id, got, want)
				}
			}
			if got := w.failure(); got.GetError() != test.code || got.GetDetail() != test.detail {
				t.Errorf("the event is %v, want the detail %q", got, test.detail)
			}
			s.expectDeallocated(t, w, test.mayHaveServer)
		})
	}
}

func TestFailureOfAPollDoesNotRepeatTheMatch(t *testing.T) {
	var payload []byte
	for name, test := range map[string]struct {
		result func() provider.Result
		want   string
	}{
		"failed": {func() provider.Result {
			return provider.Result{Status: provider.Failed, Err: provider.Fail(provider.Refused, "%s: no room", payload)}
		}, "(left out: it repeats a secret)"},
		"unknown": {func() provider.Result {
			return provider.Result{Err: provider.Fail(provider.Refused, "its keys")}
		}, "its keys"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{
				allocate: func(_ int, r *provider.Request) (_ provider.Result, err error) {
					payload, err = r.Payload()
					return provider.Result{Status: provider.Pending}, err
				},
				poll: func(int) provider.Result { return test.result() },
			}
			w := start(t, s)
			w.claim("m", "a")
			w.send("m")
			w.result("a")
			if got := w.failure().GetDetail(); got != test.want {
				t.Errorf("the detail %q, want %q", got, test.want)
			}
		})
	}
}

func TestTicketsWaitAgainAfterAFailureIfTheirConfigSaysSo(t *testing.T) {
	for name, test := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{allocate: test.allocate}
			w := start(t, s, unless(test.final, brief))
			w.requeue = definition.Requeue
			w.claim("m", "a", "b")
			old, err := w.store.Ticket(t.Context(), project, "a")
			if err != nil {
				t.Fatal(err)
			}
			w.send("m")
			if test.final {
				if got := w.result("a"); got.GetError() != test.code {
					t.Errorf("a final failure is tried again: %v", got)
				}
				return
			}
			waittest.Until(t, "the tickets to wait again", func() bool {
				n, err := w.store.Waiting(t.Context(), project)
				return err == nil && n == 2
			})
			got, err := w.store.Ticket(t.Context(), project, "a")
			if err != nil || got.Assignment != nil || !proto.Equal(got.Body, old.Body) {
				t.Errorf("a ticket that waits again is %v with %v, %v", got.Body, got.Assignment, err)
			}
			s.expectDeallocated(t, w, test.mayHaveServer)
		})
	}
}

// expectDeallocated waits until the match was deallocated, or until a match that ended later was.
func (s *script) expectDeallocated(t *testing.T, w *world, want bool) {
	t.Helper()
	if want {
		select {
		case <-s.released:
		case <-time.After(patience):
			t.Error("a server that the match may have was not deallocated")
		}
		return
	}
	// Another match is deallocated after this one.
	w.region = "another"
	m := w.claim("marker", "marker-1")
	begun := []state.Beginning{{Match: m, Lease: handsOf(w)}}
	if _, err := w.store.BeginAllocations(t.Context(), project, begun); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.ReleaseMatch(t.Context(), project, m, "test", true, "allocation"); err != nil {
		t.Fatal(err)
	}
	select {
	case match := <-s.released:
		if match != "marker" {
			t.Errorf("%s has no server, and was deallocated", match)
		}
	case <-time.After(patience):
		t.Error("no match is deallocated")
	}
}

// Promise 7.
func TestDeallocationIsRepeatedUntilItSucceeds(t *testing.T) {
	var w *world
	s := &script{
		allocate: func(n int, r *provider.Request) (provider.Result, error) {
			w.leaves("a")
			return allocateAtOnce(n, r)
		},
		release: func(n int, _ provider.Ref) error {
			switch n {
			case 1:
				return errors.New("connection refused")
			case 2:
				return provider.Fail(provider.Contention, "busy")
			case 3:
				return provider.Fail(provider.Refused, "the key was revoked, for now")
			}
			return nil
		},
	}
	w = start(t, s)
	w.claim("m", "a")
	w.send("m")
	select {
	case <-s.released:
	case <-time.After(patience):
		t.Fatal("the server was not deallocated")
	}
	waittest.Until(t, "the match to be forgotten", func() bool {
		_, err := w.store.Match(t.Context(), project, "m")
		return problem.KindOf(err) == problem.NotFound
	})
	if s.holds("m") {
		t.Error("a server is held")
	}
}

// It is tried for a while, and then an error says so.
// Promise 7.
func TestDeallocationThatNeverSucceedsEnds(t *testing.T) {
	var w *world
	var log processtest.Buffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(log.String())
		}
	})
	s := &script{
		allocate: func(n int, r *provider.Request) (provider.Result, error) {
			w.leaves("a")
			return allocateAtOnce(n, r)
		},
		release: func(int, provider.Ref) error { return provider.Fail(provider.Refused, "the key was revoked") },
	}
	w = start(t, s, func(o *allocator.Options) {
		o.Settings.Return, o.Log = time.Hour, slog.New(slog.NewTextHandler(&log, nil))
	})
	w.claim("m", "a")
	w.send("m")
	waittest.Until(t, "the deallocation to fail", func() bool {
		return strings.Contains(log.String(), "is tried again later")
	})
	waittest.Until(t, "the deallocation to end", func() bool {
		w.ahead.Add(int64(time.Hour))
		due, err := w.store.Inventories(t.Context(), []string{project})
		return err == nil && strings.Contains(log.String(), "is not tried again") && due[0].Returns == 0
	})
	if text := log.String(); strings.Count(text, "level=ERROR") != 1 {
		t.Errorf("logged: %s", text)
	}
}

func TestACallThatHangsEndsAndIsRepeated(t *testing.T) {
	var calls atomic.Int32
	w := prepare(t)
	w.options.Settings.Deadline, w.options.Settings.Call = time.Hour, 50*time.Millisecond
	w.options.Provider = &hanging{hang: func(*provider.Request) bool { return calls.Add(1) < 4 }}
	t.Cleanup(w.run())
	w.claim("m", "a")
	w.send("m")
	if got := w.result("a"); got.GetConnection() != "1.2.3.4:5" {
		t.Errorf("%v", got)
	}
}

// hanging is a provider whose calls hang when hang is true.
type hanging struct {
	provider.Provider
	hang func(r *provider.Request) bool
}

func (h *hanging) Allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	if h.hang(r) {
		<-ctx.Done()
		return provider.Result{}, ctx.Err()
	}
	return allocateAtOnce(1, r)
}

func (h *hanging) Release(context.Context, provider.Ref) error { return nil }
