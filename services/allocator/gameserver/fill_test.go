package gameserver_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// service is the Backfill API for one backfill ticket.
type service struct {
	mu      sync.Mutex
	token   string // the one that is good
	ticket  client.BackfillTicket
	joining []client.Ticket
	deleted bool
	results int
	result  struct{ Teams []client.ReportedTeam }
	strange []string       // requests that make no sense
	open    chan float64   // what servers say of it
	said    map[string]int // methods
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[r.Method]++
	const at = "/p/matchmaking/api/v2/backfill/b1"
	switch {
	case r.Header.Get("Authorization") != "Bearer "+s.token:
		w.WriteHeader(http.StatusUnauthorized)
	case r.Method == http.MethodPost && r.URL.Path == "/p/matchmaking/api/v1/servers/token":
		s.token = "another"
		_ = json.NewEncoder(w).Encode(map[string]any{"token": s.token, "expires": time.Now().Add(time.Hour).UnixMilli()})
	case r.Method == http.MethodPost && r.URL.Path == at+"/approvals":
		answer := s.ticket
		answer.ID, answer.AssignedTickets = "b1", s.joining
		_ = json.NewEncoder(w).Encode(answer)
	case r.Method == http.MethodPut && r.URL.Path == at:
		s.ticket = client.BackfillTicket{}
		_ = json.NewDecoder(r.Body).Decode(&s.ticket)
		s.open <- s.ticket.Attributes["open"]
	case r.Method == http.MethodPost && r.URL.Path == "/p/matchmaking/api/v1/matches/m/result":
		s.results++
		if s.results == 1 { // the first one is lost
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&s.result)
		_, _ = w.Write([]byte(`{"teams":[],"reported":"2026-01-01T00:00:00Z","corrections":0}`))
	case r.Method == http.MethodDelete && r.URL.Path == at:
		s.deleted = true
		w.WriteHeader(http.StatusNoContent)
	default:
		s.strange = append(s.strange, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusNotFound)
	}
}

// A server with a backfill ticket keeps its game filled: a player that leaves makes room, one that joins is let in, and
// when all have left the server deletes its ticket and ends.
func TestGameIsFilledAgain(t *testing.T) {
	s := &service{token: "secret", open: make(chan float64, 100), said: map[string]int{}}
	s.ticket = client.BackfillTicket{Connection: "1.2.3.4:5", Attributes: map[string]float64{"open": 1, "skill": 1200}}
	api := httptest.NewServer(s)
	t.Cleanup(api.Close)
	r := provider.Request{
		Ref: provider.Ref{Project: "p", Match: "m"}, Teams: []provider.Team{{Tickets: []string{"a", "b"}}},
		Properties: []byte(`{"places":3}`), Backfill: "b1", Token: "secret",
	}
	payload, err := r.Payload()
	if err != nil {
		t.Fatal(err)
	}
	running := start(t, gameserver.Options{Match: payload, API: api.URL})
	at := running.at
	hello := func(ticket string, players int) {
		t.Helper()
		if w, err := gameservertest.Hello(t.Context(), at, ticket); err != nil || w.Players != players {
			t.Fatalf("%s: %+v, %v, want %d players", ticket, w, err, players)
		}
	}
	bye := func(ticket string) {
		t.Helper()
		if err := gameservertest.Bye(t.Context(), at, ticket); err != nil {
			t.Fatal(err)
		}
	}
	hello("a", 1)
	hello("b", 2)
	bye("a")
	if open := <-s.open; open != 2 {
		t.Fatalf("after one of two has left, with three places, %v are open", open)
	}
	if _, err := gameservertest.Hello(t.Context(), at, "a"); !errors.Is(err, gameservertest.ErrStranger) {
		t.Errorf("who has left is back: %v", err)
	}
	if _, err := gameservertest.Hello(t.Context(), at, "c"); !errors.Is(err, gameservertest.ErrStranger) {
		t.Errorf("somebody is let in who has not joined: %v", err)
	}
	s.mu.Lock()
	s.joining = []client.Ticket{{ID: "c"}}
	s.ticket.Attributes["open"] = 1 // as the function that sent c left it
	s.mu.Unlock()
	waittest.Until(t, "the server knows the player", func() bool {
		_, err := gameservertest.Hello(t.Context(), at, "c")
		return err == nil
	})
	hello("c", 2)
	bye("b")
	if open := <-s.open; open != 2 {
		t.Errorf("%v places are open", open)
	}
	bye("c")
	if err := <-running.ended; err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.deleted || len(s.strange) > 0 || s.ticket.Connection != "1.2.3.4:5" || s.ticket.Attributes["skill"] != 1200 {
		t.Errorf("deleted %v, strange requests %v, in the end %+v", s.deleted, s.strange, s.ticket)
	}
}

