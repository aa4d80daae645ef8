package state_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/internal/state"
)

// named are the kinds of keys that name players, and whether they may after an erase. docs/privacy.md has the same.
var named = map[string]bool{
	"t:": false, "by_player": false, "party_players": false, "webhooks": false,
	"r:": false, "running": false, "ratings": false, "rated": false,
	"steps": false, "board:": false,
	// They go with others, or by themselves.
	"feed": true, "players:": true, "pauses:": true, "m:": true, "pa:": true, "bf:": true, "bm:": true,
}

// apart are the kinds of keys that the test does not write: they have no data of players.
var apart = []string{"bj:", "config_changes", "config_history", "config_names", "configs", "hosting_windows",
	"directors", "ended", "feed_name", "functions", "lease", "published", "queues", "deallocations", "schema", "unserved",
	"unused", "report", "o:", "outcomes", "awaited", "idle_sweeps", "backfill_sizes", "party_sweeps", "large_sizes",
	"stream_bytes", "secret:", "sim:", "rates"}

// kindsOfKeys are the ends of keys, without ids.
func kindsOfKeys(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("keys.go")
	must(t, err)
	kinds := state.ScriptKeys()
	for i, kind := range kinds {
		if end := strings.Index(kind, ":"); end > 0 {
			kinds[i] = kind[:end+1]
		}
	}
	for _, m := range regexp.MustCompile(`return string\(k\) \+ "([a-z_]+:?)"`).FindAllStringSubmatch(string(text), -1) {
		kinds = append(kinds, m[1])
	}
	if len(kinds) < 45 {
		t.Fatalf("keys.go is read wrongly: %q", kinds)
	}
	return kinds
}

// kindsWith lists the kinds of the stored keys, and the kinds that name a player.
func kindsWith(t *testing.T, s *state.Store, player string) (all, with []string) {
	t.Helper()
	contents, err := s.Contents(t.Context())
	must(t, err)
	if len(contents) == 0 {
		t.Fatal("nothing is stored")
	}
	for key, content := range contents {
		_, kind, _ := strings.Cut(strings.TrimPrefix(key, "mm:"), "}:")
		if kind == "" {
			kind = strings.TrimPrefix(key, "mm:")
		}
		if i := strings.Index(kind, ":"); i > 0 {
			kind = kind[:i+1]
		}
		all = append(all, kind)
		if strings.Contains(key, player) || strings.Contains(content, player) {
			with = append(with, kind)
		}
	}
	slices.Sort(all)
	slices.Sort(with)
	return slices.Compact(all), slices.Compact(with)
}

// remains is the answer to an erase.
type remains struct {
	Tickets int
	Party   bool
	Remains []struct {
		Kind, ID string
		Seconds  int
	}
	Detail string
}

func (r *remains) kinds() []string {
	var kinds []string
	for _, one := range r.Remains {
		kinds = append(kinds, one.Kind+" "+one.ID)
	}
	slices.Sort(kinds)
	return kinds
}

func (w *privacy) erase() (r remains) {
	w.t.Helper()
	if status := w.send(studio(), "DELETE", playerPath(gone), "", &r); status != 200 {
		w.t.Fatalf("an erase is answered %d %s", status, r.Detail)
	}
	return r
}

// A player that used everything is erased. Then all of Redis is searched for her. When something new is stored, this
// test wants to know whether it names players.
func TestErasedPlayerIsNowhereButWhereItIsSaid(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000, Limits: state.Limits{PlayerRate: 1, PlayerBurst: 20, ProjectRate: 1000,
			ProjectBurst: 1000}})
		w := newPrivacy(t, s)
		w.plant()
		all, with := kindsWith(t, s, gone)
		for _, kind := range kindsOfKeys(t) {
			if !slices.Contains(all, kind) && !slices.Contains(apart, kind) {
				t.Errorf("the kind of key %q is not written by this test: does it name players?", kind)
			}
		}
		if diff := cmp.Diff(sortedKeys(named), with); diff != "" {
			t.Fatalf("what names the player before: %s", diff)
		}
		var doc exported
		if status := w.send(studio(), "GET", playerPath(gone), "", &doc); status != 200 {
			t.Fatal("an export is answered", status)
		}
		doc.check(t)

		got := w.erase()
		want := []string{"acceptance m-asked", "feed ", "game g-joined", "game g-named", "game g-proposed",
			"kicked " + doc.KickedFrom[0], "pause ", "rate "}
		if diff := cmp.Diff(want, got.kinds()); diff != "" || got.Tickets != 13 || !got.Party {
			t.Errorf("%d tickets, party %v: %s", got.Tickets, got.Party, diff)
		}
		allowed := sortedKeys(named)
		allowed = slices.DeleteFunc(allowed, func(kind string) bool { return !named[kind] })
		if _, with = kindsWith(t, s, gone); !cmp.Equal(allowed, with) {
			t.Errorf("after the erase she is in %q, want %q", with, allowed)
		}
		w.othersGoOn()
		w.restGoes(got)
	})
}

