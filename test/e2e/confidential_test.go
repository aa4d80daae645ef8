package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// record keeps the bodies of a handler's answers, but not the tokens of game servers.
func record(next http.Handler, into *buffer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/servers/token") {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(&recorder{w, into}, r)
	})
}

type recorder struct {
	http.ResponseWriter
	into *buffer
}

func (r *recorder) Write(text []byte) (int, error) {
	_, _ = r.into.Write(text)
	return r.ResponseWriter.Write(text)
}

// Unwrap lets a proxy flush.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Secrets, which must not be where they do not belong.
const (
	accessKey = "AKIAQ7ZX3PLM5EXAMPLE"
	secretKey = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYzEXAMPLE"
	property  = "a loadout that is the player's own business"
	// somebody is a player's id: it is in Redis and in answers.
	somebody = "somebody-whom-no-log-and-no-event-names"
)

// people matches players of all scenarios, of those whose ids are no words that logs have.
var people = regexp.MustCompile(`\b(?:ada|bob|carol|dave|erin|eve|frank|gina|joe|mallory|zoe|` + somebody + `)\b`)

// refusal is the correlation id of refused requests. Their traces have it.
const refusal = "config-with-secrets"

// confidential: after a whole run no log, trace, event, store or answer has a secret. Of the hosting keys only the
// access key is in answers. Tokens are nowhere. Properties of tickets are in Redis and in answers to clients that may
// read them.
func confidential(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	studio := p.developer(t)
	c := client.Config{
		Matchmaking: client.Matchmaking{
			TargetFunction: client.FunctionTarget{Name: "duel",
				Version: "1"}, Config: []byte(`{"attribute":"skill","window":100}`),
		},
		Hosting: &client.Hosting{Profile: "profile", FleetID: "fleet", Access: accessKey, Secret: secretKey},
	}
	if _, err := studio.PutConfig(within(t), "ranked", c, ""); err != nil {
		t.Fatal(err)
	}
	if got, err := studio.GetConfig(within(t), "ranked"); err != nil || got.Hosting.Access != accessKey ||
		got.Hosting.Secret != client.Masked {
		t.Errorf("GET answers %v, %v", got, err)
	}
	// Configs with secrets that are refused.
	for _, body := range []string{
		fmt.Sprintf(`{"hosting":{"Secret":"%s","Access":"%s\n"}}`, secretKey, accessKey),
		fmt.Sprintf(`{"hosting":{"Secret":{"%s":1},"Access":["%s"],"Profile":"%s"}}`, secretKey, accessKey,
			strings.Repeat("x", 1025)),
		fmt.Sprintf(`{"hosting":{"Secret":"%s" "Access":"%s"}}`, secretKey, accessKey),
		fmt.Sprintf(`{"hosting":{"Secret":"%s%s"}}`, secretKey, strings.Repeat("x", 64<<10)),
		fmt.Sprintf(`{"hosting":{"FleetId":"f","Secret":"%s","Secret":"%s"}}`, secretKey, secretKey),
	} {
		p.mustRefuse(t, issuer.Claims{Kind: auth.Developer, Subject: "developer", Role: "Owner"}, http.MethodPut,
			"/configs/other", body)
	}
	p.refusePlayers(t)
	// Two players get a server. The allocator uses a token and the hosting keys.
	waiting := map[string]*client.Client{}
	for _, player := range []string{somebody, "bob"} {
		api := p.as(t, issuer.Claims{Kind: auth.Player, Subject: player})
		id, err := api.CreateTicket(within(t), client.TicketRequest{
			Attributes: map[string]float64{"skill": 1200}, Properties: map[string][]byte{"loadout": []byte(property)},
		})
		if err != nil {
			t.Fatal(err)
		}
		waiting[id] = api
	}
	for id, api := range waiting {
		if ticket, err := api.Wait(within(t), id); err != nil || ticket.Assignment.Connection == "" {
			t.Errorf("%+v, %v", ticket, err)
		}
	}
	eventually(t, "traces of the run", func() bool {
		return p.s.traces.contains(refusal) && p.s.traces.contains("POST /:project/matchmaking/api/v1/tickets")
	})
	if erased, err := studio.ErasePlayer(within(t), somebody); err != nil || erased.Tickets != 1 {
		t.Errorf("erased: %+v, %v", erased, err)
	}
	document, err := studio.ExportPlayer(within(t), somebody)
	if err != nil || !bytes.Contains(document, []byte(`"tickets":[]`)) {
		t.Errorf("after the erase there is %s, %v", document, err)
	}
	p.s.findSecrets(t)
}

