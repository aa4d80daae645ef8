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

// asGames is running games as the search takes them.
func asGames(games []*judge.Running) *search.Games {
	all := &search.Games{Turn: 3}
	var roster tickets
	for _, g := range games {
		one := search.Running{Age: g.Age, Region: g.Region, Room: g.Room}
		for _, t := range g.Barred {
			one.Barred = append(one.Barred, uint32(t))
		}
		for _, m := range g.Members {
			one.Members = append(one.Members, search.Member{Team: m.Team, Role: m.Role})
			roster = append(roster, judge.Ticket{Players: []judge.Player{m.Player}})
		}
		all.Running = append(all.Running, one)
	}
	all.Roster = roster
	return all
}

// joined is a game with the tickets that join, as the judge takes it.
func joined(m search.Match, tickets int) judge.Match {
	j := judged(m)
	for i, team := range m.Teams {
		for _, member := range team.Members {
			j.Teams[i].Tickets = append(j.Teams[i].Tickets, tickets+member)
		}
		j.Teams[i].Roles = append(slices.Clip(team.Roles), team.MemberRoles...)
	}
	return j
}

// filled searches a pool and running games. If the work ended before a match or a player for a game, it searches again
// with much more.
func filled(r *rules.Rules, pool []judge.Ticket, games []*judge.Running) result {
	got := filledWith(r, pool, games, ordinary)
	if got.ended && got.wrong != "" {
		got = filledWith(r, pool, games, muchMore)
		got.ended, got.repeated = true, true
	}
	return got
}

// filledWith searches a pool and running games, and says what is wrong with what is found. Its matches are those that
// join games.
func filledWith(r *rules.Rules, pool []judge.Ticket, games []*judge.Running, work int) (got result) {
	found, all := search.Tried(r, tickets(pool), asGames(games), work)
	joins, told, wrong := lookedAt(r, pool, games, found)
	return result{matches: joins, told: told, wrong: wrong, ended: !all}
}

// lookedAt says how many matches join games, whether the reference could say what is left, and what is wrong with them.
func lookedAt(
	r *rules.Rules, pool []judge.Ticket, games []*judge.Running, found []search.Match,
) (joins int, told bool, wrong string) {
	left := map[int]bool{}
	for i := range pool {
		left[i] = true
	}
	got := map[int]bool{}
	for i, m := range found {
		var err error
		if m.Game < 0 {
			err = judge.Check(r, pool, judged(m))
		} else {
			err = judge.CheckJoin(r, pool, games[m.Game], joined(m, len(pool)))
		}
		if err != nil {
			return 0, true, fmt.Sprintf("match %d is %+v: %v", i, m, err)
		}
		if m.Game >= 0 {
			joins++
			if got[m.Game] {
				return 0, true, fmt.Sprintf("game %d gets players twice", m.Game)
			}
			got[m.Game] = true
		}
		for _, team := range m.Teams {
			for _, t := range team.Tickets {
				if !left[int(t)] {
					return 0, true, fmt.Sprintf("ticket %d is in two matches", t)
				}
				delete(left, int(t))
			}
		}
	}
	var rest []judge.Ticket
	numbers := map[int]int{}
	for i, t := range pool {
		if left[i] {
			numbers[i] = len(rest)
			rest = append(rest, t)
		}
	}
	told = true
	if m, ok, could := judge.Find(r, rest, *parts); ok {
		return joins, true, fmt.Sprintf("of the %d tickets that are left %+v is a match", len(rest), m)
	} else if !could {
		told = false
	}
	for i, g := range games {
		if got[i] {
			continue
		}
		lacks := *g
		lacks.Barred = nil
		for _, t := range g.Barred {
			if n, ok := numbers[t]; ok {
				lacks.Barred = append(lacks.Barred, n)
			}
		}
		m, ok, could := judge.FindJoin(r, rest, &lacks, *parts)
		if ok {
			return joins, true, fmt.Sprintf("of the %d tickets that are left, some may join game %d: %+v", len(rest), i, m)
		}
		told = told && could
	}
	return joins, told, ""
}

