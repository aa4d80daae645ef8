package state_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
)

// gone is the player that is erased.
const gone = "ada/0f3c é"

// privacy is a project in which a player uses everything.
type privacy struct {
	t        *testing.T
	store    *state.Store
	settings *pb.ProjectSettings
	revision int64
	terms    state.ClaimOptions
	tokens   *issuer.Issuer
	base     string
}

func newPrivacy(t *testing.T, s *state.Store) *privacy {
	t.Helper()
	w := &privacy{t: t, store: s, settings: &pb.ProjectSettings{
		Tickets:    &pb.TicketRules{Listed: true, EndsTold: true},
		Acceptance: &pb.AcceptanceRules{FirstPause: 30_000, LongestPause: 120_000},
		Webhooks:   []*pb.Webhook{{Name: "backend"}},
	}}
	must(t, s.PutSettings(t.Context(), project, w.settings, state.AnyRevision))
	w.revision, w.terms = setUp(t, s)
	w.terms.Approval = 20 * time.Second
	w.serve()
	return w
}

// serve runs the party service.
func (w *privacy) serve() {
	log := slog.New(slog.DiscardHandler)
	var err error
	w.tokens, err = issuer.Open(w.t.TempDir(), time.Now)
	must(w.t, err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{w.tokens.Trust()}, Log: log})
	must(w.t, err)
	o := party.Options{
		Store: w.store, Bus: embeddedtest.Bus(w.t, bus.Options{}), Verifier: verifier, Log: log, Now: time.Now,
		Readable: time.Minute, Settings: settings.Default[party.Settings](),
		Fields: fields.Limits{Attributes: 64, Properties: 64, Players: 64, Name: 128},
	}
	e := web.New(log, web.Options{})
	part := party.New(o)
	part.Routes(e)
	ctx, stop := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- part.Run(ctx) }()
	w.t.Cleanup(func() {
		stop()
		must(w.t, <-ended)
	})
	server := httptest.NewServer(e)
	w.t.Cleanup(server.Close)
	w.base = server.URL + "/" + project + "/matchmaking/api/v1"
}

