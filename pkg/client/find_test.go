package client_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
)

// A create that may have made its ticket, and fails, looks for it by its key.
func TestCreateFindsTheTicketWhoseAnswerWasLost(t *testing.T) {
	found := reply{status: 200, body: `{"tickets":[{"id":"t1","created":1,"assignment":null}]}`}
	none := reply{status: 200, body: `{"tickets":[]}`}
	failing := reply{status: 500}
	for name, c := range map[string]struct {
		replies []reply
		key     string
		creates int
		asks    bool
		status  int // of the error; 0: none
	}{
		"by a failure":                  {[]reply{failing, found, assigned}, "", 1, true, 0},
		"and then there were too many":  {[]reply{cut, after("61"), found, assigned}, "", 2, true, 0},
		"and the answer was no JSON":    {[]reply{{status: 201, body: "{"}, found, assigned}, "", 1, true, 0},
		"and no ticket was made":        {[]reply{failing, none}, "", 1, true, 500},
		"by an older service":           {[]reply{failing, {status: 400}}, "", 1, true, 500},
		"and the service is not there":  {[]reply{failing, cut}, "", 1, true, 500},
		"and others may have its key":   {[]reply{failing}, "theirs", 1, false, 500},
		"and then the player has one":   {[]reply{cut, {status: 409}, none}, "", 2, true, 409},
		"not: it was refused":           {[]reply{{status: 409}}, "", 1, false, 409},
		"not: there were too many only": {[]reply{after("61")}, "", 1, false, 429},
	} {
		for how, create := range map[string]func(context.Context, *client.Client, client.TicketRequest) (string, error){
			"create": func(ctx context.Context, c *client.Client, r client.TicketRequest) (string, error) {
				return c.CreateTicket(ctx, r)
			},
			"wait": func(ctx context.Context, c *client.Client, r client.TicketRequest) (string, error) {
				var told ids
				ticket, err := c.CreateAndWait(ctx, r, told.learn)
				if (err == nil) != slices.Equal(told, ids{"t1"}) || err == nil && ticket.Assignment == nil {
					t.Errorf("%s: told of %v, got %+v, %v", name, told, ticket, err)
				}
				return strings.Join(told, ""), err
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				s := newService(t, c.replies...)
				api, _ := newClient(t, s)
				id, err := create(t.Context(), api, client.TicketRequest{Player: "ada", IdempotencyKey: c.key})
				if client.Status(err) != c.status || (err == nil) != (id == "t1") {
					t.Errorf("got %q, %v, want the status %d", id, err, c.status)
				}
				requests := s.requests()
				for _, r := range requests[:c.creates] {
					if !strings.HasPrefix(r.Line, "POST ") {
						t.Errorf("asked %q", r.Line)
					}
				}
				rest := requests[c.creates:]
				if asks := len(rest) > 0; asks != c.asks {
					t.Fatalf("asked %+v after %d creates", rest, c.creates)
				} else if !asks {
					return
				}
				key := strings.Trim(requests[0].Header.Get("Idempotency-Key"), `"`)
				if want := "GET /demo/matchmaking/api/v1/tickets?key=" + key; rest[0].Line != want ||
					rest[0].Header.Get("X-On-Behalf-Of") != "ada" {
					t.Errorf("asked %q as %q, want %q as ada", rest[0].Line, rest[0].Header.Get("X-On-Behalf-Of"), want)
				}
			})
		}
	}
}
