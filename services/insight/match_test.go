package insight_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/state"
)

// found is a match as answers have it.
type found struct {
	ID, State, Config, Function, Created, Ended, Reason, Error, Detail string
	Revision, Upload                                                   int64
	Score                                                              *float64
	Players, Accepted                                                  int
	Teams                                                              []struct {
		Name    string
		Tickets []struct {
			ID      string
			Waited  *float64
			Players []string
		}
	}
	Server *struct{ Connection, Fleet string }
}

func TestMatchIsWhatItsEventsAndTicketsSay(t *testing.T) {
	w := start(t, nil)
	now := w.store.Now()
	ada, bob, cyd := state.NewID(now.Add(-3*time.Second)), state.NewID(now.Add(-2*time.Second)), state.NewID(now)
	for id, t2 := range map[string]*pb.Ticket{
		ada: {Owner: "ada"}, bob: {Owner: "host", Players: []*pb.Player{{Id: "bob"}, {Id: "bea"}}},
	} {
		t2.Id, t2.Created, t2.Properties = id, now.UnixMilli(), map[string][]byte{"secret": []byte("hidden")}
		must(t, w.store.Creator(nil).Create(t.Context(), "demo", t2))
	}
	id := state.NewID(now)
	first := &pb.Event{Kind: pb.Event_KIND_CLAIMED, Time: now.UnixMilli(), Match: id, Config: "ranked", Revision: 7,
		Tickets: []string{ada, bob, cyd}, Function: "duel", Upload: 3, Score: 0.5, Players: 4, Acceptance: 5000,
		Teams: []*pb.EventTeam{{Name: "red", Tickets: 1}, {Name: "blue", Tickets: 2}}}
	get := func() (m found) {
		t.Helper()
		w.read(t, "/matches/"+id, http.StatusOK, &m)
		return m
	}
	w.publish(t, "demo", &pb.Event{Kind: pb.Event_KIND_CREATED, Time: now.UnixMilli(), Tickets: []string{ada}}, first)
	m := get()
	if m.ID != id || m.State != "asking" || m.Config != "ranked" || m.Revision != 7 || m.Function != "duel" ||
		m.Upload != 3 || *m.Score != 0.5 || m.Players != 4 || m.Ended != "" || m.Server != nil || len(m.Teams) != 2 ||
		m.Created != now.UTC().Format("2006-01-02T15:04:05.000Z") {
		t.Errorf("%+v", m)
	}
	red, blue := m.Teams[0], m.Teams[1]
	if red.Name != "red" || len(red.Tickets) != 1 || red.Tickets[0].ID != ada || *red.Tickets[0].Waited != 3 ||
		strings.Join(red.Tickets[0].Players, " ") != "ada" {
		t.Errorf("%+v", red)
	}
	if blue.Name != "blue" || len(blue.Tickets) != 2 || strings.Join(blue.Tickets[0].Players, " ") != "bob bea" ||
		blue.Tickets[1].ID != cyd || blue.Tickets[1].Players != nil {
		t.Errorf("%+v", blue)
	}
	happens := func(kind pb.Event_Kind, reason string) {
		w.publish(t, "demo", &pb.Event{Kind: kind, Time: now.UnixMilli() + 1500, Match: id, Config: "ranked", Revision: 7,
			Tickets: []string{ada, bob}, Reason: reason})
	}
	happens(pb.Event_KIND_ACCEPTED, "")
	happens(pb.Event_KIND_ACCEPTED, "")
	happens(pb.Event_KIND_ALLOCATING, "")
	if m := get(); m.State != "allocating" || m.Accepted != 2 || m.Ended != "" {
		t.Errorf("%+v", m)
	}
	happens(pb.Event_KIND_ASSIGNED, "")
	happens(pb.Event_KIND_RELEASED, "deadline") // asks no player: the match is over
	m = get()
	ended := now.Add(1500 * time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z")
	if m.State != "assigned" || m.Reason != "" || m.Ended != ended {
		t.Errorf("%+v", m)
	}
	text := w.text(t, "/matches/"+id)
	if strings.Contains(text, "hidden") || strings.Contains(text, "secret") {
		t.Errorf("a match shows properties: %s", text)
	}
}

// A match shows what its tickets are, their properties to roles that may see them, and the odds by their ratings.
func TestMatchShowsItsTicketsAndOdds(t *testing.T) {
	w := start(t, nil)
	rule := &pb.RatingRule{Name: "elo", Model: "plackettLuce", Mean: 25, Deviation: 8, Beta: 4, Tau: 0.1}
	now := w.store.Now()
	names := []string{"elo", "elo.sigma"}
	ada, bob, cyd := state.NewID(now), state.NewID(now.Add(time.Millisecond)), state.NewID(now)
	for id, one := range map[string]*pb.Ticket{
		cyd: {Owner: "cyd", AttributeNames: names, AttributeValues: []float64{20, 2},
			Properties: map[string][]byte{"save": make([]byte, 400<<10)}},
		ada: {Owner: "ada", AttributeNames: names, AttributeValues: []float64{30, 2},
			Properties: map[string][]byte{"roles": []byte("tank")}},
		bob: {Owner: "bob", Players: []*pb.Player{{Id: "bob", AttributeNames: names, AttributeValues: []float64{20, 2},
			Properties: map[string][]byte{"roles": []byte("healer")}}}},
	} {
		one.Id, one.Created = id, now.UnixMilli()
		must(t, w.store.Creator(nil).Create(t.Context(), "demo", one))
	}
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Ratings: []*pb.RatingRule{rule}}, 0))
	type match struct {
		Teams []struct {
			Odds    map[string]float64
			Tickets []struct{ Arrival *client.Arrival }
		}
	}
	teams, place := []*pb.EventTeam{{Name: "red", Tickets: 1}, {Name: "blue", Tickets: 1}}, ""
	get := func(tickets ...string) (m match) {
		t.Helper()
		id := state.NewID(now)
		w.publish(t, "demo", &pb.Event{Kind: pb.Event_KIND_CLAIMED, Time: now.UnixMilli(), Match: id, Tickets: tickets,
			Teams: teams, Place: place})
		w.read(t, "/matches/"+id, http.StatusOK, &m)
		return m
	}
	m := get(ada, bob)
	red, blue := m.Teams[0], m.Teams[1]
	if sum := red.Odds["elo"] + blue.Odds["elo"]; red.Odds["elo"] < 0.8 || math.Abs(sum-1) > 1e-9 {
		t.Errorf("the odds are %v and %v", red.Odds, blue.Odds)
	}
	of, players := red.Tickets[0].Arrival, blue.Tickets[0].Arrival.Players
	if of.Attributes["elo"] != 30 || of.Players[0].ID != "ada" || players[0].Attributes["elo"] != 20 ||
		of.Properties != nil || players[0].Properties != nil {
		t.Errorf("support sees %+v and %+v", of, players)
	}
	w.token = w.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "o", Project: "demo", Role: "Owner"})
	m = get(ada, bob)
	if string(m.Teams[0].Tickets[0].Arrival.Properties["roles"]) != "tank" ||
		string(m.Teams[1].Tickets[0].Arrival.Players[0].Properties["roles"]) != "healer" {
		t.Errorf("an owner sees %+v", m)
	}
	if m = get(ada, cyd); m.Teams[0].Odds["elo"] != red.Odds["elo"] || m.Teams[1].Tickets[0].Arrival != nil {
		t.Errorf("beyond what is told, an owner sees the odds %v, support %v", m.Teams[0].Odds, red.Odds)
	}
	if m = get(ada, state.NewID(now)); m.Teams[0].Odds != nil || m.Teams[1].Tickets[0].Arrival != nil {
		t.Errorf("with a ticket that is gone: %+v", m)
	}
	place = state.PlaceGame + "game"
	if m = get(ada, bob); m.Teams[0].Odds != nil || m.Teams[1].Tickets[0].Arrival == nil {
		t.Errorf("of a running game: %+v", m)
	}
	place, rule.Model, rule.Beta, rule.Tau, rule.Volatility = "", "glicko2", 0, 0.5, 0.06
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Ratings: []*pb.RatingRule{rule}},
		state.AnyRevision))
	if m = get(ada, bob); m.Teams[0].Odds["elo"] <= 0.5 {
		t.Errorf("by Glicko-2: %+v", m)
	}
	teams[1].Tickets = 0
	if m = get(ada); m.Teams[0].Odds != nil || len(m.Teams) != 2 {
		t.Errorf("against a team without tickets: %+v", m)
	}
}