// send sends a request, and reads the answer into an object.
func (w *privacy) send(c issuer.Claims, method, path, body string, into any) int {
	w.t.Helper()
	c.Project = project
	token, err := w.tokens.Mint(c)
	must(w.t, err)
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, strings.NewReader(body))
	must(w.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer func() { must(w.t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	must(w.t, err)
	if into != nil && len(text) > 0 {
		must(w.t, json.Unmarshal(text, into))
	}
	return res.StatusCode
}

// shownParty is a party in an answer.
type shownParty struct{ ID, Code, Detail string }

func (w *privacy) as(player, method, path, body string) (p shownParty) {
	w.t.Helper()
	status := w.send(issuer.Claims{Kind: auth.Player, Subject: player}, method, "/parties"+path, body, &p)
	if status/100 != 2 {
		w.t.Fatalf("%s: %s %s: %d %s", player, method, path, status, p.Detail)
	}
	return p
}

func studio() issuer.Claims {
	return issuer.Claims{Kind: auth.Developer, Subject: "studio", Role: "Owner"}
}

func playerPath(player string) string { return "/players/" + url.PathEscape(player) }

// make creates a ticket by the settings of the project.
func (w *privacy) make(one *pb.Ticket) {
	w.t.Helper()
	_, err := w.store.Creator(nil).CreateAs(w.t.Context(), project, state.Creation{Ticket: one,
		Settings: w.settings, Readable: time.Minute, Key: "key of " + one.GetId(), Request: []byte("request")})
	must(w.t, err)
}

// claim makes matches, none of which may be refused.
func (w *privacy) claim(claims ...*state.Claim) {
	w.t.Helper()
	mustClaim(w.t, w.store, w.terms, claims...)
	for _, c := range claims {
		if c.Refusal != "" {
			w.t.Fatalf("%s is refused: %s", c.Match.GetId(), c.Refusal)
		}
	}
}

// servedIn lets hosting give a server of a region that a function names.
func (w *privacy) servedIn(region, ticket string) {
	w.t.Helper()
	c := claim(w.revision, "m-served", ticket)
	c.Match.Proposal.Hosting = &pb.HostingOverride{Region: region}
	w.claim(c)
	ended, err := w.store.EndMatch(w.t.Context(), project, state.Ending{Match: c.Match, Tickets: c.Tickets,
		Results: []*pb.Assignment{{Connection: "c:1"}}, Outcome: state.Outcome{Connection: "c:1", Readable: time.Minute}})
	if err != nil || ended.Status != state.MatchActive {
		w.t.Fatal(ended.Status, err)
	}
}

// awaiting is a claim whose match has a connection, and is to have a result.
func (w *privacy) awaiting(match string, tickets ...string) *state.Claim {
	c := direct(w.revision, match, "c:1", tickets...)
	c.Match.Proposal.Connection = "c:1"
	c.Match.Proposal.Teams = []*pb.Team{{Tickets: tickets}}
	c.Match.Awaited = &pb.Awaited{Time: time.Hour.Milliseconds(), Match: match}
	return c
}

// report reports the result of a match, which gives the player a rating.
func (w *privacy) report(match string) {
	w.t.Helper()
	m, err := w.store.Played(w.t.Context(), project, match)
	must(w.t, err)
	result := &pb.MatchResult{Teams: []*pb.ResultTeam{{Rank: 1, Players: []*pb.ResultPlayer{{Id: gone}, {Id: "bob"}}}},
		Changes: []*pb.RatingChange{{Player: gone, Rating: "skill"}}}
	basis := &state.ResultBasis{Played: m, Settings: &pb.ProjectSettings{Ratings: []*pb.RatingRule{{Name: "skill"}}}}
	done, err := w.store.PutResult(w.t.Context(), project, basis, result, nil, []state.Rated{
		{gone, "", "skill - 26 7 0 1 5\n!games 1"}, {"bob", "", "!games 1\n!recent\tcy\t" + gone}})
	if err != nil || !done {
		w.t.Fatal(done, err)
	}
}

// plant lets the player be in everything that stores names. Only her tickets "mine…" and "played" are hers alone.
func (w *privacy) plant() {
	t, s := w.t, w.store
	t.Helper()
	_, err := s.NoteWebhooks(t.Context(), project, "replica", time.Minute, state.WebhookNote{Name: "backend",
		Letters: []state.DeadLetter{{ID: "1", Text: `{"player":"` + gone + `"}`}}})
	must(t, err)
	large := forPlayers("mine-large", gone)
	large.Properties = map[string][]byte{"loadout": []byte(strings.Repeat("x", 2000))}
	lobby := forPlayers("mine-lobby", "lobby", gone)
	lobby.Players = lobby.Players[1:]
	for _, one := range []*pb.Ticket{
		forPlayers("mine", gone), large, forPlayers("mine-claimed", gone), lobby,
		forPlayers("shared", gone, "bob"), forPlayers("mine-played", gone), forPlayers("played", "bob", gone),
		forPlayers("played-as-owner", gone, "bob"), forPlayers("told", gone, "bob"), forPlayers("mine-asked", gone),
		forPlayers("mine-paused", gone), forPlayers("joined", gone), forPlayers("mine-proposed", gone),
	} {
		w.make(one)
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		w.make(forPlayers("other-"+name, "other "+name))
	}
	must(t, s.Hear(t.Context(), project, []string{"mine", "shared"}))
	w.claim(claim(w.revision, "m-claimed", "mine-claimed", "other-a"))
	w.claim(direct(w.revision, "m-played", "c:1", "mine-played", "other-b"),
		w.awaiting("m-shared", "played", "other-c"), w.awaiting("m-owner", "played-as-owner", "other-d"),
		direct(w.revision, "m-lobby", "c:1", "mine-lobby", "other-e"))
	w.report("m-shared")
	must(t, leave(t, s, "told", gone, true))
	w.servedIn("eu", "other-h")

	// Her parties: one keeps her out, and one that she leads searches.
	first := w.as("zoe", "POST", "", `{}`)
	w.as(gone, "POST", "/members", `{"code":"`+first.Code+`"}`)
	w.as("zoe", "DELETE", "/"+first.ID+"/members/"+url.PathEscape(gone), "")
	hers := w.as(gone, "POST", "", `{"attributes":{"skill":3}}`)
	w.as("bob", "POST", "/members", `{"code":"`+hers.Code+`"}`)
	for _, player := range []string{gone, "bob"} {
		w.as(player, "PUT", "/"+hers.ID+"/members/"+url.PathEscape(player), `{"ready":true}`)
	}
	w.as(gone, "PUT", "/"+hers.ID+"/search", `{}`)

	// Running games: one names her, she joined another, and is proposed to the third.
	named := game("g-named", 1)
	named.Roster = &pb.Roster{Players: []*pb.RosterPlayer{{Id: gone, Team: "red"}, {Id: "kim"}}}
	createGame(t, s, named)
	for id, ticket := range map[string]string{"g-joined": "joined", "g-proposed": "mine-proposed"} {
		g := game(id, 2)
		g.Roster = rosterOf("kim")
		createGame(t, s, g)
		generation, err := s.Generation(t.Context(), project, id)
		must(t, err)
		w.claim(fill(w.revision, &pb.Backfill{Id: id, Generation: generation}, game(id, 1), ticket))
	}
	approve(t, s, "g-joined", 1)

	// She accepted a match, and declined another, so she pauses.
	w.claim(offer(w.revision, "m-asked", "mine-asked", "other-f"), offer(w.revision, "m-paused", "mine-paused", "other-g"))
	_, err = s.AnswerMatch(t.Context(), project, state.Answer{Ticket: "mine-asked", Match: "m-asked", Accept: true})
	must(t, err)
	_, _, err = s.Leave(t.Context(), project, state.Leaving{Ticket: "mine-paused", Player: gone, By: gone,
		Decline: []string{gone}})
	must(t, err)
}
