package presence_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/presence"
)

// world is what a Listener talks to.
type world struct {
	*presence.Listener
	*testing.T

	silence map[string]time.Duration
	fails   error
	signs   []string // projects that Find finds
	left    int64    // what End returns
	calls   []string
	now     time.Time
}

func newWorld(t *testing.T, silence map[string]time.Duration) *world {
	w := &world{T: t, silence: silence, now: time.Unix(1e9, 0)}
	w.Listener = presence.New(presence.Options{
		Log: slog.New(slog.DiscardHandler),
		Hear: func(_ context.Context, project string, tickets []string) error {
			slices.Sort(tickets)
			w.calls = append(w.calls, "hear "+project+" "+strings.Join(tickets, ","))
			return w.fails
		},
		Settings: func(_ context.Context, project string) (*pb.ProjectSettings, error) {
			w.calls = append(w.calls, "settings "+project)
			return &pb.ProjectSettings{Tickets: &pb.TicketRules{Silence: w.silence[project].Milliseconds()}}, w.fails
		},
		End: func(_ context.Context, project string, silence, gap time.Duration) (int64, error) {
			w.calls = append(w.calls, fmt.Sprint("end ", project, " ", silence, " ", gap))
			return w.left, w.fails
		},
		Find: func(context.Context) ([]string, error) { return w.signs, nil },
	})
	return w
}

// after lets time pass and checks what the Listener does then.
func (w *world) after(d time.Duration, want ...string) {
	w.Helper()
	w.now, w.calls = w.now.Add(d), nil
	w.Tick(w.Context(), w.now)
	if !slices.Equal(w.calls, want) {
		w.Errorf("calls are %q, want %q", w.calls, want)
	}
}

func TestStateLearnsWhoAsks(t *testing.T) {
	w := newWorld(t, map[string]time.Duration{"p": 40 * time.Second})
	w.Heard("p", "a")
	w.Heard("p", "b")
	w.Heard("p", "a")
	w.after(0, "settings p", "hear p a,b", "end p 40s 12s")
	w.Heard("p", "c")
	w.after(time.Second, "settings p")
	w.Heard("p", "a")
	w.after(3*time.Second, "settings p", "end p 40s 12s")
	w.after(6*time.Second, "settings p", "hear p a,c", "end p 40s 12s")
	w.after(9*time.Second, "settings p", "end p 40s 12s")
}

// No ticket ends by a setting that the project does not have any more.
func TestSettingsAreReadBeforeTicketsEnd(t *testing.T) {
	w := newWorld(t, map[string]time.Duration{"p": 20 * time.Second})
	for i := range 3000 { // settings of so many are not read in every tick
		w.Heard(fmt.Sprint("other", i), "a")
	}
	w.Heard("p", "a")
	w.Tick(w.Context(), w.now)
	w.silence["p"] = 40 * time.Second
	w.after(time.Second)
	w.after(time.Second, "settings p", "end p 40s 12s")
	w.silence = nil
	w.after(4*time.Second, "settings p")
}

func TestOthersPayNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.Heard("p", "a")
	w.after(0, "settings p")
	w.after(9 * time.Second) // without a request
	w.Heard("p", "a")
	w.after(time.Second, "settings p")
	w.Heard("p", "a")
	w.after(500 * time.Millisecond)
	w.Heard("p", "a")
	w.silence = map[string]time.Duration{"p": 5 * time.Minute}
	w.after(time.Second, "settings p", "end p 5m0s 15s")
	w.Heard("p", "a")
	w.after(15*time.Second, "settings p", "hear p a", "end p 5m0s 15s")
	w.silence = nil
	w.after(10*time.Second, "settings p")
	w.after(2 * time.Minute) // forgetAfter
	w.after(time.Minute)
}

func TestWhatTheStateCouldNotLearnIsKept(t *testing.T) {
	w := newWorld(t, map[string]time.Duration{"p": 20 * time.Second})
	w.fails = errors.New("away")
	w.Heard("p", "a")
	w.after(0, "settings p")
	w.fails = nil
	w.after(time.Second, "settings p", "hear p a", "end p 20s 6s")
	w.fails = errors.New("away")
	w.Heard("p", "b")
	w.after(5*time.Second, "settings p")
	w.fails = nil
	w.Heard("p", "c")
	w.after(time.Second, "settings p", "hear p b,c", "end p 20s 6s")
}

// A process learns of tickets that only others heard of, and looks for silent ones while there are any.
func TestProjectsOfOthersAreFound(t *testing.T) {
	w := newWorld(t, map[string]time.Duration{"p": 20 * time.Second})
	w.signs, w.left = []string{"p"}, 1
	w.after(0, "settings p", "end p 20s 6s")
	w.signs = nil
	for range 10 {
		w.after(30*time.Second, "settings p", "end p 20s 6s")
	}
	w.left = 0
	w.after(30*time.Second, "settings p", "end p 20s 6s")
	w.after(30*time.Second, "settings p", "end p 20s 6s")
	w.after(90 * time.Second) // forgetAfter
}

func TestManyAreToldAtOnce(t *testing.T) {
	w := newWorld(t, map[string]time.Duration{"p": 5 * time.Minute})
	w.Heard("p", "a")
	w.after(0, "settings p", "hear p a", "end p 5m0s 15s")
	for i := range 5000 {
		w.Heard("p", strconv.Itoa(i))
	}
	w.now = w.now.Add(time.Second)
	w.calls = nil
	w.Tick(t.Context(), w.now)
	if len(w.calls) != 2 || len(strings.Split(w.calls[1], ",")) != 5000 {
		t.Errorf("calls are %.200q", w.calls)
	}
}
