package ticket_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/state"
)

// rules are the settings of most tests here.
func rules(r ...*pb.SetterRule) *pb.ProjectSettings { return &pb.ProjectSettings{Attributes: r} }

func (r *replicas) set(t *testing.T, p *pb.ProjectSettings) {
	t.Helper()
	must(t, r.store.PutSettings(t.Context(), "demo", p, state.AnyRevision))
}

// mint makes a token with the issuer that the replicas trust.
func (r *replicas) mint(t *testing.T, c issuer.Claims) string {
	t.Helper()
	c.Project = "demo"
	token, err := r.tokens.Mint(c)
	must(t, err)
	return token
}

// post creates a ticket at a replica and returns its attributes as they are read, or the detail of the refusal.
func (r *replicas) post(t *testing.T, replica int, token, body string, headers ...string) (
	status int, attributes map[string]float64, detail string) {
	t.Helper()
	as := *r
	as.token = token
	status, text, err := as.send(t.Context(), http.MethodPost, r.urls[replica], body, headers...)
	must(t, err)
	var answer struct{ ID, Detail string }
	must(t, json.Unmarshal([]byte(text), &answer))
	if status != http.StatusCreated {
		return status, nil, answer.Detail
	}
	_, text, err = as.send(t.Context(), http.MethodGet, r.urls[replica]+"?id="+answer.ID, "")
	must(t, err)
	var read struct{ Attributes map[string]float64 }
	must(t, json.Unmarshal([]byte(text), &read))
	return status, read.Attributes, ""
}

func TestAttributesThatCanBeBelieved(t *testing.T) {
	r := start(t)
	r.set(t, rules(
		&pb.SetterRule{Name: "skill", SetBy: "claim", Claim: "game.skill"},
		&pb.SetterRule{Name: "age", SetBy: "claim", Claim: "age"},
		&pb.SetterRule{Name: "name", SetBy: "claim", Claim: "sub"},
		&pb.SetterRule{Name: "region", SetBy: "service"},
		&pb.SetterRule{Name: "mood", SetBy: "client"},
	))
	without := rules(
		&pb.SetterRule{Name: "skill", SetBy: "claim", Claim: "game.skill"},
		&pb.SetterRule{Name: "age", SetBy: "claim", Claim: "age"},
		&pb.SetterRule{Name: "region", SetBy: "service"},
	)
	player := func(c claims) string {
		return r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", Further: c})
	}
	status, _, detail := r.post(t, 0, player(nil), `{}`)
	if status != http.StatusForbidden || !strings.Contains(detail, "attributes.name: the claim sub of the token is") {
		t.Errorf("a claim that is no number: %d %s", status, detail)
	}
	r.set(t, without)
	service := r.mint(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct})
	type attributes = map[string]float64
	for _, test := range []struct {
		name, token, body string
		want              attributes
		refused           string
	}{
		{"filled", player(claims{"game.skill": 12.5, "age": 30}), `{"attributes":{"mood":1}}`,
			attributes{"skill": 12.5, "age": 30, "mood": 1}, ""},
		{"a missing claim sets nothing", player(claims{"age": 30}), `{}`, attributes{"age": 30}, ""},
		{"no claims", player(nil), `{"attributes":{"other":2}}`, attributes{"other": 2}, ""},
		{"a client sets a claim's", player(claims{"game.skill": 12}), `{"attributes":{"skill":12}}`, nil,
			"attributes.skill: a claim of the player's token"},
		{"a client sets what it has no claim for", player(nil), `{"attributes":{"skill":12}}`, nil, "attributes.skill: "},
		{"a client sets a service's", player(nil), `{"attributes":{"region":1}}`, nil, "attributes.region: a game service"},
		{"a path that ends too early", player(claims{"game.skill.now": 1}), `{}`, nil,
			"attributes.skill: the claim game.skill of the token is not a number"},
		{"a path that ends too late", player(claims{"game": 1}), `{}`, nil, "attributes.skill: the claim game.skill"},
		{"a player among others", player(claims{"game.skill": 9}),
			`{"players":[{"id":"ada","attributes":{"mood":1}}]}`, attributes{"skill": 9}, ""},
		{"a client sets a claim's for a player", player(nil), `{"players":[{"id":"ada","attributes":{"skill":12}}]}`, nil,
			"players.0.attributes.skill: a claim of the player's token"},
		{"a client sets a service's for a player", player(nil), `{"players":[{"id":"ada","attributes":{"region":2}}]}`, nil,
			"players.0.attributes.region: a game service"},
		{"a service sets any", service, `{"attributes":{"region":1,"skill":2,"mood":3}}`,
			attributes{"region": 1, "skill": 2, "mood": 3}, ""},
	} {
		var headers []string
		if test.token == service {
			headers = []string{"X-On-Behalf-Of", "ada"}
		}
		status, got, detail := r.post(t, 1, test.token, test.body, headers...)
		switch {
		case test.refused != "" && (status != http.StatusForbidden || !strings.Contains(detail, test.refused)):
			t.Errorf("%s: %d %s, want %s", test.name, status, detail, test.refused)
		case test.refused == "" && status != http.StatusCreated:
			t.Errorf("%s: %d %s", test.name, status, detail)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// A rule for all other names leaves clients those that rules give them. "*" is no attribute of its own then.
func TestOtherAttributes(t *testing.T) {
	r := start(t)
	r.set(t, rules(
		&pb.SetterRule{Name: "*", SetBy: "service"},
		&pb.SetterRule{Name: "mood", SetBy: "client"},
		&pb.SetterRule{Name: "skill", SetBy: "claim", Claim: "skill"},
	))
	token := r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", Further: claims{"skill": 7}})
	for body, refused := range map[string]string{
		`{"attributes":{"mood":1}}`:                          "",
		`{"attributes":{"mood":1,"rank":1}}`:                 "attributes.rank: a game service",
		`{"attributes":{"*":1}}`:                             "attributes.*: a game service",
		`{"players":[{"id":"ada","attributes":{"rank":1}}]}`: "players.0.attributes.rank: a game service",
		`{"attributes":{"skill":1}}`:                         "attributes.skill: a claim",
	} {
		status, got, detail := r.post(t, 0, token, body)
		if refused != "" && (status != http.StatusForbidden || !strings.Contains(detail, refused)) ||
			refused == "" && (status != http.StatusCreated || got["skill"] != 7 || got["mood"] != 1) {
			t.Errorf("%s: %d %v %s, want %s", body, status, got, detail, refused)
		}
	}
}

// A player whom the ticket names has the attribute as well, for functions that look at players.
func TestClaimsAreThePlayersToo(t *testing.T) {
	r := start(t)
	r.set(t, rules(&pb.SetterRule{Name: "skill", SetBy: "claim", Claim: "skill"}))
	as := *r
	as.token = r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", Further: claims{"skill": 7}})
	status, text, err := as.send(t.Context(), http.MethodPost, r.urls[0], `{"players":[{"id":"ada","attributes":{"mood":1}}]}`)
	must(t, err)
	var made struct{ ID string }
	must(t, json.Unmarshal([]byte(text), &made))
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	stored, err := r.store.Ticket(t.Context(), "demo", made.ID)
	must(t, err)
	p := stored.Body.GetPlayers()[0]
	if diff := cmp.Diff(map[string]float64{"skill": 7, "mood": 1},
		fields.Attributes(p.GetAttributeNames(), p.GetAttributeValues())); diff != "" {
		t.Error(diff)
	}
}

// Claims count to the limit of attributes.
func TestClaimsCountAsAttributes(t *testing.T) {
	r := start(t)
	r.set(t, rules(&pb.SetterRule{Name: "skill", SetBy: "claim", Claim: "skill"}))
	token := r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", Further: claims{"skill": 1}})
	body := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = `"` + strings.Repeat("a", i+1) + `":1`
		}
		return `{"attributes":{` + strings.Join(names, ",") + `}}`
	}
	if status, _, detail := r.post(t, 0, token, body(63)); status != http.StatusCreated {
		t.Errorf("63 and one: %d %s", status, detail)
	}
	if status, _, detail := r.post(t, 0, token, body(64)); status != http.StatusBadRequest ||
		!strings.Contains(detail, "attributes: 65 of them") {
		t.Errorf("64 and one: %d %s", status, detail)
	}
}

