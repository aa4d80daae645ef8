package e2e

import (
	"net/http"
	"testing"

	"matchmaker.dev/pkg/client"
)

// acceptance: a match has a server when each of its players accepted, and not before. Tickets whose players decline or
// are silent end, the others are matched with another player, and each is told.
func acceptance(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	seconds := 60
	c := client.Config{
		Matchmaking: client.Matchmaking{TargetFunction: client.FunctionTarget{Name: "duel", Version: "1"},
			Config: []byte(`{"attribute":"skill","window":100,"widen":0}`)},
		Acceptance: &client.AcceptanceRule{Seconds: seconds},
		Hosting:    &client.Hosting{Profile: "profile", FleetID: "fleet"},
	}
	put := func() {
		t.Helper()
		if _, err := p.developer(t).PutConfig(within(t), "ranked", c, ""); err != nil {
			t.Fatal(err)
		}
	}
	put()
	if got, err := p.developer(t).GetConfig(within(t), "ranked"); err != nil || got.Acceptance == nil ||
		got.Acceptance.Seconds != seconds {
		t.Fatalf("got %+v, %v", got, err)
	}
	asked := func(k *ticket) client.Acceptance { return k.asked(t) }
	answer := func(k *ticket, a client.Acceptance, accept bool) { k.answer(t, a.Match, accept) }
	ada, bob := p.ticket(t, "ada", attributes{"skill": 1200}), p.ticket(t, "bob", attributes{"skill": 1210})
	match := asked(ada)
	if again := asked(bob); again.Match != match.Match || again.Players != 2 || again.Accepted != 0 ||
		again.Remaining <= 0 || again.Remaining > int64(seconds)*1000 {
		t.Fatalf("ada is asked by %+v, bob by %+v", match, again)
	}
	for _, wrong := range []struct {
		by     *ticket
		answer client.MatchAnswer
		status int
	}{
		{ada, client.MatchAnswer{Ticket: bob.id, Match: match.Match, Accept: true}, http.StatusNotFound},
		{ada, client.MatchAnswer{Ticket: ada.id, Match: "another", Accept: true}, http.StatusConflict},
		{ada, client.MatchAnswer{Ticket: ada.id, Accept: true}, http.StatusBadRequest},
		{ada, client.MatchAnswer{Ticket: ada.id, Match: match.Match, Players: []string{"bob"}}, http.StatusForbidden},
	} {
		if err := wrong.by.api(t).AnswerMatch(within(t), wrong.answer); client.Status(err) != wrong.status {
			t.Errorf("%+v: %v, want status %d", wrong.answer, err, wrong.status)
		}
	}
	answer(ada, match, true)
	answer(ada, match, true)
	if got, err := ada.api(t).GetTicket(within(t), ada.id); err != nil || got.Assignment != nil || got.Acceptance == nil ||
		got.Acceptance.Accepted != 1 || len(got.Acceptance.Unanswered) != 0 {
		t.Fatalf("ada's ticket is %+v, %v", got, err)
	}
	answer(bob, match, true)
	together(t, ada, bob)
	p.expectEvents(t, ada, "created", "claimed", "accepted", "allocating", "assigned")

	// Carol declines, dave waits on and is asked again.
	carol, dave := p.ticket(t, "carol", attributes{"skill": 3000}), p.ticket(t, "dave", attributes{"skill": 3010})
	match = asked(dave)
	answer(dave, match, true)
	answer(carol, match, false)
	_, err := carol.api(t).Wait(within(t), carol.id)
	if client.Status(err) != http.StatusNotFound {
		t.Errorf("carol declined: %v, want 404", err)
	}
	p.expectEvents(t, carol, "created", "claimed", "declined", "expired declined")
	p.expectEvents(t, dave, "created", "claimed", "accepted", "released declined")
	var why *client.TicketExplanation
	eventually(t, "the history is read", func() bool {
		why, err = p.developer(t).ExplainTicket(within(t), dave.id)
		if err != nil && client.Status(err) != http.StatusTooManyRequests {
			t.Fatal(err)
		}
		return err == nil && why.History != nil && why.History.Error == ""
	})
	if h := why.History; !h.Complete || len(h.Matches) != 1 ||
		h.Matches[0].Match != match.Match ||
		!h.Matches[0].Failed || h.Matches[0].Reason != "declined" || h.Matches[0].Score == nil {
		t.Errorf("the matches in which dave was: %+v", h)
	}
	// Erin leaves by deleting her ticket.
	erin := p.ticket(t, "erin", attributes{"skill": 3000})
	match = asked(erin)
	answer(dave, match, true)
	erin.delete(t)
	frank := p.ticket(t, "frank", attributes{"skill": 3000})
	match = asked(frank)
	answer(dave, match, true)
	answer(frank, match, true)
	together(t, dave, frank)

	// The silent ticket ends, the one that accepted waits.
	c.Acceptance.Seconds = 10
	put()
	silent, quick := p.ticket(t, "silent", attributes{"skill": 5000}), p.ticket(t, "quick", attributes{"skill": 5000})
	answer(quick, asked(quick), true)
	_, err = silent.api(t).Wait(within(t), silent.id)
	if client.Status(err) != http.StatusNotFound {
		t.Errorf("silent did not answer: %v, want 404", err)
	}
	p.expectEvents(t, silent, "created", "claimed", "expired silent")
	quick.mustWait(t)
	p.expectEvents(t, quick, "created", "claimed", "accepted", "released silent")
}

// asked follows a ticket until its match asks the player.
func (k *ticket) asked(t *testing.T) client.Acceptance {
	t.Helper()
	told, ended := make(chan client.Acceptance, 64), make(chan error, 1)
	api, ctx := k.api(t), within(t)
	go func() {
		_, err := api.Follow(ctx, k.id, func(e client.TicketEvent) {
			if e.Kind == client.EventAcceptance {
				told <- *e.Acceptance
			}
		})
		ended <- err
	}()
	select {
	case a := <-told:
		return a
	case err := <-ended:
		t.Fatalf("%s was not asked: %v", k.player, err)
		return client.Acceptance{}
	}
}

// answer accepts or declines a match for the player.
func (k *ticket) answer(t *testing.T, match string, accept bool) {
	t.Helper()
	said := client.MatchAnswer{Ticket: k.id, Match: match, Accept: accept}
	if err := k.api(t).AnswerMatch(within(t), said); err != nil {
		t.Fatalf("%s: %v", k.player, err)
	}
}