// running makes a random game: of a match of others that some have left, or of any players.
func (w world) running(r *rules.Rules, tickets int) *judge.Running {
	g := &judge.Running{Age: float64(w.IntN(40)), Room: -1, Region: w.one("eu", "us", "us", "").(string)}
	if w.chance(4) {
		g.Room = w.IntN(4)
	}
	for t := range tickets {
		if w.chance(8) {
			g.Barred = append(g.Barred, t)
		}
	}
	pool := w.pool(8)
	if m, ok, _ := judge.Find(r, pool, 20_000); ok && !w.chance(5) {
		g.Region = m.Region
		copies := map[int]int{}
		for _, team := range m.Teams {
			copies[team.Shape]++
			at := 0
			for _, t := range team.Tickets {
				for _, p := range pool[t].Players {
					one := judge.Member{Player: p}
					if !w.chance(4) {
						one.Team = r.Teams[team.Shape].Called(copies[team.Shape])
					}
					if team.Roles != nil && !w.chance(4) {
						one.Role = team.Roles[at]
					}
					if at++; !w.chance(3) {
						g.Members = append(g.Members, one)
					}
				}
			}
		}
		return g
	}
	for _, t := range pool[:w.IntN(4)] {
		for _, p := range t.Players {
			g.Members = append(g.Members, judge.Member{
				Player: p, Team: w.one("red", "red_1", "red_2", "blue", "", "").(string),
				Role: w.one("tank", "healer", "medic", "", "", "").(string),
			})
		}
	}
	return g
}

// backfill is a rule set's, at random.
func (w world) backfill(r *rules.Rules) {
	r.Backfill.First = w.one(rules.FullFirst, rules.GamesFirst, rules.MatchesFirst, rules.First("")).(rules.First)
	switch w.IntN(4) {
	case 0:
		r.Backfill.Open = rules.Fixed(float64(w.IntN(3)))
	case 1:
		steps := []rules.Step{{After: 10, Value: 1}, {After: 30, Off: true}}
		r.Backfill.Open = &rules.Bound{Clock: rules.Anchor, Steps: steps}
	}
	if w.chance(8) {
		r.Backfill.Active = &rules.Bound{Clock: rules.Oldest, Start: 1, Steps: []rules.Step{{After: 20}}}
	}
	if w.chance(3) {
		r.Backfill.Create = rules.CreateShort
	}
}

// Tickets join a game if they may, none of those that are left may, and only those do that the rules allow.
func TestGamesGetWhomTheReferenceLets(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 2))
		text := ruleSet(random, *seed+uint64(i))
		r, err := rules.Parse(text)
		if err != nil {
			return o
		}
		world{random}.backfill(r)
		pool := world{random}.pool(*least + random.IntN(*most-*least+1))
		var games []*judge.Running
		for range 1 + random.IntN(2) {
			games = append(games, world{random}.running(r, len(pool)))
		}
		got := filled(r, pool, games)
		o.count = got.counts()
		switch o.unknown = !got.told; {
		case got.matches > 0:
			o.kind = "joins"
		case got.told:
			o.kind = "none"
		}
		if got.wrong == "" {
			return o
		}
		o.failed = func(t *testing.T) string {
			wrong := got.wrong
			for _, g := range games {
				g.Barred = nil
			}
			if filled(r, pool, games).wrong != "" {
				pool = shrink(pool, func(p []judge.Ticket) bool { return filled(r, p, games).wrong != "" })
				wrong = filled(r, pool, games).wrong
			}
			file := keep(t, rules.Write(r), pool, games...)
			return fmt.Sprintf("seed %d: %s\n%s\nthe case is in %s", *seed+uint64(i), wrong, rules.Write(r), file)
		}
		return o
	})
	joins, none := counts["joins"], counts["none"]
	t.Logf("%d pools with players for a game, %d without; in %d the reference could not say whether there are more",
		joins, none, counts["unknown"])
	fewRepeated(t, counts)
	if *cases >= 200 && (joins < *cases/20 || none < *cases/50) {
		t.Errorf("the cases say little: %d pools with players for a game, %d without", joins, none)
	}
}
