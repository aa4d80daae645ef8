package simulation_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/lab/simulation"
)

// Numbers that are not one are not equal: they are left out.
func comparable(r *simulation.Result) simulation.Result {
	c := *r
	c.Matches = nil
	for _, m := range r.Matches {
		if m.Latency = 0; math.IsNaN(m.Gap) {
			m.Gap = 0
		}
		c.Matches = append(c.Matches, m)
	}
	return c
}

func TestResultIsReproducible(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 1, "widen": 2}`, 20, time.Minute)
	s.Population.Patience = distribution(t, "exponential:20")
	s.Population.Parties = []float64{3, 1}
	first := run(t, s, 1)
	if again := run(t, s, 1); !reflect.DeepEqual(comparable(first), comparable(again)) {
		t.Errorf("a seed gives %d waits and %d matches, and then %d and %d, or others", len(first.Waits),
			len(first.Matches), len(again.Waits), len(again.Matches))
	}
	if other := run(t, s, 2); other.Arrivals == first.Arrivals || reflect.DeepEqual(other.Waits, first.Waits) {
		t.Error("two seeds give the same players")
	}
}

// Where everybody plays with everybody, the second of two waits for the service only, and the first until the second
// comes: the mean wait is half of the mean time between two players.
func TestWaitsAreThoseOfTheory(t *testing.T) {
	t.Parallel()
	hours := 2
	if testing.Short() {
		hours = 1
	}
	s := duels(t, `{"window": 1e9}`, 1, time.Duration(hours)*time.Hour)
	s.Measure.To = s.Population.Duration - time.Minute
	r := run(t, s, 3)
	w := r.Whole()
	mean, service := w.Waits.Mean(), s.Service.Run.Seconds()
	if want := 0.5 + service; math.Abs(mean-want) > 0.03 {
		t.Errorf("the mean wait is %.4f s, not %.4f", mean, want)
	}
	// Of the first halves, half wait longer than ln 2 seconds.
	if p75 := w.Waits.Quantile(0.75); math.Abs(p75-math.Ln2-service) > 0.04 {
		t.Errorf("three of four wait for less than %.4f s, not %.4f", p75, math.Ln2+service)
	}
	if p25 := w.Waits.Quantile(0.25); p25 != service {
		t.Errorf("the second of two waits for %.4f s, not %.4f", p25, service)
	}
	if n := count(r, simulation.Matched); n != len(r.Waits) || r.Tickets < 3500*hours || r.Players != r.Tickets {
		t.Errorf("%d of %d are matched, of %d tickets", n, len(r.Waits), r.Tickets)
	}
}

// No ticket is matched beyond the window, and the wait that widens it is waited for.
func TestMatchesAreThoseOfTheFunction(t *testing.T) {
	t.Parallel()
	lasting := shorter(2 * time.Minute)
	r := run(t, duels(t, `{"window": 2, "widen": 1, "maxWindow": 30}`, 10, lasting), 1)
	if len(r.Matches) < int(lasting/(300*time.Millisecond)) {
		t.Fatalf("%d matches", len(r.Matches))
	}
	for _, m := range r.Matches {
		// Both windows are at least the distance, so the mean of both waits is at least this.
		if m.Players != 2 || m.Spread > 30 || m.Wait+0.02 < m.Spread-2 {
			t.Fatalf("%+v", m)
		}
	}
}

func TestImpatientPlayersLeave(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 0, "widen": 0}`, 10, time.Minute)
	s.Population.Patience = distribution(t, "7.5")
	r := run(t, s, 1)
	if n := count(r, simulation.Left); n != r.Tickets || len(r.Waits) != n {
		t.Errorf("%d of %d left", n, r.Tickets)
	}
	for _, w := range r.Waits {
		if w.Seconds != 7.5 {
			t.Fatalf("%+v", w)
		}
	}
	s.Population.Patience = s.Fleet.Game // nothing is given
	s.Service.WaitLimit = 20 * time.Second
	if w := run(t, s, 1).Waits[0]; w.Seconds != 20 || w.Outcome != simulation.Left {
		t.Errorf("the waiting limit: %+v", w)
	}
}

