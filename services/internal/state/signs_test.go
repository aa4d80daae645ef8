package state_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/state"
)

// silence ends tickets, and silenceGap is the longest time between two looks that misses nothing.
const (
	silence    = 30 * time.Second
	silenceGap = 20 * time.Second
)

func endUnheard(t *testing.T, s *state.Store) state.Unheard {
	t.Helper()
	found, err := s.EndUnheard(t.Context(), project, silence, silenceGap, time.Minute)
	must(t, err)
	return found
}

// hall is a store at whose time tickets are heard of and ended.
type hall struct {
	*testing.T
	first, now *state.Store
	seconds    int
}

func newHall(t *testing.T, open func(state.Options) *state.Store, n int) (*hall, []string) {
	t.Helper()
	c := &hall{T: t, first: open(state.Options{})}
	c.at(0)
	var all []string
	for i := range n {
		id := "t" + strconv.Itoa(i)
		must(t, c.now.Creator(nil).Create(t.Context(), project, ticket(id, 0)))
		all = append(all, id)
	}
	return c, all
}

func (c *hall) at(seconds int) {
	c.seconds, c.now = seconds, c.first.At(epoch0.Add(time.Duration(seconds)*time.Second))
}

func (c *hall) hear(tickets ...string) {
	c.Helper()
	must(c.T, c.now.Hear(c.Context(), project, tickets))
}

// ends looks for silent tickets up to a time, as often as processes do, and checks which tickets wait then.
func (c *hall) waits(until int, heard, want []string) {
	c.Helper()
	for at := c.seconds; at <= until; at += 5 {
		c.at(at)
		if len(heard) > 0 {
			c.hear(heard...)
		}
		endUnheard(c.T, c.now)
	}
	isWaiting(c.T, c.now, want...)
}

// A ticket was asked for by the clock of a Redis that was a day ahead.
func TestTicketsAskedForByAnotherClockEnd(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		c, all := newHall(t, open, 1)
		c.at(24 * 60 * 60)
		c.hear(all...)
		c.at(0)
		c.waits(25, nil, all)
		c.waits(40, nil, nil)
	})
}

// Promise 1.
func TestTicketsThatNobodyAsksForEnd(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		c, all := newHall(t, open, 3)
		c.hear("t0", "t1")
		c.waits(25, []string{"t0"}, all)
		// There was no look before, so none was silent until 30 s. Of t2 nothing is known.
		c.waits(40, []string{"t0"}, []string{"t0", "t2"})
		c.hear("t2", "gone")
		c.waits(60, []string{"t0"}, []string{"t0", "t2"})
		c.waits(75, []string{"t0"}, []string{"t0"})
		if found := endUnheard(t, c.now); found.Known != 1 {
			t.Errorf("found %+v", found)
		}
	})
}

// Promise 1.
func TestNobodyIsSilentBecauseNobodyListened(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		c, all := newHall(t, open, 3)
		c.hear(all...)
		c.waits(20, nil, all)
		c.at(100) // after an outage
		c.waits(125, []string{"t0"}, all)
		c.waits(135, []string{"t0"}, []string{"t0"})
		// Redis's clock jumps, as it may when another server takes its place: forwards, and back.
		c.hear("t0")
		c.at(300)
		c.waits(325, nil, []string{"t0"})
		c.at(200)
		c.waits(225, nil, []string{"t0"})
		c.waits(400, nil, nil)
	})
}

// Where many tickets are silent and none is heard, the way to the service may be broken.
func TestNobodyIsSilentBecauseNobodyIsHeard(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		c, all := newHall(t, open, 9)
		c.hear(all...)
		c.waits(200, nil, all)
		c.waits(215, []string{"t0"}, all)
		c.waits(245, []string{"t0"}, []string{"t0"})
	})
}

// A ticket that is claimed is not silent, and may be when it waits again.
func TestClaimedTicketIsNotSilent(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		c, all := newHall(t, open, 2)
		revision, terms := setUp(t, c.now)
		c.hear(all...)
		c.waits(20, nil, all)
		m := claim(revision, "m", "t0")
		mustClaim(t, c.now, terms, m)
		c.waits(50, nil, nil)
		now := epoch0.Add(time.Duration(c.seconds) * time.Second)
		must(t, third(take(t.Context(), c.now, m.Match, now, now.Add(10*time.Second))))
		must(t, second(c.now.ReleaseMatch(t.Context(), project, m.Match, "one", false, "allocation")))
		c.waits(55, nil, []string{"t0"})
		c.waits(95, nil, nil)
	})
}

// A request for a ticket while it is claimed is noted: the ticket is not silent when it waits again.
func TestClaimedTicketIsHeard(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		c, all := newHall(t, open, 2)
		revision, terms := setUp(t, c.now)
		c.hear(all...)
		c.waits(20, nil, all)
		m := claim(revision, "m", "t0")
		mustClaim(t, c.now, terms, m)
		c.waits(25, []string{"t0"}, []string{"t1"})
		now := epoch0.Add(time.Duration(c.seconds) * time.Second)
		must(t, third(take(t.Context(), c.now, m.Match, now, now.Add(10*time.Second))))
		must(t, second(c.now.ReleaseMatch(t.Context(), project, m.Match, "one", false, "allocation")))
		c.waits(50, nil, []string{"t0"})
		c.waits(60, nil, nil)
	})
}

// What is known of tickets goes when they have ended in other ways.
func TestSignsOfEndedTicketsGo(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		c, all := newHall(t, open, 2)
		c.hear(all...)
		for _, id := range all {
			must(t, second(c.now.DeleteTicket(t.Context(), project, id, "")))
		}
		have, err := c.now.FindSigns(t.Context())
		if must(t, err); !slices.Equal(have, []string{project}) {
			t.Errorf("signs are of %v", have)
		}
		c.waits(40, nil, nil)
		have, err = c.now.FindSigns(t.Context())
		if must(t, err); len(have) > 0 {
			t.Errorf("signs are of %v", have)
		}
	})
}

// Many tickets that ended do not keep those that are silent from ending: one look forgets all of them.
func TestManyEndedTicketsAreForgotten(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		c, all := newHall(t, open, 1)
		var ended []string
		for i := range 1000 {
			ended = append(ended, fmt.Sprint("e", i))
		}
		must(t, c.now.LetWait(t.Context(), project, ended))
		c.hear(ended...)
		must(t, c.now.LetGo(t.Context(), project, ended))
		c.hear(ended...) // of tickets that do not wait it is noted only again
		for at := 0; at <= 40; at += 5 {
			if c.at(at); at == 10 {
				c.hear(all...)
			}
			endUnheard(t, c.now)
		}
		c.at(41)
		var found state.Unheard
		for n := 0; ; n++ {
			if found = endUnheard(t, c.now); !found.More {
				break
			}
			if n > 10 {
				t.Fatal("there are more of them without end")
			}
		}
		if found.Known != 0 {
			t.Errorf("found %+v", found)
		}
		isWaiting(t, c.now)
	})
}

// BenchmarkHear notes that all of 100,000 tickets that wait were asked for.
func BenchmarkHear(b *testing.B) {
	server, err := embedded.StartRedis(b.Context(), embedded.RedisOptions{Dir: b.TempDir(), AOF: true,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	s, err := state.Open(state.Options{Server: state.Server{URL: server.URL()}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	ids := make([]string, 100_000)
	for i := range ids {
		ids[i] = state.NewID(epoch0)
	}
	if err := s.LetWait(b.Context(), project, ids); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Hear(b.Context(), project, ids); err != nil {
			b.Fatal(err)
		}
	}
}
