package party_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/state"
)

func owner() issuer.Claims {
	return issuer.Claims{Kind: auth.Developer, Subject: "olga", Role: "Owner", Project: "demo"}
}

// player sends a request about a player, whose id is escaped already.
func (w *world) player(c issuer.Claims, method, id string) (status int, text string) {
	w.t.Helper()
	token, err := w.tokens.Mint(c)
	must(w.t, err)
	at := strings.Replace(w.urls[0], "/parties", "/players/"+id, 1)
	req, err := http.NewRequestWithContext(w.t.Context(), method, at, http.NoBody)
	must(w.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer func() { must(w.t, res.Body.Close()) }()
	body, err := io.ReadAll(res.Body)
	must(w.t, err)
	return res.StatusCode, string(body)
}

func TestWhoMayExportAndErase(t *testing.T) {
	w := start(t, defaults)
	w.party("ada")
	for _, c := range []struct {
		claims issuer.Claims
		id     string
		status int
		says   string
	}{
		{owner(), "ada", 200, `"player":"ada"`},
		{issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: "matchmaking", Project: "demo"}, "ada", 200, `"ada"`},
		{owner(), "nobody", 200, `"nobody"`},
		{owner(), "a%2Fb%20%C3%A9", 200, `"a/b é"`},
		{issuer.Claims{Kind: auth.Player, Subject: "ada", Project: "demo"}, "ada", 403, "not for player tokens"},
		{issuer.Claims{Kind: auth.Server, Subject: "s", Project: "demo"}, "ada", 403, "not for server tokens"},
		{issuer.Claims{Kind: auth.Developer, Subject: "m", Role: "Manager", Project: "demo"}, "ada", 403, "the role Owner"},
		{issuer.Claims{Kind: auth.Service, Subject: "l", Scope: "matchmaking.read", Project: "demo"}, "ada", 403,
			"lacks the scope matchmaking"},
		{issuer.Claims{Kind: auth.Developer, Subject: "o", Role: "Owner", Project: "other"}, "ada", 403,
			"not for this project"},
		{owner(), strings.Repeat("x", 257), 400, "player: up to 256 bytes"},
		{owner(), "a%0Ab", 400, "player: up to 256 bytes"},
		{owner(), "%FF", 400, "player: up to 256 bytes"},
	} {
		for _, method := range []string{"GET", "DELETE"} {
			if status, text := w.player(c.claims, method, c.id); status != c.status || !strings.Contains(text, c.says) {
				t.Errorf("%s %s by %v: %d %s", method, c.id, c.claims, status, text)
			}
			if c.status == 200 && method == "GET" {
				continue
			}
			if status, _ := w.as("ada", "GET", "", ""); (status == 404) != (c.status == 200) && c.id == "ada" &&
				c.claims.Kind == auth.Developer {
				t.Errorf("after %s by %v, ada's party is %d", method, c.claims, status)
			}
		}
		if c.status == 200 && c.id == "ada" { // she was erased
			w.party("ada")
		}
	}
}

// A player may be in more places than an export has.
func TestExportIsBounded(t *testing.T) {
	w := start(t, defaults)
	for n := range 1001 {
		_, err := w.store.CreateBackfill(t.Context(), "demo", &pb.Backfill{Id: fmt.Sprint("g", n), Connection: "g:1",
			Roster: &pb.Roster{Players: []*pb.RosterPlayer{{Id: "ada"}}}})
		must(t, err)
	}
	status, text := w.player(owner(), "GET", "ada")
	var doc struct {
		Games    []struct{ Backfill string }
		Complete bool
	}
	if status != 200 || json.Unmarshal([]byte(text), &doc) != nil || len(doc.Games) != 1000 || doc.Complete {
		t.Errorf("%d: %d games, complete: %v", status, len(doc.Games), doc.Complete)
	}
}

func TestLooksForPlayersAreLimited(t *testing.T) {
	w := start(t, defaults)
	for n := range 30 {
		status, text := w.player(owner(), "GET", "ada")
		if status == 429 {
			if n < 10 || !strings.Contains(text, "too many requests") {
				t.Errorf("%d: %s", n, text)
			}
			return
		}
	}
	t.Error("nothing was refused")
}

// A player that is erased while her requests arrive is in no party with a leader that is gone, and bob keeps his party.
func TestEraseRacesWithThePlayer(t *testing.T) {
	w := start(t, defaults)
	for range 5 {
		made := w.party("bob", "ada")
		creator := w.store.Creator(nil)
		var both sync.WaitGroup
		both.Go(func() {
			for range 10 {
				one := &pb.Ticket{Id: state.NewID(w.store.Now()), Owner: "ada"}
				if err := creator.Create(t.Context(), "demo", one); err != nil {
					t.Error(err)
				}
			}
		})
		both.Go(func() {
			if status, text := w.player(owner(), "DELETE", "ada"); status != 200 {
				t.Errorf("%d %s", status, text)
			}
		})
		both.Wait()
		// What she did meanwhile goes with the next one.
		status, text := w.player(owner(), "DELETE", "ada")
		var left struct {
			Tickets int
			Party   bool
		}
		if status != 200 || json.Unmarshal([]byte(text), &left) != nil || left.Party {
			t.Fatalf("%d %s", status, text)
		}
		if n, err := w.store.Waiting(t.Context(), "demo"); err != nil || n > 0 {
			t.Fatalf("%d tickets wait, %v", n, err)
		}
		if p := w.do("bob", "GET", "/"+url.PathEscape(made.ID), ""); p.players() != "bob" || p.Leader != "bob" {
			t.Fatalf("bob's party has %s", p.players())
		}
		w.do("bob", "DELETE", "/"+url.PathEscape(made.ID), "")
	}
}
