package result_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/state"
)

// setStanding puts settings with a standing.
func (w *world) setStanding() {
	w.Helper()
	must(w, w.store.PutSettings(w.Context(), "demo", &pb.ProjectSettings{
		Standing: &pb.StandingRules{Games: true, Left: true, Recent: 3, Numbers: []*pb.StandingNumber{
			{Name: "toxicity", Ticket: "greatest"}, {Name: "trust", Start: 1, Ticket: "least"}}},
		Acceptance: &pb.AcceptanceRules{FirstPause: 60_000, LongestPause: 600_000, Leavers: true},
	}, state.AnyRevision))
}

func (w *world) standing(player string) (s response.Standing) {
	w.Helper()
	w.sent(http.MethodGet, w.token(auth.Service, "demo", ""), "/players/"+player+"/standing", "", &s)
	return s
}

// What a game service or a developer may not set is refused, and changes nothing.
func TestStandingRefusals(t *testing.T) {
	w := start(t)
	w.setStanding()
	service, fine := w.token(auth.Service, "demo", ""), `{"numbers":{"trust":0.5}}`
	mint := func(c issuer.Claims) string {
		t.Helper()
		token, err := w.tokens.Mint(c)
		must(t, err)
		return token
	}
	for _, c := range []struct {
		name, token, player, body string
		status                    int
		code, says                string
	}{
		{"forged", service[:len(service)-9] + "AAAAAAAAA", "ada", fine, 401, "unauthenticated", "signature"},
		{"of the player", w.token(auth.Player, "demo", ""), "ada", fine, 403, "forbidden", "player tokens"},
		{"of a server", w.token(auth.Server, "demo", ""), "ada", fine, 403, "forbidden", "server tokens"},
		{"of support", mint(issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "demo", Role: "Support"}), "ada", fine,
			403, "forbidden", "Support"},
		{"that only reads", mint(issuer.Claims{Kind: auth.Service, Subject: "s", Project: "demo", Scope: auth.ScopeRead}),
			"ada", fine, 403, "forbidden", "lacks the scope"},
		{"of another project", w.token(auth.Service, "other", ""), "ada", fine, 403, "wrongProject", "project"},
		{"of nobody", service, "a%0Ab", fine, 400, "invalid", "player: up to 256"},
		{"no numbers", service, "ada", `{}`, 400, "invalid", "numbers: required"},
		{"none", service, "ada", `{"numbers":{}}`, 400, "invalid", "numbers: required"},
		{"counted", service, "ada", `{"numbers":{"games":1}}`, 400, "invalid", "which has: toxicity, trust"},
		{"unknown", service, "ada", `{"numbers":{"trust":0.5,"other":1}}`, 400, "invalid", "numbers: the project's settings"},
		{"large", service, "ada", `{"numbers":{"trust":1e16}}`, 400, "invalid", "numbers.trust: -1e+15 to 1e+15"},
		{"infinite", service, "ada", `{"numbers":{"trust":1e999}}`, 400, "invalid", ""},
		{"a text", service, "ada", `{"numbers":{"trust":"1"}}`, 400, "invalid", "numbers"},
		{"too long", service, "ada", `{"numbers":{"` + strings.Repeat("x", 64<<10) + `":1}}`, 413, "tooLarge", ""},
	} {
		status, text := w.send(http.MethodPut, c.token, "/players/"+c.player+"/standing", c.body)
		var got struct{ Code, Detail string }
		must(t, json.Unmarshal([]byte(text), &got))
		if status != c.status || got.Code != c.code || !strings.Contains(got.Detail, c.says) {
			t.Errorf("%s: %d %s", c.name, status, text)
		}
	}
	if got := w.standing("ada"); len(got.Numbers) > 0 {
		t.Errorf("what was refused was set: %+v", got)
	}
	player := w.token(auth.Player, "demo", "")
	if status, text := w.send(http.MethodGet, player, "/players/ada/standing", ""); status != 403 {
		t.Errorf("a player reads it: %d %s", status, text)
	}
	// Many set other numbers at the same time, while results come: nothing is lost.
	id := w.play("ada", "bob")
	var all sync.WaitGroup
	for _, body := range []string{fine, `{"numbers":{"toxicity":3}}`, fine, `{"numbers":{"toxicity":3}}`} {
		all.Go(func() {
			if status, text := w.send(http.MethodPut, service, "/players/ada/standing", body); status != 200 {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	all.Go(func() {
		status, text := w.send(http.MethodPost, w.token(auth.Server, "demo", id), "/matches/"+id+"/result",
			`{"teams":[{"name":"red","rank":1},{"name":"blue","rank":2}]}`)
		if status != 200 {
			t.Errorf("%d %s", status, text)
		}
	})
	all.Wait()
	want := response.Standing{Games: 1, Recent: []string{"bob"}, Numbers: map[string]float64{"trust": 0.5, "toxicity": 3}}
	if diff := cmp.Diff(want, w.standing("ada")); diff != "" {
		t.Error(diff)
	}
}

// A result counts once in the standing of its players, however often it is sent, and a correction counts anew. A leaver
// that the first result names pauses.
// Promise 12.
func TestResultCountsInStanding(t *testing.T) {
	w := start(t)
	w.setStanding()
	id := w.play("ada bea", "cy di")
	report := func(players string) {
		w.Helper()
		var r response.MatchResult
		w.sent(http.MethodPost, w.token(auth.Server, "demo", id), "/matches/"+id+"/result", players, &r)
	}
	teams := func(ada, blue string) string {
		return `{"teams":[{"rank":1,"players":[{"id":"ada"` + ada + `},{"id":"bea"}]},{"rank":2,"players":[` + blue + `]}]}`
	}
	both := `{"id":"cy"},{"id":"di"}`
	check := func(player string, games, left int, recent ...string) {
		t.Helper()
		want := response.Standing{Games: games, Left: left, Recent: append([]string{}, recent...),
			Numbers: map[string]float64{}}
		if diff := cmp.Diff(want, w.standing(player)); diff != "" {
			t.Error(player, diff)
		}
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { report(teams(`,"left":60`, both)) })
	}
	all.Wait()
	check("ada", 1, 1, "cy", "di")
	check("di", 1, 0, "ada", "bea")
	report(teams("", `{"id":"cy","left":0}`))
	check("ada", 1, 0, "cy", "di")
	check("cy", 1, 1, "ada", "bea")
	check("di", 0, 0, "ada", "bea")
	for n := range 2 {
		id = w.play("bea", fmt.Sprint("e", n))
		report(`{"teams":[{"name":"red","rank":1},{"name":"blue","rank":1}]}`)
	}
	check("bea", 3, 0, "e1", "e0", "cy")
	for player, count := range map[string]int{"ada": 1, "cy": 0, "di": 0} {
		if pause, err := w.store.PauseOf(t.Context(), "demo", player); err != nil || pause.Count != count {
			t.Errorf("%s: %+v, %v", player, pause, err)
		}
	}
	creation := func(owner string) state.Creation {
		settings, err := w.store.Settings(t.Context(), "demo")
		must(t, err)
		return state.Creation{Ticket: &pb.Ticket{Id: state.NewID(time.Now()), Owner: owner}, Settings: settings,
			Readable: time.Minute}
	}
	if _, err := w.store.Creator(nil).CreateAs(t.Context(), "demo", creation("ada")); err == nil ||
		!strings.Contains(err.Error(), "left a match") {
		t.Errorf("a leaver: %v", err)
	}
}
