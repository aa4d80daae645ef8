package contract

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// endpoint is an endpoint, with the callers that may call it and those that may not.
type endpoint struct {
	request
	denied []Actor
}

// endpoints lists all endpoints, each with a request that succeeds or is answered 404.
func (t *trial) endpoints() []endpoint {
	var all []endpoint
	add := func(denied []Actor, requests ...request) {
		for _, r := range requests {
			all = append(all, endpoint{r, denied})
		}
	}
	add([]Actor{Developer, Server, Stranger, Guest},
		request{as: Player, method: http.MethodPost, path: "tickets", body: `{}`},
		request{as: Player, method: http.MethodGet, path: "tickets?id=x"},
		request{as: Player, method: http.MethodDelete, path: "tickets?id=x"},
	)
	add([]Actor{Player, Server, Service, Reader, Guest, Outsider}, looks()...)
	add([]Actor{Player, Server, Service, Reader, Guest, Support, Outsider},
		configRequest(http.MethodPost, "", least),
		configRequest(http.MethodPut, "x", least), configRequest(http.MethodDelete, "x", ""),
		request{as: Developer, method: http.MethodPost, path: "configs/x/actions/rollback", body: `{"etag":"\"1\""}`},
		request{as: Developer, method: http.MethodPost, path: "configs/actions/check", body: least},
		request{as: Developer, method: http.MethodPut, path: "settings", body: `{}`},
		functionRequest(http.MethodPut, "x"), functionRequest(http.MethodDelete, "x"),
		request{as: Developer, method: http.MethodPost, path: "functions/x/actions/rollback", body: `{"version":1}`},
		request{as: Developer, method: http.MethodPost, path: "functions/x/actions/shadow", body: `{"version":1}`},
		request{as: Developer, method: http.MethodPost, path: "functions/x/actions/promote", body: `{"version":1}`},
		request{as: Developer, method: http.MethodPost, path: "functions/x/actions/canary", body: `{"version":0}`},
		request{as: Developer, method: http.MethodPost, path: "functions/x/actions/return", body: `{"automatic":true}`},
		request{as: Developer, method: http.MethodPost, path: "functions/actions/restart", body: `{"functions":["x"]}`},
	)
	add([]Actor{Player, Server, Guest, Support, Outsider},
		request{as: Developer, method: http.MethodGet, path: "players/x"},
		request{as: Developer, method: http.MethodDelete, path: "players/x"},
	)
	for i, place := range t.places() {
		denied := []Actor{Player, Developer, Guest, Service, Reader}
		if i < 2 { // in the last place the token names the project
			denied = append(denied, Elsewhere)
		}
		add(denied,
			serverRequest(http.MethodPost, place, `{}`), serverRequest(http.MethodPut, place+"/x", `{}`),
			serverRequest(http.MethodDelete, place+"/x", ""), serverRequest(http.MethodPost, place+"/x/approvals", ""),
		)
	}
	return all
}

// looks are requests of developers that change nothing.
func looks() []request {
	var all []request
	for _, path := range []string{
		"configs", "configs/x", "configs/x/history", "settings", "settings/history", "webhooks", "functions",
		"functions/x", "functions/x/log", "functions/x/versions", "tickets/x/explanation", "events", "matches/x",
		"matches/report", "matches", "changes",
	} {
		all = append(all, request{as: Developer, method: http.MethodGet, path: path})
	}
	return all
}

// mustNotAuthenticate sends a request that must be answered 401 with a challenge.
func (t *trial) mustNotAuthenticate(r request, reason string) {
	challenge := t.mustRefuse(http.StatusUnauthorized, r).header.Get("WWW-Authenticate")
	if !strings.HasPrefix(challenge, "Bearer ") || strings.Contains(challenge, "invalid_token") != (reason != "") {
		t.Errorf("%s %s: the challenge is %q", r.method, r.path, challenge)
	}
	t.contains("the challenge", challenge, reason)
}

