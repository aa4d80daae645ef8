package simulation_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/lab/recording"
	"matchmaker.dev/services/lab/simulation"
)

// file writes a recording.
func file(t *testing.T, events ...*recording.Event) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "day.mmrec")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := recording.NewWriter(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func comes(at int64, ticket uint64, skill float64, players ...uint64) *recording.Event {
	e := &recording.Event{Time: 1_900_000_000_000 + at, Kind: recording.Arrived, Tickets: []uint64{ticket},
		Arrival: &recording.Arrival{Known: true,
			Attributes: recording.Attributes{Names: []string{"skill"}, Values: []float64{skill}}}}
	for _, n := range players {
		e.Arrival.Players = append(e.Arrival.Players, recording.Player{Number: n})
	}
	return e
}

func happens(at int64, kind recording.Kind, tickets ...uint64) *recording.Event {
	return &recording.Event{Time: 1_900_000_000_000 + at, Kind: kind, Tickets: tickets}
}

// A player that left in the recording leaves after the same time. A matched one is as patient as it was, at least.
func TestRecordingIsPlayed(t *testing.T) {
	unknown := comes(30, 4, 0)
	unknown.Arrival = &recording.Arrival{}
	party := comes(20, 3, 9000, 3, 4)
	party.Arrival.Properties = recording.Properties{Names: []string{"mode"}, Values: [][]byte{[]byte(`"quick"`)}}
	party.Arrival.Players[1].Properties = recording.Properties{Names: []string{"roles"},
		Values: [][]byte{[]byte(`["tank"]`)}}
	name := file(t, comes(0, 1, 1200, 1), comes(10, 2, 1210, 2), party, unknown,
		happens(500, recording.Assigned, 1, 2), comes(600, 5, 5000, 1), happens(7020, recording.Cancelled, 3),
		happens(7500, recording.Cancelled, 1)) // of a ticket that was matched
	r, err := simulation.OpenRecording(name, distribution(t, "uniform:0:1"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []*population.Arrival
	for a, more := r.Next(); more; a, more = r.Next() {
		all = append(all, a)
	}
	if len(all) != 4 || r.Err != nil || r.Unknown != 1 || r.Gaps != 0 || r.Duration != 7500*time.Millisecond {
		t.Fatalf("%d tickets, %+v", len(all), r)
	}
	if one := all[0]; one.At != 0 || one.Patience <= 500*time.Millisecond || one.Patience > time.Second ||
		one.Ticket.GetOwner() != "1" || len(one.Ticket.GetPlayers()) != 0 || one.Ticket.GetAttributeValues()[0] != 1200 {
		t.Errorf("a ticket that was matched: %+v", one)
	}
	if one := all[2]; one.At != 20*time.Millisecond || one.Patience != 7*time.Second || len(one.Ticket.GetPlayers()) != 2 {
		t.Errorf("a ticket that left: %+v", one)
	}
	if one := all[3]; one.At != 600*time.Millisecond || one.Patience == 0 || one.Ticket.GetOwner() != "1" {
		t.Errorf("a ticket that waits at the end: %+v", one)
	}

	if one := all[2].Ticket; string(one.GetProperties()["mode"]) != `"quick"` ||
		string(one.GetPlayers()[1].GetProperties()["roles"]) != `["tank"]` || one.GetPlayers()[0].GetProperties() != nil {
		t.Errorf("a ticket with properties: %v", one)
	}

	s := duels(t, `{"window": 10}`, 1, time.Second)
	if r, err = simulation.OpenRecording(name, population.Distribution{}, 1); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s.Population = population.Population{Duration: r.Duration}
	s.Service.WaitLimit = 30 * time.Second
	result, err := simulation.Run(t.Context(), simulation.Options{Box: modules(t).box, Scenario: s, Source: r})
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []simulation.Outcome
	for _, w := range result.Waits {
		outcomes = append(outcomes, w.Outcome)
	}
	want := []simulation.Outcome{simulation.Matched, simulation.Matched, simulation.Left, simulation.Left}
	if !slices.Equal(outcomes, want) || len(result.Matches) != 1 || result.Matches[0].Spread != 10 {
		t.Errorf("%+v, %+v", result.Waits, result.Matches)
	}
	if w := result.Waits[2]; w.Seconds != 7 || w.Players != 2 {
		t.Errorf("the party left: %+v", w)
	}
}

func TestBadRecordingsAreRefused(t *testing.T) {
	open := func(name string) string {
		r, err := simulation.OpenRecording(name, population.Distribution{}, 1)
		if err == nil {
			r.Close()
			return ""
		}
		return err.Error()
	}
	whole := file(t, comes(0, 1, 1, 1))
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(whole, text[:len(text)-2], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		whole:                      "the recording is incomplete",
		file(t):                    "the recording has no ticket",
		file(t, comes(0, 2, 1, 1)): "the ticket 1 has the number 2",
		file(t, happens(0, recording.Assigned, 1)): "the ticket 1 did not come",
		filepath.Join(t.TempDir(), "no"):           "no such file",
	} {
		if got := open(name); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
