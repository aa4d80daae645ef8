package function

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

// willing is a ticket whose players say how reluctantly they take roles.
func willing(age time.Duration, all ...map[string]any) fake.Ticket {
	text, _ := json.Marshal(all)
	return fake.Ticket{Wait: age, Properties: map[string][]byte{players: text}}
}

func takes(roles map[string]float64) map[string]any { return map[string]any{"role": roles} }

// Players take more roles the longer they wait. A function that keeps its tickets notices, where nothing else changes:
// of players alone, and of parties that no team could have before.
func TestRolesOpenWithTheTime(t *testing.T) {
	const settings = `{"values": {"skill": {"type": "number", "default": 0}}, "rules": [{"spread": "skill", "max": 9}],
		"teams": [{"name": "team", "size": 2, "roles": {"tank": 1, "healer": 1}}],
		"roles": {"from": "role", "max": {"start": 0, "steps": [[10, 1], [30, null]]}}}`
	var far []fake.Ticket // no player can be with these, but there are players for all roles
	for i, role := range []string{"tank", "healer"} {
		player := takes(map[string]float64{role: 0})
		player["skill"] = 100 * (i + 1)
		far = append(far, willing(0, player))
	}
	for name, c := range map[string]struct {
		tickets []fake.Ticket
		after   int // seconds until they match
	}{
		"both take it at once": {[]fake.Ticket{
			willing(0, takes(map[string]float64{"tank": 0})), willing(0, takes(map[string]float64{"healer": 0}))}, 0},
		"one takes it later": {[]fake.Ticket{
			willing(0, takes(map[string]float64{"tank": 0})),
			willing(0, takes(map[string]float64{"tank": 0, "healer": 1}))}, 10},
		"one takes it at last": {[]fake.Ticket{
			willing(0, takes(map[string]float64{"tank": 0})),
			willing(0, takes(map[string]float64{"tank": 0, "healer": 7}))}, 30},
		"a party": {[]fake.Ticket{
			willing(0, takes(map[string]float64{"tank": 0}), takes(map[string]float64{"tank": 0, "healer": 1}))}, 10},
		"by the age of the ticket": {[]fake.Ticket{
			willing(time.Minute, takes(map[string]float64{"tank": 0})),
			willing(0, takes(map[string]float64{"tank": 0, "healer": 1}))}, 10},
		"the other one is older": {[]fake.Ticket{
			willing(0, takes(map[string]float64{"tank": 0})),
			willing(time.Minute, takes(map[string]float64{"tank": 0, "healer": 1}))}, 0},
		"nobody takes it": {[]fake.Ticket{
			willing(0, takes(map[string]float64{"tank": 0})), willing(0, takes(map[string]float64{"tank": 0}))}, 99},
	} {
		crowd := fake.NewCrowd(matchfn.NewMatcher(Begin, Options()...), settings)
		start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, one := range append(c.tickets, far...) {
			crowd.Add(start, one)
		}
		for second := range 60 {
			now := start.Add(time.Duration(second) * time.Second)
			want := 0
			if second >= c.after {
				want = 1
			}
			for run, of := range map[string]func(time.Time) ([]fake.Proposal, error){
				"of all tickets": crowd.Anew, "of changes": crowd.Run,
			} {
				proposals, err := of(now)
				if err != nil || len(proposals) != want {
					t.Fatalf("%s: after %d s, a run %s has %d matches, %v, want %d", name, second, run, len(proposals), err, want)
				}
			}
		}
	}
}

// given are the roles that a proposal gives, by ticket and player.
func given(t *testing.T, p fake.Proposal) map[uint32][]string {
	t.Helper()
	all := map[uint32][]string{}
	for _, of := range p.Extras.TicketProperties {
		var said struct{ Roles []string }
		if err := json.Unmarshal(of.JSON, &said); err != nil {
			t.Fatal(err)
		}
		all[of.Ticket] = said.Roles
	}
	return all
}

