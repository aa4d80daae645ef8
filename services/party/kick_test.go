package party_test

import (
	"fmt"
	"strings"
	"testing"

	"matchmaker.dev/services/party"
)

// TestKicksAreRemembered removes as many players as a party remembers. All of them stay out, and no further one is
// removed.
// Promise 11.
func TestKicksAreRemembered(t *testing.T) {
	w := start(t, func(s *party.Settings) { s.Rate = 0 })
	p := w.party("ada")
	for n := range 100 {
		player := fmt.Sprintf("troll%d", n)
		w.do(player, "POST", "/members", `{"code":"`+p.Code+`"}`)
		p = w.do("ada", "DELETE", "/"+p.ID+"/members/"+player, "")
	}
	w.do("bob", "POST", "/members", `{"code":"`+p.Code+`"}`)
	p = w.do("ada", "PUT", "/"+p.ID+"/search", `{}`)
	status, refused := w.as("ada", "DELETE", "/"+p.ID+"/members/bob", "")
	if want := "the party has removed 100 players, the most it remembers: end it and make another one"; status != 409 ||
		refused.Detail != want || refused.Code != "tooManyKicks" {
		t.Errorf("one more kick: %d %q %s, want 409 %q", status, refused.Detail, refused.Code, want)
	}
	// Nothing has changed: the code lets others join, bob is a member, and the search goes on.
	now := w.do("ada", "GET", "/"+p.ID, "")
	if now.Revision != p.Revision || now.Code != p.Code || now.players() != "ada bob" || now.Search == nil ||
		now.Search.Ticket != p.Search.Ticket || w.waiting() != 1 {
		t.Errorf("the refused kick changed the party: %+v, was %+v, %d tickets wait", now, p, w.waiting())
	}
	for _, player := range []string{"troll0", "troll99"} {
		status, refused := w.as(player, "POST", "/members", `{"code":"`+now.Code+`"}`)
		if status != 404 || !strings.Contains(refused.Detail, "code") {
			t.Errorf("%s joins again: %d %s", player, status, refused.Detail)
		}
	}
	// Players leave and join as before, and the leader ends the party.
	if status, left := w.as("bob", "DELETE", "/"+p.ID+"/members/bob", ""); status != 204 {
		t.Errorf("bob leaves: %d %s", status, left.Detail)
	}
	w.do("bob", "POST", "/members", `{"code":"`+w.do("ada", "GET", "", "").Code+`"}`)
	w.do("ada", "DELETE", "/"+p.ID, "")
	// The next party may remove him.
	p = w.party("ada", "bob")
	if p = w.do("ada", "DELETE", "/"+p.ID+"/members/bob", ""); p.players() != "ada" {
		t.Errorf("the next party has %s", p.players())
	}
}
