package e2e

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// errSeen ends a stream when all that was to happen has.
var errSeen = errors.New("seen")

// insight: a developer with the role Support sees which tickets wait, what happens to a ticket, and what became of its
// match, and can change nothing.
func insight(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	support := p.as(t, issuer.Claims{Kind: auth.Developer, Subject: "helpdesk", Role: "Support"})
	began := time.Now()
	lonely := p.ticket(t, "lonely", attributes{"skill": 9000})
	var waiting *client.WaitingPage
	eventually(t, "the one who waits is listed", func() bool {
		var err error
		low := 8999.0
		waiting, err = support.GetWaitingTickets(within(t), client.WaitingQuery{Player: "lonely",
			Filters: []client.PoolFilter{{Attribute: "skill", Min: &low}}, MaxAge: time.Hour})
		if err != nil && client.Status(err) != http.StatusServiceUnavailable {
			t.Fatal(err)
		}
		return err == nil && len(waiting.Tickets) == 1
	})
	if k := waiting.Tickets[0]; k.ID != lonely.id || k.Owner != "lonely" || k.Attributes["skill"] != 9000 ||
		waiting.Total != 1 {
		t.Errorf("%+v", waiting)
	}

	ada, bob := p.ticket(t, "ada", attributes{"skill": 1200}), p.ticket(t, "bob", attributes{"skill": 1210})
	together(t, ada, bob)
	connection := ada.connection(t)
	var kinds []string
	match := ""
	err := support.FollowEvents(within(t), client.EventQuery{Ticket: ada.id, Since: began.Add(-time.Minute)},
		func(e client.Event) error {
			kinds, match = append(kinds, e.Kind), e.Match
			if e.Kind == "assigned" {
				return errSeen
			}
			return nil
		})
	kinds = slices.Compact(kinds) // an allocation may begin more than once
	if want := "created claimed allocating assigned"; !errors.Is(err, errSeen) || strings.Join(kinds, " ") != want {
		t.Fatalf("a stream of a ticket has %q, %v, want %s", kinds, err, want)
	}
	told := events(t, support, client.EventQuery{Match: match, Kinds: []string{"claimed"}})
	if len(told) != 1 || told[0].Match != match {
		t.Fatalf("the events of a match: %+v", told)
	}

	m, err := support.GetMatch(within(t), match)
	if err != nil {
		t.Fatal(err)
	}
	players := map[string]bool{}
	for _, team := range m.Teams {
		for _, k := range team.Tickets {
			if len(k.Players) != 1 || k.Waited == nil || *k.Waited < 0 || *k.Waited > time.Since(began).Seconds() {
				t.Errorf("a ticket of the match: %+v", k)
				continue
			}
			players[k.Players[0]] = true
		}
	}
	if m.State != "assigned" || m.Config != "ranked" || m.Revision == 0 || m.Function != "duel" || m.Upload != 1 ||
		m.Score == nil || m.Players != 2 || !players["ada"] || !players["bob"] || m.Server == nil ||
		m.Server.Connection != connection || m.Ended.Before(m.Created) {
		t.Errorf("the match: %+v, of %v on %+v", m, players, m.Server)
	}

	_, err = support.PutConfig(within(t), "ranked", client.Config{Matchmaking: client.Matchmaking{
		TargetFunction: client.FunctionTarget{Name: "duel", Version: "1"}}}, "")
	if client.Status(err) != http.StatusForbidden || !strings.Contains(err.Error(), "the role Support looks and changes") {
		t.Errorf("support changes a config: %v", err)
	}
	if _, err := support.GetConfig(within(t), "ranked"); err != nil {
		t.Errorf("support reads a config: %v", err)
	}
	if _, err := ada.api(t).GetMatch(within(t), match); client.Status(err) != http.StatusForbidden {
		t.Errorf("a player asks for a match: %v", err)
	}
	lonely.mustWait(t)
}
