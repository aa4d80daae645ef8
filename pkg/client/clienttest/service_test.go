package clienttest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/pkg/client/clienttest"
)

// player is a player that searches.
type player struct {
	*client.Search
	told   client.TicketEvent
	saved  *client.SavedSearch
	ended  bool
	ticket *client.Ticket
	err    error
}

// search begins a search. What it tells is read after synctest.Wait.
func search(t *testing.T, s *clienttest.Service, name string, o client.SearchOptions) *player {
	p := new(player)
	o.Tell = func(e client.TicketEvent) { p.told = e }
	o.Save = func(saved *client.SavedSearch) { p.saved = saved }
	p.Search = s.Client(name).Search(o)
	go func() {
		p.ticket, p.err = p.Run(t.Context())
		p.ended = true
	}()
	synctest.Wait()
	return p
}

// is waits until there is no more to do, and checks what a search was told last.
func (p *player) is(t *testing.T, kind string) {
	t.Helper()
	synctest.Wait()
	if p.told.Kind != kind || p.ended != (kind == client.EventAssigned || kind == client.EventEnded) {
		t.Fatalf("%+v, ended %v with %v; want %s", p.told, p.ended, p.err, kind)
	}
}

func bubble(t *testing.T, name string, f func(t *testing.T, s *clienttest.Service)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, clienttest.NewService()) })
	})
}

func TestSearch(t *testing.T) {
	bubble(t, "accepted", func(t *testing.T, s *clienttest.Service) {
		ada, bob := search(t, s, "ada", client.SearchOptions{}), search(t, s, "bob", client.SearchOptions{})
		ada.is(t, client.EventWaiting)
		if got := s.Waiting(); !slices.Equal(got, []string{"ada", "bob"}) {
			t.Fatal(got)
		}
		s.Offer(20*time.Second, client.Assignment{Connection: "192.0.2.1:7000"}, "ada", "bob", "nobody")
		ada.is(t, client.EventAcceptance)
		if a := ada.told.Acceptance; a.Players != 2 || a.Remaining != 20_000 || !slices.Equal(a.Unanswered, []string{"ada"}) {
			t.Errorf("%+v", a)
		}
		must(t, ada.Answer(t.Context(), true))
		bob.is(t, client.EventAcceptance)
		if bob.told.Acceptance.Accepted != 1 {
			t.Errorf("%+v", bob.told.Acceptance)
		}
		s.Cut()
		s.Answer("bob", true)
		pass(10 * time.Second) // they come back
		for _, p := range []*player{ada, bob} {
			p.is(t, client.EventAssigned)
			if p.err != nil || p.ticket.Assignment.Connection != "192.0.2.1:7000" {
				t.Errorf("%+v %v", p.ticket, p.err)
			}
		}
		err := s.Client("ada").CancelTicket(t.Context(), ada.ticket.ID, "")
		if client.CodeOf(err) != client.CodeTicketMatched {
			t.Errorf("too late to cancel: %v", err)
		}
		_, err = s.Client("bob").GetTicket(t.Context(), ada.ticket.ID)
		if client.CodeOf(err) != client.CodeTicketNotFound {
			t.Errorf("another player's ticket: %v", err)
		}
	})
	bubble(t, "declined", func(t *testing.T, s *clienttest.Service) {
		ada, bob := search(t, s, "ada", client.SearchOptions{}), search(t, s, "bob", client.SearchOptions{})
		s.Offer(20*time.Second, client.Assignment{}, "ada", "bob")
		synctest.Wait()
		must(t, ada.Answer(t.Context(), false))
		ada.is(t, client.EventEnded)
		bob.is(t, client.EventWaiting)
		if ada.told.Reason != "declined" || ada.saved != nil {
			t.Errorf("%+v %+v", ada.told, ada.saved)
		}
		bob.Cancel()
		synctest.Wait()
		if !errors.Is(bob.err, client.ErrCancelled) || len(s.Waiting()) > 0 {
			t.Errorf("%v, %v wait", bob.err, s.Waiting())
		}
	})
	bubble(t, "cancelled while a match asks", func(t *testing.T, s *clienttest.Service) {
		ada, bob := search(t, s, "ada", client.SearchOptions{}), search(t, s, "bob", client.SearchOptions{})
		s.Offer(20*time.Second, client.Assignment{}, "ada", "bob")
		ada.Cancel()
		synctest.Wait()
		bob.is(t, client.EventWaiting)
		if !errors.Is(ada.err, client.ErrCancelled) {
			t.Error(ada.err)
		}
		s.Offer(20*time.Second, client.Assignment{}, "bob")
		s.End("unserved", "bob")
		bob.is(t, client.EventEnded)
	})
	bubble(t, "silent", func(t *testing.T, s *clienttest.Service) {
		ada, bob := search(t, s, "ada", client.SearchOptions{}), search(t, s, "bob", client.SearchOptions{})
		s.Offer(20*time.Second, client.Assignment{}, "ada", "bob")
		s.Answer("ada", true)
		pass(time.Minute)
		ada.is(t, client.EventWaiting)
		bob.is(t, client.EventEnded)
		s.End("unserved", "ada")
		ada.is(t, client.EventEnded)
		if bob.told.Reason != "silent" || ada.told.Reason != "unserved" {
			t.Errorf("%+v %+v", bob.told, ada.told)
		}
	})
	bubble(t, "after a crash", func(t *testing.T, s *clienttest.Service) {
		ada := search(t, s, "ada", client.SearchOptions{})
		ada.Suspend()
		s.Match(client.Assignment{Error: "AllocationError"}, "ada")
		again := search(t, s, "ada", client.SearchOptions{Saved: &client.SavedSearch{Key: ada.saved.Key}})
		again.is(t, client.EventAssigned)
		if again.ticket.ID != ada.saved.Ticket || again.ticket.Assignment.Error != "AllocationError" {
			t.Errorf("%+v", again.ticket)
		}
		ada.Resume()
		ada.is(t, client.EventAssigned)
	})
}

