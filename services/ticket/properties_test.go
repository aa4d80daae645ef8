package ticket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

type (
	claims = map[string]any
	values = map[string]string // properties whose bytes are text
)

// propertyRules are the settings of most tests here.
func propertyRules(r ...*pb.SetterRule) *pb.ProjectSettings {
	return &pb.ProjectSettings{Properties: r}
}

// ada is a token of a player.
func (r *replicas) ada(t *testing.T, c claims) string {
	t.Helper()
	return r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", Further: c})
}

// bodyWith is a create with properties, also of the player ada unless these are nil.
func bodyWith(t *testing.T, ticket, player values) string {
	t.Helper()
	type fields struct {
		ID         string            `json:"id,omitempty"`
		Properties map[string][]byte `json:"properties,omitempty"`
	}
	encoded := func(id string, v values) fields {
		f := fields{id, map[string][]byte{}}
		for name, text := range v {
			f.Properties[name] = []byte(text)
		}
		return f
	}
	body := struct {
		fields
		Players []fields `json:"players,omitempty"`
	}{fields: encoded("", ticket)}
	if player != nil {
		body.Players = []fields{encoded("ada", player)}
	}
	text, err := json.Marshal(body)
	must(t, err)
	return string(text)
}

// stored creates a ticket and returns it as it is stored, or the detail of the refusal.
func (r *replicas) stored(t *testing.T, token, body string, headers ...string) (
	status int, created *pb.Ticket, detail string) {
	t.Helper()
	as := *r
	as.token = token
	status, text, err := as.send(t.Context(), http.MethodPost, r.urls[1], body, headers...)
	must(t, err)
	var answer struct{ ID, Detail string }
	must(t, json.Unmarshal([]byte(text), &answer))
	if status != http.StatusCreated {
		return status, nil, answer.Detail
	}
	read, err := r.store.Ticket(t.Context(), "demo", answer.ID)
	must(t, err)
	return status, read.Body, ""
}

func textsOf(properties map[string][]byte) values {
	all := values{}
	for name, text := range properties {
		all[name] = string(text)
	}
	return all
}

