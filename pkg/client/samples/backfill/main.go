// Command backfill is a game server with one free place: MM_TOKEN=$(mm token server) go run . 127.0.0.1:7000
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"matchmaker.dev/pkg/client"
)

func main() {
	log.SetFlags(0)
	// The token that the server was given with its allocation, and the next ones.
	o := client.Options{URL: os.Getenv("MM_URL"), Project: os.Getenv("MM_PROJECT")}
	o.Token = client.ServerTokens(o, os.Getenv("MM_TOKEN"))
	api, err := client.New(o)
	if err != nil {
		log.Fatal(err)
	}
	ctx, end := signal.NotifyContext(context.Background(), os.Interrupt)
	defer end()
	open := 1.0
	filler := api.Fill(client.FillOptions{
		Join: func(tickets []client.Ticket) {
			for _, t := range tickets {
				fmt.Println("joined", t.ID)
				open--
			}
			if open <= 0 {
				end() // a game that goes on calls filler.Changed when a player leaves
			}
		},
		State: func() client.BackfillRequest {
			return client.BackfillRequest{
				Connection: os.Args[1], Queue: "games", Attributes: map[string]float64{"open": open, "skill": 1200},
			}
		},
		Failed: func(err error) { log.Print(err) },
	})
	if err := filler.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
