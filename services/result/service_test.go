package result_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/result"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is the service, with matches of the project "demo".
type world struct {
	testing.TB

	store   *state.Store
	handler http.Handler
	tokens  *issuer.Issuer
	url     string
	n       int
	names   []string // of the teams
}

// game is where the web pages of the game are.
const game = "https://game.example"

func start(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, names: []string{"red", "blue", "gold"}, store: embeddedtest.Store(t, state.Options{History: 1000})}
	log := slog.New(slog.DiscardHandler)
	var err error
	w.tokens, err = issuer.Open(t.TempDir(), time.Now)
	must(t, err)
	trust := w.tokens.Trust()
	trust.Claims.Match = "match"
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{trust}, Log: log})
	must(t, err)
	e := web.New(log, web.Options{})
	result.New(result.Options{Store: w.store, Verifier: verifier, Now: time.Now, Origins: game}).Routes(e)
	w.handler = openapitest.Handler(t, e)
	if _, is := t.(*testing.B); is {
		w.handler = e
	}
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	w.url = server.URL
	_, _, err = w.store.PutConfig(t.Context(), "demo", &pb.Config{Id: "c", Function: "duel"}, state.AnyRevision)
	must(t, err)
	return w
}

// play begins a match of teams of players, and returns its id.
func (w *world) play(teams ...string) string {
	w.Helper()
	configs, err := w.store.Configs(w.Context(), "demo")
	must(w, err)
	settings, err := w.store.Settings(w.Context(), "demo")
	must(w, err)
	epoch, err := w.store.AcquireLease(w.Context(), "demo", "director", time.Minute)
	must(w, err)
	id, party := state.NewID(w.store.Now()), int32(0)
	for _, players := range teams {
		party = max(party, int32(len(strings.Fields(players))))
	}
	c := &state.Claim{Match: &pb.Match{Id: id, Config: "c", Revision: configs["c"].GetRevision(), Proposal: &pb.Proposal{},
		Awaited: &pb.Awaited{Time: time.Hour.Milliseconds(), Match: id, Config: "c", Queue: "ranked", Region: "eu",
			Revision: 7, Function: "duel", Upload: 2, Canary: 3, Party: party}}}
	for i, names := range teams {
		players := strings.Fields(names)
		if len(players) == 0 {
			c.Match.Proposal.Teams = append(c.Match.Proposal.Teams, &pb.Team{Name: w.names[i]})
			continue
		}
		w.n++
		ticket := &pb.Ticket{Id: fmt.Sprint("t", w.n), Owner: players[0]}
		for _, name := range players {
			ticket.Players = append(ticket.Players, &pb.Player{Id: name})
		}
		_, err := w.store.Creator(nil).CreateAs(w.Context(), "demo", state.Creation{Ticket: ticket, Settings: settings,
			Readable: time.Minute})
		must(w, err)
		c.Tickets = append(c.Tickets, ticket.GetId())
		c.Assignments = append(c.Assignments, &pb.Assignment{Connection: "host:1"})
		c.Match.Proposal.Connection = "host:1"
		c.Match.Proposal.Teams = append(c.Match.Proposal.Teams,
			&pb.Team{Name: w.names[i], Tickets: []string{ticket.GetId()}})
	}
	terms := state.ClaimOptions{Epoch: epoch, Claim: time.Minute, Readable: time.Minute}
	_, err = w.store.Claim(w.Context(), "demo", terms,
		[]*state.Claim{c})
	must(w, err)
	if c.Refusal != "" {
		w.Fatal(c.Refusal)
	}
	return id
}

func (w *world) token(kind auth.Kind, project, match string) string {
	w.Helper()
	claims := issuer.Claims{Kind: kind, Subject: "ada", Project: project}
	if kind == auth.Service {
		claims.Scope = auth.ScopeAct
	}
	if kind == auth.Developer {
		claims.Role = "Support"
	}
	if match != "" {
		claims.Further = map[string]any{"match": match}
	}
	token, err := w.tokens.Mint(claims)
	must(w, err)
	return token
}

