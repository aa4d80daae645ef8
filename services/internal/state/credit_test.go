package state_test

import (
	"fmt"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// firstWindow is how many matches of a new target may be open.
const firstWindow = 128

// hosting is a project whose matches need servers. Each has one ticket.
type hosting struct {
	t        *testing.T
	s        *state.Store
	now      time.Time
	terms    state.ClaimOptions
	revision int64
	n        int
	open     []*pb.Match
}

func newHosting(t *testing.T, s *state.Store) *hosting {
	t.Helper()
	h := &hosting{t: t, s: s, now: epoch0}
	h.revision, h.terms = setUp(t, s)
	return h
}

// claim tries to claim n matches for a fleet, and returns how many were not claimed for want of servers.
func (h *hosting) claim(n int, fleet string) (refused int) {
	h.t.Helper()
	return h.claimIn(n, fleet, func(int) string { return "" })
}

// claimIn is claim for the region that a function names in the proposal of each match.
func (h *hosting) claimIn(n int, fleet string, region func(int) string) (refused int) {
	h.t.Helper()
	var claims []*state.Claim
	var waiting []string
	for i := range n {
		h.n++
		id := fmt.Sprint("t", h.n)
		create(h.t, h.s, id)
		c := claim(h.revision, "m-"+id, id)
		c.Match.Hosting = &pb.Hosting{Fleet: fleet}
		if named := region(i); named != "" {
			c.Match.Proposal.Hosting = &pb.HostingOverride{Region: named}
		}
		claims = append(claims, c)
	}
	mustClaim(h.t, h.s.At(h.now), h.terms, claims...)
	for _, c := range claims {
		switch c.Refusal {
		case "":
			h.open = append(h.open, c.Match)
		case "hosting", "target":
			refused++
			waiting = append(waiting, c.Tickets[0])
		default:
			h.t.Fatalf("the claim of %s: %s", c.Match.GetId(), c.Refusal)
		}
	}
	isWaiting(h.t, h.s, waiting...)
	h.delete(waiting...)
	return refused
}

func (h *hosting) delete(tickets ...string) {
	h.t.Helper()
	for _, id := range tickets {
		_, err := h.s.DeleteTicket(h.t.Context(), project, id, "")
		must(h.t, err)
	}
}

// expect fails unless just so many of n matches are claimed.
func (h *hosting) expect(what string, claimed, n int) {
	h.t.Helper()
	if got := n - h.claim(n, ""); got != claimed {
		h.t.Errorf("%s: %d of %d matches are claimed, want %d", what, got, n, claimed)
	}
}

// take takes the oldest open match.
func (h *hosting) take() *pb.Match {
	h.t.Helper()
	m := h.open[0]
	h.open = h.open[1:]
	if _, _, err := take(h.t.Context(), h.s, m, h.now, h.now.Add(10*time.Second)); err != nil {
		h.t.Fatal(err)
	}
	return m
}

// end ends the oldest open match, and reports whether there is room for matches that had to wait.
func (h *hosting) end(o state.Outcome) (room bool) {
	h.t.Helper()
	m := h.take()
	o.Holder, o.Readable = "one", time.Minute
	ended, err := h.s.At(h.now).EndMatch(h.t.Context(), project, state.Ending{Match: m, Outcome: o,
		Tickets: state.TicketsOf(m.GetProposal()), Results: []*pb.Assignment{{Connection: o.Connection, Error: o.Error}}})
	if err != nil || ended.Status != state.MatchActive {
		h.t.Fatal(ended.Status, err)
	}
	return ended.Room
}

// refuse says that there is no server for an open match.
func (h *hosting) refuse(m *pb.Match) (told bool) {
	h.t.Helper()
	told, err := h.s.At(h.now).RefuseServer(h.t.Context(), project, m, "fleet-empty", "")
	must(h.t, err)
	return told
}

var served = state.Outcome{Connection: "1.2.3.4:5"}

func TestNoMoreMatchesAreClaimedThanHostingAnswers(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{History: 100_000}))
		h.expect("a new target", firstWindow, 2*firstWindow)
		if n := h.claim(2, "other"); n != 0 {
			t.Errorf("%d matches for another fleet wait too", n)
		}
		h.open = h.open[:firstWindow]
		// Matches wait, so every eighth answer opens the window by one more match.
		rooms := 0
		for range 40 {
			if h.end(served) {
				rooms++
			}
		}
		if rooms != 1 {
			t.Errorf("room was told %d times, want once", rooms)
		}
		h.expect("after forty answers", 45, 2*firstWindow)

		if !h.refuse(h.open[0]) || h.refuse(h.open[1]) {
			t.Error("an event tells that there are no servers, once a minute")
		}
		h.expect("a closed target", 0, 10)
		for len(h.open) > 1 {
			h.end(state.Outcome{Error: "AllocationError", Reason: "fleet-empty"})
		}
		h.now = h.now.Add(2 * time.Second)
		h.expect("while one match is open", 0, 10)
		h.end(state.Outcome{Error: "AllocationError", Reason: "fleet-empty"})
		h.expect("at once after the last one", 0, 10)
		h.now = h.now.Add(time.Second)
		h.expect("after a pause", 1, 10)
		h.now = h.now.Add(2 * time.Second)
		h.expect("while that one tries", 0, 10)

		// Servers come: each answer doubles what is open.
		for _, want := range []int{1, 2, 4, 8, 16, 32, 64, firstWindow} {
			for len(h.open) > 0 {
				h.end(served)
			}
			h.expect("after answers", want, 2*firstWindow)
		}
	})
}