func access() []requirement {
	read := request{as: Nobody, method: http.MethodGet, path: "tickets?id=x"}
	authorized := func(values ...string) request {
		r := read
		r.header = http.Header{"Authorization": values}
		return r
	}
	return []requirement{
		{name: "access/no token is 401", check: func(t *trial) {
			for _, e := range t.endpoints() {
				e.as = Nobody
				t.mustNotAuthenticate(e.request, "")
			}
		}},
		{name: "access/bad token is 401", check: func(t *trial) {
			for _, e := range t.endpoints() {
				e.as, e.header = Nobody, header("Authorization", "Bearer garbage")
				t.mustNotAuthenticate(e.request, "signed JWT")
			}
		}},
		{name: "access/wrong kind, role or project is 403", check: func(t *trial) {
			for _, e := range t.endpoints() {
				for _, actor := range e.denied {
					t.needs(actor)
					e.as = actor
					a := t.mustRefuse(http.StatusForbidden, e.request)
					if a.status != http.StatusForbidden {
						t.Errorf("that was the %s", actor)
					}
				}
			}
		}},
		{name: "access/support looks and changes nothing", check: func(t *trial) {
			t.needs(Support)
			for _, r := range looks() {
				r.as = Support
				if a := t.send(r); a.status != http.StatusOK && a.status != http.StatusNotFound {
					t.Errorf("%s %s as support: %v", r.method, r.path, a)
				}
			}
		}},
		{name: "access/v1 backfill", check: func(t *trial) {
			r := serverRequest(http.MethodPost, "backfill", `{}`)
			r.as = Nobody
			t.mustNotAuthenticate(r, "")
			for _, actor := range []Actor{Player, Developer, Elsewhere} {
				r.as = actor
				t.mustRefuse(http.StatusForbidden, r)
			}
		}},
		{name: "access/percent-encoded projects are decoded once", check: func(t *trial) {
			t.needs(Player)
			encode := func(text string, of string) string {
				var b strings.Builder
				for i := range len(text) {
					fmt.Fprintf(&b, "%s%02x", of, text[i])
				}
				return b.String()
			}
			for project, status := range map[string]int{
				encode(t.Project, "%"): http.StatusNotFound, t.Project: http.StatusNotFound,
				encode(t.Project, "%25"): http.StatusForbidden, t.Project + "%2F": http.StatusForbidden,
				"%2e%2e%2f" + t.Project: http.StatusForbidden, t.Project + "%00": http.StatusForbidden,
			} {
				r := request{as: Player, method: http.MethodGet, path: "tickets?id=x", project: project}
				if a := t.send(r); a.status != status {
					t.Errorf("%s: got %v, want %d", project, a, status)
				}
			}
		}},
		{name: "access/expired token is 401", check: func(t *trial) {
			t.needs(Expired)
			r := read
			r.as = Expired
			t.mustNotAuthenticate(r, "expired")
		}},
		{name: "access/forged tokens are 401", check: func(t *trial) {
			t.needs(Player)
			parts := strings.Split(t.tokens[Player], ".")
			encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
			claims := parts[1]
			for name, token := range map[string]string{
				"another signature": parts[0] + "." + claims + "." + encode(strings.Repeat("x", 64)),
				"no signature":      parts[0] + "." + claims + ".",
				"two parts":         parts[0] + "." + claims,
				"alg none":          encode(`{"alg":"none","typ":"JWT"}`) + "." + claims + ".",
				"another alg":       encode(`{"alg":"HS256","kid":"x"}`) + "." + claims + "." + parts[2],
				"other claims": parts[0] + "." +
					encode(`{"iss":"matchmaker-dev","aud":"matchmaker","sub":"x","exp":99999999999}`) + "." + parts[2],
				"an unknown issuer": parts[0] + "." +
					encode(`{"iss":"https://evil.example","aud":"matchmaker","sub":"x","exp":99999999999}`) + "." + parts[2],
				"a very long token":  strings.Repeat("x", 17<<10),
				"text that is no id": "é.é.é",
			} {
				r := authorized("Bearer " + token)
				if a := t.send(r); a.status != http.StatusUnauthorized {
					t.Errorf("%s: got %v, want 401", name, a)
				}
			}
		}},
		{name: "access/the scheme in any letter case", check: func(t *trial) {
			t.needs(Player)
			for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
				t.mustRefuse(http.StatusNotFound, authorized(scheme+" "+t.tokens[Player]))
			}
		}},
		{name: "access/other schemes are 401", check: func(t *trial) {
			t.needs(Player)
			for _, value := range []string{"Basic YTpi", "Bearer", "Bearer ", "", t.tokens[Player]} {
				t.mustNotAuthenticate(authorized(value), "")
			}
			t.mustNotAuthenticate(authorized("Bearer "+t.tokens[Player], "Bearer "+t.tokens[Player]), "more than one")
		}},
		{name: "access/the token is not told", check: func(t *trial) {
			t.needs(Expired)
			r := read
			r.as = Expired
			a := t.send(r)
			if text := fmt.Sprint(a.header, string(a.body)); strings.Contains(text, strings.Split(t.tokens[Expired], ".")[2]) {
				t.Errorf("the answer repeats the token: %s", text)
			}
		}},
	}
}
