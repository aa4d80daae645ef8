package invocation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/sandbox"
)

// someTickets is an index of n tickets.
func someTickets(t *testing.T, n int) *pool.Index {
	return indexOf(t, n, func(i int) *pb.Ticket {
		return &pb.Ticket{Id: fmt.Sprintf("019a9e3c-0000-7000-8000-%012d", i), Created: int64(i + 1)}
	})
}

// request is a run over all tickets of an index, and counts the parts that it sends.
func request(index *pool.Index, sent *int) *Run {
	return &Run{
		Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}}, Index: index, Began: time.Now(),
		Deadline: time.Now().Add(time.Hour),
		Answer: func(*pb.RunPart) error {
			*sent++
			return nil
		},
	}
}

// mustSay fails unless err is an error that leaves the instance usable, and says so.
func mustSay(t *testing.T, err error, want string) {
	t.Helper()
	if _, ok := errors.AsType[FunctionError](err); !ok || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want a FunctionError with %q", err, want)
	}
}

// An answer that would keep its readers busy is refused before a part of it is sent, with the number and the limit. The
// next answer is sent.
// Promise 9.
func TestFloodOfProposalsIsRefused(t *testing.T) {
	flood := func(proposals int, tickets ...uint32) func(*matchfn.Run) error {
		return func(r *matchfn.Run) error {
			for n := range proposals {
				r.Propose(float64(n), tickets...)
			}
			return nil
		}
	}
	window := func(size uint32) func(*matchfn.Run) error { // of tickets, which moves ticket by ticket
		return func(r *matchfn.Run) error {
			tickets := make([]uint32, size)
			for first := range uint32(r.Tickets()) - size + 1 {
				for i := range tickets {
					tickets[i] = first + uint32(i)
				}
				r.Propose(1, tickets...)
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		tickets int
		do      func(*matchfn.Run) error
		says    string
	}{
		"four tickets, many pairs": {4, flood(40_000, 0, 1),
			"the answer has 40000 proposals, at most 1008 are allowed for a run with 4 tickets"},
		"four tickets, many fours": {4, flood(300, 0, 1, 2, 3),
			"the answer has 1200 tickets in its proposals, at most 1040 are allowed for a run with 4 tickets"},
		"many tickets":               {5000, flood(11_001, 0), "11001 proposals, at most 11000"},
		"all pairs of forty tickets": {40, flood(40*39/2, 0), ""},
		"windows of ten":             {5000, window(10), ""},
		"windows of eleven":          {5000, window(11), "54890 tickets in its proposals, at most 51000"},
	} {
		t.Run(name, func(t *testing.T) {
			var inv Invoker
			sent := 0
			r := request(someTickets(t, c.tickets), &sent)
			last, err := inv.Invoke(t.Context(), r, native{Function: matchfn.New(c.do)}, Needs{})
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			mustSay(t, err, c.says)
			if sent > 0 || last.GetPlain() != nil || last.GetStats().GetMessages() != 1 || last.GetError() != err.Error() {
				t.Errorf("%d parts were sent, the last one is %v", sent, last)
			}
			if last.GetStats().GetProposals() == 0 || last.GetStats().GetMentions() == 0 {
				t.Errorf("what it made is not counted: %v", last.GetStats())
			}
			last, err = inv.Invoke(t.Context(), r, native{Function: matchfn.New(flood(1, 0, 1))}, Needs{})
			if err != nil || len(last.GetPlain().GetScores()) != 1 {
				t.Errorf("the next run: %v, %v", last, err)
			}
		})
	}
}

// Proposals that change large backfill tickets each carry all of one.
// Promise 9.
func TestAnswerOfTooManyBytesIsRefused(t *testing.T) {
	backfills := pool.NewBackfills()
	large := newBackfill("b", 1, 2)
	large.Properties["large"] = []byte(strings.Repeat("x", 40<<10))
	if err := backfills.Put(large); err != nil {
		t.Fatal(err)
	}
	fill := func(proposals int) func(*matchfn.Run) error {
		return func(r *matchfn.Run) error {
			for range proposals {
				r.Propose(1, 0).UpdateBackfill(0).Attribute("free", 1)
			}
			return nil
		}
	}
	const tickets = 400
	for proposals, says := range map[int]string{
		1500: "",
		1700: fmt.Sprintf("bytes, at most %d are allowed", MaxAnswerSize),
	} {
		sent := 0
		r := request(someTickets(t, tickets), &sent)
		r.Backfills, r.Request.Backfills = backfills, true
		last, err := new(Invoker).Invoke(t.Context(), r, native{Function: matchfn.New(fill(proposals))}, Needs{})
		stats := last.GetStats()
		if says == "" {
			if err != nil || stats.GetMessages() != int64(sent+1) || stats.GetAnswerBytes() < 1500*40<<10 {
				t.Errorf("%d proposals: %v, %d parts sent, %v", proposals, err, sent, stats)
			}
			continue
		}
		mustSay(t, err, says)
		if sent > 0 {
			t.Errorf("%d parts were sent", sent)
		}
	}
}

// slow is a native instance that takes its time, of which it may be accounted some.
type slow struct {
	native
	takes, processor time.Duration
	fails            error
}

func (s slow) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	answer, stats, _ := s.native.Run(ctx, request, budget)
	time.Sleep(s.takes) //nolint:forbidigo // the fake clock of synctest
	stats.Processor = s.processor
	return answer, stats, s.fails
}

// The deadline covers the whole run, and the error says how far it came.
// Promise 9.
func TestDeadlineCoversTheWholeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, tickets := 0, someTickets(t, 40_000)
		pairs := slow{native: native{Function: matchfn.New(func(r *matchfn.Run) error {
			for i := uint32(0); int(i) < r.Tickets(); i += 2 {
				r.Propose(1, i, i+1)
			}
			return nil
		})}}
		r := request(tickets, &sent)
		r.Deadline = r.Began
		_, err := new(Invoker).Invoke(t.Context(), r, pairs, Needs{})
		mustSay(t, err, "deadline: the run's 0s were over when its tickets were selected and written")

		r = request(tickets, &sent)
		r.Deadline = r.Began.Add(5 * time.Second)
		pairs.takes = 5 * time.Second
		_, err = new(Invoker).Invoke(t.Context(), r, pairs, Needs{})
		mustSay(t, err, "deadline: the run's 5s were over when its answer was checked")
		if sent > 0 {
			t.Fatalf("%d parts were sent", sent)
		}

		r = request(tickets, &sent)
		r.Deadline = r.Began.Add(5 * time.Second)
		r.Answer = func(*pb.RunPart) error {
			sent++
			time.Sleep(5 * time.Second) //nolint:forbidigo // the fake clock of synctest
			return nil
		}
		pairs.takes = 0
		last, err := new(Invoker).Invoke(t.Context(), r, pairs, Needs{})
		mustSay(t, err, "deadline: the run's 5s were over when its proposals were sent")
		if sent != 1 || last.GetStats().GetMessages() != 2 || len(last.GetProposals()) > 0 || last.GetPlain() != nil {
			t.Errorf("%d parts were sent, the last one is %v", sent, last)
		}
	})
}

