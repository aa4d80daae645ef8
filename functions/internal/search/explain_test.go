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

func TestExplanationsAreTrue(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 1))
		r, err := rules.Parse(world{random}.rules())
		if err != nil {
			return o
		}
		pool := world{random}.pool(*least + random.IntN(*most-*least+1))
		text := world{random}.waits(r)
		alone, none, err := explained(r, pool, 16*plenty)
		if o.count = map[string]int{"alone": alone, "none": none}; err == nil {
			return o
		}
		o.failed = func(t *testing.T) string {
			pool = shrink(pool, func(p []judge.Ticket) bool { _, _, err := explained(r, p, 16*plenty); return err != nil })
			_, _, err = explained(r, pool, 16*plenty)
			return fmt.Sprintf("seed %d: %v\n%s\nthe case is in %s", *seed+uint64(i), err, text, keep(t, text, pool))
		}
		return o
	})
	alone, none := counts["alone"], counts["none"]
	t.Logf("%d rules alone keep a ticket from a match, of %d tickets none does", alone, none)
	if *cases >= 200 && (alone < *cases/4 || none < *cases/4) {
		t.Errorf("the cases say little: %d rules alone, %d tickets without such a rule", alone, none)
	}
}

// explainedJoins checks what is said of tickets that join no running game. Games that they would join must take them.
// Where the reference finds that a rule alone keeps a ticket from a game, that is said.
func explainedJoins(r *rules.Rules, pool []judge.Ticket, games []*judge.Running) (alone, none int, err error) {
	found := search.Search(r, tickets(pool), asGames(games), 16*plenty)
	left, got := map[uint32]bool{}, map[int]bool{}
	var asked []uint32
	for i := range pool {
		left[uint32(i)], asked = true, append(asked, uint32(i))
	}
	for _, m := range found {
		got[m.Game] = true
		for _, team := range m.Teams {
			for _, t := range team.Tickets {
				delete(left, t)
			}
		}
	}
	said, noRule := map[uint32]bool{}, map[uint32]bool{}
	for _, reason := range search.Explain(r, tickets(pool), asGames(games), found, asked, 16*plenty) {
		t := reason.Ticket
		if said[t] = true; !left[t] || reason.Kind == search.WorkEnded || reason.Match != nil && reason.Join != nil {
			return 0, 0, fmt.Errorf("ticket %d has the reason %+v, in a match: %v", t, reason, !left[t])
		}
		noRule[t] = noRule[t] || reason.Kind == search.NoneAlone
		m := reason.Join
		if m == nil {
			continue
		}
		alone++
		less := without(r, &reason)
		if less == nil || m.Game < 0 || got[m.Game] {
			return 0, 0, fmt.Errorf("ticket %d joins %+v without %q", t, m, reason.Name)
		}
		if err := judge.CheckJoin(less, pool, games[m.Game], joined(*m, len(pool))); err != nil {
			return 0, 0, fmt.Errorf("without %s ticket %d does not join game %d as in %+v: %w", reason.Name, t, m.Game, m, err)
		}
		has := false
		for _, team := range m.Teams {
			has = has || slices.Contains(team.Tickets, t)
			for _, other := range team.Tickets {
				if !left[other] {
					return 0, 0, fmt.Errorf("game %d takes ticket %d from a match", m.Game, other)
				}
			}
		}
		if !has {
			return 0, 0, fmt.Errorf("%+v is without ticket %d", m, t)
		}
	}
	for t := range left {
		if !said[t] {
			return 0, 0, fmt.Errorf("ticket %d has no reason", t)
		}
		if !noRule[t] {
			continue
		}
		none++
		for i := range r.Rules {
			less := *r
			less.Rules = slices.Delete(slices.Clone(r.Rules), i, i+1)
			for j, g := range games {
				if got[j] {
					continue
				}
				one := *g
				one.Barred = nil
				if slices.Contains(g.Barred, int(t)) {
					one.Barred = []int{0}
				}
				if m, ok, _ := judge.FindJoin(&less, pool[t:t+1], &one, *parts); ok {
					return 0, 0, fmt.Errorf("without rules[%d] ticket %d joins game %d, which is not said: %+v", i, t, j, m)
				}
			}
		}
	}
	return alone, none, nil
}