func TestFinalAnswersDoNotMakeOthersWait(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		h.expect("a new target", firstWindow, firstWindow+1)
		h.refuse(h.open[0])
		for range firstWindow {
			h.end(state.Outcome{Error: "maximum zero", Never: true})
		}
		h.expect("after final answers", firstWindow, firstWindow)
	})
}

// While no allocator is there, tickets are not claimed and released again and again.
func TestMatchesThatNobodyTakesUpHalveTheWindow(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		for _, want := range []int{firstWindow, 0, 1, 1} {
			h.expect("what nobody takes up", want, firstWindow)
			h.now = h.now.Add(31 * time.Second)
			released, _, err := h.s.At(h.now).ReleaseOverdueMatches(t.Context(), project, 1000)
			if err != nil || len(released) != want {
				t.Fatal(len(released), err)
			}
			if want == 0 {
				continue
			}
			for _, m := range h.open { // their tickets wait again
				h.delete(state.TicketsOf(m.GetProposal())...)
			}
			h.open = nil
			if want == firstWindow {
				continue
			}
			h.now = h.now.Add(time.Second)
		}
	})
}

func TestTargetsAreForgotten(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		known := func() int {
			credit, err := h.s.Credit(t.Context(), project)
			must(t, err)
			return len(credit)
		}
		h.claim(3, "")
		for len(h.open) > 0 {
			h.end(served)
		}
		if n := known(); n != 0 {
			t.Errorf("%d fields are kept of a target without matches", n)
		}
		// Those that are closed are kept until there are too many. Then those go that were not used for long.
		many := func(what string, n int, age time.Duration) map[string]string {
			fields := map[string]string{}
			for i := range n {
				for field, value := range map[string]any{
					"w:": 0, "o:": 0, "d:": h.now.Add(-age).UnixMilli(), "t:": h.now.Add(-age).UnixMilli(),
				} {
					fields[fmt.Sprint(field, what, i)] = fmt.Sprint(value)
				}
			}
			return fields
		}
		must(t, h.s.PutCredit(t.Context(), project, many("old", 600, 11*time.Minute)))
		must(t, h.s.PutCredit(t.Context(), project, many("new", 600, 9*time.Minute)))
		h.expect("a new target among many", 1, 1)
		if n := known(); n != 4*600+2 {
			t.Errorf("%d fields of targets", n)
		}
		must(t, h.s.PutCredit(t.Context(), project, many("newer", 500, 0)))
		if h.claim(1, "one more") != 1 || h.claim(1, "") != 0 {
			t.Error("beyond the most targets, new ones wait, and known ones do not")
		}
		const kept = 4*1100 + 2 // one more target is open, and one field says when it was looked for those to forget
		if n := known(); n != kept {
			t.Errorf("%d fields of targets", n)
		}
		// That is looked for once a second.
		must(t, h.s.PutCredit(t.Context(), project, many("old", 100, 11*time.Minute)))
		if h.claim(1, "one more") != 1 || known() != kept+4*100 {
			t.Errorf("%d fields of targets in the same second", known())
		}
		h.now = h.now.Add(time.Second)
		if h.claim(1, "one more") != 1 || known() != kept {
			t.Errorf("%d fields of targets a second later", known())
		}
		// After a failover, what a Redis wrote whose clock was ahead makes room.
		h.now = h.now.Add(-day)
		if h.claim(1, "one more") != 0 || known() != 3 {
			t.Errorf("%d fields of targets a day before", known())
		}
	})
}