// send sends a request, and returns its status and body.
func (w *world) send(method, token, path, body string) (int, string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.url+"/demo/matchmaking/api/v1"+path,
		strings.NewReader(body))
	must(w, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(w, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	must(w, err)
	return res.StatusCode, string(text)
}

// sent is send of what must succeed.
func (w *world) sent(method, token, path, body string, into any) {
	w.Helper()
	status, text := w.send(method, token, path, body)
	if status != http.StatusOK {
		w.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	must(w, json.Unmarshal([]byte(text), into))
}

// The server knows the name that the function gave, and the lineup has a shorter one.
func TestTeamNamesThatTheMatchShortens(t *testing.T) {
	w := start(t)
	w.names = []string{strings.Repeat("r", 80), "b\u00a0b"}
	short := []string{strings.Repeat("r", 64), "b\u00a0b"}
	path := "/matches/" + w.play("ada", "cy") + "/result"
	server := w.token(auth.Service, "demo", "")
	for _, names := range [][]string{w.names, short} {
		var got response.MatchResult
		w.sent(http.MethodPost, server, path,
			fmt.Sprintf(`{"teams":[{"name":%q,"rank":1},{"name":%q,"rank":2}]}`, names[0], names[1]), &got)
		if got.Teams[0].Name != short[0] || got.Teams[1].Name != short[1] || got.Corrections != 0 {
			t.Errorf("%q: %+v", names, got)
		}
	}
}

// Callers other than the match's server and game services are refused, as is what is no result of the match. What is
// refused changes nothing.
func TestRefusals(t *testing.T) {
	w := start(t)
	id, other := w.play("ada bea", "cy"), w.play("di", "eve")
	w.names = []string{""} // then the names are the server's
	alone := w.play("gil hal")
	server := w.token(auth.Server, "demo", id)
	fine := `{"teams":[{"name":"red","rank":1},{"name":"blue","rank":2}]}`
	teams := func(red string) string { return `{"teams":[` + red + `,{"name":"blue","rank":2}]}` }
	many := make([]string, 1001)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":"p%d"}`, i)
	}
	crowd := `{"teams":[{"rank":1,"players":[` + strings.Join(many, ",") + `]}]}`
	for _, c := range []struct {
		name, token, match, body string
		status                   int
		code, says               string
	}{
		{"forged", server[:len(server)-9] + "AAAAAAAAA", id, fine, 401, "unauthenticated", "signature"},
		{"of a player", w.token(auth.Player, "demo", ""), id, fine, 403, "forbidden", "player tokens"},
		{"of another match", w.token(auth.Server, "demo", other), id, fine, 403, "forbidden", "another match"},
		{"of another project", w.token(auth.Server, "other", id), id, fine, 403, "wrongProject", "project"},
		{"of no match", w.token(auth.Service, "demo", ""), "x", fine, 404, "matchUnknown", "identifier"},
		{"not begun", w.token(auth.Service, "demo", ""), state.NewID(time.Now()), fine, 404, "matchUnknown", "awaited"},
		{"too long", server, id, `{"teams":"` + strings.Repeat("x", 64<<10) + `"}`, 413, "tooLarge", ""},
		{"a crowd", server, id, crowd, 400, "invalid", "teams: they have more than 1000 players"},
		{"no teams", server, id, `{}`, 400, "invalid", "teams: 0 of them"},
		{"one team", server, id, `{"teams":[{"rank":1}]}`, 400, "invalid", "teams: 1 of them, but the match has 2"},
		{"other team", server, id, teams(`{"name":"green","rank":1}`), 400, "invalid", "teams.0.name: the match has no team"},
		{"not printable", w.token(auth.Service, "demo", ""), alone, `{"teams":[{"name":"b\u00a0b","rank":1}]}`, 400, "invalid",
			"teams.0.name: 1 to 64 bytes of printable UTF-8"},
		{"long", w.token(auth.Service, "demo", ""), alone,
			`{"teams":[{"name":"` + strings.Repeat("r", 65) + `","rank":1}]}`, 400, "invalid", "teams.0.name: 1 to 64 bytes"},
		{"twice", server, id, teams(`{"name":"blue","rank":1}`), 400, "invalid", "teams.1.name: two teams"},
		{"no rank", server, id, teams(`{"name":"red"}`), 400, "invalid", "teams.0: it has neither rank nor score"},
		{"some ranks", server, id, teams(`{"name":"red","score":1}`), 400, "invalid", "teams.1.rank: all teams have a rank"},
		{"rank", server, id, teams(`{"name":"red","rank":1001}`), 400, "invalid", "teams.0.rank: 1 to 1000"},
		{"NaN", server, id, teams(`{"name":"red","rank":1,"score":NaN}`), 400, "invalid", ""},
		{"score", server, id, `{"teams":[{"score":1e10},{"score":1}]}`, 400, "invalid", "teams.0.score"},
		{"infinite", server, id, `{"teams":[{"score":1e999},{"score":1}]}`, 400, "invalid", "score"},
		{"some players", server, id, teams(`{"name":"red","rank":1,"players":[{"id":"ada"}]}`), 400, "invalid",
			"teams.1.players: all teams name"},
		{"unknown", server, id, `{"teams":[{"rank":1,"players":[{"id":"di"}]},{"rank":2,"players":[{"id":"cy"}]}]}`, 400,
			"invalid", "teams.0.players.0.id: this player is not in the match"},
		{"player twice", server, id, `{"teams":[{"rank":1,"players":[{"id":"cy"}]},{"rank":2,"players":[{"id":"cy"}]}]}`, 400,
			"invalid", "teams.1.players.0.id: this player is in the result twice"},
		{"left", server, id, `{"teams":[{"rank":1,"players":[{"id":"cy","left":-1}]}]}`, 400, "invalid",
			"teams.0.players.0.left"},
		{"numbers", server, id, teams(`{"name":"red","rank":1,"numbers":{"":1}}`), 400, "invalid", "teams.0.numbers"},
	} {
		status, text := w.send(http.MethodPost, c.token, "/matches/"+c.match+"/result", c.body)
		var got struct{ Code, Detail string }
		must(t, json.Unmarshal([]byte(text), &got))
		if status != c.status || got.Code != c.code || !strings.Contains(got.Detail, c.says) {
			t.Errorf("%s: %d %s", c.name, status, text)
		}
	}
	m, err := w.store.Played(t.Context(), "demo", id)
	must(t, err)
	if m.Result != nil {
		t.Errorf("what was refused counts: %v", m.Result)
	}
}

// A server reports the teams that it was told, also one that all players left before the game began.
func TestATeamThatNoPlayerIsIn(t *testing.T) {
	w := start(t)
	for _, players := range []string{"", `,"players":[{"id":"ada"}]`} {
		id := w.play("ada", "")
		var r response.MatchResult
		w.sent(http.MethodPost, w.token(auth.Server, "demo", id), "/matches/"+id+"/result",
			`{"teams":[{"name":"red","rank":1`+players+`},{"name":"blue","rank":2}]}`, &r)
		if len(r.Teams) != 2 || len(r.Teams[0].Players) != 1 || len(r.Teams[1].Players) != 0 || r.Teams[1].Name != "blue" {
			t.Errorf("the result is %+v", r)
		}
	}
}

// skill is a rating of the queue "ranked" with the defaults of its model.
func skill() *pb.RatingRule {
	return &pb.RatingRule{Name: "skill", Model: rating.PlackettLuce, Mean: 25, Deviation: 25. / 3, Beta: 25. / 6,
		Tau: 25. / 300, Queues: []string{"ranked"}}
}

// A team that nobody played in is not rated; the others are, if there are two.
func TestTeamsWithPlayersAreRated(t *testing.T) {
	w := start(t)
	rule := skill()
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Ratings: []*pb.RatingRule{rule}},
		state.AnyRevision))
	for _, test := range []struct {
		blue  string
		rated int
	}{{"cy", 3}, {"", 0}} {
		id := w.play("ada bea", "", test.blue)
		var r response.MatchResult
		w.sent(http.MethodPost, w.token(auth.Server, "demo", id), "/matches/"+id+"/result",
			`{"teams":[{"name":"red","rank":3},{"name":"blue","rank":1},{"name":"gold","rank":2}]}`, &r)
		if len(r.Teams) != 3 || len(r.Ratings) != test.rated {
			t.Fatalf("the result is %+v", r)
		}
		for _, of := range r.Ratings {
			if won := of.Mean > rule.GetMean(); won != (of.Player == "cy") {
				t.Errorf("%+v", of)
			}
		}
	}
}

