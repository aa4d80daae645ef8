package client_test

import (
	"net/url"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

func TestGetWaitingTickets(t *testing.T) {
	s := newService(t, reply{status: 200, body: `{"tickets":[{"id":"t","created":5,"waited":1.5,"owner":"ada",
		"players":["ada"],"queues":["quick"],"attributes":{"skill":1200}}],"total":7,"next":"5.t"}`})
	c, err := client.New(client.Options{URL: s.URL, Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	low := 1000.0
	page, err := c.GetWaitingTickets(t.Context(), client.WaitingQuery{Player: "ada", NoQueue: true, Config: "ranked",
		Pool: "all", Filters: []client.PoolFilter{{Attribute: "skill", Min: &low}}, MinAge: 1500 * time.Millisecond,
		MaxAge: time.Hour, Limit: 5, After: "4.s"})
	if err != nil || page.Total != 7 || page.Next != "5.t" || page.Tickets[0].Attributes["skill"] != 1200 ||
		page.Tickets[0].Waited != 1.5 {
		t.Errorf("%+v, %v", page, err)
	}
	line, err := url.Parse(s.requests()[0].Line[len("GET "):])
	if err != nil {
		t.Fatal(err)
	}
	query, err := url.ParseQuery(line.RawQuery)
	if err != nil || line.Path != "/demo/matchmaking/api/v1/tickets/waiting" {
		t.Fatal(line, err)
	}
	want := url.Values{"player": {"ada"}, "queue": {""}, "config": {"ranked"}, "pool": {"all"}, "minAge": {"1.5"},
		"maxAge": {"3600"}, "limit": {"5"}, "after": {"4.s"}, "filters": {`[{"attribute":"skill","min":1000}]`}}
	if got := query.Encode(); got != want.Encode() {
		t.Errorf("asked for\n%s, want\n%s", got, want.Encode())
	}
}
