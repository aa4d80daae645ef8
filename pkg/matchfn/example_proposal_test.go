package matchfn_test

import (
	"fmt"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

// Five against five: ten players that are neighbours in skill, in two teams of about the same strength.
func ExampleProposal_Team() {
	five := matchfn.New(func(r *matchfn.Run) error {
		skill := r.Attribute("skill")
		order := matchfn.SortBy(skill)
		for ; len(order) >= 10; order = order[10:] {
			ten := order[:10]
			spread := skill[ten[9]] - skill[ten[0]]
			if !(spread <= 200) { // also for NaN, of a ticket without a skill
				continue
			}
			var red, blue []uint32
			for i, ticket := range ten {
				if i%4 == 0 || i%4 == 3 { // the best, then the two next best to the others, and so on
					red = append(red, ticket)
				} else {
					blue = append(blue, ticket)
				}
			}
			r.Propose(-spread).Team("red", red...).Team("blue", blue...)
		}
		return nil
	}, matchfn.Attributes("skill"), matchfn.Properties())

	tickets := make([]fake.Ticket, 12)
	for i := range tickets {
		tickets[i].Attributes = map[string]float64{"skill": 1000 + 10*float64(i)}
	}
	proposals, err := fake.Run(five, fake.Request{Tickets: tickets})
	for _, p := range proposals {
		fmt.Println(p.Extras.TeamNames, p.Teams, p.Score)
	}
	fmt.Println(err)
	// Output:
	// [red blue] [[0 3 4 7 8] [1 2 5 6 9]] -90
	// <nil>
}

// A ticket that has waited too long is resolved with an error.
func ExampleProposal_Error() {
	f := matchfn.New(func(r *matchfn.Run) error {
		for ticket, wait := range r.Wait() {
			if wait >= 60 {
				// With a low score, a match of another config wins.
				r.Propose(-1e9, uint32(ticket)).Error("PoolTimeout")
			}
		}
		return nil
	})
	proposals, err := fake.Run(f, fake.Request{Tickets: []fake.Ticket{{Wait: time.Second}, {Wait: time.Minute}}})
	for _, p := range proposals {
		fmt.Println(p.Tickets(), p.Extras.Error)
	}
	fmt.Println(err)
	// Output:
	// [1] PoolTimeout
	// <nil>
}

// All players and the game server get the match properties. Each player gets the ticket's own properties.
func ExampleProposal_TicketProperties() {
	f := matchfn.New(func(r *matchfn.Run) error {
		p := r.Propose(0, 0, 1).MatchProperties([]byte(`{"map":"cave"}`))
		for ticket, seat := range []string{`{"seat":"north"}`, `{"seat":"south"}`} {
			p.TicketProperties(uint32(ticket), []byte(seat))
		}
		return nil
	})
	proposals, err := fake.Run(f, fake.Request{Tickets: make([]fake.Ticket, 2)})
	for _, p := range proposals {
		fmt.Printf("%s\n", p.Extras.MatchProperties)
		for _, ticket := range p.Extras.TicketProperties {
			fmt.Printf("%d %s\n", ticket.Ticket, ticket.JSON)
		}
	}
	fmt.Println(err)
	// Output:
	// {"map":"cave"}
	// 0 {"seat":"north"}
	// 1 {"seat":"south"}
	// <nil>
}

// A game can begin before it is full. Its server gets a backfill ticket, through which functions find the missing
// players: see UpdateBackfill.
func ExampleProposal_CreateBackfill() {
	f := matchfn.New(func(r *matchfn.Run) error {
		const full, enough = 4, 3
		players := r.Pool("all")
		if len(players) >= enough {
			players = players[:min(full, len(players))]
			p := r.Propose(0, players...)
			if missing := full - len(players); missing > 0 {
				p.CreateBackfill().Attribute("missing", float64(missing)).Property("map", []byte("cave"))
			}
		}
		return nil
	})
	proposals, err := fake.Run(f,
		fake.Request{Tickets: make([]fake.Ticket, 3), Pools: map[string][]uint32{"all": {0, 1, 2}}})
	for _, p := range proposals {
		b := p.Extras.Backfill
		fmt.Println(p.Tickets(), b.Create, b.Attributes, b.Properties[0].Name, string(b.Properties[0].Value))
	}
	fmt.Println(err)
	// Output:
	// [0 1 2] true [{missing 1}] map cave
	// <nil>
}

// A pool of backfill tickets selects servers, here those that want players of a region.
func ExampleRun_BackfillPool() {
	f := matchfn.New(func(r *matchfn.Run) error {
		players := r.Pool("europe")
		for _, server := range r.BackfillPool("europe") {
			address, ok := r.BackfillConnection(server)
			if !ok || len(players) == 0 {
				continue // the server is still being allocated
			}
			playing, _ := r.BackfillProperty("map").Of(server)
			r.Log(address, "plays", playing, "and gets ticket", players[0])
			r.Propose(1, players[0]).UpdateBackfill(server)
			players = players[1:]
		}
		return nil
	})
	_, err := fake.Run(f, fake.Request{
		Tickets: make([]fake.Ticket, 2),
		Pools:   map[string][]uint32{"europe": {1}},
		Backfills: []fake.Backfill{
			{},
			{Connection: "10.0.0.1:7777", Ticket: fake.Ticket{Properties: map[string][]byte{"map": []byte("dune")}}},
		},
		BackfillPools: map[string][]uint32{"europe": {0, 1}},
	})
	fmt.Println(err)
	// Output:
	// 10.0.0.1:7777 plays dune and gets ticket 1
	// <nil>
}
