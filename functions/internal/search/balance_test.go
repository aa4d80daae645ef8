package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// party is a ticket of so many players of the same skill.
func party(age, skill float64, players int) judge.Ticket {
	one := judge.Ticket{Age: age}
	for range players {
		one.Players = append(one.Players, judge.Player{"skill": skill})
	}
	return one
}

func parsed(t *testing.T, text string) *rules.Rules {
	t.Helper()
	r, err := rules.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gapOf is the difference of the sums of two teams.
func gapOf(pool []judge.Ticket, teams [][]uint32) float64 {
	var sums [2]float64
	for i, team := range teams {
		for _, ticket := range team {
			for _, player := range pool[ticket].Players {
				sums[i] += player["skill"].(float64)
			}
		}
	}
	return math.Abs(sums[0] - sums[1])
}

// evenTeams prefers what files that prefer nothing get.
const evenTeams = `"prefer": [{"low": {"minus": [{"max": {"avg": "skill", "in": "team"}},
	{"min": {"avg": "skill", "in": "team"}}]}}]`

// Ten players in parties of up to three are divided into two teams of five, as evenly as they can be in most pools: two
// tickets are exchanged for one of as many players, too. A file without preferences gets that for what its rules bound.
func TestPartiesAreBalanced(t *testing.T) {
	for _, rest := range []string{
		evenTeams,
		`"rules": [{"gap": "skill", "max": 100}]`,
		`"rules": [{"gap": "skill", "max": 500, "stat": "sum"}]`,
		`"rules": [{"spread": "skill", "max": 100}]`,
		`"rules": [{"spread": "skill", "max": 100, "in": "team"}]`,
		`"rules": [{"compare": [{"max": {"abs": {"minus": [{"avg": "skill", "in": "team"}, {"avg": "skill"}]}}}, "<=", 100]}]`,
		`"rules": [{"compare": [100, ">=", {"max": {"abs": {"minus": [{"avg": "skill", "in": "team"}, {"avg": "skill"}]}}}]}]`,
		`"rules": [{"compare": [{"favorite": "skill", "beta": 50}, "<=", 0.99]}]`,
		`"rules": [{"compare": [{"quality": "skill", "beta": 50}, ">=", 0.01]}]`,
		`"rules": [{"spread": "skill", "max": 100}], "prefer": [{"need": {"gap": "count", "max": 1}}]`,
	} {
		even, all := pools(t, rest)
		t.Logf("%s: %d of %d pools are divided as evenly as they can be", rest, even, all)
		if all < 300 || even < all*9/10 {
			t.Errorf("%s: %d of %d pools are divided as evenly as they can be", rest, even, all)
		}
	}
}

// pools returns how many of random pools of ten players are divided as evenly as they can be.
func pools(t *testing.T, rest string) (even, all int) {
	t.Helper()
	r := parsed(t, `{"values": {"skill": "number"}, "teams": [{"name": "team", "copies": 2, "size": 5}], `+rest+`}`)
	random := rand.New(rand.NewPCG(3, 5))
	for range 400 {
		var pool []judge.Ticket
		for players := 0; players < 10; {
			size := min(1+random.IntN(3), 10-players)
			pool = append(pool, party(float64(100-players), float64(random.IntN(100)), size))
			players += size
		}
		best := math.Inf(1)
		for set := range 1 << len(pool) {
			var teams [2][]uint32
			players := 0
			for i := range pool {
				side := set >> i & 1
				teams[side] = append(teams[side], uint32(i))
				players += side * len(pool[i].Players)
			}
			if players == 5 {
				best = math.Min(best, gapOf(pool, teams[:]))
			}
		}
		if math.IsInf(best, 1) {
			continue // they cannot be divided
		}
		found := search.Search(r, tickets(pool), nil, plenty)
		if len(found) != 1 {
			t.Fatalf("%s: found %d matches of %v", rest, len(found), pool)
		}
		all++
		if gapOf(pool, [][]uint32{found[0].Teams[0].Tickets, found[0].Teams[1].Tickets}) <= best {
			even++
		}
	}
	return even, all
}

// Where the rules prefer it, parties meet parties: several players are left out for a party, and a party for several
// players.
func TestPartiesMeetParties(t *testing.T) {
	for name, preference := range map[string]string{
		"difference": `{"low": {"minus": [{"max": {"party": "players", "in": "team"}},
			{"min": {"party": "players", "in": "team"}}]}}`,
		"premade": `{"need": {"premade": 2}}`,
	} {
		r := parsed(t, `{"values": {"skill": "number"}, "teams": [{"name": "team", "copies": 2, "size": 3}],
			"rules": [{"spread": "skill", "max": 500}], "prefer": [`+preference+`]}`)
		for _, c := range []struct {
			name string
			pool []judge.Ticket
		}{
			{"a party for two", []judge.Ticket{party(9, 0, 2), party(8, 1, 1), party(7, 2, 1), party(6, 3, 1),
				party(5, 4, 1), party(4, 90, 2)}},
			{"two for a party", []judge.Ticket{party(9, 0, 1), party(8, 1, 1), party(7, 2, 2), party(6, 3, 1),
				party(5, 4, 1), party(4, 90, 1), party(3, 91, 1)}},
		} {
			found := search.Search(r, tickets(c.pool), nil, plenty)
			if len(found) != 1 {
				t.Fatalf("%s, %s: found %d matches", name, c.name, len(found))
			}
			var largest [2]int
			for i, team := range found[0].Teams {
				for _, ticket := range team.Tickets {
					largest[i] = max(largest[i], len(c.pool[ticket].Players))
				}
			}
			if largest[0] != largest[1] {
				t.Errorf("%s, %s: the largest parties have %v players", name, c.name, largest)
			}
		}
	}
}

// Numbers so great that their differences are none end nothing and make no wrong match.
func TestHugeNumbersAreNoReasonToExchange(t *testing.T) {
	for _, rule := range []string{
		`"rules": [{"gap": "skill", "max": 1}]`,
		`"rules": [{"gap": "skill", "max": 1, "stat": "sum"}]`,
		`"rules": [{"gap": "skill", "max": 1, "stat": "stddev"}]`,
		`"rules": [{"spread": "skill", "max": 1.7e308}]`,
		`"rules": [{"gap": "skill", "max": 1e-300}]`,
		`"prefer": [{"low": {"abs": {"minus": [{"sum": "skill", "in": ["red"]}, {"sum": "skill", "in": ["blue"]}]}}}]`,
		`"prefer": [{"low": {"minus": [{"max": {"sum": "skill", "in": "team"}}, {"party": "players"}]}}]`,
	} {
		for _, size := range []int{2, 20} {
			r := parsed(t, fmt.Sprintf(`{"values": {"skill": "number"}, "teams": [{"name": "red", "size": %d},
				{"name": "blue", "size": %d}], %s}`, size, size, rule))
			var pool []judge.Ticket
			for i := range 2*size + 2 {
				pool = append(pool, party(float64(i), 1.7e308, 1))
			}
			for _, m := range search.Search(r, tickets(pool), nil, 1_000_000) {
				if err := judge.Check(r, pool, judged(m)); err != nil {
					t.Errorf("%s, teams of %d: %v", rule, size, err)
				}
			}
		}
	}
}

// Large matches are made cheaper with a part of the work, and the rest of it finds others.
func TestPreferencesLeaveWorkForOthers(t *testing.T) {
	for _, rest := range []string{evenTeams, `"rules": [{"spread": "skill", "max": 100}]`} {
		r := parsed(t, `{"values": {"skill": "number"}, "teams": [{"name": "team", "copies": 20, "size": 8}], `+rest+`}`)
		var pool []judge.Ticket
		for i := range 1200 {
			pool = append(pool, party(float64(i), float64(i%97), 1))
		}
		if found := search.Search(r, tickets(pool), nil, 400_000); len(found) < 7 {
			t.Errorf("%s: found %d matches of 160 players, want 7", rest, len(found))
		}
	}
}

// Players keep the roles that they like, however uneven the teams are.
func TestEvenTeamsKeepTheRolesThatPlayersLike(t *testing.T) {
	r := parsed(t, `{"values": {"skill": "number", "role": "map"}, "roles": {"from": "role"},
		"teams": [{"name": "team", "copies": 2, "size": 2, "roles": {"tank": 1, "healer": 1}}],
		"rules": [{"spread": "skill", "max": 1000}]}`)
	tank, healer := map[string]float64{"tank": 0, "healer": 9}, map[string]float64{"tank": 9, "healer": 0}
	var pool []judge.Ticket
	for i, skill := range []float64{100, 60, 40, 0} {
		likes := tank
		if i == 1 || i == 2 {
			likes = healer
		}
		pool = append(pool, judge.Ticket{Age: float64(20 - i), Players: []judge.Player{{"skill": skill, "role": likes}}})
	}
	found := search.Search(r, tickets(pool), nil, plenty)
	if len(found) != 1 {
		t.Fatalf("found %d matches", len(found))
	}
	for _, team := range found[0].Teams {
		for i, ticket := range team.Tickets {
			likes := pool[ticket].Players[0]["role"].(map[string]float64)
			if likes[team.Roles[i]] != 0 {
				t.Errorf("ticket %d has the role %s", ticket, team.Roles[i])
			}
		}
	}
}
