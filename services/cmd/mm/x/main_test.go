package main

import (
	"fmt"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/fake"
)

// player returns a ticket that has waited for some seconds.
func player(skill float64, seconds int) fake.Ticket {
	return fake.Ticket{Attributes: map[string]float64{"skill": skill}, Wait: time.Duration(seconds) * time.Second}
}

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		tickets  []fake.Ticket
		want     string // the score and the teams of each proposal
	}{
		"nobody":            {``, nil, ""},
		"alone":             {``, []fake.Ticket{player(1000, 0)}, ""},
		"close":             {``, []fake.Ticket{player(1000, 0), player(1040, 0)}, "60 [[0] [1]] "},
		"too far":           {``, []fake.Ticket{player(1000, 0), player(1101, 0)}, ""},
		"both wait":         {``, []fake.Ticket{player(1000, 5), player(1101, 1)}, "9 [[0] [1]] "},
		"one waits":         {``, []fake.Ticket{player(1000, 60), player(1101, 0)}, ""},
		"the next are near": {``, []fake.Ticket{player(1000, 0), player(1200, 0), player(1210, 0)}, "90 [[1] [2]] "},
		"without a skill":   {``, []fake.Ticket{{}, player(1000, 0), {}, player(1000, 0)}, "100 [[1] [3]] "},
		"even teams": {`{"teams": 2, "size": 2}`, []fake.Ticket{player(40, 0), player(10, 0), player(30, 0), player(20, 0)},
			"70 [[1 0] [3 2]] "},
		"three teams": {`{"teams": 3, "spread": 5}`, []fake.Ticket{player(3, 0), player(1, 0), player(2, 0)}, "3 [[1] [2] [0]] "},
	} {
		t.Run(name, func(t *testing.T) {
			proposals, err := fake.Run(function, fake.Request{Settings: c.settings, Tickets: c.tickets})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, p := range proposals {
				got += fmt.Sprint(p.Score, " ", p.Teams, " ")
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestPlayersGetTheNumberOfTheirTeam(t *testing.T) {
	proposals, err := fake.Run(function, fake.Request{Tickets: []fake.Ticket{player(1000, 0), player(1040, 0)}})
	if err != nil || len(proposals) != 1 {
		t.Fatal(proposals, err)
	}
	for team, properties := range proposals[0].Extras.TicketProperties {
		if want := fmt.Sprintf(`{"team":%d}`, team); string(properties.JSON) != want {
			t.Errorf("ticket %d gets %s, want %s", properties.Ticket, properties.JSON, want)
		}
	}
}

// What is wrong with a config's settings is said with the config.
func TestBadSettings(t *testing.T) {
	for settings, want := range map[string]string{
		`{"teams": 0}`:    `settings: "teams" must be from 1 to 100`,
		`{"size": 51}`:    `settings: "size" must be 1 or more, and a match has at most 100 tickets`,
		`{"size": 1.5}`:   `settings: "size" must be a whole number`,
		`{"spread": -1}`:  `settings: "spread" must not be negative`,
		`{"widen": "no"}`: `settings: "widen" must be a number, not a string`,
		`{"taems": 2}`:    `settings: "taems" is not a setting of this function, which has teams, size, spread, widen`,
	} {
		_, err := fake.Run(function, fake.Request{Settings: settings})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
}