func TestExplanationsOfGamesAreTrue(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 2))
		r, err := rules.Parse(world{random}.rules())
		if err != nil {
			return o
		}
		world{random}.backfill(r)
		pool := world{random}.pool(*least + random.IntN(*most-*least+1))
		games := []*judge.Running{world{random}.running(r, len(pool))}
		alone, none, err := explainedJoins(r, pool, games)
		if o.count = map[string]int{"alone": alone, "none": none}; err == nil {
			return o
		}
		o.failed = func(t *testing.T) string {
			games[0].Barred = nil
			if _, _, still := explainedJoins(r, pool, games); still != nil {
				pool = shrink(pool, func(p []judge.Ticket) bool { _, _, bad := explainedJoins(r, p, games); return bad != nil })
				_, _, err = explainedJoins(r, pool, games)
			}
			return fmt.Sprintf("seed %d: %v\n%s\nthe case is in %s", *seed+uint64(i), err, rules.Write(r),
				keep(t, rules.Write(r), pool, games...))
		}
		return o
	})
	alone, none := counts["alone"], counts["none"]
	t.Logf("%d rules alone keep a ticket from a game, of %d tickets none does", alone, none)
	if *cases >= 200 && (alone < *cases/20 || none < *cases/4) {
		t.Errorf("the cases say little: %d rules alone, %d tickets without such a rule", alone, none)
	}
}

// Explanations do not depend on how many other tickets wait that do not fit, and end with the work.
func TestExplanationsEndWithTheWork(t *testing.T) {
	r, err := rules.Parse([]byte(`{"values": {"skill": "number", "mode": "string"},
  "teams": [{"name": "a", "copies": 2, "size": 1}],
  "rules": [{"name": "near", "spread": "skill", "max": 1}, {"name": "mode", "same": "mode"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var pool []judge.Ticket
	for i := range 2000 {
		mode := "x"
		if i == 1000 {
			mode = "y"
		}
		pool = append(pool, judge.Ticket{Age: float64(i % 7), Players: []judge.Player{
			{"skill": float64(2 * i), "mode": mode},
		}})
	}
	reasons := search.Explain(r, tickets(pool), nil, nil, []uint32{5, 1000}, plenty)
	// Only the one in the other mode needs both rules to go.
	want := []string{"5 near 1998", "1000  0"}
	var got []string
	for _, reason := range reasons {
		got = append(got, fmt.Sprint(reason.Ticket, " ", reason.Name, " ", reason.Candidates))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	got = nil
	for _, reason := range search.Explain(r, tickets(pool), nil, nil, []uint32{5, 1000}, 1000) {
		got = append(got, fmt.Sprint(reason.Ticket, " ", reason.Kind == search.Undecided, " ", reason.Match))
	}
	if want := []string{"5 true <nil>", "1000 true <nil>"}; !slices.Equal(got, want) {
		t.Errorf("without work: %q", got)
	}
}

// A player in a running game lacks a value that one rule needs. Without that rule the game takes a player, although it
// is not known which roles its member takes.
func TestARuleWhoseValueAMemberLacks(t *testing.T) {
	r, err := rules.Parse([]byte(`{"values": {"maps": "set", "roles": "set"},
  "teams": [{"name": "red", "size": 2, "roles": {"healer": {"min": 0}, "tank": {"min": 0}}}],
  "roles": "roles",
  "rules": [{"name": "map", "share": "maps", "min": 1}],
  "backfill": {"first": "games"}}`))
	if err != nil {
		t.Fatal(err)
	}
	pool := []judge.Ticket{{Age: 5, Players: []judge.Player{{"maps": []any{"a"}, "roles": []any{"tank"}}}}}
	games := asGames([]*judge.Running{{Members: []judge.Member{{Player: judge.Player{}, Team: "red", Role: "healer"}},
		Room: -1}})
	reasons := search.Explain(r, tickets(pool), games, nil, []uint32{0}, plenty)
	if len(reasons) != 1 || reasons[0].Name != "map" || reasons[0].Join == nil {
		t.Errorf("%+v, want a join without the rule map", reasons)
	}
}