// refusePlayers sends requests of all kinds whose answers name players, or what players invent.
func (p *project) refusePlayers(t *testing.T) {
	t.Helper()
	mine := issuer.Claims{Kind: auth.Player, Subject: somebody}
	party, err := p.as(t, mine).CreateParty(within(t), 0, client.PartyMembership{})
	if err != nil {
		t.Fatal(err)
	}
	other := issuer.Claims{Kind: auth.Player, Subject: "mallory"}
	if _, err := p.as(t, other).JoinParty(within(t), party.Code, client.PartyMembership{NotReady: true}); err != nil {
		t.Fatal(err)
	}
	at := "/parties/" + party.ID
	for _, r := range []struct {
		by               issuer.Claims
		method, at, body string
	}{
		{mine, http.MethodPost, "/parties", `{}`},
		{mine, http.MethodPut, at + "/search", `{}`},
		{other, http.MethodPut, at + "/search", `{}`},
		{other, http.MethodDelete, at + "/members/" + somebody, ""},
		{other, http.MethodPut, at + "/members/" + somebody, `{}`},
		{mine, http.MethodDelete, at + "/members/nobody-" + somebody, ""},
		{mine, http.MethodPut, at + "/leader", `{"player":"nobody-` + somebody + `"}`},
		{mine, http.MethodPost, "/tickets", `{"` + somebody + `":1}`},
		{mine, http.MethodPost, "/tickets", `{"attributes":{"` + somebody + `":"x"}}`},
		{mine, http.MethodPost, "/tickets", `{"properties":{"` + somebody + `":1}}`},
		{mine, http.MethodPost, "/tickets", `{"queues":["` + somebody + `","` + somebody + `"]}`},
		{mine, http.MethodPost, "/tickets", `{"players":[{"id":"` + somebody + `"},{"id":"` + somebody + `"}]}`},
		{mine, http.MethodGet, "/tickets?id=" + somebody, ""},
		{mine, http.MethodGet, "/tickets?player=nobody-" + somebody, ""},
		{mine, http.MethodGet, "/tickets?id=%" + somebody, ""},
		{mine, somebody, "/tickets", ""},
		{mine, http.MethodGet, "/" + somebody, ""},
	} {
		p.mustRefuse(t, r.by, r.method, r.at, r.body)
	}
	if err := p.as(t, mine).DisbandParty(within(t), party.ID, ""); err != nil {
		t.Fatal(err)
	}
}

// mustRefuse sends a request that must be refused.
func (p *project) mustRefuse(t *testing.T, c issuer.Claims, method, at, body string) {
	t.Helper()
	_, bearer, err := p.client(c)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(within(t), method, p.s.front()+"/"+p.name+"/matchmaking/api/v1"+at,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Correlation-Id", refusal)
	answer, err := p.s.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode < 400 || answer.StatusCode > 499 {
		t.Errorf("%.80s is answered %d", body, answer.StatusCode)
	}
}

// jwt matches signed JWTs.
var jwt = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{20,}`)

// seatPasses matches the passes that results have for their players. Nothing but an answer may have them.
var seatPasses = regexp.MustCompile(`"seats":\{[^{}]*\}`)

// findPeople searches a log for players.
func (p *replica) findPeople(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(p.log.all()) {
		if found := people.FindString(line); found != "" {
			t.Errorf("the log of %s names the player %s: %s", p.name, found, line)
			return
		}
	}
}

// findSecrets searches everything that the system wrote.
func (s *system) findSecrets(t *testing.T) {
	t.Helper()
	forms := func(text string) [][]byte {
		return [][]byte{[]byte(text), []byte(base64.StdEncoding.EncodeToString([]byte(text))),
			[]byte(base64.RawURLEncoding.EncodeToString([]byte(text)))}
	}
	search := func(where string, text []byte, secrets ...string) {
		t.Helper()
		for _, secret := range secrets {
			for _, form := range forms(secret) {
				if i := bytes.Index(text, form); i >= 0 {
					t.Errorf("%s has a secret: %q", where, text[max(0, i-200):min(len(text), i+len(form)+40)])
				}
			}
		}
		if i := jwt.FindIndex(text); i != nil {
			t.Errorf("%s has a token: %q", where, text[max(0, i[0]-200):i[1]])
		}
	}
	logs := 0
	for _, p := range s.all() {
		text := p.log.all()
		logs += len(text)
		search("the log of "+p.name, []byte(text), accessKey, secretKey, property, somebody)
		p.findPeople(t)
	}
	search("a trace", []byte(s.traces.all()), accessKey, secretKey, property, somebody)
	answers := []byte(s.answers.all())
	search("an HTTP answer", seatPasses.ReplaceAll(answers, nil), secretKey)
	if !jwt.Match(answers) {
		t.Error("there are no seat passes to search for")
	}
	if logs == 0 || !bytes.Contains(answers, []byte(accessKey)) {
		t.Error("there are no logs or no answers to search")
	}
	for store, dir := range s.stores {
		secrets := []string{accessKey, secretKey}
		if store == "NATS" {
			secrets = append(secrets, property, somebody)
		}
		seen := false
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil //nolint:nilerr // a file that was removed has no secret
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil //nolint:nilerr // the same
			}
			seen = seen || len(text) > 0
			search(store+"'s "+filepath.Base(path), text, secrets...)
			if store == "Redis" && bytes.Contains(text, []byte(property)) {
				seen = true
			}
			return nil
		})
		if err != nil || !seen {
			t.Errorf("nothing of %s was searched: %v", store, err)
		}
	}
}