// Players invent regions. That takes no server from a region that hosting has served, nor from another fleet.
func TestInventedRegionsTakeNothingFromOthers(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		in := func(region string) func(int) string { return func(int) string { return region } }
		if h.claimIn(1, "f", in("eu")) != 0 {
			t.Fatal("a new region gets no server")
		}
		h.end(served)
		// Each of them is another region. All wait for servers that do not come.
		invented := func(n int) func(int) string {
			return func(i int) string { return fmt.Sprint("invented ", n, " ", i) }
		}
		if got := h.claimIn(200, "f", invented(0)); got != 200-firstWindow/8 {
			t.Errorf("%d of 200 matches wait that name invented regions", got)
		}
		h.refuse(h.open[0])
		for len(h.open) > 0 {
			h.end(state.Outcome{Error: "AllocationError", Reason: "fleet-empty"})
		}
		for n := range 8 {
			if got := h.claimIn(200, "f", invented(n+1)); got != 200 {
				t.Errorf("%d of 200 matches wait, without servers", got)
			}
		}
		credit, err := h.s.Credit(t.Context(), project)
		if must(t, err); len(credit) > 5 {
			t.Errorf("%d fields are kept for invented regions", len(credit))
		}
		for what, claimed := range map[string]bool{
			"the region that hosting serves": h.claimIn(1, "f", in("eu")) == 0,
			"the fleet without a region":     h.claim(1, "f") == 0,
			"another fleet":                  h.claim(1, "g") == 0,
			"a region of another fleet":      h.claimIn(1, "g", in("eu")) == 0,
		} {
			if !claimed {
				t.Errorf("%s waits because of invented regions", what)
			}
		}
		// A region that is new waits for its turn among those that were never served.
		h.open = nil
		h.now = h.now.Add(time.Second)
		if h.claimIn(1, "f", in("asia")) != 0 {
			t.Fatal("a new region has no turn")
		}
		h.end(served)
		if h.claimIn(firstWindow, "f", in("asia")) != 0 {
			t.Error("a region that hosting serves waits with those that it does not")
		}
	})
}

// Regions that a Redis noted as served whose clock was ahead, before a failover, make room for those that are.
func TestServedRegionsFromTheFutureMakeRoom(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		for i := range 512 {
			must(t, h.s.Do(t.Context(), "ZADD", "mm:{"+project+"}:served", epoch0.Add(day).UnixMilli(), fmt.Sprint("old-", i)))
		}
		eu := func(int) string { return "eu" }
		if h.claimIn(1, "f", eu) != 0 {
			t.Fatal("a new region gets no server")
		}
		h.end(served)
		if h.claimIn(firstWindow, "f", eu) != 0 {
			t.Error("a region that hosting serves waits with those that it does not")
		}
	})
}

// Players invent regions before any was served. A region with servers has its turn all the same, however many older
// matches name others.
func TestNewRegionHasItsTurnAmongInventedOnes(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		tries := 0
		for seen := false; !seen && tries < 100; tries++ {
			h.claimIn(20, "f", func(i int) string {
				if i == 19 {
					return "eu"
				}
				return fmt.Sprint("invented ", tries, " ", i)
			})
			for len(h.open) > 0 {
				if seen = seen || h.open[0].GetProposal().GetHosting().GetRegion() == "eu"; seen {
					h.end(served)
					continue
				}
				h.refuse(h.open[0])
				h.end(state.Outcome{Error: "AllocationError", Reason: "fleet-empty"})
			}
			h.now = h.now.Add(time.Second + 7*time.Millisecond)
		}
		if tries < 2 || h.claimIn(firstWindow, "f", func(int) string { return "eu" }) != 0 {
			t.Errorf("after %d tries, a region with servers is not known", tries)
		}
	})
}