// A server that is told a winner reports it, again if that fails, and ends. In a match of one team each ticket is one.
func TestServerReportsWhoWon(t *testing.T) {
	one := []provider.Team{{Tickets: []string{"a", "b"}, Players: [][]string{{"ada"}, {"bob", "cy"}}}}
	two := []provider.Team{{Name: "red", Tickets: []string{"a"}}, {Name: "blue", Tickets: []string{"b"}}}
	player := func(id string) client.ReportedPlayer { return client.ReportedPlayer{ID: id} }
	for name, c := range map[string]struct {
		teams []provider.Team
		want  []client.ReportedTeam
	}{
		"teams": {two, []client.ReportedTeam{{Name: "red", Rank: 2}, {Name: "blue", Rank: 1}}},
		"tickets": {one, []client.ReportedTeam{{Rank: 2, Players: []client.ReportedPlayer{player("ada")}},
			{Rank: 1, Players: []client.ReportedPlayer{player("bob"), player("cy")}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{token: "secret", open: make(chan float64, 100), said: map[string]int{}}
			api := httptest.NewServer(s)
			t.Cleanup(api.Close)
			r := provider.Request{Ref: provider.Ref{Project: "p", Match: "m"}, Teams: c.teams, Token: "secret"}
			payload, err := r.Payload()
			if err != nil {
				t.Fatal(err)
			}
			running := start(t, gameserver.Options{Match: payload, API: api.URL})
			at := running.at
			if err := gameservertest.Won(t.Context(), at, "c"); !errors.Is(err, gameservertest.ErrStranger) {
				t.Errorf("a stranger wins: %v", err)
			}
			if err := gameservertest.Won(t.Context(), at, "b"); err != nil {
				t.Fatal(err)
			}
			if err := <-running.ended; err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, s.result.Teams); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A server that cannot fill its game does not call the service, and expects no player.
func TestGameThatNobodyFills(t *testing.T) {
	s := &service{token: "secret", open: make(chan float64, 100), said: map[string]int{}}
	api := httptest.NewServer(s)
	t.Cleanup(api.Close)
	for i, r := range []provider.Request{
		{Backfill: "b1"}, {Token: "secret"}, {Backfill: "b1", Token: "secret"},
	} {
		r.Ref, r.Teams = provider.Ref{Project: "p", Match: "m"}, []provider.Team{{Tickets: []string{"a"}}}
		payload, err := r.Payload()
		if err != nil {
			t.Fatal(err)
		}
		url := api.URL
		if i == 2 {
			url = ""
		}
		running := start(t, gameserver.Options{Match: payload, API: url})
		if err := gameservertest.Bye(t.Context(), running.at, "a"); err != nil {
			t.Fatal(err)
		}
		running.end()
		if err := <-running.ended; err != nil {
			t.Error(err)
		}
	}
	if len(s.said) > 0 {
		t.Errorf("they said %v", s.said)
	}
}

// A server whose token is about to expire asks for its next one, and goes on with that.
func TestServerRenewsItsToken(t *testing.T) {
	now := time.Now()
	claims := fmt.Sprintf(`{"iat":%d,"exp":%d}`, now.Add(-time.Hour).Unix(), now.Add(time.Minute).Unix())
	s := &service{open: make(chan float64, 100), said: map[string]int{}}
	s.ticket = client.BackfillTicket{Attributes: map[string]float64{"open": 0}} // as the server will say
	s.token = "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmVk"
	api := httptest.NewServer(s)
	t.Cleanup(api.Close)
	r := provider.Request{
		Ref: provider.Ref{Project: "p", Match: "m"}, Teams: []provider.Team{{Tickets: []string{"a", "b"}}},
		Backfill: "b1", Token: provider.Secret(s.token),
	}
	payload, err := r.Payload()
	if err != nil {
		t.Fatal(err)
	}
	at := start(t, gameserver.Options{Match: payload, API: api.URL}).at
	if err := gameservertest.Bye(t.Context(), at, "a"); err != nil {
		t.Fatal(err)
	}
	if open := <-s.open; open != 1 {
		t.Errorf("%v places are open", open)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "another" {
		t.Error("the token was not renewed")
	}
}
