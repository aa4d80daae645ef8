package e2e

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/bustest"
	"matchmaker.dev/services/internal/platform/account"
)

// life: subscribers of events can follow a ticket through its life.
func life(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ada := p.ticket(t, "ada", attributes{"skill": 1200})
	lonely := p.ticket(t, "lonely", attributes{"skill": 9000})
	bob := p.ticket(t, "bob", attributes{"skill": 1210})
	together(t, ada, bob)
	ada.delete(t)
	lonely.delete(t)
	p.expectEvents(t, ada, "created", "claimed", "allocating", "assigned", "cancelled resolved")
	p.expectEvents(t, lonely, "created", "cancelled waiting")
	p.expectEvents(t, bob, "created", "claimed", "allocating", "assigned")
}

// expectEvents reads the events of a ticket until there are as many as wanted, and compares them.
func (p *project) expectEvents(t *testing.T, k *ticket, want ...string) {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: p.s.nats()}, Service: account.Events,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close(context.WithoutCancel(t.Context())) }()
	ctx, stop := context.WithCancel(within(t))
	defer stop()
	var got []string
	err = bustest.FollowEvents(ctx, b, p.name, func(all *pb.Events) error {
		for _, e := range all.GetEvents() {
			if slices.Contains(e.GetTickets(), k.id) {
				kind := strings.ToLower(strings.TrimPrefix(e.GetKind().String(), "KIND_"))
				got = append(got, strings.TrimSpace(kind+" "+e.GetReason()))
			}
		}
		got = slices.Compact(got) // an allocation may begin more than once
		if len(got) >= len(want) {
			stop()
		}
		return nil
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the events of %s are %q, want %q (%v)", k.player, got, want, err)
	}
}

// events reads all events that are told now and that a query selects. One that just happened may not be told yet.
func events(t *testing.T, c *client.Client, q client.EventQuery) (found []client.Event) {
	t.Helper()
	for more := true; more; {
		page, err := c.GetEvents(within(t), q)
		if err != nil {
			t.Fatal(err)
		}
		found, more, q.After = append(found, page.Events...), page.More, page.Next
	}
	return found
}
