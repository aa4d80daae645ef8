package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// compared checks what is said with little work against what is said with much: of a rule the same number of
// candidates, or as many of a sample as there can be.
func compared(r *rules.Rules, pool []judge.Ticket, work int) (sampled int, err error) {
	found := search.Search(r, tickets(pool), nil, plenty)
	var asked []uint32
	for i := range pool {
		asked = append(asked, uint32(i))
	}
	type rule struct {
		ticket uint32
		name   string
	}
	all, many := map[rule]int{}, map[uint32]int{}
	for _, reason := range search.Explain(r, tickets(pool), nil, found, asked, 16*plenty) {
		if many[reason.Ticket]++; reason.Kind == search.RuleStops {
			all[rule{reason.Ticket, reason.Name}] = reason.Candidates
		}
	}
	for _, reason := range search.Explain(r, tickets(pool), nil, found, asked, work) {
		if reason.Kind != search.RuleStops || many[reason.Ticket] == 16 {
			continue
		}
		n, said := all[rule{reason.Ticket, reason.Name}]
		switch {
		case !said:
			return 0, fmt.Errorf("only with little work it is said that %+v", reason)
		case reason.Looked == 0 && reason.Candidates >= 0 && reason.Candidates != n:
			return 0, fmt.Errorf("with much work there are %d candidates, not as in %+v", n, reason)
		case reason.Looked > 0:
			sampled++
			if unfit := reason.Looked - reason.Candidates; reason.Candidates > n || unfit > len(pool)-1-n ||
				reason.Match == nil && reason.Candidates < 1 {
				return 0, fmt.Errorf("with much work there are %d candidates, of %d tickets: %+v", n, len(pool), reason)
			}
		}
	}
	return sampled, nil
}

// Whatever the work, each ticket has a reason, and what is said is true.
func TestExplanationsOfLittleWorkAreTrue(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 8))
		r, err := rules.Parse(world{random}.rules())
		if err != nil {
			return o
		}
		pool := world{random}.pool(*least + random.IntN(*most-*least+1))
		text, work := world{random}.waits(r), 1<<random.IntN(12)
		check := func(p []judge.Ticket) (o outcome, err error) {
			alone, none, err := explained(r, p, work)
			if err != nil {
				return o, err
			}
			sampled, err := compared(r, p, work)
			o.count = map[string]int{"alone": alone, "none": none, "sampled": sampled}
			return o, err
		}
		if o, err = check(pool); err == nil {
			return o
		}
		o.failed = func(t *testing.T) string {
			pool = shrink(pool, func(p []judge.Ticket) bool { _, err := check(p); return err != nil })
			_, err = check(pool)
			return fmt.Sprintf("seed %d, work %d: %v\n%s\nthe case is in %s", *seed+uint64(i), work, err, text,
				keep(t, text, pool))
		}
		return o
	})
	t.Logf("%d rules alone keep a ticket from a match, of %d tickets none does; %d samples", counts["alone"],
		counts["none"], counts["sampled"])
	if *cases >= 200 && (counts["alone"] < *cases/8 || counts["none"] < *cases/8 || counts["sampled"] < *cases/16) {
		t.Errorf("the cases say little: %v", counts)
	}
}

// The search finds a role that too few players take before the work ends. It counts only tickets that could be together
// with the ticket in question.
func TestALackingRoleIsSaidOfAll(t *testing.T) {
	r, err := rules.Parse([]byte(`{"values": {"skill": "number", "mode": "string"},
  "teams": [{"name": "side", "copies": 2, "size": 2, "roles": {"healer": 1, "damage": 1}}],
  "rules": [{"same": "mode"}, {"spread": "skill", "max": 5}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var pool []judge.Ticket
	var asked []uint32
	for i := range 400 {
		mode, role := "ranked", "damage"
		if i%2 == 1 {
			mode = "fun"
		}
		if i == 0 || i == 1 || i == 3 {
			role = "healer"
		}
		pool = append(pool, judge.Ticket{Players: []judge.Player{
			{"skill": float64(100 * i), "mode": mode, "roles": []any{role}},
		}})
		asked = append(asked, uint32(i))
	}
	lacks := 0
	for _, reason := range search.Explain(r, tickets(pool), nil, nil, asked, 4000) {
		if reason.Kind != search.RoleLacks {
			continue
		}
		lacks++
		if !slices.Equal(reason.Roles, []search.Lack{{Name: "healer", Takers: 1, Needs: 2}}) || reason.Ticket%2 == 1 {
			t.Errorf("%+v", reason)
		}
	}
	if lacks != 200 {
		t.Errorf("it is said of %d tickets, not of the 200", lacks)
	}
}