// othersGoOn checks that what the player shared is there for the others.
func (w *privacy) othersGoOn() {
	w.t.Helper()
	for _, id := range []string{"played", "played-as-owner"} {
		got, err := w.store.Ticket(w.t.Context(), project, id)
		must(w.t, err)
		if got.Assignment.GetConnection() != "c:1" || got.Body.GetOwner() != "bob" ||
			!slices.Equal(state.PlayersOf(got.Body), []string{"bob"}) {
			w.t.Errorf("%s: %v", id, got)
		}
	}
	for _, id := range []string{"shared", "told"} {
		if got := ends(w.t, w.store, id, "deleted"); got.IsGoneFor("bob", false) || !slices.Equal(
			state.PlayersOf(got.Body), []string{"bob"}) {
			w.t.Errorf("%s: %v", id, got)
		}
	}
	if got, err := w.store.Ticket(w.t.Context(), project, "told"); err != nil || !got.IsGoneFor("", true) {
		w.t.Errorf("the ticket that a game service deleted is there for it: %v", err)
	}
	if lists, err := w.store.TicketsOf(w.t.Context(), project, "bob"); err != nil || len(lists) < 4 {
		w.t.Errorf("bob has %d tickets, %v", len(lists), err)
	}
	ended := endAcceptances(w.t, w.store)
	if len(ended.Failed) != 2 {
		w.t.Errorf("matches that asked her: %+v", ended)
	}
	for _, id := range []string{"other-f", "other-g"} {
		if got, err := w.store.Ticket(w.t.Context(), project, id); err != nil || got.Matched || got.Assignment != nil {
			w.t.Errorf("%s does not wait: %v, %v", id, got, err)
		}
	}
	var p shownParty
	if p = w.as("bob", "GET", "", ""); p.ID == "" {
		w.t.Error("bob lost his party")
	}
	isIn := func(player string) bool {
		id, err := w.store.PartyOf(w.t.Context(), project, player)
		must(w.t, err)
		return id != ""
	}
	if isIn(gone) || !isIn("bob") {
		w.t.Error("who is in a party:", isIn(gone), isIn("bob"))
	}
}

// restGoes lets what remains go, each in its way, until nothing is left.
func (w *privacy) restGoes(said remains) {
	t, s := w.t, w.store
	t.Helper()
	for _, one := range said.Remains {
		if (one.Seconds > 0) == (one.ID != "" && one.Kind != "acceptance") {
			t.Errorf("%+v: only what depends on others has no time", one)
		}
	}
	for _, key := range []string{"players:0", "players:1", "pauses:0", "pauses:1"} {
		left, err := s.Ends(t.Context(), "mm:{"+project+"}:"+key)
		must(t, err)
		contents, err := s.Contents(t.Context())
		must(t, err)
		if strings.Contains(contents["mm:{"+project+"}:"+key], gone) && (left <= 0 || left > 480_000) {
			t.Errorf("%s stays for %d ms", key, left)
		}
		must(t, s.Do(t.Context(), "PEXPIRE", "mm:{"+project+"}:"+key, "0"))
	}
	for _, id := range []string{"g-named", "g-joined", "g-proposed"} {
		_, _, err := s.DeleteBackfill(t.Context(), project, id, "")
		must(t, err)
	}
	w.as("zoe", "DELETE", "/"+w.as("zoe", "GET", "", "").ID, "")
	for _, second := range []int{1, 62, 123} {
		_, err := s.At(at(second)).TrimFeed(t.Context(), project)
		must(t, err)
	}
	if _, with := kindsWith(t, s, gone); len(with) > 0 {
		t.Errorf("in the end she is still in %q", with)
	}
	// Nothing is known of her, and an erase may be repeated.
	var doc exported
	if status := w.send(studio(), "GET", playerPath(gone), "", &doc); status != 200 || len(doc.Tickets) > 0 ||
		len(doc.RatingChanges)+len(doc.Leaderboards) > 0 ||
		doc.Party != nil || doc.Pause != nil || doc.Rate != nil || !doc.Complete {
		t.Errorf("an export is answered %d %+v", status, doc)
	}
	if again := w.erase(); again.Tickets != 0 || again.Party || len(again.Remains) > 0 {
		t.Errorf("the second erase: %+v", again)
	}
}