// Of all ways to give the roles of a team, players get the one with the least sum of their numbers.
func TestRolesAreGivenAsPlayersLikeThem(t *testing.T) {
	const settings = `{"teams": [{"name": "team", "size": 5,
			"roles": {"tank": {"min": 1, "max": 2}, "healer": 1, "damage": {"max": 3}}}],
		"values": {"often": "number"}, "roles": {"from": "role", "weight": "often"}}`
	names := []string{"tank", "healer", "damage"}
	random := rand.New(rand.NewPCG(7, 8))
	found := 0
	for range 500 {
		var tickets []fake.Ticket
		var costs [5][3]float64
		for i := range 5 {
			roles, often := map[string]float64{}, float64(random.IntN(4))
			for j, name := range names {
				costs[i][j] = math.Inf(1)
				if random.IntN(4) > 0 {
					roles[name] = float64(random.IntN(5))
					costs[i][j] = often * roles[name]
				}
			}
			player := takes(roles)
			player["often"] = often
			tickets = append(tickets, willing(0, player))
		}
		best := math.Inf(1)
		for way := range 3 * 3 * 3 * 3 * 3 {
			var counts [3]int
			sum, left := 0.0, way
			for i := range 5 {
				counts[left%3]++
				sum += costs[i][left%3]
				left /= 3
			}
			if counts[0] >= 1 && counts[0] <= 2 && counts[1] == 1 && counts[2] <= 3 {
				best = math.Min(best, sum)
			}
		}
		proposals, err := fake.Run(function, fake.Request{Settings: settings, Tickets: tickets})
		if err != nil || math.IsInf(best, 1) != (len(proposals) == 0) {
			t.Fatalf("%v: %d matches, %v; the least sum is %v", costs, len(proposals), err, best)
		}
		if len(proposals) == 0 {
			continue
		}
		found++
		sum := 0.0
		for ticket, roles := range given(t, proposals[0]) {
			for j, name := range names {
				if roles[0] == name {
					sum += costs[ticket][j]
				}
			}
		}
		if sum > best+1e-9 {
			t.Fatalf("%v: the sum is %v, the least is %v: %v", costs, sum, best, given(t, proposals[0]))
		}
	}
	if found < 200 {
		t.Errorf("only %d pools had a match", found)
	}
}

// Players that filled in most often are the last to fill in again, if the weight says how often they did.
func TestFillingInIsSharedFairly(t *testing.T) {
	spread := func(weight string) int {
		settings := `{"teams": [{"name": "team", "copies": 2, "size": 4, "roles": {"healer": 1, "damage": 3}}],
			"values": {"filled": "number"}, "roles": {"from": "role"` + weight + `}}`
		var filled [8]int
		for range 40 {
			var tickets []fake.Ticket
			for i := range filled { // all of them like damage
				player := takes(map[string]float64{"damage": 0, "healer": 1})
				player["filled"] = 1 + filled[i]
				tickets = append(tickets, willing(0, player))
			}
			proposals, err := fake.Run(function, fake.Request{Settings: settings, Tickets: tickets})
			if err != nil || len(proposals) != 1 {
				t.Fatal(len(proposals), err)
			}
			for ticket, roles := range given(t, proposals[0]) {
				if roles[0] == "healer" {
					filled[ticket]++
				}
			}
		}
		least, most := filled[0], filled[0]
		for _, n := range filled {
			least, most = min(least, n), max(most, n)
		}
		return most - least
	}
	if fair := spread(`, "weight": "filled"`); fair > 1 {
		t.Errorf("with a weight, one filled in %d times more often than another one", fair)
	}
	if unfair := spread(""); unfair < 10 {
		t.Errorf("without a weight, one filled in only %d times more often than another one: this shows nothing", unfair)
	}
}

// Tickets are chosen, and teams are made, so that players have roles that they like, if the rules prefer it.
func TestReluctanceIsPreferred(t *testing.T) {
	const teams = `"teams": [{"name": "team", "copies": 2, "size": 2, "roles": {"healer": 1, "damage": 1}}],
		"roles": {"from": "role"}`
	var tickets []fake.Ticket
	for i, role := range []string{"damage", "damage", "damage", "damage", "healer", "healer"} {
		other := map[string]string{"damage": "healer", "healer": "damage"}[role]
		tickets = append(tickets, willing(time.Duration(9-i)*time.Second, takes(map[string]float64{role: 0, other: 1})))
	}
	for settings, want := range map[string]string{
		`{` + teams + `}`: "2 fill in",
		`{` + teams + `, "prefer": [{"low": {"reluctance": "players"}}]}`:                                 "0 fill in",
		`{` + teams + `, "prefer": [{"low": {"sum": {"reluctance": "players", "in": ["team"]}}}]}`:        "0 fill in",
		`{` + teams + `, "prefer": [{"low": {"minus": [0, {"reluctance": "players"}]}, "weight": 0.01}]}`: "2 fill in",
	} {
		proposals, err := fake.Run(function, fake.Request{Settings: settings, Tickets: tickets})
		if err != nil || len(proposals) != 1 {
			t.Fatal(settings, len(proposals), err)
		}
		n := 0
		for ticket, roles := range given(t, proposals[0]) {
			if roles[0] == "healer" != (ticket >= 4) {
				n++
			}
		}
		if got := fmt.Sprintf("%d fill in", n); got != want {
			t.Errorf("%s: %s, want %s", settings, got, want)
		}
	}
}

// The map of roles travels as a property of tickets and of players, whatever its name is.
func TestReluctanceIsAPropertyToo(t *testing.T) {
	const settings = `{"teams": [{"name": "team", "size": 2, "roles": {"tank": 1, "healer": 1}}], "roles": {"from": "likes"}}`
	property := func(role string) map[string][]byte {
		return map[string][]byte{"likes": fmt.Appendf(nil, `{%q: 1}`, role)}
	}
	for name, tickets := range map[string][]fake.Ticket{
		"of tickets": {{Properties: property("tank")}, {Properties: property("healer")}},
		"of players": {{Players: []fake.Player{{Properties: property("tank")}, {Properties: property("healer")}}}},
	} {
		proposals, err := fake.Run(function, fake.Request{Settings: settings, Tickets: tickets})
		if err != nil || len(proposals) != 1 {
			t.Errorf("%s: %d matches, %v", name, len(proposals), err)
		}
	}
}