// A create that is repeated makes one ticket, for each key.
func TestKeys(t *testing.T) {
	ada, ids := clienttest.NewService().Client("ada"), map[string]bool{}
	for _, key := range []string{"a", "b", "a", "", ""} {
		id, err := ada.CreateTicket(t.Context(), client.TicketRequest{IdempotencyKey: key})
		must(t, err)
		ids[id] = true
	}
	list, err := ada.Tickets(t.Context(), "ada")
	if must(t, err); len(ids) != 4 || len(list) != 4 {
		t.Errorf("%v, %v", ids, list)
	}
}

// A ticket that names its players is also its owner's.
func TestOwner(t *testing.T) {
	ctx, s := t.Context(), clienttest.NewService()
	ada := s.Client("ada")
	r := client.TicketRequest{IdempotencyKey: "a", Players: []client.Player{{ID: "bob"}}}
	first, err := ada.CreateTicket(ctx, r)
	must(t, err)
	again, err := ada.CreateTicket(ctx, r)
	must(t, err)
	list, err := ada.Tickets(ctx, "ada")
	if must(t, err); again != first || len(list) != 1 || !slices.Equal(s.Waiting(), []string{"bob"}) {
		t.Errorf("%s, %s, %+v", first, again, list)
	}
	must(t, ada.CancelTicket(ctx, first, ""))
}

// A result counts once, may be corrected, and is no player's to report. Unknown paths have a code.
func TestResult(t *testing.T) {
	ctx, s := t.Context(), clienttest.NewService()
	for _, x := range []struct{ rank, corrections int }{{1, 0}, {1, 0}, {2, 1}} {
		got, err := s.Client("").ReportResult(ctx, "m", client.ReportedTeam{Name: "red", Rank: x.rank})
		if must(t, err); got.Corrections != x.corrections || s.Result("m").Teams[0].Rank != x.rank || got.Reported.IsZero() {
			t.Errorf("%+v: %+v", x, got)
		}
	}
	_, err := s.Client("ada").ReportResult(ctx, "m")
	if client.CodeOf(err) != client.CodeForbidden || s.Result("other") != nil {
		t.Error(err)
	}
	if _, err := s.Client("").ListConfigs(ctx); client.CodeOf(err) != client.CodeNotFound {
		t.Error(err)
	}
}