// A run rests after each part of a long answer, and while the properties of one are checked, as long as it has time.
// Each part takes a millisecond, and so does the function.
func TestRunRestsDuringALongAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tickets := someTickets(t, 4000)
		for properties, checked := range map[string]int{"": 0, `{"x":"` + strings.Repeat("x", 60) + `"}`: 1} {
			for rest, late := range map[time.Duration]bool{time.Millisecond: false, time.Hour: true} {
				sent, rests := 0, 0
				r := request(tickets, &sent)
				r.Answer = func(*pb.RunPart) error {
					sent++
					time.Sleep(restAfter) //nolint:forbidigo // the fake clock of synctest
					return nil
				}
				r.Rest = func() {
					rests++
					time.Sleep(rest) //nolint:forbidigo // the fake clock of synctest
				}
				r.Deadline = r.Began.Add(90 * time.Minute)
				pairs := slow{takes: restAfter, native: native{Function: matchfn.New(func(r *matchfn.Run) error {
					for i := uint32(0); int(i) < r.Tickets(); i += 2 {
						if p := r.Propose(1, i, i+1); properties != "" {
							p.MatchProperties([]byte(properties))
						}
					}
					return nil
				})}}
				want := 1
				_, err := new(Invoker).Invoke(t.Context(), r, pairs, Needs{})
				if !late {
					want = sent + checked
				}
				if err != nil || sent == 0 || rests != want {
					t.Errorf("properties %q: %d rests of %v with %d parts, want %d; %v", properties, rests, rest, sent, want, err)
				}
			}
		}
	})
}

// A run is charged the runner's time and the processor's, not the time for which others computed; all of it when the
// instance was killed, and some of it when the instance only waited.
func TestChargeOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		killed := errors.New("killed")
		for name, c := range map[string]struct {
			instance slow
			charge   time.Duration
		}{
			"computes alone":     {slow{takes: time.Second, processor: time.Second}, time.Second},
			"on a busy machine":  {slow{takes: time.Second, processor: time.Second / 2}, time.Second / 2},
			"waits":              {slow{takes: 8 * time.Second, processor: time.Millisecond}, time.Second},
			"on several threads": {slow{takes: time.Second, processor: 3 * time.Second}, 3 * time.Second},
			"killed":             {slow{takes: 5 * time.Second, fails: killed}, 5 * time.Second},
			"not accounted":      {slow{takes: time.Second}, time.Second},
		} {
			sent := 0
			c.instance.native = native{Function: matchfn.New(func(*matchfn.Run) error { return nil })}
			last, err := new(Invoker).Invoke(t.Context(), request(someTickets(t, 2), &sent), c.instance, Needs{})
			if !errors.Is(err, c.instance.fails) || last.GetStats().GetCharge() != c.charge.Microseconds() {
				t.Errorf("%s: %d µs are charged, want %v; %v", name, last.GetStats().GetCharge(), c.charge, err)
			}
		}
	})
}

// Memory that one large run took is given back, and so is what proposals had in them.
func TestInvokerGivesMemoryBack(t *testing.T) {
	sent := 0
	var inv Invoker
	names := native{Function: matchfn.New(func(r *matchfn.Run) error {
		r.Propose(1, 0).MatchProperties([]byte(`{"a":1}`))
		return nil
	})}
	invoke := func(tickets, pools int) {
		t.Helper()
		r := request(someTickets(t, tickets), &sent)
		for n := range pools {
			r.Request.Pools[fmt.Sprint(n)] = &pb.Pool{}
		}
		if _, err := inv.Invoke(t.Context(), r, names, Needs{}); err != nil {
			t.Fatal(err)
		}
		inv.Release()
	}
	invoke(2, 1)
	if cap(inv.created) == 0 || len(inv.parts.extended) != 1 || inv.parts.extended[0].GetMatchProperties() != nil {
		t.Errorf("after a small run it has %d times and the proposals %v", cap(inv.created), inv.parts.extended)
	}
	invoke(60_000, 80)
	if cap(inv.created) != 0 || len(inv.parts.extended) != 0 {
		t.Errorf("after a large run it has %d times and the proposals %v", cap(inv.created), inv.parts.extended)
	}
}
