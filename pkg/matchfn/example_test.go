package matchfn_test

import (
	"fmt"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/settings"
)

// A complete function: it pairs neighbours in skill. The window widens by a point for every second that they wait.
func Example() {
	pair := matchfn.New(func(r *matchfn.Run) error {
		skill, wait := r.Attribute("skill"), r.Wait()
		order := matchfn.SortBy(skill)
		for i := 0; i+1 < len(order); i++ {
			a, b := order[i], order[i+1]
			gap := skill[b] - skill[a]
			if gap <= 25+min(wait[a], wait[b]) {
				r.Propose(-gap, a, b)
				i++ // both are matched
			}
		}
		return nil
	}, matchfn.Attributes("skill"), matchfn.Properties())

	proposals, err := fake.Run(pair, fake.Request{Tickets: []fake.Ticket{
		{Attributes: map[string]float64{"skill": 1500}},
		{Attributes: map[string]float64{"skill": 1200}, Wait: 30 * time.Second},
		{Attributes: map[string]float64{"skill": 1510}},
		{Attributes: map[string]float64{"skill": 1250}, Wait: time.Minute},
	}})
	for _, p := range proposals {
		fmt.Println(p.Tickets(), p.Score)
	}
	fmt.Println(err)
	// Output:
	// [1 3] -50
	// [0 2] -10
	// <nil>
}

// Pools can be roles. Here each match has one tank and two healers, in teams.
func ExampleRun_Pool() {
	raid := matchfn.New(func(r *matchfn.Run) error {
		tanks, healers := r.Pool("tanks"), r.Pool("healers")
		for len(tanks) >= 1 && len(healers) >= 2 {
			r.Propose(0).
				Team("tanks", tanks[0]).
				Team("healers", healers[:2]...).
				Region("eu").
				MatchProperties([]byte(`{"map":"cave"}`))
			tanks, healers = tanks[1:], healers[2:]
		}
		return nil
	})
	proposals, err := fake.Run(raid, fake.Request{
		Tickets: make([]fake.Ticket, 4),
		Pools:   map[string][]uint32{"tanks": {2}, "healers": {0, 1, 3}},
	})
	for _, p := range proposals {
		fmt.Println(p.Teams, p.Extras.TeamNames, p.Extras.Region, string(p.Extras.MatchProperties))
	}
	fmt.Println(err)
	// Output:
	// [[2] [0 1]] [tanks healers] eu {"map":"cave"}
	// <nil>
}

// Wrong settings fail the run. The message is for the author of the config.
func ExampleRun_Settings() {
	f := matchfn.New(func(r *matchfn.Run) error {
		s := r.Settings()
		s.Only("window", "teams")
		window := s.Float("window", 25)
		size := s.Int("teams.size", 5)
		if err := s.Err(); err != nil {
			return err
		}
		fmt.Println(window, size)
		return nil
	})
	for _, settings := range []string{`{"teams":{"size":3}}`, `{"window":"wide"}`, `{"windw":50}`} {
		if _, err := fake.Run(f, fake.Request{Settings: settings}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 25 3
	// settings: "window" must be a number, not a string
	// settings: "windw" is not a setting of this function, which has window, teams
}

// Package settings decodes settings into a struct. It adds encoding/json to the module.
func ExampleRun_Config() {
	f := matchfn.New(func(r *matchfn.Run) error {
		config := struct {
			Window float64  `json:"window"`
			Maps   []string `json:"maps"`
		}{Window: 25}
		if err := settings.Decode(r.Config(), &config); err != nil {
			return err
		}
		fmt.Println(config.Window, config.Maps)
		return nil
	})
	_, err := fake.Run(f, fake.Request{Settings: `{"maps":["cave","dune"]}`})
	fmt.Println(err)
	_, err = fake.Run(f, fake.Request{Settings: `{"maps":[1]}`})
	fmt.Println(err)
	// Output:
	// 25 [cave dune]
	// <nil>
	// settings: "maps": a string is expected, not a number
}

// A server with a running game gets more players through a backfill ticket.
func ExampleProposal_UpdateBackfill() {
	f := matchfn.New(func(r *matchfn.Run) error {
		missing := r.BackfillAttribute("missing")
		free := r.Pool("all")
		for server := range uint32(r.Backfills()) {
			n := int(min(missing[server], float64(len(free))))
			if n == 0 {
				continue
			}
			r.Propose(0, free[:n]...).UpdateBackfill(server).Attribute("missing", missing[server]-float64(n))
			free = free[n:]
		}
		return nil
	})
	proposals, err := fake.Run(f, fake.Request{
		Tickets: make([]fake.Ticket, 3),
		Pools:   map[string][]uint32{"all": {0, 1, 2}},
		Backfills: []fake.Backfill{
			{Ticket: fake.Ticket{Attributes: map[string]float64{"missing": 5}}, Connection: "10.0.0.1:7777"},
		},
	})
	for _, p := range proposals {
		fmt.Println(p.Tickets(), p.Extras.Backfill.Number, p.Extras.Backfill.Attributes)
	}
	fmt.Println(err)
	// Output:
	// [0 1 2] 0 [{missing 2}]
	// <nil>
}

func ExampleSortBy() {
	skill := []float64{1500, 900, 1200, 900}
	fmt.Println(matchfn.SortBy(skill))
	fmt.Println(matchfn.SortPool([]uint32{3, 2, 0}, skill))
	// Output:
	// [1 3 2 0]
	// [3 2 0]
}
