package clienttest_test

import (
	"context"
	"fmt"
	"log"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/pkg/client/clienttest"
)

// A game's test decides who gets a match.
func Example() {
	ctx := context.Background()
	service := clienttest.NewService()
	go func() {
		if err := service.Await(ctx, "ada"); err != nil {
			log.Fatal(err)
		}
		service.Match(client.Assignment{Connection: "192.0.2.1:7000"}, "ada")
	}()
	search := service.Client("ada").Search(client.SearchOptions{})
	ticket, err := search.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ticket.Assignment.Connection, ticket.Assignment.Seats["ada"])
	// Output: 192.0.2.1:7000 seat of ada
}
