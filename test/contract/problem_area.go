package contract

import (
	"net/http"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/edge/openapi"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
)

func problems() []requirement {
	missing := request{as: Service, method: http.MethodGet, path: "tickets?id=x"}
	return []requirement{
		{name: "errors/problem body", check: func(t *trial) {
			a := t.do(http.StatusNotFound, missing)
			var body map[string]any
			a.decode(t, &body)
			if instance, there := body["instance"]; !there || instance != nil {
				t.Errorf("the instance is %v, want null", instance)
			}
			equal(t, "members", len(body), 7)

			p := a.problem(t)
			equal(t, "the code", p.Code, "ticketNotFound")
			equal(t, "the title", p.Title, "Not Found")
			equal(t, "the status", p.Status, http.StatusNotFound)
			t.contains("the type", p.Type, "https://", "404")
			t.contains("the detail", p.Detail, "x", "not found")
		}},
		{name: "errors/codes", check: func(t *trial) {
			get := func(as Actor, path string) request { return request{as: as, method: http.MethodGet, path: path} }
			for code, r := range map[string]request{
				"unauthenticated":  get(Nobody, "tickets?id=x"),
				"tokenExpired":     get(Expired, "tickets?id=x"),
				"wrongProject":     get(Stranger, "tickets?id=x"),
				"forbidden":        get(Player, "configs"),
				"invalid":          get(Player, "tickets"),
				"notFound":         get(Developer, "nothing"),
				"methodNotAllowed": {as: Player, method: http.MethodPatch, path: "tickets"},
				"notAcceptable": {as: Player, method: http.MethodGet, path: "tickets?id=x",
					header: header("Accept", "text/html")},
				"tooLarge":         {as: Service, method: http.MethodPost, path: "tickets", body: strings.Repeat(" ", bodyLimit)},
				"unsupported":      {as: Player, method: http.MethodPost, path: "tickets", body: "x", kind: "text/plain"},
				"configNotFound":   get(Developer, "configs/"+t.name("none")),
				"functionNotFound": get(Developer, "functions/"+t.name("none")),
				"backfillNotFound": {as: Server, method: http.MethodPost, path: "api/v2/backfill/none/approvals"},
				"etagMismatch": {as: Developer, method: http.MethodPut, path: "configs/" + t.name("none"), body: least,
					header: header("If-Match", `"1"`)},
				"partyNotFound":    {as: Service, method: http.MethodGet, path: "parties", behalf: t.name("player")},
				"ticketsNotListed": get(Player, "tickets?player="+subjectOf(t.tokens[Player])),
			} {
				if a := t.send(r); a.problem(t).Code != code {
					t.Errorf("%s %s: got %v, want %s", r.method, r.path, a, code)
				}
			}
		}},
		{name: "errors/unknown paths are 404", check: func(t *trial) {
			for _, path := range []string{"/", "/nothing", "/" + t.Project, "/" + t.Project + "/matchmaking/api/v3/tickets",
				"/api/v2", "/api/v3/backfill"} {
				t.mustRefuse(http.StatusNotFound, request{as: Player, method: http.MethodGet, path: path}, "path")
			}
			for _, path := range []string{"", "ticket", "tickets/x", "configs/a/b", "functions/a/b", "functions/a/log/b",
				"functions/actions", "matches/a/b"} {
				a := t.send(request{as: Developer, method: http.MethodGet, path: path})
				// functions/actions is the path of a function and of actions.
				if a.status != http.StatusNotFound {
					t.Errorf("GET %s: got %v, want 404", path, a)
				}
				a.problem(t)
			}
		}},
		{name: "errors/other methods are 405", check: func(t *trial) {
			for path, allowed := range map[string][]string{
				"tickets":                     {http.MethodDelete, http.MethodGet, http.MethodPost},
				"configs":                     {http.MethodGet, http.MethodPost},
				"configs/x":                   {http.MethodDelete, http.MethodGet, http.MethodPut},
				"functions":                   {http.MethodGet},
				"functions/x":                 {http.MethodDelete, http.MethodGet, http.MethodPut},
				"functions/x/log":             {http.MethodGet},
				t.places()[0]:                 {http.MethodGet, http.MethodPost},
				t.places()[0] + "/x":          {http.MethodDelete, http.MethodPut},
				t.places()[2] + "/x":          {http.MethodDelete, http.MethodPut},
				"api/v2/backfill/x/approvals": {http.MethodPost},
			} {
				for _, method := range []string{http.MethodPatch, http.MethodGet, http.MethodPut, http.MethodDelete} {
					if slices.Contains(allowed, method) {
						continue
					}
					allow := t.mustRefuse(http.StatusMethodNotAllowed, request{as: Developer, method: method, path: path},
						method).header.Get("Allow")
					for _, want := range allowed {
						if !slices.Contains(strings.Split(allow, ", "), want) {
							t.Errorf("%s %s: Allow is %q, want %s in it", method, path, allow, want)
						}
					}
				}
			}
		}},
		{name: "errors/406 where no JSON is accepted", check: func(t *trial) {
			for accept, status := range map[string]int{
				"text/html": http.StatusNotAcceptable, "application/xml, text/*;q=0.5": http.StatusNotAcceptable,
				"application/json;q=0": http.StatusNotAcceptable,
				"*/*":                  http.StatusNotFound, "application/*": http.StatusNotFound,
				"text/html, */*;q=0.1":     http.StatusNotFound,
				"application/problem+json": http.StatusNotFound, "": http.StatusNotFound,
			} {
				r := missing
				r.header = header("Accept", accept)
				t.mustRefuse(status, r)
			}
		}},
		{name: "errors/correlation id", check: func(t *trial) {
			ids := map[string]bool{}
			for given, kept := range map[string]bool{
				"": false, "abc-123_x.y:z": true, strings.Repeat("a", 64): true, strings.Repeat("a",
					65): false, "with space": false, "a\"b": false, "é": false,
			} {
				for _, r := range []request{missing, {as: Developer, method: http.MethodGet, path: "functions"}} {
					if given != "" {
						r.header = header("X-Correlation-Id", given)
					}
					id := t.send(r).header.Get("X-Correlation-Id")
					if (id == given) != kept || ids[id] && !kept {
						t.Errorf("the id is %q where %q was given", id, given)
					}
					ids[id] = true
				}
			}
		}},
		{name: "errors/long headers are 431", check: func(t *trial) {
			r := missing
			r.header = header("X-Long", strings.Repeat("x", 40<<10))
			_, a, err := t.call(r) // not described with each operation: it never gets there
			if err != nil {
				t.Fatalf("%v", err)
			}
			equal(t, "the status", a.status, http.StatusRequestHeaderFieldsTooLarge)
			equal(t, "the status in the body", a.problem(t).Status, a.status)
			if err := openapitest.Problem(a.whole()); err != nil {
				t.Errorf("%v", err)
			}
		}},
		{name: "errors/HEAD is answered as GET", check: func(t *trial) {
			k, id := t.ticket(nil), t.name("config")
			t.Cleanup(func() { t.deleteConfig(id) })
			t.do(http.StatusOK, configRequest(http.MethodPut, id, least))
			for _, r := range []request{
				k.get(), missing, configRequest(http.MethodGet, id, ""), functionRequest(http.MethodGet, t.puppet),
				{as: Developer, method: http.MethodGet, path: "functions"},
				{as: Developer, method: http.MethodGet, path: "functions/" + t.puppet + "/log"},
				{as: Developer, method: http.MethodGet, path: "functions/" + t.puppet + "/versions"},
				{method: http.MethodGet, path: openapi.Path}, {method: http.MethodGet, path: "/nowhere"},
				{as: Nobody, method: http.MethodGet, path: "functions"},
			} {
				get := t.send(r)
				r.method = http.MethodHead
				head := t.send(r)
				equal(t, "HEAD "+r.path+": the body", string(head.body), "")
				equal(t, "HEAD "+r.path, head.status, get.status)
				for _, name := range []string{"Content-Type", "Cache-Control", "ETag", "WWW-Authenticate"} {
					equal(t, "HEAD "+r.path+": "+name, head.header.Get(name), get.header.Get(name))
				}
				if get.header.Get("Cache-Control") == "" {
					t.Errorf("GET %s has no Cache-Control", r.path)
				}
			}
		}},
		{name: "errors/HEAD has no body", check: func(t *trial) {
			r := missing
			r.method = http.MethodHead
			a := t.send(r)
			equal(t, "the body", string(a.body), "")
			if a.status < 400 {
				t.Errorf("got %v, want an error", a)
			}
		}},
		{name: "openapi/served to everybody", check: func(t *trial) {
			ours, err := openapi.JSON()
			if err != nil {
				t.Fatalf("%v", err)
			}
			served := t.do(http.StatusOK, request{method: http.MethodGet, path: openapi.Path})
			if string(canonical(served.body)) != string(canonical(ours)) {
				t.Errorf("the document that is served is not the one of this suite")
			}
		}},
	}
}