func TestErrorsOfTheFunctionEndTickets(t *testing.T) {
	t.Parallel()
	r := run(t, duels(t, `{"window": 0, "widen": 0, "timeout": 5}`, 10, time.Minute), 1)
	if n := count(r, simulation.Failed); n != r.Tickets {
		t.Errorf("%d of %d got an error", n, r.Tickets)
	}
	for _, w := range r.Waits {
		if w.Seconds < 5 || w.Seconds > 6.1 {
			t.Fatalf("%+v", w)
		}
	}
}

// Two servers with games of ten seconds have six matches a minute each.
func TestFleetIsNeverTooSmall(t *testing.T) {
	t.Parallel()
	lasting := shorter(10 * time.Minute)
	minutes := int(lasting.Minutes())
	s := duels(t, `{"window": 1e9}`, 4, lasting)
	s.Configs[0].Hosting = &pb.Hosting{Fleet: "eu"}
	s.Fleet = simulation.Fleet{Servers: 2, Allocation: distribution(t, "1"), Game: distribution(t, "7"),
		Restart: distribution(t, "2")}
	s.Population.Patience = distribution(t, "30")
	r := run(t, s, 1)
	if n := len(r.Matches); n < 11*minutes || n > 12*minutes+6 || r.Servers != 2 || r.Full == 0 {
		t.Errorf("%d matches on %d servers, %d times there was none", n, r.Servers, r.Full)
	}
	s.Fleet.Servers = 0
	free := run(t, s, 1)
	for _, w := range free.Waits[:len(free.Waits)-1] {
		if w.Seconds < 1 || w.Outcome != simulation.Matched {
			t.Fatalf("the server takes a second: %+v", w)
		}
	}
	if n := len(free.Matches); n < 110*minutes || free.Full != 0 || free.Servers < 15 {
		t.Errorf("%d matches on as many servers as are needed, which is %d", n, free.Servers)
	}
}

// Players of declined matches wait again, and all end once.
func TestDeclinedMatchesLetOthersWaitAgain(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 1e9}`, 10, shorter(8*time.Minute))
	s.Configs[0].Acceptance = 10_000
	s.Acceptance = simulation.Acceptance{Decline: 0.1, Silent: 0.1, Answer: distribution(t, "uniform:1:5")}
	r := run(t, s, 1)
	missed, matched := count(r, simulation.Missed), count(r, simulation.Matched)
	if len(r.Waits)+1 < r.Tickets || missed+matched+1 < r.Tickets {
		t.Errorf("of %d tickets %d ended: %d missed their match, %d are matched", r.Tickets, len(r.Waits), missed, matched)
	}
	// A player says the same to each match, so those miss their match who decline or are silent, and nobody else. A match
	// that is not accepted ends for one of them, or for two who are both silent.
	if part := float64(missed) / float64(r.Tickets); math.Abs(part-0.2) > 0.04 {
		t.Errorf("%.3f of the players missed their match", part)
	}
	if missed < r.Declined || missed > r.Declined*11/10 {
		t.Errorf("%d players missed %d matches that were not accepted", missed, r.Declined)
	}
	if accepted := r.Asked - r.Declined; accepted != len(r.Matches) || matched != 2*accepted {
		t.Errorf("%d matches were accepted, %d are made, with %d players", accepted, len(r.Matches), matched)
	}
	for _, m := range r.Matches {
		if m.Wait < 1 {
			t.Fatalf("players answer after a second at the earliest: %+v", m)
		}
	}
}

// A player who leaves a running game makes room for another, who needs no new game.
func TestRunningGamesAreFilled(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 1e9, "refill": true}`, 5, 5*time.Minute)
	s.Configs[0].Hosting = &pb.Hosting{Fleet: "eu"}
	s.Fleet = simulation.Fleet{Allocation: distribution(t, "1"), Game: distribution(t, "60"),
		Restart: distribution(t, "5"), Stay: distribution(t, "exponential:30"), Approval: distribution(t, "0.5"),
		Open: "open"}
	s.Population.Patience = distribution(t, "100")
	r := run(t, s, 1)
	if matched := count(r, simulation.Matched); r.Games != len(r.Matches) || matched != 2*len(r.Matches)+r.Joined ||
		len(r.Waits) != r.Tickets {
		t.Errorf("%d games, %d matches, %d joined, %d are matched, %d of %d ended", r.Games, len(r.Matches), r.Joined,
			matched, len(r.Waits), r.Tickets)
	}
	// Players leave after 30 seconds on average and are replaced soon: of two places, four times in a minute.
	if perGame := float64(r.Joined) / float64(r.Games); perGame < 3 || perGame > 4.2 {
		t.Errorf("%.2f players joined a game", perGame)
	}
	s.Fleet.Stay = s.Population.Attributes["none"] // no player leaves
	if r := run(t, s, 1); r.Joined != 0 || r.Games < 700 {
		t.Errorf("%d joined %d games that lack nobody", r.Joined, r.Games)
	}
}

