package runner

import (
	"hash/maphash"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/proposals"
)

// Trials have a quarter of the function's own work and what they begin with, whatever one of them costs, and are paid
// for in small parts.
func TestTrialsHaveAShareOfTheWork(t *testing.T) {
	const work, cost = 10 * time.Millisecond, 5 * time.Millisecond
	s := newSpending()
	var own, trials, paid time.Duration
	for range 1000 {
		own += work
		s.earn(work)
		if debt := s.pay(work); debt > 2*work/trialShare {
			t.Fatalf("a run pays %v", debt)
		} else {
			paid += debt
		}
		if s.allows(shadow) {
			trials += cost
			s.spend(shadow, cost)
		}
	}
	if most := own/trialShare + trialCredit + cost; trials > most || trials < own/trialShare {
		t.Errorf("trials had %v beside %v", trials, own)
	}
	if unpaid := trials - paid; unpaid < 0 || unpaid > trialCredit+cost {
		t.Errorf("trials took %v, and %v were paid", trials, paid)
	}
	// One that hangs is the last for a while.
	s.spend(shadow, 5*time.Second)
	n := 0
	for ; !s.allows(shadow); n++ {
		s.earn(work)
	}
	if n < 1900 {
		t.Errorf("the next trial begins after %d runs", n)
	}
	// No function saves much.
	for range 100_000 {
		s.earn(time.Second)
	}
	if s.left[shadow] != maxTrialCredit || s.left[repeater] != maxTrialCredit {
		t.Errorf("%v were saved", s.left)
	}
}

func TestDigestKnowsMatchesOfTheSameTickets(t *testing.T) {
	seed := maphash.MakeSeed()
	part := func(teams ...[]string) *pb.RunPart {
		one := &pb.Proposal{Score: 2}
		for _, tickets := range teams {
			one.Teams = append(one.Teams, &pb.Team{Tickets: tickets})
		}
		return &pb.RunPart{Proposals: []*pb.Proposal{one}}
	}
	var plain proposals.Plain
	plain.Propose(2, 1)
	plain.Team()
	plain.Ticket("b")
	plain.Ticket("a")
	digests := map[string]*digest{}
	for name, p := range map[string]*pb.RunPart{
		"a b": part([]string{"a"}, []string{"b"}), "b a": part([]string{"b", "a"}), "ab": part([]string{"ab"}),
		"a": part([]string{"a"}), "plain": {Plain: plain.Message()},
	} {
		d := &digest{seed: seed}
		if err := d.add(p); err != nil || d.n != 1 || d.score != 2 || len(d.matches) != 1 {
			t.Fatalf("%s: %+v, %v", name, d, err)
		}
		digests[name] = d
	}
	common := func(a, b string) bool {
		for match := range digests[a].matches {
			if _, both := digests[b].matches[match]; both {
				return true
			}
		}
		return false
	}
	if !common("a b", "b a") || !common("a b", "plain") || common("a b", "ab") || common("a b", "a") {
		t.Errorf("the digests are %v", digests)
	}
	many := &digest{seed: seed}
	for range maxCompared {
		if err := many.add(part([]string{"a"})); err != nil || many.tooMany {
			t.Fatal(err, many.n)
		}
	}
	if err := many.add(part([]string{"a"})); err != nil || !many.tooMany || many.n != maxCompared {
		t.Errorf("%d proposals are compared, error %v", many.n, err)
	}
}