// A result gives ratings once, however often it is sent. A correction counts the match anew. An erased player
// stays erased.
// Promise 12.
func TestResultGivesRatings(t *testing.T) {
	w := start(t)
	rule := skill()
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Ratings: []*pb.RatingRule{rule}},
		state.AnyRevision))
	id := w.play("ada bea", "cy di")
	var running response.RunningMatch
	w.sent(http.MethodGet, w.token(auth.Player, "demo", ""), "/players/ada/match", "", &running)
	if running.Match != id || running.Connection != "host:1" || running.Team != "red" {
		t.Errorf("a player plays %+v", running)
	}
	server, path := w.token(auth.Server, "demo", id), "/matches/"+id+"/result"
	report := func(red, blue int) (r response.MatchResult) {
		w.Helper()
		w.sent(http.MethodPost, server, path, fmt.Sprintf(`{"teams":[{"name":"red","rank":%d},{"name":"blue","rank":%d}]}`,
			red, blue), &r)
		return r
	}
	ratings := func(player string) []response.PlayerRating {
		w.Helper()
		var r response.PlayerRatings
		w.sent(http.MethodGet, w.token(auth.Service, "demo", ""), "/players/"+player+"/ratings", "", &r)
		return r.Ratings
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { report(1, 2) })
	}
	all.Wait()
	model, err := rating.New(state.RatingModel(rule))
	must(t, err)
	begin := rating.Rating{Mean: rule.GetMean(), Deviation: rule.GetDeviation()}
	two := []rating.Rating{begin, begin}
	want := model.Rate([]rating.Team{{Players: two, Rank: 1}, {Players: two, Rank: 2}})
	check := func(player string, mean float64, matches int) {
		t.Helper()
		if got := ratings(player); len(got) != 1 || got[0].Mean != mean || got[0].Matches != matches {
			t.Errorf("%s has %+v, want %v of %d", player, got, mean, matches)
		}
	}
	check("ada", want[0][0].Mean, 1)
	check("cy", want[1][0].Mean, 1)
	if status, text := w.send(http.MethodGet, w.token(auth.Player, "demo", ""), "/players/ada/match", ""); status != 404 {
		t.Errorf("after the result: %d %s", status, text)
	}
	if r := report(2, 1); r.Corrections != 1 || len(r.Ratings) != 4 {
		t.Errorf("a correction: %+v", r)
	}
	check("ada", want[1][0].Mean, 1)
	check("cy", want[0][0].Mean, 1)

	if done, err := w.store.ForgetPlayed(t.Context(), "demo", id, "ada"); err != nil || !done {
		t.Fatal(done, err)
	}
	if _, err := w.store.ForgetRatings(t.Context(), "demo", "ada"); err != nil {
		t.Fatal(err)
	}
	var last response.MatchResult
	w.sent(http.MethodPost, server, path, `{"teams":[{"name":"red","rank":1,"players":[{"id":"ada"},{"id":"bea"}]},
		{"name":"blue","rank":2,"players":[{"id":"cy"},{"id":"di"}]}]}`, &last)
	if last.Teams[0].Players[0].ID != "" || len(ratings("ada")) != 0 {
		t.Errorf("an erased player is back: %+v, %v", last, ratings("ada"))
	}
	check("bea", want[0][0].Mean, 1)
}

