package party_test

import (
	"testing"

	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
)

// A search counts to the rate of every member, so that friends gain nothing by taking turns as the leader.
func TestSearchIsChargedToEveryMember(t *testing.T) {
	store := embeddedtest.Store(t, state.Options{Limits: state.Limits{PlayerRate: 0.001, PlayerBurst: 2}})
	w := startAt(t, nil, func(o *party.Options) { o.Store = store })
	p := w.party("ada", "bob")
	search := "/" + p.ID + "/search"
	begin := func(player string, want int) {
		t.Helper()
		if status, p := w.as(player, "PUT", search, `{}`); status != want {
			t.Fatalf("%s starts the search: %d %s, want %d", player, status, p.Detail, want)
		}
		if want == 200 {
			w.do(player, "DELETE", search, "")
		}
	}
	begin("ada", 200)
	w.do("ada", "PUT", "/"+p.ID+"/leader", `{"player":"bob"}`)
	begin("bob", 200)
	begin("bob", 429)
	w.do("bob", "PUT", "/"+p.ID+"/leader", `{"player":"ada"}`)
	begin("ada", 429)
	// The bucket belongs to the member, whatever party it is in.
	w.do("bob", "DELETE", "/"+p.ID+"/members/bob", "")
	other := w.do("cy", "POST", "", `{}`)
	w.do("bob", "POST", "/members", `{"code":"`+other.Code+`"}`)
	search = "/" + other.ID + "/search"
	begin("cy", 429)
	w.do("bob", "DELETE", "/"+other.ID+"/members/bob", "")
	begin("cy", 200) // the refused search was not charged
	begin("cy", 200)
	begin("cy", 429)
}
