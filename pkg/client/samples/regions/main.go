// Command regions measures how far the regions are, lets the player pick one, and searches a match in its queue:
// MM_TOKEN=$(mm token player ada) go run . eu-west
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"matchmaker.dev/pkg/client"
)

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	api, err := client.New(client.Options{
		URL: os.Getenv("MM_URL"), Project: os.Getenv("MM_PROJECT"), Token: client.StaticToken(os.Getenv("MM_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	latencies := api.Latencies(client.MeasureOptions{}) // one for the whole game, which keeps what it measured
	measured, err := latencies.Get(ctx, "")
	if err != nil {
		log.Fatal(client.PlayerText(err))
	}
	for _, l := range measured {
		fmt.Println("region", l.Region, l.RTT.Round(time.Millisecond), l.Err)
	}
	if len(os.Args) < 2 {
		return
	}
	search := api.Search(client.SearchOptions{Ticket: client.TicketRequest{
		Queues: os.Args[1:], Receipts: client.Receipts(measured), Attributes: map[string]float64{"skill": 1200},
	}})
	ticket, err := search.Run(ctx)
	if err != nil {
		log.Fatal(client.PlayerText(err))
	}
	fmt.Println("connection", ticket.Assignment.Connection)
}