// outcomes are those that events tell, with nil for events of results that tell none.
func (w *world) outcomes() (all []*pb.MatchOutcome) {
	w.Helper()
	entries, err := w.store.History(w.Context(), "demo", nil, 1000)
	must(w, err)
	for _, entry := range entries {
		for _, e := range entry.Events {
			if e.GetKind() == pb.Event_KIND_RESULT {
				all = append(all, e.GetOutcome())
			}
		}
	}
	return all
}

// The first result of a match tells how its outcome compares with the odds from before it: if each player had a rating
// that was not provisional. A correction tells nothing.
func TestOutcomesHaveOddsFromBefore(t *testing.T) {
	w := start(t)
	rule := skill()
	set := func() {
		t.Helper()
		must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Ratings: []*pb.RatingRule{rule}},
			state.AnyRevision))
	}
	set()
	report := func(id string, teams string) {
		t.Helper()
		w.sent(http.MethodPost, w.token(auth.Service, "demo", ""), "/matches/"+id+"/result", `{"teams":[`+teams+`]}`,
			&response.MatchResult{})
	}
	red, blue := `{"name":"red","rank":1},{"name":"blue","rank":2}`, `{"name":"red","rank":2},{"name":"blue","rank":1}`
	report(w.play("ada bea", "cy di"), red) // none has a rating
	odds := func() []float64 {
		t.Helper()
		model, err := rating.New(state.RatingModel(rule))
		must(t, err)
		teams := make([]rating.Team, 2)
		for i, players := range [][]string{{"ada", "bea"}, {"cy", "di"}} {
			for _, player := range players {
				r, err := w.store.RatingsOf(t.Context(), "demo", player)
				must(t, err)
				teams[i].Players = append(teams[i].Players, r[0].Rating)
			}
		}
		return model.Odds(teams)
	}
	before := odds()
	id := w.play("ada bea", "cy di")
	report(id, blue) // against the odds
	report(id, red)
	report(w.play("ada", "eve"), red) // eve has none
	rule.Provisional = 1
	set()
	report(w.play("ada", "cy"), `{"name":"red","rank":1,"players":[{"id":"ada"}]},
		{"name":"blue","rank":2,"players":[{"id":"cy","left":3}]}`)

	got := w.outcomes()
	if len(got) != 5 || len(got[0].GetOdds())+len(got[3].GetOdds())+len(got[4].GetOdds()) > 0 || got[2] != nil ||
		got[4].GetLeft() != 1 || got[4].GetParty() != 1 {
		t.Fatalf("the events tell %v", got)
	}
	want := &pb.MatchOutcome{Revision: 7, Function: "duel", Upload: 2, Canary: 3, Region: "eu", Party: 2, Players: 4,
		Odds: []*pb.RatingOdds{{Rating: "skill", Loss: -math.Log(before[1]), Squares: before[0] * before[0],
			Buckets: []int32{int32((before[0] - 0.5) * 20)}, Pairs: []int64{1}, Odds: before[:1], Won: []float64{0}}}}
	if diff := cmp.Diff(want, got[1], protocmp.Transform(), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	if before[0] < 0.6 {
		t.Error("the first match changed little:", before)
	}
}

