package ticket_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// player is a client of a player that repeats nothing. It talks to the service through a gateway, which loses the
// answers to creates: status is what it answers instead, 0 breaks the connection.
func (r *replicas) player(t *testing.T, name string, status int) *client.Client {
	t.Helper()
	service, err := url.Parse(r.urls[0])
	must(t, err)
	service.Path = ""
	gateway := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(service) },
		ModifyResponse: func(answer *http.Response) error {
			if answer.Request.Method == http.MethodPost && status >= 0 {
				return errors.New("the answer is lost")
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			if status == 0 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(status)
		},
	})
	t.Cleanup(gateway.Close)
	c, err := client.New(client.Options{URL: gateway.URL, Project: "demo",
		Retry: client.Retry{Attempts: -1, Reconnects: -1},
		Token: client.StaticToken(r.mint(t, issuer.Claims{Kind: auth.Player, Subject: name}))})
	must(t, err)
	return c
}

// honest is the status of a gateway that loses nothing.
const honest = -1

func TestClientFindsTheTicketWhoseAnswerWasLost(t *testing.T) {
	r := start(t)
	older := r.create(t)
	for _, status := range []int{0, http.StatusBadGateway} {
		c := r.player(t, "ada", status)
		id, err := c.CreateTicket(t.Context(), client.TicketRequest{})
		if err != nil || id == "" || id == older {
			t.Fatalf("after %d: got the ticket %q, %v", status, id, err)
		}
		if got, err := c.GetTicket(t.Context(), id); err != nil || got.Assignment != nil {
			t.Errorf("after %d: the ticket is %+v, %v", status, got, err)
		}
		_, err = c.CreateTicket(t.Context(), client.TicketRequest{IdempotencyKey: "the caller's"})
		if client.Status(err) != status || err == nil {
			t.Errorf("after %d, with a key of the caller: %v", status, err)
		}
		ctx, enough := context.WithCancelCause(t.Context())
		_, err = c.CreateAndWait(ctx, client.TicketRequest{}, func(id string) { enough(errors.New("found " + id)) })
		if context.Cause(ctx) == nil || !errors.Is(err, context.Cause(ctx)) {
			t.Errorf("after %d: CreateAndWait: %v", status, err)
		}
	}
}

// A client that starts again goes on with the ticket that the player has.
func TestClientResumes(t *testing.T) {
	r := start(t)
	if _, err := r.player(t, "ada", honest).Resume(t.Context(), "ada", nil); !errors.Is(err, client.ErrNoTicket) {
		t.Errorf("in a project that lists no tickets: %v", err)
	}
	r.set(t, limited(1, ""))
	if _, err := r.player(t, "ada", honest).Resume(t.Context(), "ada", nil); !errors.Is(err, client.ErrNoTicket) {
		t.Errorf("without a ticket: %v", err)
	}
	_, err := r.player(t, "ada", 0).CreateTicket(t.Context(), client.TicketRequest{IdempotencyKey: "of this process"})
	if err == nil || client.Status(err) != 0 {
		t.Fatalf("the answer was not lost: %v", err)
	}
	again := r.player(t, "ada", honest)
	if _, err := again.CreateTicket(t.Context(), client.TicketRequest{}); client.Status(err) != http.StatusConflict {
		t.Errorf("another ticket: %v, want 409", err)
	}
	found := ""
	for range 2 { // while it waits, and when it has its match
		matched, err := again.Resume(t.Context(), "ada", func(id string) {
			if found == "" {
				r.seat(t, id, inMatch)
			}
			found = id
		})
		if err != nil || matched.ID != found || matched.Assignment.Connection != inMatch.GetConnection() {
			t.Errorf("got %+v, %v", matched, err)
		}
	}
	// A result that is an error is nothing to go on with.
	made, err := again.CreateTicket(t.Context(), client.TicketRequest{})
	must(t, err)
	r.seat(t, made, &pb.Assignment{Error: "AllocationError", Match: "m"})
	if got, err := again.Resume(t.Context(), "ada", nil); err != nil || got.ID != found {
		t.Errorf("after an error: got %+v, %v, want %s", got, err, found)
	}
	if _, err := r.player(t, "bob", honest).Resume(t.Context(), "ada", nil); client.Status(err) != http.StatusForbidden {
		t.Errorf("bob goes on with ada's ticket: %v", err)
	}
}

func TestTicketOfAKey(t *testing.T) {
	r := start(t)
	created := r.ask(t, http.MethodPost, r.urls[0], "{}", "Idempotency-Key", `"k \"1"`)
	lists := func(as *replicas, query string, headers ...string) (ids []string) {
		t.Helper()
		a := as.ask(t, http.MethodGet, r.urls[1]+query, "", headers...)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %+v", query, a)
		}
		for _, one := range a.Tickets {
			ids = append(ids, one.ID)
		}
		return ids
	}
	const ofKey = "?key=k+%221"
	if got := lists(r, ofKey); !slices.Equal(got, []string{created.ID}) {
		t.Errorf("listed are %q, want %s", got, created.ID)
	}
	if got := lists(r, "?key=another"); got != nil {
		t.Errorf("of another key: %q", got)
	}
	bob, lobby := *r, *r
	bob.token = r.mint(t, issuer.Claims{Kind: auth.Player, Subject: "bob"})
	if got := lists(&bob, ofKey); got != nil {
		t.Errorf("of bob's key: %q", got)
	}
	lobby.token = r.mint(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct})
	for player, want := range map[string][]string{"ada": {created.ID}, "bob": nil} {
		if got := lists(&lobby, ofKey, "X-On-Behalf-Of", player); !slices.Equal(got, want) {
			t.Errorf("of %s's key, to a game service: %q, want %q", player, got, want)
		}
	}
	for query, want := range map[string]int{"?key=": 400, "?key=%c3%a4": 400, "?key=a&key=b": 400,
		"?key=a&player=ada": 400, "?key=a&id=" + created.ID: 200} {
		if a := r.ask(t, http.MethodGet, r.urls[0]+query, ""); a.status != want {
			t.Errorf("%s: %+v, want %d", query, a, want)
		}
	}
	r.ask(t, http.MethodDelete, r.urls[0]+"?id="+created.ID, "")
	if got := lists(r, ofKey); got != nil {
		t.Errorf("after its end: %q", got)
	}
}
