package simulation_test

import (
	"math"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/lab/simulation"
)

// Two configs want the same tickets. Where the fleet of one has no server, the other one takes them at once.
func TestConfigsHaveTheirOwnFleets(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 1e9}`, 20, 2*time.Minute)
	s.Measure.To = s.Population.Duration - 5*time.Second
	s.Configs[0].Hosting = &pb.Hosting{Fleet: "eu"}
	s.Configs = append(s.Configs, &pb.Config{Id: "spare", Function: "duel", Settings: []byte(`{"window": 1e8}`),
		Hosting: &pb.Hosting{Fleet: "us"}})
	s.Fleet = simulation.Fleet{Allocation: distribution(t, "9")}
	s.Fleets = map[string]simulation.Fleet{
		"eu": {Servers: 1, Allocation: distribution(t, "1"), Game: distribution(t, "7"), Restart: distribution(t, "2")},
		"us": {Allocation: distribution(t, "3"), Game: distribution(t, "7")},
	}
	r := run(t, s, 1)
	if len(r.Fleets) != 3 || r.Fleets[0].Servers != 0 {
		t.Fatalf("%+v", r.Fleets)
	}
	eu, us := r.Fleets[1], r.Fleets[2]
	if eu.Name != "eu" || eu.Servers != 1 || eu.Full == 0 || us.Name != "us" || us.Servers < 50 || us.Full != 0 ||
		r.Servers > us.Servers+1 || r.Servers < us.Servers || r.Full != eu.Full {
		t.Errorf("%+v, %d servers in all", r.Fleets, r.Servers)
	}
	quick := 0
	for _, w := range r.Waits {
		if w.Outcome != simulation.Matched || w.Seconds < 1 || w.Seconds > 4 {
			t.Fatalf("it is matched, in eu after a second and in us after three: %+v", w)
		}
		if w.Seconds < 3 {
			quick++
		}
	}
	// A game of two players takes the server of eu for ten seconds.
	if n := 2 * 12; quick < n-4 || quick > n+4 {
		t.Errorf("%d players are in eu", quick)
	}
}

// A config says what its tickets do when an allocation fails.
func TestAllocationsFail(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 1e9}`, 10, shorter(5*time.Minute))
	s.Configs[0].Hosting = &pb.Hosting{Fleet: "eu"}
	s.Fleet = simulation.Fleet{Allocation: distribution(t, "1"), Errors: 0.25}
	s.Measure.To = s.Population.Duration - time.Minute
	r := run(t, s, 1)
	failed := count(r, simulation.Failed)
	if part := float64(failed) / float64(len(r.Waits)); math.Abs(part-0.25) > 0.04 || r.Refused < failed/2 {
		t.Errorf("%d of %d tickets failed, of %d matches", failed, len(r.Waits), r.Refused)
	}
	s.Configs[0].Hosting.OnAllocationError = "Requeue"
	r = run(t, s, 1)
	again := 0
	for _, w := range r.Waits {
		if w.Outcome != simulation.Matched {
			t.Fatalf("%+v", w)
		}
		if w.Seconds >= 2 {
			again++
		}
	}
	if part := float64(again) / float64(len(r.Waits)); math.Abs(part-0.25) > 0.06 {
		t.Errorf("%.2f of the tickets waited again", part)
	}
}

// rules opens games of two against two and is told who is in them.
func rules(t *testing.T, backfill string) *simulation.Scenario {
	t.Helper()
	s := duels(t, `{"numbers": ["skill"], "values": {"id": {"type": "string", "missing": "any"}},
		"teams": [{"name": "team", "copies": 2, "size": 2}], "rules": [{"spread": "skill", "max": 1e6}]`+backfill+`}`,
		3, 2*time.Minute)
	s.Configs[0].Function, s.Functions = "rules", map[string][]byte{"rules": modules(t).rules}
	s.Configs[0].Hosting = &pb.Hosting{Fleet: "eu"}
	s.Population.Patience = distribution(t, "100")
	s.Service.MinInterval = 500 * time.Millisecond // otherwise it runs for every event of a game
	s.Fleet = simulation.Fleet{Allocation: distribution(t, "1"), Game: distribution(t, "30"),
		Restart: distribution(t, "2"), Stay: distribution(t, "exponential:15"), Approval: distribution(t, "0.5"),
		Open: "open", Roster: true}
	return s
}

// Servers say who is in their games, and players who left are replaced: in games whose function made a backfill ticket,
// and in those whose server did.
func TestServersSayWhoIsInTheirGames(t *testing.T) {
	own := rules(t, ``)
	own.Fleet.Backfill = true
	silent := rules(t, ``)
	silent.Fleet.Backfill, silent.Fleet.Roster = true, false
	for name, c := range map[string]struct {
		scenario    *simulation.Scenario
		least, most float64
	}{
		"of the function": {rules(t, `, "backfill": {"create": "all"}`), 3.5, 8},
		"of the server":   {own, 3.5, 8},
		"nobody says it":  {silent, 0, 0},
		"there are none":  {rules(t, ``), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && c.scenario != own && c.scenario != silent {
				t.Skip("make check runs it")
			}
			r := run(t, c.scenario, 1)
			if ended := len(r.Waits); ended != r.Tickets {
				t.Errorf("%d of %d tickets ended", ended, r.Tickets)
			}
			if count(r, simulation.Matched) != 4*len(r.Matches)+r.Joined {
				t.Errorf("%d are matched, in %d matches and %d games", count(r, simulation.Matched), len(r.Matches), r.Joined)
			}
			// In its time each of four places is left twice by players who stay for 30 seconds on average.
			if perGame := float64(r.Joined) / float64(max(1, r.Games)); perGame < c.least || perGame > c.most {
				t.Errorf("%d joined %d games", r.Joined, r.Games)
			}
		})
	}
}

// Players are asked before they join a running game, and players who accepted wait again when the other one declines.
func TestPlayersAreAskedBeforeTheyJoin(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 1e9, "refill": true}`, 5, shorter(5*time.Minute))
	s.Configs[0].Hosting, s.Configs[0].Acceptance = &pb.Hosting{Fleet: "eu"}, 10_000
	s.Fleet = simulation.Fleet{Allocation: distribution(t, "1"), Game: distribution(t, "60"),
		Stay: distribution(t, "exponential:30"), Approval: distribution(t, "0.5"), Open: "open"}
	s.Acceptance = simulation.Acceptance{Decline: 0.1, Answer: distribution(t, "2")}
	s.Population.Patience = distribution(t, "100")
	r := run(t, s, 1)
	missed, matched := count(r, simulation.Missed), count(r, simulation.Matched)
	if r.Joined == 0 || r.Asked < len(r.Matches)+r.Joined || matched != 2*len(r.Matches)+r.Joined ||
		len(r.Waits) != r.Tickets {
		t.Errorf("%d matches asked; %d tickets of %d matches and %d games, %d of %d ended", r.Asked, matched,
			len(r.Matches), r.Joined, len(r.Waits), r.Tickets)
	}
	if part := float64(missed) / float64(r.Tickets); math.Abs(part-0.1) > 0.04 {
		t.Errorf("%.3f of the players declined", part)
	}
	for _, w := range r.Waits {
		if w.Seconds < 2 {
			t.Fatalf("players answer after two seconds: %+v", w)
		}
	}
}