// Ratings are shown as a value, a tier and a rank; a leaderboard by pages; what a match did, with its correction.
func TestRatingsAreShown(t *testing.T) {
	w := start(t)
	rule := &pb.RatingRule{Name: "skill", Model: rating.PlackettLuce, Mean: 25, Deviation: 8, Beta: 4, Tau: 0.1,
		Season: "s1", Keep: 1, Provisional: 7.95, Below: new(1.0),
		Tiers: []*pb.RatingTier{{Name: "silver", From: 10}, {Name: "gold", From: 18}}}
	set := func() {
		t.Helper()
		must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Ratings: []*pb.RatingRule{rule}},
			state.AnyRevision))
	}
	set()
	report := func(id, first string) {
		t.Helper()
		second := map[string]string{"red": "blue", "blue": "red"}[first]
		w.sent(http.MethodPost, w.token(auth.Service, "demo", ""), "/matches/"+id+"/result",
			`{"teams":[{"name":"`+first+`","rank":1},{"name":"`+second+`","rank":2}]}`, &response.MatchResult{})
	}
	first, second := w.play("ada", "bob"), w.play("cy", "di")
	report(first, "red")
	report(second, "red")
	report(w.play("ada", "cy"), "red")
	report(second, "blue")
	developer, ada := w.token(auth.Developer, "demo", ""), w.token(auth.Player, "demo", "")
	board := func(token, query string) (b response.Leaderboard) {
		t.Helper()
		w.sent(http.MethodGet, token, "/ratings/skill/leaderboard"+query, "", &b)
		return b
	}
	all := board(developer, "")
	if len(all.Players) != 4 || all.Total != 4 || all.Season != "s1" || all.Next != 0 || all.Players[0].Player != "ada" ||
		all.Players[0].Tier != "gold" || all.Players[1].Player != "di" {
		t.Fatalf("the leaderboard is %+v", all)
	}
	page := board(developer, "?limit=2")
	next := board(developer, fmt.Sprintf("?limit=2&season=s1&after=%d", page.Next))
	if diff := cmp.Diff(all.Players, append(page.Players, next.Players...)); diff != "" || next.Next != 0 {
		t.Errorf("by pages: %s, %+v", diff, next)
	}
	if b := board(developer, "?season=s0"); len(b.Players) != 0 || b.Total != 0 || b.Season != "s0" {
		t.Errorf("another season: %+v", b)
	}
	var ratings response.PlayerRatings
	w.sent(http.MethodGet, ada, "/players/ada/ratings", "", &ratings)
	if r := ratings.Ratings[0]; r.Rank != 1 || r.Tier != "gold" || math.Abs(*r.Value-(r.Mean-r.Sigma)) > 1e-9 ||
		math.Abs(*r.Value-all.Players[0].Value) > 1e-9 {
		t.Errorf("ada has %+v, value %v, the leaderboard %+v", r, *r.Value, all.Players[0])
	}
	var history response.RatingHistory
	w.sent(http.MethodGet, developer, "/players/di/ratings/history", "", &history)
	if len(history.Changes) != 1 || history.Changes[0].Match != second ||
		history.Changes[0].Before != (response.RatingPoint{Mean: 25, Sigma: 8, Value: 17}) ||
		history.Changes[0].After.Mean <= 25 {
		t.Errorf("the changes of a corrected match: %+v", history)
	}
	w.sent(http.MethodGet, ada, "/players/ada/ratings/history", "", &history)
	if len(history.Changes) != 2 || history.Changes[1].Match != first {
		t.Errorf("ada's changes: %+v", history)
	}
	// A player that did not play, as a correction says, has no change.
	third := w.play("eve fay", "gil")
	for _, teams := range []string{`{"name":"red","rank":1},{"name":"blue","rank":2}`,
		`{"name":"red","rank":1,"players":[{"id":"eve"}]},{"name":"blue","rank":2,"players":[{"id":"gil"}]}`} {
		w.sent(http.MethodPost, w.token(auth.Service, "demo", ""), "/matches/"+third+"/result", `{"teams":[`+teams+`]}`,
			&response.MatchResult{})
		w.sent(http.MethodGet, developer, "/players/fay/ratings/history", "", &history)
		if played := !strings.Contains(teams, "players"); (len(history.Changes) == 1) != played {
			t.Errorf("fay played: %v, her changes: %+v", played, history)
		}
	}

	path := "/ratings/skill/leaderboard"
	for _, c := range []struct {
		name, token, path string
		status            int
		code, says        string
	}{
		{"not public", ada, path, 403, "forbidden", "not public"},
		{"of a server", w.token(auth.Server, "demo", first), path, 403, "forbidden", "server tokens"},
		{"of another project", w.token(auth.Service, "other", ""), path, 403, "wrongProject", "project"},
		{"of nobody", "x", path, 401, "unauthenticated", ""},
		{"unknown", developer, "/ratings/aim/leaderboard", 404, "notFound", "no rating \"aim\""},
		{"limit", developer, path + "?limit=201", 400, "invalid", "limit: a whole number from 1 to 200"},
		{"no limit", developer, path + "?limit=0", 400, "invalid", "limit"},
		{"twice", developer, path + "?limit=1&limit=2", 400, "invalid", "limit: given more than once"},
		{"after", developer, path + "?after=10001", 400, "invalid", "after: a whole number from 0 to 10000"},
		{"before", developer, path + "?after=-1", 400, "invalid", "after"},
		{"season", developer, path + "?season=a:b", 400, "invalid", "season"},
		{"no season", developer, path + "?season=", 400, "invalid", "season"},
		{"history of another", ada, "/players/bob/ratings/history", 403, "forbidden", "itself only"},
		{"history of no player", developer, "/players/%00/ratings/history", 400, "invalid", "player"},
	} {
		status, text := w.send(http.MethodGet, c.token, c.path, "")
		var got struct{ Code, Detail string }
		must(t, json.Unmarshal([]byte(text), &got))
		if status != c.status || got.Code != c.code || !strings.Contains(got.Detail, c.says) {
			t.Errorf("%s: %d %s", c.name, status, text)
		}
	}
	rule.Public = true
	set()
	if b := board(ada, "?limit=1"); len(b.Players) != 1 {
		t.Errorf("a public leaderboard: %+v", b)
	}
	// A correction counts in the season of its match.
	rule.Season = "s2"
	set()
	bob := func() float64 {
		t.Helper()
		players := board(developer, "?season=s1").Players
		return players[slices.IndexFunc(players, func(p response.LeaderboardEntry) bool { return p.Player == "bob" })].Value
	}
	was := bob()
	report(first, "blue")
	if is := bob(); is <= was || len(board(developer, "").Players) > 0 {
		t.Errorf("bob, who won after all, had %v and has %v", was, is)
	}
}