func TestMatchThatFailedSaysWhy(t *testing.T) {
	w := start(t, nil)
	now := w.store.Now()
	id := state.NewID(now)
	w.publish(t, "demo", &pb.Event{Kind: pb.Event_KIND_FAILED, Time: now.UnixMilli(), Match: id, Tickets: []string{"a"},
		Error: "PoolTimeout", Reason: "function", Detail: "why"})
	var m found
	w.read(t, "/matches/"+id, http.StatusOK, &m)
	if m.State != "failed" || m.Error != "PoolTimeout" || m.Reason != "function" || m.Detail != "why" || m.Players != 1 ||
		len(m.Teams) != 1 || m.Teams[0].Tickets[0].Waited != nil {
		t.Errorf("%+v", m)
	}
}

func TestMatchesThatAreNotFound(t *testing.T) {
	w := start(t, nil)
	now := time.Now()
	id := state.NewID(now)
	w.publish(t, "other", &pb.Event{Kind: pb.Event_KIND_CLAIMED, Time: now.UnixMilli(), Match: id, Tickets: []string{"a"}})
	w.publish(t, "demo", &pb.Event{Kind: pb.Event_KIND_CLAIMED, Time: now.UnixMilli(), Match: state.NewID(now)})
	for _, unknown := range []string{id, "x", "%7B%00", "00000000-0000-4000-8000-000000000000",
		"ffffffff-ffff-7fff-8fff-ffffffffffff"} { // of a time that no NATS takes
		var problem struct{ Detail string }
		w.read(t, "/matches/"+unknown, http.StatusNotFound, &problem)
		if !strings.Contains(problem.Detail, "was not found") {
			t.Errorf("%s: %q", unknown, problem.Detail)
		}
	}
}
