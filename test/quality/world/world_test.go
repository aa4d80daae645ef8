package world_test

import (
	"math"
	"reflect"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/test/quality/world"
)

// Each game's demands are a file that the function takes, in each language that can say them.
func TestFilesAreTaken(t *testing.T) {
	for _, w := range world.All() {
		for _, l := range []world.Language{
			world.Own, world.Hasty, world.Patient, world.Tuned, world.FlexMatch, world.Unity, world.PlayFab, world.AccelByte,
		} {
			if !l.Says(&w.Game) || l == world.Tuned && w.Large {
				continue
			}
			if _, err := dialects.Read([]byte(l.Settings(&w.Game))); err != nil {
				t.Errorf("%s in %s: %v", w.Name, l, err)
			}
		}
	}
}

// part is how many of the tickets are so.
func part(tickets []world.Ticket, so func(*world.Ticket) bool) float64 {
	n := 0
	for i := range tickets {
		if so(&tickets[i]) {
			n++
		}
	}
	return float64(n) / float64(len(tickets))
}

// The players are as the published figures say that docs/quality.md names.
func TestPlayersAreAsPublished(t *testing.T) {
	w, _ := world.Find("parties")
	w.Rate, w.Cities = 40, population.Everywhere
	w.Game.Size = 5
	tickets := w.Tickets(1)
	for _, of := range []struct {
		what string
		want float64
		so   func(t *world.Ticket) bool
	}{
		{"leave within a minute", 0.4, func(t *world.Ticket) bool { return t.Leaves-t.Arrives < 60 }},
		{"are below 1500", 0.5, func(t *world.Ticket) bool { return t.Players[0].Skill < 1500 }},
		{"are at the ends", 0.04, func(t *world.Ticket) bool { return world.Tail(t.Players[0].Skill) }},
		{"are below 2200", 0.96, func(t *world.Ticket) bool { return t.Players[0].Skill < 2200 }},
		{"are one or two", 0.85, func(t *world.Ticket) bool { return len(t.Players) < 3 }},
		{"are five", 0.07, func(t *world.Ticket) bool { return len(t.Players) == 5 }},
	} {
		if got := part(tickets, of.so); math.Abs(got-of.want) > 0.01 {
			t.Errorf("%.3f of the tickets %s, not %.2f", got, of.what, of.want)
		}
	}
}

// Before dawn fewer players come than in the evening.
func TestDaysHaveNights(t *testing.T) {
	w, _ := world.Find("day")
	w.Rate, w.Cities = 1, population.Europe
	tickets := w.Tickets(1)
	hours := [24]int{}
	for i := range tickets {
		hours[int(tickets[i].Arrives/3600)%24]++
	}
	if hours[1] == 0 || hours[18] < 5*hours[1] {
		t.Errorf("players by the hour, in UTC: %v", hours)
	}
}

func TestSeedsRepeat(t *testing.T) {
	w, _ := world.Find("roles")
	if !reflect.DeepEqual(w.Tickets(3), w.Tickets(3)) {
		t.Error("a seed gives other players the second time")
	}
	if reflect.DeepEqual(w.Tickets(3)[0], w.Tickets(4)[0]) {
		t.Error("two seeds give the same players")
	}
}

func TestDeciles(t *testing.T) {
	for skill, want := range map[float64]int{400: 0, 1499: 4, 1501: 5, 2100: 9, 3000: 9} {
		if got := world.Decile(skill); got != want {
			t.Errorf("the decile of %g is %d, not %d", skill, got, want)
		}
	}
}