// Two configs want the same tickets, and each ticket is matched once.
func TestConfigsShareTheTickets(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 5, "widen": 0}`, 20, 2*time.Minute)
	s.Configs = append(s.Configs, &pb.Config{Id: "wide", Function: "duel",
		Settings: []byte(`{"window": 50, "widen": 1, "timeout": 20}`)})
	r := run(t, s, 1)
	players := 0
	narrow := 0
	for _, m := range r.Matches {
		players += m.Players
		if m.Spread <= 5 {
			narrow++
		}
	}
	if players+count(r, simulation.Failed) != r.Tickets || len(r.Waits) != r.Tickets || narrow == 0 ||
		narrow == len(r.Matches) {
		t.Errorf("%d players in %d matches, %d with an error, of %d; %d matches are narrow", players, len(r.Matches),
			count(r, simulation.Failed), r.Tickets, narrow)
	}
}

// Tickets in queues that no config serves wait, and others do not.
func TestQueuesAreServed(t *testing.T) {
	t.Parallel()
	s := duels(t, `{"window": 1e9}`, 10, time.Minute)
	s.Population.Queues, s.Population.Patience = []string{"ranked"}, distribution(t, "5")
	if r := run(t, s, 1); count(r, simulation.Left) != r.Tickets || r.Runs == 0 {
		t.Errorf("%d of %d left", count(r, simulation.Left), r.Tickets)
	}
	s.Configs[0].Queue = "ranked"
	if r := run(t, s, 1); count(r, simulation.Matched) < r.Tickets-1 {
		t.Errorf("%d of %d are matched", count(r, simulation.Matched), r.Tickets)
	}
}

func TestFailureNamesConfigAndTime(t *testing.T) {
	s := duels(t, `{"windw": 1}`, 10, time.Minute)
	_, err := simulation.Run(t.Context(), simulation.Options{Box: modules(t).box, Scenario: s})
	if err == nil || !strings.Contains(err.Error(), `configs.ranked: function duel: settings: "windw"`) ||
		!strings.HasPrefix(err.Error(), "after ") {
		t.Error(err)
	}
	s.Functions["duel"] = []byte("no module")
	_, err = simulation.Run(t.Context(), simulation.Options{Box: modules(t).box, Scenario: s})
	if err == nil || !strings.HasPrefix(err.Error(), "functions.duel: ") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s = duels(t, `{}`, 100, time.Hour)
	_, err = simulation.Run(ctx, simulation.Options{Box: modules(t).box, Scenario: s,
		Progress: func(time.Duration, time.Duration) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