// The service is slow, full, or gone, and comes back.
func TestBadDays(t *testing.T) {
	bubble(t, "slow", func(t *testing.T, s *clienttest.Service) {
		s.SetSlow(3 * time.Second)
		begin := time.Now()
		_, err := s.Client("ada").CreateTicket(t.Context(), client.TicketRequest{})
		if err != nil || time.Since(begin) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		s.SetSlow(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Client("ada").CreateTicket(ctx, client.TicketRequest{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	bubble(t, "full", func(t *testing.T, s *clienttest.Service) {
		s.SetFull(2 * time.Minute)
		ada := search(t, s, "ada", client.SearchOptions{})
		if client.CodeOf(ada.err) != client.CodeTooManyTickets {
			t.Error(ada.err)
		}
		s.SetFull(20 * time.Second)
		ada = search(t, s, "ada", client.SearchOptions{})
		s.SetFull(0)
		pass(time.Minute)
		ada.is(t, client.EventWaiting)
		ada.Cancel()
	})
	bubble(t, "gone", func(t *testing.T, s *clienttest.Service) {
		ada := search(t, s, "ada", client.SearchOptions{})
		s.SetGone(true)
		s.Match(client.Assignment{}, "ada")
		pass(5 * time.Second)
		ada.is(t, client.EventWaiting)
		bob := search(t, s, "bob", client.SearchOptions{})
		pass(10 * time.Minute)
		synctest.Wait()
		if client.GeneralCode(bob.err) != client.CodeOffline || client.GeneralCode(ada.err) != client.CodeOffline {
			t.Errorf("%v, %v", bob.err, ada.err)
		}
		s.SetGone(false)
		again := search(t, s, "ada", client.SearchOptions{Saved: ada.saved})
		again.is(t, client.EventAssigned)
	})
}

// member is a player that follows a party.
type member struct {
	told   *client.Party
	reason string
}

func TestParty(t *testing.T) {
	bubble(t, "a search ends when a player joins", func(t *testing.T, s *clienttest.Service) {
		party, err := s.Client("ada").CreateParty(t.Context(), 0, client.PartyMembership{})
		must(t, err)
		_, err = s.Client("ada").StartPartySearch(t.Context(), party.ID, client.TicketRequest{})
		must(t, err)
		joined, err := s.Client("bob").JoinParty(t.Context(), party.Code, client.PartyMembership{})
		if must(t, err); joined.Search != nil || len(s.Waiting()) > 0 {
			t.Errorf("%+v, %v wait", joined, s.Waiting())
		}
	})
	bubble(t, "life of a party", func(t *testing.T, s *clienttest.Service) {
		ctx := t.Context()
		adas, bobs := s.Client("ada"), s.Client("bob")
		party, err := adas.CreateParty(ctx, 2, client.PartyMembership{})
		must(t, err)
		follow := func(c *client.Client) *member {
			m := new(member)
			go func() {
				reason, err := c.FollowParty(ctx, party.ID, "", func(p *client.Party) { m.told = p })
				must(t, err)
				m.reason = reason
			}()
			synctest.Wait()
			return m
		}
		a := follow(adas)
		_, err = bobs.JoinParty(ctx, party.Code[:4]+"-"+party.Code[4:], client.PartyMembership{NotReady: true})
		must(t, err)
		b := follow(bobs)
		refused := func(want client.Code, err error) {
			t.Helper()
			if client.CodeOf(err) != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
		_, err = s.Client("cyd").JoinParty(ctx, party.Code, client.PartyMembership{})
		refused(client.CodePartyFull, err)
		_, err = bobs.CreateParty(ctx, 2, client.PartyMembership{})
		refused(client.CodeAlreadyInParty, err)
		_, err = adas.StartPartySearch(ctx, party.ID, client.TicketRequest{})
		refused(client.CodeMemberNotReady, err)
		refused(client.CodeNotLeader, bobs.DisbandParty(ctx, party.ID, ""))
		_, err = s.Client("cyd").MyParty(ctx, "")
		refused(client.CodePartyNotFound, err)
		skill := map[string]float64{"skill": 1}
		_, err = bobs.UpdatePartyMember(ctx, party.ID, "bob", client.PartyMembership{Attributes: skill})
		must(t, err)
		_, err = adas.StartPartySearch(ctx, party.ID, client.TicketRequest{Queues: []string{"ranked"}})
		must(t, err)
		synctest.Wait()
		ada := search(t, s, "ada", client.SearchOptions{Saved: &client.SavedSearch{Ticket: a.told.Search.Ticket}})
		s.Match(client.Assignment{}, "bob")
		ada.is(t, client.EventAssigned)
		own := ada.ticket
		if len(own.Assignment.Seats) != 1 || own.Players[1].Attributes != nil || a.told.Members[1].Attributes != nil {
			t.Errorf("ada sees of bob: %+v, %+v", own, a.told)
		}
		all, err := s.Client("").GetTicket(ctx, own.ID)
		if must(t, err); len(all.Assignment.Seats) != 2 || all.Players[1].Attributes["skill"] != 1 ||
			!slices.Equal(all.Queues, []string{"ranked"}) {
			t.Errorf("%+v", all)
		}
		_, err = adas.StartPartySearch(ctx, party.ID, client.TicketRequest{}) // the next match
		must(t, err)
		synctest.Wait()
		if got := s.Waiting(); !slices.Equal(got, []string{"ada", "bob"}) || a.told.Search.Ticket == own.ID {
			t.Errorf("%v wait, %+v", got, a.told.Search)
		}
		_, err = adas.StartPartySearch(ctx, party.ID, client.TicketRequest{}) // the same one
		if must(t, err); len(s.Waiting()) != 2 {
			t.Errorf("%v wait", s.Waiting())
		}
		party, err = adas.KickPartyMember(ctx, party.ID, "bob", "")
		must(t, err)
		synctest.Wait()
		_, err = bobs.JoinParty(ctx, party.Code, client.PartyMembership{})
		refused(client.CodePartyCodeUnknown, err)
		must(t, adas.LeaveParty(ctx, party.ID, "ada"))
		synctest.Wait()
		if a.reason != "left" || b.reason != "kicked" || b.told.Members[1].Attributes["skill"] != 1 {
			t.Errorf("%+v, %+v", a, b)
		}
	})
}

func TestFill(t *testing.T) {
	bubble(t, "one joins", func(t *testing.T, s *clienttest.Service) {
		ada := search(t, s, "ada", client.SearchOptions{})
		open := 2.0
		filler := s.Client("").Fill(client.FillOptions{
			Join: func(tickets []client.Ticket) { open -= float64(len(tickets)) },
			State: func() client.BackfillRequest {
				return client.BackfillRequest{Connection: "192.0.2.1:7000", Attributes: map[string]float64{"open": open}}
			},
		})
		ctx, end := context.WithCancel(t.Context())
		go func() { must(t, filler.Run(ctx)) }()
		synctest.Wait()
		s.Join("ada")
		pass(time.Minute)
		ada.is(t, client.EventAssigned)
		if games := s.Games(); ada.ticket.Assignment.Connection != "192.0.2.1:7000" || games[0].Attributes["open"] != 1 {
			t.Errorf("%+v, %+v", ada.ticket.Assignment, games)
		}
		end()
		synctest.Wait()
		if games := s.Games(); len(games) != 0 {
			t.Error(games)
		}
	})
}

// Approvals repeat tickets for 20 seconds. An update changes what it has.
func TestGames(t *testing.T) {
	bubble(t, "repeats", func(t *testing.T, s *clienttest.Service) {
		ctx, server := t.Context(), s.Client("")
		begun, players := time.Now().UnixMilli(), []client.GamePlayer{{ID: "zoe"}}
		id, err := server.CreateBackfill(ctx, client.BackfillRequest{Connection: "here", Queue: "ranked", Players: players})
		must(t, err)
		search(t, s, "ada", client.SearchOptions{})
		s.Join("ada")
		for _, want := range []int{1, 1, 0} {
			got, err := server.ApproveBackfill(ctx, id)
			if must(t, err); len(got.AssignedTickets) != want {
				t.Errorf("after %v: %+v", time.Since(time.UnixMilli(begun)), got.AssignedTickets)
			}
			pass(15 * time.Second)
		}
		must(t, server.UpdateBackfill(ctx, client.BackfillTicket{ID: id, Connection: "there"}))
		if g := s.Games()[0]; g.Created != begun || g.Queue != "ranked" || len(g.Players) != 1 || g.Connection != "there" {
			t.Errorf("%+v", g)
		}
	})
}

func TestRegions(t *testing.T) {
	s := clienttest.NewService()
	s.SetRegions(client.Region{Name: "eu"})
	all, err := s.Client("ada").Latencies(client.MeasureOptions{}).Get(t.Context(), "")
	if must(t, err); len(all) != 1 || all[0].Region != "eu" || all[0].Err == nil {
		t.Errorf("%+v", all)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the bubble's time