func TestPropertiesThatCanBeBelieved(t *testing.T) {
	r := start(t)
	r.set(t, propertyRules(
		&pb.SetterRule{Name: "mode", SetBy: "client"},
		&pb.SetterRule{Name: "players", SetBy: "service"},
		&pb.SetterRule{Name: "roles", SetBy: "claim", Claim: "game.roles"},
	))
	service := r.mint(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct})
	lobby := values{"players": `[{"skill":1}]`, "roles": `["tank"]`, "mode": "m", "other": "o"}
	tank := claims{"game.roles": []string{"tank", "<healer>"}}
	for _, test := range []struct {
		name, token, body string
		want              values
		refused           string
	}{
		{"filled", r.ada(t, tank), bodyWith(t, values{"mode": "m", "other": "o"}, nil),
			values{"roles": `["tank","<healer>"]`, "mode": "m", "other": "o"}, ""},
		{"a missing claim sets nothing", r.ada(t, nil), bodyWith(t, values{"mode": "m"}, nil), values{"mode": "m"}, ""},
		{"null sets nothing", r.ada(t, claims{"game.roles": nil}), `{}`, values{}, ""},
		{"other letter case is another name", r.ada(t, nil), bodyWith(t, values{"Players": "p"}, nil),
			values{"Players": "p"}, ""},
		{"a client lists players", r.ada(t, tank), bodyWith(t, values{"players": "secret"}, nil), nil,
			"properties.players: a game service sets this property"},
		{"a client lists no players", r.ada(t, tank), bodyWith(t, values{"players": ""}, nil), nil, "properties.players: "},
		{"a client sets a claim's", r.ada(t, tank), bodyWith(t, values{"roles": "secret"}, nil), nil,
			"properties.roles: a claim of the player's token sets this property"},
		{"a client sets what it has no claim for", r.ada(t, nil), bodyWith(t, values{"roles": "secret"}, nil), nil,
			"properties.roles: "},
		{"a path that ends too late", r.ada(t, claims{"game": "secret"}), `{}`, nil,
			"properties.roles: the path of the claim game.roles"},
		{"a client sets a claim's for a player", r.ada(t, nil), bodyWith(t, nil, values{"roles": "secret"}), nil,
			"players.0.properties.roles: a claim of the player's token"},
		{"a client sets a service's for a player", r.ada(t, nil), bodyWith(t, nil, values{"players": "secret"}), nil,
			"players.0.properties.players: a game service"},
		{"a service sets any", service, bodyWith(t, lobby, nil), lobby, ""},
	} {
		var headers []string
		if test.token == service {
			headers = []string{"X-On-Behalf-Of", "ada"}
		}
		status, stored, detail := r.stored(t, test.token, test.body, headers...)
		if test.refused != "" {
			if status != http.StatusForbidden || !strings.Contains(detail, test.refused) || strings.Contains(detail, "secret") {
				t.Errorf("%s: %d %s, want %s", test.name, status, detail, test.refused)
			}
			continue
		}
		if status != http.StatusCreated {
			t.Errorf("%s: %d %s", test.name, status, detail)
		}
		if diff := cmp.Diff(test.want, textsOf(stored.GetProperties())); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// A claim may be any JSON value. Numbers keep their digits.
func TestPropertiesOfClaimsAreTheirJSON(t *testing.T) {
	r := start(t)
	r.set(t, propertyRules(&pb.SetterRule{Name: "p", SetBy: "claim", Claim: "p"}))
	for _, text := range []string{`"ranked"`, `""`, `1480`, `12345678901234567890.5`, `true`, `false`, `["a","b"]`, `[]`,
		`{"eu":32,"us":110.25}`, `{}`, `{"deep":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `}`,
		`"<ü>&"`} {
		status, stored, detail := r.stored(t, r.ada(t, claims{"p": json.RawMessage(text)}), `{}`)
		if got := string(stored.GetProperties()["p"]); status != http.StatusCreated || got != text {
			t.Errorf("the claim %s: %d %s, the property is %s", text, status, detail, got)
		}
	}
}

// A player whom the ticket names has the property as well, and keeps what it said itself.
func TestPropertiesOfClaimsAreThePlayersToo(t *testing.T) {
	r := start(t)
	r.set(t, propertyRules(&pb.SetterRule{Name: "roles", SetBy: "claim", Claim: "roles"}))
	_, stored, _ := r.stored(t, r.ada(t, claims{"roles": []string{"tank"}}),
		bodyWith(t, values{"mode": "m"}, values{"badge": "gold"}))
	if diff := cmp.Diff(values{"roles": `["tank"]`, "mode": "m"}, textsOf(stored.GetProperties())); diff != "" {
		t.Error(diff)
	}
	player := textsOf(stored.GetPlayers()[0].GetProperties())
	if diff := cmp.Diff(values{"roles": `["tank"]`, "badge": "gold"}, player); diff != "" {
		t.Error(diff)
	}
}

// A rule for all other names leaves clients those that rules give them. A property may have the name of that rule.
func TestOtherProperties(t *testing.T) {
	r := start(t)
	rules := func(others string) *pb.ProjectSettings {
		return propertyRules(
			&pb.SetterRule{Name: "*", SetBy: others},
			&pb.SetterRule{Name: "mode", SetBy: "client"},
			&pb.SetterRule{Name: "roles", SetBy: "claim", Claim: "roles"},
		)
	}
	for _, test := range []struct {
		others      string
		ticket, ada values
		detail      string
	}{
		{others: "service", ticket: values{"mode": "m"}, ada: values{"mode": "m"}},
		{others: "service", ticket: values{"mode": "m", "b": "", "a": ""}, detail: "properties.a: a game service"},
		{others: "service", ticket: values{"": "", "b": ""}, detail: "properties: a name is empty"},
		{others: "service", ticket: values{"*": ""}, detail: "properties.*: a game service"},
		{others: "service", ada: values{"x": ""}, detail: "players.0.properties.x: a game service"},
		{others: "service", ticket: values{"roles": ""}, detail: "properties.roles: a claim"},
		{others: "client", ticket: values{"mode": "m", "a": "", "*": ""}, ada: values{"*": ""}},
		{others: "client", ticket: values{"roles": ""}, detail: "properties.roles: a claim"},
	} {
		r.set(t, rules(test.others))
		token := r.ada(t, claims{"roles": "tank"})
		status, stored, detail := r.stored(t, token, bodyWith(t, test.ticket, test.ada))
		switch {
		case test.detail != "" && (status == http.StatusCreated || !strings.Contains(detail, test.detail)):
			t.Errorf("%v: %d %s, want %s", test, status, detail, test.detail)
		case test.detail == "" && string(stored.GetProperties()["roles"]) != `"tank"`:
			t.Errorf("%v: %d %s %v", test, status, detail, stored)
		}
	}
}

// Claims count to the limit of properties, and have a size together: several rules may take the same one.
func TestLimitsOfPropertiesOfClaims(t *testing.T) {
	r := start(t)
	r.set(t, propertyRules(&pb.SetterRule{Name: "claimed", SetBy: "claim", Claim: "p"}))
	many := func(n int) string {
		all := values{}
		for i := range n {
			all[fmt.Sprint(i)] = ""
		}
		return bodyWith(t, all, nil)
	}
	if status, _, detail := r.stored(t, r.ada(t, claims{"p": 1}), many(63)); status != http.StatusCreated {
		t.Errorf("63 and one: %d %s", status, detail)
	}
	if status, _, detail := r.stored(t, r.ada(t, claims{"p": 1}), many(64)); status != http.StatusBadRequest ||
		!strings.Contains(detail, "properties: 65 of them") {
		t.Errorf("64 and one: %d %s", status, detail)
	}
	large := r.ada(t, claims{"p": strings.Repeat("s", 8<<10-2)}) // 8 KiB with its quotes
	twice := []*pb.SetterRule{{Name: "a", SetBy: "claim", Claim: "p"}, {Name: "b", SetBy: "claim", Claim: "p"}}
	r.set(t, propertyRules(twice...))
	if status, _, detail := r.stored(t, large, `{}`); status != http.StatusCreated {
		t.Errorf("twice 8 KiB: %d %s", status, detail)
	}
	r.set(t, propertyRules(append(twice, &pb.SetterRule{Name: "c", SetBy: "claim", Claim: "p"})...))
	status, _, detail := r.stored(t, large, `{}`)
	if status != http.StatusForbidden || !strings.Contains(detail, "properties.c: with the claim p of the token") ||
		strings.Contains(detail, "sss") {
		t.Errorf("thrice: %d %s", status, detail)
	}
}

// A create that waits is answered with what the token vouches for, and its key stands for what was sent.
func TestPropertiesOfClaimsAreAnswered(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.set(t, propertyRules(&pb.SetterRule{Name: "p", SetBy: "claim", Claim: "p"}))
	as := *r
	var ids [2]string
	for i, claim := range []int{1, 2} {
		as.token = r.ada(t, claims{"p": claim})
		status, text, err := as.send(t.Context(), http.MethodPost, r.urls[0], `{}`, "Prefer", "wait=1",
			"Idempotency-Key", `"k"`)
		must(t, err)
		var answer struct {
			ID         string
			Properties map[string][]byte
		}
		must(t, json.Unmarshal([]byte(text), &answer))
		if ids[i] = answer.ID; status != http.StatusCreated || string(answer.Properties["p"]) != "1" {
			t.Errorf("%d %s", status, text)
		}
	}
	if ids[0] != ids[1] {
		t.Errorf("a repeated create made another ticket: %q", ids)
	}
}