// BenchmarkResults reports results of matches of four players, with a rating, and with a standing besides, each by the
// token of its server, over HTTP: 2,000 a second are wanted. The clients are in this process.
func BenchmarkResults(b *testing.B) {
	b.Run("ratings", func(b *testing.B) { benchmarkResults(b, nil) })
	b.Run("standing", func(b *testing.B) { benchmarkResults(b, &pb.StandingRules{Games: true, Left: true, Recent: 5}) })
}

func benchmarkResults(b *testing.B, standing *pb.StandingRules) {
	w := start(b)
	rule, err := rating.Defaults(rating.PlackettLuce)
	must(b, err)
	must(b, w.store.PutSettings(b.Context(), "demo", &pb.ProjectSettings{Ratings: []*pb.RatingRule{{Name: "skill",
		Model: rule.Model, Mean: rule.Mean, Deviation: rule.Deviation, Beta: rule.Beta, Tau: rule.Tau}},
		Standing: standing}, state.AnyRevision))
	ids, tokens := make([]string, b.N), make([]string, b.N)
	for i := range ids {
		n := 4 * (i % 2500)
		ids[i] = w.play(fmt.Sprintf("p%d p%d", n, n+1), fmt.Sprintf("p%d p%d", n+2, n+3))
		tokens[i] = w.token(auth.Server, "demo", ids[i])
	}
	const clients = 64
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = clients
	next, all := atomic.Int64{}, sync.WaitGroup{}
	before := processorTime(b)
	b.ResetTimer()
	for range clients {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				status, text := w.send(http.MethodPost, tokens[i], "/matches/"+ids[i]+"/result",
					`{"teams":[{"name":"red","rank":1},{"name":"blue","rank":2}]}`)
				if status != http.StatusOK {
					b.Error(status, text)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "results/s")
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "µs-processor/result")
}

