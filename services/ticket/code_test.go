package ticket_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// TestCodesOfRefusals: programs tell the refusals of one status from each other.
func TestCodesOfRefusals(t *testing.T) {
	r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Settings.Streams.PerPlayer = 1 })
	says := func(c issuer.Claims, status int, code, method, path, body string, headers ...string) {
		t.Helper()
		got, text := r.as(t, c, method, r.urls[0]+path, body, headers...)
		if got != status || !strings.Contains(text, `"code":"`+code+`"`) {
			t.Errorf("%s %s %s: %d %s, want %d %s", method, path, body, got, text, status, code)
		}
	}
	ada, bob := player("ada"), player("bob")
	says(ada, 409, "ticketsNotListed", http.MethodGet, "?player=ada", "")
	r.set(t, &pb.ProjectSettings{
		Tickets:    &pb.TicketRules{PlayerLimit: 1, RefuseUnserved: true},
		Acceptance: &pb.AcceptanceRules{FirstPause: 30_000, LongestPause: 120_000},
	})
	says(ada, 400, "invalid", http.MethodPost, "", `{"queues":[""]}`)
	says(ada, 400, "queueUnserved", http.MethodPost, "", `{"queues":["nobody"]}`)
	id := r.create(t)
	says(ada, 409, "playerHasTicket", http.MethodPost, "", `{}`)
	r.as(t, bob, http.MethodPost, r.urls[1], `{}`, "Idempotency-Key", `"k"`)
	says(bob, 422, "idempotencyKeyReused", http.MethodPost, "", `{"attributes":{"a":1}}`, "Idempotency-Key", `"k"`)
	says(bob, 404, "ticketNotFound", http.MethodGet, "?id="+id, "")
	says(bob, 404, "ticketNotFound", http.MethodPost, "/acceptance?id="+id, `{"match":"m","accept":true}`)
	says(ada, 409, "acceptanceOver", http.MethodPost, "/acceptance?id="+id, `{"match":"m","accept":true}`)
	r.open(t, 0, id).expect("waiting", id)
	says(ada, 429, "tooManyStreams", http.MethodGet, "/events?id="+id, "", "Accept", "text/event-stream")
	r.offer(t, "m", id)
	r.answer(t, ada, id, `{"match":"m","accept":false}`, http.StatusNoContent)
	_, err := r.store.EndAcceptances(t.Context(), "demo", endings)
	must(t, err)
	says(ada, 429, "paused", http.MethodPost, "", `{}`)
	says(issuer.Claims{Kind: auth.Player, Subject: "ada", TTL: -time.Hour}, 401, "tokenExpired", http.MethodGet,
		"?id="+id, "")
	says(lobby(auth.ScopeRead), 403, "forbidden", http.MethodPost, "", `{}`)
}
