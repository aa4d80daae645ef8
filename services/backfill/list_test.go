package backfill

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// listedGames is a page of backfill tickets.
type listedGames struct {
	BackfillTickets []struct {
		ID, State, Connection, Queue string
		Players                      []string
		Heard, Age                   float64
		Joining                      int
		Attributes                   map[string]float64
	}
	Next string
}

func (m *match) listed(t *testing.T, query string) (l listedGames) {
	t.Helper()
	r := m.do(t, http.MethodGet, base+query, "")
	r.expect(t, 200)
	if strings.Contains(r.body, "roster") {
		t.Error("properties are in " + r.body)
	}
	must(t, json.Unmarshal([]byte(r.body), &l))
	return l
}

// Developers see the games that fill up, without their properties; the server that called last comes first.
func TestDevelopersListBackfillTickets(t *testing.T) {
	m := start(t)
	server := m.token
	first := m.create(t, base, `{"Connection":"10.0.0.1:7777","attributes":{"free":2},"properties":{"roster":"AQI="},
		"queue":"quick","players":[{"id":"bob"}]}`)
	m.millis.Add(2000)
	second := m.create(t, base, `{}`)
	m.tickets(t, "ada")
	m.millis.Add(1000)
	m.do(t, http.MethodGet, base, "").problem(t, 403, "") // a server
	support := m.mint(t, issuer.Claims{Kind: auth.Developer, Project: "demo", Role: "Support"})
	m.token = support
	got := m.listed(t, "")
	if len(got.BackfillTickets) != 2 || got.BackfillTickets[0].ID != second || got.Next != "" {
		t.Fatalf("%+v", got)
	}
	one := got.BackfillTickets[1]
	if one.ID != first || one.State != "open" || one.Connection != "10.0.0.1:7777" || one.Queue != "quick" ||
		strings.Join(one.Players, " ") != "bob" || one.Heard != 3 || one.Age != 3 || one.Attributes["free"] != 2 {
		t.Errorf("%+v", one)
	}
	page := m.listed(t, "?limit=1")
	if len(page.BackfillTickets) != 1 || page.BackfillTickets[0].ID != second || page.Next == "" {
		t.Fatalf("%+v", page)
	}
	m.token = server
	m.delete(t, base+"/"+second).expect(t, 204) // the place of what is gone is still a place
	m.token = support
	page = m.listed(t, "?limit=1&after="+page.Next)
	if len(page.BackfillTickets) != 1 || page.BackfillTickets[0].ID != first {
		t.Fatalf("%+v", page)
	}
	for queue, n := range map[string]int{"quick": 1, "x": 0} {
		if got := m.listed(t, "?queue="+queue); len(got.BackfillTickets) != n {
			t.Errorf("%s: %+v", queue, got)
		}
	}
	m.propose(t, first, "ada")
	if one := m.listed(t, "").BackfillTickets[0]; one.Joining != 1 || one.State == "lapsed" {
		t.Errorf("%+v", one)
	}
	m.millis.Add(30_000)
	m.token = server
	m.post(t, base+"/"+first+"/approvals", "").expect(t, 200)
	m.token = support
	if one := m.listed(t, "").BackfillTickets[0]; one.Joining != 0 || one.Heard != 0 {
		t.Errorf("%+v", one)
	}
	for query, want := range map[string]int{"id=" + first: 1, "id=" + first + "&queue=x": 0, "id=" + second: 0, "id=": 0} {
		if page = m.listed(t, "?"+query); len(page.BackfillTickets) != want || page.Next != "" ||
			want > 0 && page.BackfillTickets[0].ID != first {
			t.Errorf("%s: %+v", query, page)
		}
	}
	for query, names := range map[string]string{"limit=0": "limit", "after=x": "after", "queue=a&queue=b": "queue"} {
		m.do(t, http.MethodGet, base+"?"+query, "").problem(t, 400, "query parameter "+names)
	}
}
