// Command party makes a party of two, or joins it by its code, and searches a match for both:
// MM_TOKEN=$(mm token player ada) go run . and then MM_TOKEN=$(mm token player bob) go run . CODE
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"matchmaker.dev/pkg/client"
)

func main() {
	log.SetFlags(0)
	api, err := client.New(client.Options{
		URL: os.Getenv("MM_URL"), Project: os.Getenv("MM_PROJECT"), Token: client.StaticToken(os.Getenv("MM_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	ticket, err := play(context.Background(), api, os.Args[1:])
	if err != nil {
		log.Fatal(client.PlayerText(err))
	}
	fmt.Println("connection", ticket.Assignment.Connection)
}

func play(ctx context.Context, api *client.Client, args []string) (*client.Ticket, error) {
	own := client.PartyMembership{Attributes: map[string]float64{"skill": 1200}}
	leads := len(args) == 0
	var party *client.Party
	var err error
	if leads {
		party, err = api.CreateParty(ctx, 2, own)
	} else {
		party, err = api.JoinParty(ctx, args[0], own)
	}
	if err != nil {
		return nil, err
	}
	fmt.Println("code", party.Code)
	for party.Search == nil {
		if leads && len(party.Members) == 2 {
			party, err = api.StartPartySearch(ctx, party.ID, client.TicketRequest{Attributes: own.Attributes})
		} else {
			party, err = api.NextParty(ctx, party, "")
		}
		if err != nil {
			return nil, err
		}
	}
	// All members follow the same ticket.
	return api.Search(client.SearchOptions{Saved: &client.SavedSearch{Ticket: party.Search.Ticket}}).Run(ctx)
}