// A refusal of hosting may arrive when its match has ended, or is asked again since Redis lost that it was accepted.
func TestLateRefusalClosesNothing(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		late := func(what string, m *pb.Match) {
			t.Helper()
			if h.refuse(m) {
				t.Errorf("%s: an event tells that there are no servers", what)
			}
			h.expect(what, 3, 3)
			h.open = nil
			must(t, h.s.ForgetCredit(t.Context(), project))
		}
		h.claim(1, "")
		m := h.open[0]
		h.end(served)
		late("assigned", m)
		h.claim(1, "")
		m = h.take()
		must(t, second(h.s.At(h.now).ReleaseMatch(t.Context(), project, m, "one", true, "late")))
		h.delete(state.TicketsOf(m.GetProposal())...)
		late("released", m)
		create(t, h.s, "asked")
		asked := offer(h.revision, "asked", "asked")
		asked.Match.Hosting = &pb.Hosting{}
		mustClaim(t, h.s, h.terms, asked)
		late("asked", asked.Match)
	})
}

// An allocator has a server for a match whose players are asked again. It counts to no target, so its end must not
// count as another's.
func TestEndOfAMatchThatIsAskedLeavesTheCountOfOthers(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		h.claim(2, "")
		create(t, h.s, "asked")
		asked := offer(h.revision, "asked", "asked")
		asked.Match.Hosting = &pb.Hosting{}
		mustClaim(t, h.s, h.terms, asked)
		before, err := h.s.Credit(t.Context(), project)
		must(t, err)
		ended, err := h.s.At(h.now).EndMatch(t.Context(), project, state.Ending{Match: asked.Match,
			Tickets: asked.Tickets, Results: []*pb.Assignment{{Connection: "1.2.3.4:5"}},
			Outcome: state.Outcome{Connection: "1.2.3.4:5", Holder: "one", Readable: time.Minute}})
		if err != nil || ended.Status != state.MatchReleased {
			t.Fatal(ended.Status, err)
		}
		after, err := h.s.Credit(t.Context(), project)
		if must(t, err); fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("the targets were %v and are %v", before, after)
		}
	})
}

// A target that is closed while none of its matches is counted is tried again soon: nothing else will open it.
func TestClosedTargetWithoutMatchesIsTriedAgainSoon(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		h.claim(1, "")
		must(t, h.s.ForgetCredit(t.Context(), project)) // as after a failover
		h.refuse(h.open[0])
		h.expect("closed", 0, 1)
		h.now = h.now.Add(time.Second)
		h.expect("after a pause", 1, 1)
	})
}

// A target that a Redis closed whose clock was ahead, before a failover, is tried again.
func TestClosedTargetFromTheFutureIsTriedAgain(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		h.now = epoch0.Add(day)
		h.claim(1, "")
		h.refuse(h.open[0])
		h.expect("closed", 0, 1)
		h.now = epoch0
		h.expect("after the failover", 1, 1)
		h.expect("while one tries", 0, 1)
	})
}

// The one match that tries a closed target may end while its players are asked, since Redis lost that they accepted.
// Then another one tries the target.
func TestClosedTargetIsTriedAgainWhenTheRetryEndsWhileItAsks(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		h := newHosting(t, open(state.Options{}))
		for _, accepted := range []bool{false, true} {
			h.claim(1, "")
			h.refuse(h.open[0])
			h.end(state.Outcome{Error: "AllocationError", Reason: "fleet-empty"})
			h.now = h.now.Add(time.Second)
			id := fmt.Sprint("asked-", accepted)
			create(t, h.s, id)
			retry := offer(h.revision, id, id)
			retry.Match.Hosting = &pb.Hosting{}
			mustClaim(t, h.s.At(h.now), h.terms, retry)
			h.expect("while the retry asks", 0, 1)
			want := state.MatchReleased
			if accepted {
				want = state.MatchActive
				must(t, second(h.s.At(h.now).AnswerMatch(t.Context(), project,
					state.Answer{Ticket: id, Match: id, Accept: true})))
			}
			ended, err := h.s.At(h.now).EndMatch(t.Context(), project, state.Ending{Match: retry.Match,
				Tickets: retry.Tickets, Results: []*pb.Assignment{{Connection: "1.2.3.4:5"}},
				Outcome: state.Outcome{Connection: "1.2.3.4:5", Holder: "one", Readable: time.Minute}})
			if err != nil || ended.Status != want {
				t.Fatal(ended.Status, err)
			}
			h.delete(id)
			h.expect("after the retry", 1, 1)
			h.open = nil
			must(t, h.s.ForgetCredit(t.Context(), project))
		}
	})
}
