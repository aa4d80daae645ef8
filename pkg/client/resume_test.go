package client_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

func TestResume(t *testing.T) {
	const list, get = "GET /demo/matchmaking/api/v1/tickets?player=ada", "GET /demo/matchmaking/api/v1/tickets?id=t1"
	const t1 = `{"id":"t1","created":2,"assignment":null}`
	const matched = `{"id":"t1","created":2,"assignment":{"connection":"10.0.0.1:7000","error":""}}`
	const failed = `{"id":"t2","created":3,"assignment":{"connection":"","error":"AllocationError"}}`
	const older = `{"id":"t0","created":1,"assignment":null}`
	listed := func(tickets string) reply { return reply{status: 200, body: `{"tickets":[` + tickets + `]}`} }
	for name, c := range map[string]struct {
		replies []reply
		asked   []string
		none    bool // ErrNoTicket
		status  int  // of another error
	}{
		"a ticket that waits":        {[]reply{listed(t1), waiting, assigned}, []string{list, get, get}, false, 0},
		"one that has a match":       {[]reply{listed(matched), assigned}, []string{list, get}, false, 0},
		"the newest":                 {[]reply{listed(t1 + "," + older), assigned}, []string{list, get}, false, 0},
		"one before that failed":     {[]reply{listed(failed + "," + t1), assigned}, []string{list, get}, false, 0},
		"none":                       {[]reply{listed("")}, []string{list}, true, 0},
		"one that failed":            {[]reply{listed(failed)}, []string{list}, true, 0},
		"a project that lists none":  {[]reply{{status: 409, body: `{"code":"ticketsNotListed"}`}}, []string{list}, true, 0},
		"a conflict of another kind": {[]reply{{status: 409, body: `{"code":"conflict"}`}}, []string{list}, false, 409},
		"after an answer was lost":   {[]reply{cut, listed(t1), assigned}, []string{list, list, get}, false, 0},
		"a list of somebody else":    {[]reply{{status: 403}}, []string{list}, false, 403},
		"one that was deleted since": {[]reply{listed(t1), gone}, []string{list, get}, false, 404},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, c.replies...)
			api, _ := newClient(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			defer time.AfterFunc(time.Minute, cancel).Stop() // and no deadline, which the client compares with its clock
			var told ids
			ticket, err := api.Resume(ctx, "ada", told.learn)
			if errors.Is(err, client.ErrNoTicket) != c.none || client.Status(err) != c.status {
				t.Fatalf("got %+v, %v, want the status %d, or ErrNoTicket: %v", ticket, err, c.status, c.none)
			}
			if fails := c.none || c.status != 0; fails != (err != nil) {
				t.Errorf("got %+v, %v", ticket, err)
			} else if !fails && (ticket.ID != "t1" || ticket.Assignment.Connection != "10.0.0.1:7000") {
				t.Errorf("got %+v", ticket)
			}
			var asked []string
			for _, r := range s.requests() {
				asked = append(asked, r.Line)
			}
			if !slices.Equal(asked, c.asked) {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
			if want := len(c.asked) > 1; want != (len(told) == 1) {
				t.Errorf("told of %v", told)
			}
		})
	}
}
