package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"matchmaker.dev/pkg/client"
)

// play stands in for a running service: it assigns every ticket at once, and fills every game.
func play() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /demo/matchmaking/api/v1/tickets", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"t1","status":null}`)
	})
	mux.HandleFunc("GET /demo/matchmaking/api/v1/tickets", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"t1","created":1893456000000,"assignment":{"connection":"203.0.113.7:7000"}}`)
	})
	mux.HandleFunc("PUT /demo/matchmaking/api/v1/configs/ranked", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `[{"ResultCode":"badFilterRange","Message":"pools.all[0]: max is below min"}]`)
	})
	mux.HandleFunc("POST /demo/matchmaking/api/v2/backfill/b1/approvals", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w,
			`{"Id":"b1","Created":1893456000000,"RecordVersion":1,"Connection":"203.0.113.7:7000","attributes":{"open":0},
			"assignedTickets":[{"id":"t2"},{"id":"t3"},{"id":"t4"}]}`)
	})
	mux.HandleFunc("DELETE /demo/matchmaking/api/v2/backfill/b1",
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return httptest.NewServer(mux)
}

// A player asks for a match and waits for it.
func Example() {
	service := play()
	defer service.Close()

	c, err := client.New(client.Options{URL: service.URL, Project: "demo", Token: client.StaticToken("a player's token")})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	id := ""
	ticket, err := c.CreateAndWait(ctx, client.TicketRequest{
		Player:     "player-1",
		Attributes: map[string]float64{"skill": 1200},
	}, func(created string) { id = created })
	if err != nil && id != "" { // the ticket would get a match for an absent player
		err = errors.Join(err, c.DeleteTicket(context.WithoutCancel(ctx), id, "player-1"))
	}
	if err != nil {
		log.Fatal(err)
	}
	if ticket.Assignment.Error != "" {
		log.Fatal("no match: ", ticket.Assignment.Error)
	}
	fmt.Println("play on", ticket.Assignment.Connection)
	// Output: play on 203.0.113.7:7000
}

// A config with faults is refused with all of them.
func ExampleError() {
	service := play()
	defer service.Close()

	c, err := client.New(client.Options{URL: service.URL, Project: "demo",
		Token: client.StaticToken("a developer's token")})
	if err != nil {
		log.Fatal(err)
	}
	low, high := 2000.0, 1000.0
	_, err = c.PutConfig(context.Background(), "ranked", client.Config{
		Matchmaking: client.Matchmaking{TargetFunction: client.FunctionTarget{Name: "duel"}},
		Pools:       map[string][]client.PoolFilter{"all": {{Attribute: "skill", Min: &low, Max: &high}}},
	}, "")
	if refused, ok := errors.AsType[*client.Error](err); ok {
		for _, invalid := range refused.Validation {
			fmt.Printf("%s: %s\n", invalid.ResultCode, invalid.Message)
		}
	}
	// Output: badFilterRange: pools.all[0]: max is below min
}

// A game server fills its game: the backfill ticket's id and the token are what the server was told when it was
// allocated.
func ExampleFiller() {
	service := play()
	defer service.Close()

	o := client.Options{URL: service.URL, Project: "demo"}
	o.Token = client.ServerTokens(o, "the token that the server was given") // and the next ones, each in time
	c, err := client.New(o)
	if err != nil {
		log.Fatal(err)
	}
	const places = 4
	players := map[string]bool{"t1": true}
	ctx, end := context.WithCancel(context.Background())
	filler := c.Fill(client.FillOptions{
		Backfill: "b1",
		Join: func(tickets []client.Ticket) {
			for _, t := range tickets {
				fmt.Println("expecting", t.ID)
				players[t.ID] = true
			}
		},
		State: func() client.BackfillRequest {
			if len(players) == places {
				end() // this game is only filled once; others run until the game is over
			}
			return client.BackfillRequest{Attributes: map[string]float64{"open": float64(places - len(players))}}
		},
	})
	if err := filler.Run(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("full")
	// Output:
	// expecting t2
	// expecting t3
	// expecting t4
	// full
}