// bodies lists the requirements of every JSON body.
func bodies() []requirement {
	// Endpoints with a JSON body, and the beginning of a body.
	endpoints := func(t *trial) []request {
		return []request{
			t.creation(`{"properties":{"a":"`),
			configRequest(http.MethodPost, "", `{"matchmaking":{"name":"`),
			configRequest(http.MethodPut, "x", `{"matchmaking":{"name":"`),
			{as: Developer, method: http.MethodPost, path: "functions/actions/restart", body: `{"functions":["`},
			serverRequest(http.MethodPost, t.places()[0], `{"Connection":"`),
			serverRequest(http.MethodPut, t.places()[0]+"/x", `{"Connection":"`),
		}
	}
	return []requirement{
		{name: "bodies/415 for other content types", check: func(t *trial) {
			for _, r := range endpoints(t) {
				r.body = `{}`
				for _, kind := range []string{"none", "text/plain", "application/problem+json", "application/x-www-form-urlencoded",
					"application/json; charset=latin1", "application", "json"} {
					r.kind = kind
					t.mustRefuse(http.StatusUnsupportedMediaType, r, "Content-Type")
				}
				r.kind, r.header = "application/json", header("Content-Encoding", "gzip")
				t.mustRefuse(http.StatusUnsupportedMediaType, r, "Content-Encoding")
				r.header = nil
				for _, kind := range []string{"application/json; charset=utf-8", "Application/JSON",
					`application/json;charset="UTF-8"`, "application/json; charset=utf8", "application/json;charset=UTF8"} {
					r.kind = kind
					if a := t.send(r); a.status == http.StatusUnsupportedMediaType {
						t.Errorf("%s %s of %s: got %v", r.method, r.path, kind, a)
					} else if a.status == http.StatusCreated {
						t.forget(r, a)
					}
				}
			}
		}},
		{name: "bodies/413 at 65,536 bytes", check: func(t *trial) {
			for _, r := range endpoints(t) {
				begin := r.body
				for _, undeclared := range []bool{false, true} {
					r.undeclared = undeclared
					for _, size := range []int{65536, 65537, 1 << 20} {
						r.body = begin + strings.Repeat("A", size-len(begin))
						a := t.mustRefuse(http.StatusRequestEntityTooLarge, r, "65536")
						if a.status != http.StatusRequestEntityTooLarge {
							t.Errorf("that was %s %s of %d bytes", r.method, r.path, size)
						}
					}
					r.body = begin + strings.Repeat("A", 65535-len(begin))
					t.mustRefuse(http.StatusBadRequest, r)
				}
			}
		}},
		{name: "bodies/65,535 bytes are accepted", check: func(t *trial) {
			const body = `{"attributes":{"skill":1}}`
			for _, undeclared := range []bool{false, true} {
				r := t.creation(body + strings.Repeat(" ", 65535-len(body)))
				r.undeclared = undeclared
				t.forget(r, t.do(http.StatusCreated, r))
			}
		}},
		{name: "bodies/exactly one JSON value", check: func(t *trial) {
			for _, r := range endpoints(t) {
				if strings.HasPrefix(r.path, "configs") {
					continue // see configs/what is no JSON is a problem
				}
				for _, bad := range []string{" ", `{`, `{"a`, `{}{}`, `{} x`, `null`, `[]`, `"x"`, `7`, `'a'`, `{,}`, `{"a":1,}`,
					`// a`, "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}", "{\"\xff\":1}"} {
					r.body = bad
					t.mustRefuse(http.StatusBadRequest, r)
				}
				r.body, r.kind = "", "application/json"
				t.mustRefuse(http.StatusBadRequest, r, "empty")
			}
		}},
		{name: "bodies/deep nesting", check: func(t *trial) {
			for _, r := range endpoints(t) {
				for _, open := range []string{"[", `{"a":`} {
					for _, depth := range []int{41, 6000} {
						r.body = strings.Repeat(open, depth)
						t.mustRefuse(http.StatusBadRequest, r, "deep")
					}
				}
			}
		}},
	}
}

// forget deletes the ticket or backfill ticket of an answer.
func (t *trial) forget(r request, a answer) {
	var made struct{ ID string }
	a.decode(t, &made)
	if strings.HasPrefix(r.path, "tickets") {
		t.send(ticket{made.ID, r.behalf}.delete())
		return
	}
	t.send(serverRequest(http.MethodDelete, r.path+"/"+made.ID, ""))
}
