package config

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// changed is a page of GET /changes.
type changed struct {
	Changes []struct{ ID, Time, Kind, Name, Action, By, ETag string }
	Next    string
}

// text is kind, name, action, author and ETag of each.
func (c changed) text() string {
	var all []string
	for _, one := range c.Changes {
		all = append(all, strings.TrimSpace(one.Kind+" "+one.Name+" "+one.Action+" "+one.By+" "+one.ETag))
	}
	return strings.Join(all, "\n")
}

func (s *studio) changes(t *testing.T, query string) (c changed) {
	t.Helper()
	r := s.do(t, http.MethodGet, "/changes"+query, "")
	r.expect(t, 200)
	if strings.Contains(r.body, "hunter") {
		t.Error("a secret is in " + r.body)
	}
	must(t, json.Unmarshal([]byte(r.body), &c))
	return c
}

// Each change is told once, the newest first, with its author; what was refused or only checked is none.
func TestChangesAreOneFeed(t *testing.T) {
	s := startAsOwner(t)
	if got := s.changes(t, ""); got.Changes == nil || len(got.Changes) > 0 || got.Next != "" {
		t.Errorf("before there is any: %+v", got)
	}
	first := s.put(t, "a", hosted("AK1", "hunter1")).expect(t, 200)
	s.put(t, "a", hosted("AK1", "hunter2"), "If-Match", `"77"`).problem(t, 409, "ETag")
	s.do(t, http.MethodPost, "/configs/actions/check", `{"id":"a","config":`+hosted("AK1", "hunter3")+`}`)
	settings := s.putSettings(t, "{}").expect(t, 200)
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "maria", Project: "demo", Role: "Owner"})
	second := s.put(t, "a", hosted("AK2", "hunter4")).expect(t, 200)
	s.delete(t, "a").expect(t, 204)
	for range 2 { // within an hour it counts once
		must(t, s.store.NoteErasure(t.Context(), "demo", "maria"))
	}
	want := "player  erased maria\nconfig a deleted maria\nconfig a put maria " + second + "\nsettings  put olga " +
		settings + "\nconfig a put olga " + first
	if got := s.changes(t, ""); got.text() != want || !strings.HasSuffix(got.Changes[0].Time, "Z") {
		t.Errorf("it has\n%s, want\n%s", got.text(), want)
	}
	var pages []string
	for page := s.changes(t, "?limit=2"); ; page = s.changes(t, "?limit=2&after="+page.Next) {
		if len(page.Changes) > 0 {
			pages = append(pages, page.text())
		}
		if page.Next == "" {
			break
		}
	}
	if got := strings.Join(pages, "\n"); got != want || len(pages) != 3 {
		t.Errorf("pages have\n%q", pages)
	}
	for query, n := range map[string]int{"?kind=config": 3, "?by=olga": 2, "?name=a&by=maria": 2, "?kind=function": 0} {
		if got := s.changes(t, query); len(got.Changes) != n {
			t.Errorf("%s: %s", query, got.text())
		}
	}
	for query, names := range map[string]string{"kind=x": "kind", "limit=201": "limit", "after=x": "after",
		"after=1-": "after"} {
		s.do(t, http.MethodGet, "/changes?"+query, "").problem(t, 400, "query parameter "+names)
	}
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "sue", Project: "demo", Role: "Support"})
	s.changes(t, "")
	s.token = s.mint(t, issuer.Claims{Kind: auth.Player, Subject: "eve", Project: "demo"})
	s.do(t, http.MethodGet, "/changes", "").problem(t, 403, "")
}

// A key that signs the tokens of game servers is noted when it is another one than the last, whatever changed between,
// and names no key material.
func TestServerKeysAreNoted(t *testing.T) {
	s := startAsOwner(t)
	for _, key := range []string{"k1", "k1", "k2", "k1"} {
		must(t, s.store.NoteServerKey(t.Context(), "demo", key))
		must(t, s.store.NoteErasure(t.Context(), "demo", key))
	}
	for range 33 { // more than are looked at for an erasure
		s.putSettings(t, "{}").expect(t, 200)
	}
	must(t, s.store.NoteServerKey(t.Context(), "demo", "k1"))
	want := "key k1 signs operator\nkey k2 signs operator\nkey k1 signs operator"
	if got := s.changes(t, "?kind=key").text(); got != want {
		t.Error(got)
	}
	if got := s.changes(t, "?kind=player").text(); got != "player  erased k2\nplayer  erased k1" {
		t.Error(got)
	}
}