// processorTime is what this process has used, without Redis.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Pages of the game read what players read, and nothing else.
func TestPagesReadWhatPlayersRead(t *testing.T) {
	w := start(t)
	base := w.url + "/demo/matchmaking/api/v1"
	for path, allowed := range map[string]bool{
		"/players/ada/match": true, "/players/ada/ratings": true, "/players/ada/ratings/history": true,
		"/ratings/skill/leaderboard": true, "/players/ada/standing": false, "/matches/x/result": false,
	} {
		for _, method := range []string{http.MethodGet, http.MethodOptions} {
			for _, origin := range []string{game, "https://evil.example"} {
				req, err := http.NewRequestWithContext(t.Context(), method, base+path, http.NoBody)
				must(t, err)
				req.Header.Set("Origin", origin)
				res, err := http.DefaultClient.Do(req)
				must(t, err)
				must(t, res.Body.Close())
				want := ""
				if allowed && origin == game {
					want = game
				}
				sends := strings.Contains(res.Header.Get("Access-Control-Allow-Headers"), "Authorization, ")
				if got := res.Header.Get("Access-Control-Allow-Origin"); got != want ||
					sends != (want != "" && method == http.MethodOptions) {
					t.Errorf("%s %s from %s gets %d %v", method, path, origin, res.StatusCode, res.Header)
				}
			}
		}
	}
}
