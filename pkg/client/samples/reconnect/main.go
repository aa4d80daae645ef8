// Command reconnect searches a match, and after a crash goes on with the same search or match, which a file remembers:
// MM_TOKEN=$(mm token player ada) go run . search.json
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"

	"matchmaker.dev/pkg/client"
)

func main() {
	log.SetFlags(0)
	ctx, file := context.Background(), os.Args[1]
	api, err := client.New(client.Options{
		URL: os.Getenv("MM_URL"), Project: os.Getenv("MM_PROJECT"), Token: client.StaticToken(os.Getenv("MM_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	o := client.SearchOptions{
		Ticket: client.TicketRequest{Attributes: map[string]float64{"skill": 1200}},
		Save: func(s *client.SavedSearch) {
			text, err := json.Marshal(s) // null when there is nothing to go on with
			if err = errors.Join(err, os.WriteFile(file+".new", text, 0o600)); err == nil {
				err = os.Rename(file+".new", file) // a crash leaves what was there, or this
			}
			if err != nil {
				log.Print(err)
			}
		},
		Tell: func(e client.TicketEvent) { fmt.Println(e.Kind) },
	}
	if text, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(text, &o.Saved); err != nil {
			log.Print(err)
		}
	}
	ticket, err := api.Search(o).Run(ctx)
	if errors.Is(err, client.ErrNoTicket) {
		o.Saved = nil
		ticket, err = api.Search(o).Run(ctx)
	}
	if err != nil {
		log.Fatal(client.PlayerText(err))
	}
	fmt.Println("connection", ticket.Assignment.Connection)
	// When the match is over: remove the file.
}
