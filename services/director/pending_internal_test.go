package director

import (
	"fmt"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/evaluator"
)

// scored are n proposals of a config, each with a ticket of its own and a score, in the order of a function that knows
// no order.
func scored(config string, n int) []*proposal {
	s := &segment{config: &pb.Config{Id: config}}
	all := make([]*pb.Proposal, n)
	for i := range all {
		ticket := fmt.Sprint(config, "-", i)
		all[i] = &pb.Proposal{Score: float64(i * 7 % n), Teams: []*pb.Team{{Tickets: []string{ticket}}}}
	}
	return newProposals(s, all, 1, false)
}

func count(proposals []*proposal, config string) (n int) {
	for _, p := range proposals {
		if p.Config == config {
			n++
		}
	}
	return n
}

func TestEvaluationTakesAnEvenShareOfEachConfig(t *testing.T) {
	for name, test := range map[string]struct {
		pending, taken map[string]int
	}{
		"all of them": {map[string]int{"a": 30, "b": 70}, map[string]int{"a": 30, "b": 70}},
		"one has many": {
			map[string]int{"a": 10, "flood": 100_000}, map[string]int{"a": 10, "flood": 90},
		},
		"two have many": {
			map[string]int{"a": 10, "b": 5000, "flood": 100_000}, map[string]int{"a": 10, "b": 45, "flood": 45},
		},
		"one alone": {map[string]int{"flood": 100_000}, map[string]int{"flood": 100}},
	} {
		var p pending
		for config, n := range test.pending {
			p.add(time.Unix(1, 0), 0, config, scored(config, n))
		}
		got := p.take(100)
		for config, want := range test.taken {
			if n := count(got, config); n != want {
				t.Errorf("%s: %d of %s, want %d", name, n, config, want)
			}
		}
		if len(got) > 100 {
			t.Errorf("%s: %d are taken", name, len(got))
		}
		waits := !p.since.IsZero()
		if rest := p.all(); waits != (len(rest) > 0) {
			t.Errorf("%s: %d are left, and they wait: %v", name, len(rest), waits)
		}
	}
}

// However many configs there are, each gets a share.
func TestEvaluationTakesFromEachOfVeryManyConfigs(t *testing.T) {
	var p pending
	for i := range 300 {
		p.add(time.Unix(1, 0), 0, fmt.Sprint("config-", i), scored(fmt.Sprint("config-", i), 3))
	}
	got := p.take(100)
	for i := range 300 {
		if count(got, fmt.Sprint("config-", i)) == 0 {
			t.Fatalf("none of config-%d are taken", i)
		}
	}
}

// The best of all parts of an answer are evaluated first, and none is lost.
func TestEvaluationsTakeTheBestFirst(t *testing.T) {
	var p pending
	want := scored("a", 5000)
	for part := range slices.Chunk(slices.Clone(want), 700) {
		part = slices.Clone(part)
		evaluator.Sort(part)
		p.add(time.Unix(1, 0), 0, "a", part)
	}
	var got []*proposal
	for !p.since.IsZero() {
		some := p.take(512)
		evaluator.Sort(some)
		got = append(got, some...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d proposals came in another order than the preferred one", len(got))
	}
}

// Proposals without tickets are the cheapest to send, and take memory all the same. Each ticket takes some too.
func TestEmptyProposalsTakeRoom(t *testing.T) {
	empty := bus.Part{RunPart: &pb.RunPart{Proposals: make([]*pb.Proposal, 1000)}, Bytes: 1000}
	if size := sizeOf(empty); size < 200 {
		t.Errorf("%d bytes each", size)
	}
	full := &pb.Proposal{Teams: []*pb.Team{{Tickets: []string{"a", "b"}}, {Tickets: []string{"c"}}}}
	two := bus.Part{RunPart: &pb.RunPart{Proposals: []*pb.Proposal{full, full}}}
	if size := sizeOf(two); size != proposalSize+3*ticketSize {
		t.Errorf("%d bytes for 3 tickets", size)
	}
}

// A proposal with a ticket that was matched meanwhile has lost, unless it came after the match: then the ticket waits
// again.
func TestProposalsOfMatchedTicketsAreNotClaimed(t *testing.T) {
	before, other := scored("a", 2), scored("b", 2)
	m := &matched{round: 3}
	m.add(before[0].Tickets)
	if e := newEvaluation(append(before, other...), m); len(e.selected) != 3 || slices.Contains(e.selected, before[0]) {
		t.Errorf("%d of 4 are selected", len(e.selected))
	}
	before[0].Origin.round = 4
	if e := newEvaluation(before, m); len(e.selected) != 2 {
		t.Errorf("%d of 2 are selected when the ticket waits again", len(e.selected))
	}
	for i := range 2 * maxMatched {
		m.add([]string{fmt.Sprint(i)})
	}
	if len(m.tickets) > maxMatched+1 {
		t.Errorf("%d tickets are remembered", len(m.tickets))
	}
}

// One step claims neither too many matches nor too many tickets.
func TestClaimStepsAreBounded(t *testing.T) {
	large := make([]*proposal, 100)
	for i := range large {
		large[i] = &proposal{Proposal: new(pb.Proposal), Tickets: make([]string, 1000)}
	}
	for _, test := range []struct {
		selected []*proposal
		want     int
	}{{scored("a", 5000), claimStep}, {large, 8}, {large[:3], 3}, {nil, 0}} {
		e := &evaluation{selected: test.selected}
		if n := len(e.next()); n != test.want {
			t.Errorf("%d of %d are claimed in a step, want %d", n, len(test.selected), test.want)
		}
	}
}