// exported is the answer to an export.
type exported struct {
	Player  string
	Tickets []struct {
		ID         string
		Properties map[string][]byte
		Players    []struct{ ID string }
		Assignment *struct{ Connection string }
	}
	Party *struct {
		ID         string
		Leader     bool
		Attributes map[string]float64
	}
	KickedFrom  []string
	Acceptances []struct {
		Match    string
		Accepted bool
	}
	Games         []struct{ Backfill, Team string }
	RatingChanges []struct{ Match, Rating string }
	Leaderboards  []struct {
		Rating string
		Rank   int
	}
	Pause, Rate *struct{ Count, Seconds, KeptSeconds int }
	Complete    bool
}

func (d *exported) check(t *testing.T) {
	t.Helper()
	tickets, games := map[string]string{}, map[string]string{}
	for _, one := range d.Tickets {
		tickets[one.ID] = ""
		if one.Assignment != nil {
			tickets[one.ID] = one.Assignment.Connection
		}
		for _, p := range one.Players {
			if p.ID != gone {
				t.Errorf("%s names %s", one.ID, p.ID)
			}
		}
		if one.ID == "mine-large" && len(one.Properties["loadout"]) != 2000 {
			t.Errorf("%s has %d bytes", one.ID, len(one.Properties["loadout"]))
		}
	}
	for _, g := range d.Games {
		games[g.Backfill] = g.Team
	}
	for _, id := range []string{"mine", "mine-large", "mine-claimed", "shared", "told", "mine-asked", "mine-proposed"} {
		if connection, is := tickets[id]; !is || connection != "" {
			t.Errorf("%s: %v, %q", id, is, connection)
		}
	}
	for _, id := range []string{"mine-lobby", "mine-played", "played", "played-as-owner"} {
		if tickets[id] != "c:1" {
			t.Errorf("%s has %q", id, tickets[id])
		}
	}
	// With joined, and the party's ticket.
	if len(tickets) != 13 || len(d.Tickets) != 13 || d.Player != gone || !d.Complete {
		t.Errorf("%s has %v", d.Player, tickets)
	}
	if d.Party == nil || d.Party.ID == "" || !d.Party.Leader || d.Party.Attributes != nil || len(d.KickedFrom) != 1 {
		t.Errorf("party %+v, kicked %v", d.Party, d.KickedFrom)
	}
	if diff := cmp.Diff(map[string]string{"g-named": "red", "g-joined": "", "g-proposed": ""}, games); diff != "" {
		t.Error(diff)
	}
	if len(d.Acceptances) != 1 || d.Acceptances[0].Match != "m-asked" || !d.Acceptances[0].Accepted {
		t.Errorf("acceptances %+v", d.Acceptances)
	}
	if len(d.RatingChanges) != 1 || d.RatingChanges[0].Match != "m-shared" || len(d.Leaderboards) != 1 ||
		d.Leaderboards[0].Rank != 1 {
		t.Errorf("changes of ratings %+v, leaderboards %+v", d.RatingChanges, d.Leaderboards)
	}
	if d.Pause == nil || d.Pause.Count != 1 || d.Pause.Seconds != 30 || d.Pause.KeptSeconds < 30 || d.Rate == nil ||
		d.Rate.KeptSeconds < 1 {
		t.Errorf("pause %+v, rate %+v", d.Pause, d.Rate)
	}
}

func sortedKeys(set map[string]bool) []string {
	var keys []string
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
