package openapitest_test

import (
	"net/http"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/openapi/openapitest"
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestCheckerFindsWrongAnswers(t *testing.T) {
	c, err := openapitest.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const missing = `{"type":"https://httpstatuses.io/404","title":"Not Found","status":404,"detail":"d",
		"code":"ticketNotFound","instance":null,"extensions":{"correlationId":"id"}}`
	problem := header("Content-Type", "application/problem+json", "X-Correlation-Id", "id")
	plain := header("Content-Type", "application/json", "X-Correlation-Id", "id")
	for name, test := range map[string]struct {
		method, path string
		answer       openapitest.Answer
		wrong        string // "" when the answer is good
	}{
		"a ticket that was created": {"POST", "/p/matchmaking/api/v1/tickets",
			openapitest.Answer{201, plain, []byte(`{"id":"x","status":null}`)}, ""},
		"a member too many": {"POST", "/p/matchmaking/api/v1/tickets",
			openapitest.Answer{201, plain, []byte(`{"id":"x","status":null,"more":1}`)}, "more"},
		"a member too few": {"POST", "/p/matchmaking/api/v1/tickets", openapitest.Answer{201, plain, []byte(`{"id":"x"}`)},
			"status"},
		"another letter case": {"POST", "/p/matchmaking/api/v1/tickets",
			openapitest.Answer{201, plain, []byte(`{"Id":"x","status":null}`)}, "id"},
		"another status": {"POST", "/p/matchmaking/api/v1/tickets",
			openapitest.Answer{200, plain, []byte(`{"id":"x","status":null}`)}, "status is not supported"},
		"another content type": {"POST", "/p/matchmaking/api/v1/tickets",
			openapitest.Answer{201, header("Content-Type", "text/plain", "X-Correlation-Id", "id"), []byte(`x`)}, "text/plain"},
		"no correlation id": {"POST", "/p/matchmaking/api/v1/tickets",
			openapitest.Answer{201, header("Content-Type", "application/json"), []byte(`{"id":"x","status":null}`)},
			"X-Correlation-Id"},
		"a body that should not be": {"DELETE", "/p/matchmaking/api/v1/tickets?id=x",
			openapitest.Answer{200, plain, []byte(`{}`)},
			"has a body"},
		"no body": {"DELETE", "/p/matchmaking/api/v1/tickets?id=x",
			openapitest.Answer{200, header("X-Correlation-Id", "id"), nil}, ""},
		"a problem": {"GET", "/p/matchmaking/api/v1/tickets?id=x", openapitest.Answer{404, problem, []byte(missing)}, ""},
		"a problem of another status": {"GET", "/p/matchmaking/api/v1/tickets?id=x", openapitest.Answer{404, problem,
			[]byte(strings.Replace(missing, `"status":404`, `"status":400`, 1))}, "of status 400"},
		"a problem with another id": {"GET", "/p/matchmaking/api/v1/tickets?id=x", openapitest.Answer{404, problem,
			[]byte(strings.Replace(missing, `"id"`, `"other"`, 1))}, "correlation id"},
		"a problem with an invented code": {"GET", "/p/matchmaking/api/v1/tickets?id=x", openapitest.Answer{404, problem,
			[]byte(strings.Replace(missing, "ticketNotFound", "ticketLost", 1))}, "must be one of"},
		"a problem with the code of another status": {"GET", "/p/matchmaking/api/v1/tickets?id=x", openapitest.Answer{404,
			problem, []byte(strings.Replace(missing, "ticketNotFound", "partyFull", 1))}, "none of status 404"},
		"a challenge is missing": {"GET", "/p/matchmaking/api/v1/tickets?id=x", openapitest.Answer{401, problem,
			[]byte(strings.NewReplacer("404", "401", "Not Found", "Unauthorized",
				"ticketNotFound", "tokenExpired").Replace(missing))}, "WWW-Authenticate"},
		"an unknown path": {"GET", "/p/matchmaking/api/v1/nothing", openapitest.Answer{404, problem, []byte(missing)},
			""},
		"an unknown path that is there": {"GET", "/p/matchmaking/api/v1/nothing",
			openapitest.Answer{200, plain, []byte(`{}`)},
			"not supported"},
		"backfill at the root": {"POST", "/api/v2/backfill", openapitest.Answer{201, plain, []byte(`{"Id":"x"}`)}, ""},
		"backfill beside the base": {"POST", "/p/matchmaking/api/v2/backfill",
			openapitest.Answer{201, plain, []byte(`{"id":"x"}`)}, "Id"},
		"backfill below the base": {"POST", "/p/matchmaking/api/v1/api/v2/backfill",
			openapitest.Answer{201, plain, []byte(`{"Id":"x"}`)}, ""},
		"a folder before a function's name": {"POST", "/p/matchmaking/api/v1/functions/actions/restart",
			openapitest.Answer{200, plain, []byte(`{"functions":[]}`)}, ""},
		"a method without Allow": {"PATCH", "/p/matchmaking/api/v1/tickets", openapitest.Answer{405, problem,
			[]byte(strings.NewReplacer("404", "405", "Not Found", "Method Not Allowed",
				"ticketNotFound", "methodNotAllowed").Replace(missing))}, "Allow"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := http.NewRequestWithContext(t.Context(), test.method, "http://host"+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = c.Check(in, test.answer)
			switch {
			case test.wrong == "" && err != nil:
				t.Error(err)
			case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
				t.Errorf("got %v, want something about %q", err, test.wrong)
			}
		})
	}
}