// A ticket that takes fewer roles after a while hides no ticket any more, for a run of changes either.
func TestRolesCloseWithTheTime(t *testing.T) {
	const settings = `{"values": {"skill": {"type": "number", "default": 0}}, "rules": [{"spread": "skill", "max": 50}],
		"teams": [{"name": "team", "size": 2, "roles": {"tank": 1, "healer": 1}}],
		"roles": {"from": "role", "max": {"start": 1, "steps": [[10, 0]]}}}`
	crowd := fake.NewCrowd(matchfn.NewMatcher(Begin, Options()...), settings)
	crowd.Budget = 2 * time.Second
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	add := func(wait time.Duration, skill float64, role string, reluctantly float64) {
		player := takes(map[string]float64{role: reluctantly})
		player["skill"] = skill
		crowd.Add(now, willing(wait, player))
	}
	add(20*time.Second, 0, "tank", 0)
	for i := range 14 {
		add(time.Duration(9000-i)*time.Millisecond, -float64(i+1)/100, "tank", 1)
	}
	for i := range 30 {
		add(time.Duration(8000-i)*time.Millisecond, float64(-1000-i), "tank", 0)
	}
	add(time.Millisecond, 50, "healer", 0)
	found := 0
	for range 5 {
		want, err := crowd.Anew(now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := crowd.Run(now)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d matches of changes, %v, and %d of all tickets", len(got), err, len(want))
		}
		found += len(got)
		now = now.Add(time.Second)
	}
	if found == 0 {
		t.Error("nothing was found: this shows nothing")
	}
}

// Roles open with the time also in teams of very many roles.
func TestManyRolesOpenWithTheTime(t *testing.T) {
	settings := `{"teams": [{"name": "team", "size": 2, "roles": {"a": {"max": 1}, "b": {"max": 1}, "c": {"max": 1},
		"d": {"max": 1}, "e": {"max": 1}, "f": {"max": 1}}}], "roles": {"from": "role", "max": %s}}`
	tickets := []fake.Ticket{
		willing(time.Second, takes(map[string]float64{"a": 0, "b": 9})),
		willing(0, takes(map[string]float64{"a": 0, "c": 9})),
	}
	for most, want := range map[string]int{"1": 0, "9": 1, `{"start": 1, "steps": [[1, 9]]}`: 1} {
		proposals, err := fake.Run(function, fake.Request{Settings: fmt.Sprintf(settings, most), Tickets: tickets})
		if err != nil || len(proposals) != want {
			t.Errorf("at most %s: %d matches, %v, want %d", most, len(proposals), err, want)
		}
	}
}

// Where very many that take several roles wait, nearly all matches are found.
func TestCrowdsOfManyRolesLoseFewMatches(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	names := []string{"a", "b", "c", "d", "e"}
	var tickets []fake.Ticket
	for range 20_000 {
		roles := map[string]float64{}
		for _, at := range random.Perm(5)[:3] {
			roles[names[at]] = 0
		}
		player := takes(roles)
		player["skill"] = 1500 + 300*random.NormFloat64()
		tickets = append(tickets, willing(time.Duration(random.IntN(9000))*time.Millisecond, player))
	}
	proposals, err := fake.Run(function, fake.Request{Tickets: tickets, Budget: 300 * time.Millisecond,
		Settings: `{"values": {"skill": "number"}, "roles": {"from": "role"}, "rules": [{"spread": "skill", "max": 100}],
			"teams": [{"name": "team", "copies": 2, "size": 5, "roles": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}}]}`})
	if t.Logf("%d matches, %v", len(proposals), err); err != nil || len(proposals) < 1000 {
		t.Errorf("%d matches, %v, want at least 1000", len(proposals), err)
	}
}

// Players that join a running game get the roles that they like best of those that it lacks.
func TestJoinersGetTheRolesThatTheyLike(t *testing.T) {
	settings := `{"teams": [{"name": "team", "size": 3, "roles": {"tank": 1, "healer": 1, "damage": 1}}],
		"roles": {"from": "role"}, "backfill": {"first": "games", "open": 2}}`
	proposals, err := fake.Run(function, fake.Request{Settings: settings,
		Tickets:   []fake.Ticket{willing(0, takes(map[string]float64{"tank": 5, "healer": 0}))},
		Backfills: []fake.Backfill{{Version: 1, Roster: []fake.RosterPlayer{{ID: "ada", Team: "team", Role: "damage"}}}},
	})
	if err != nil || len(proposals) != 1 || given(t, proposals[0])[0][0] != "healer" {
		t.Errorf("%d proposals, %v: %+v", len(proposals), err, proposals)
	}
}
