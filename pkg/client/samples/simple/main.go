// Command simple searches a match: MM_TOKEN=$(mm token player ada) go run . 1200
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"

	"matchmaker.dev/pkg/client"
)

func main() {
	log.SetFlags(0)
	// A game asks its own backend for tokens: client.TokenCallback.
	api, err := client.New(client.Options{
		URL: os.Getenv("MM_URL"), Project: os.Getenv("MM_PROJECT"), Token: client.StaticToken(os.Getenv("MM_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	skill, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		log.Fatal(err)
	}
	search := api.Search(client.SearchOptions{
		Ticket: client.TicketRequest{Attributes: map[string]float64{"skill": skill}},
		Tell:   func(e client.TicketEvent) { fmt.Println(e.Kind) },
	})
	ctx := context.Background()
	interrupted, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	defer context.AfterFunc(interrupted, search.Cancel)()
	ticket, err := search.Run(ctx)
	switch {
	case err != nil:
		log.Fatal(client.PlayerText(err))
	case ticket.Assignment.Error != "":
		log.Fatal(ticket.Assignment.Error)
	}
	fmt.Println("connection", ticket.Assignment.Connection)
}