// From the moment a change of the settings was answered, every replica obeys it, also those that remember others.
func TestSettingsCountAtOnceOnAllReplicas(t *testing.T) {
	r := start(t)
	open, closed := rules(), rules(&pb.SetterRule{Name: "skill", SetBy: "service"})
	for round := range 20 {
		p, want := open, http.StatusCreated
		if round%2 == 1 {
			p, want = closed, http.StatusForbidden
		}
		r.set(t, p)
		done := make(chan int, 2)
		for replica := range 2 {
			token := r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", TTL: time.Minute})
			go func() {
				status, _, _ := r.post(t, replica, token, `{"attributes":{"skill":1}}`)
				done <- status
			}()
		}
		for range 2 {
			if got := <-done; got != want {
				t.Fatalf("round %d: %d, want %d", round, got, want)
			}
		}
	}
}

// A project whose settings are gone, as after Redis lost data, is as one that never had any.
func TestSettingsThatAreLost(t *testing.T) {
	r := start(t)
	r.set(t, rules(&pb.SetterRule{Name: "skill", SetBy: "service"}))
	token := r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada"})
	if status, _, _ := r.post(t, 0, token, `{"attributes":{"skill":1}}`); status != http.StatusForbidden {
		t.Fatalf("the rule does not count: %d", status)
	}
	_, err := r.store.RemoveProject(t.Context(), "demo")
	must(t, err)
	if status, _, detail := r.post(t, 0, token, `{"attributes":{"skill":1}}`); status != http.StatusCreated {
		t.Errorf("%d %s", status, detail)
	}
}
