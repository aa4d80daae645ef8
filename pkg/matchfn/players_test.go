package matchfn_test

import (
	"fmt"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

func TestRunHasThePlayersOfTheTickets(t *testing.T) {
	var got []string
	f := matchfn.New(func(r *matchfn.Run) error {
		players := r.Players()
		role, name, handles := players.Attribute("role"), players.Property("name"), players.Handles()
		for ticket := range uint32(r.Tickets()) {
			first, end := players.Of(ticket)
			for p := first; p < end; p++ {
				value, ok := name.Of(p)
				got = append(got, fmt.Sprint(ticket, "/", players.Count(ticket), " ", players.ID(p), " ", role[p], " ", ok,
					string(value), " ", handles[p] != 0))
			}
		}
		got = append(got, fmt.Sprint(players.Len(), players.Alone()))
		return nil
	}, matchfn.Players("role"), matchfn.PlayerProperties("name"), matchfn.PlayerIDs(), matchfn.PlayerHandles())
	party := fake.Ticket{Players: []fake.Player{
		{
			ID: "ada", Attributes: map[string]float64{"role": 1, "unread": 2},
			Properties: map[string][]byte{"name": []byte("A")},
		},
		{ID: "bob"},
	}}
	for want, tickets := range map[string][]fake.Ticket{
		"0/2 ada 1 trueA true, 0/2 bob NaN false true, 1/1  NaN false true, 3 false": {party, {}},
		"0/1  NaN false false, 1/1  NaN false true, 2 true":                          {{}, {}},
		"0 true":                       nil,
		"0/1 ada 1 trueA true, 1 true": {{Players: party.Players[:1]}},
	} {
		got = nil
		if _, err := fake.Run(f, fake.Request{Tickets: tickets}); err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%s, want %s: %v", strings.Join(got, ", "), want, err)
		}
	}
}

// A function that reads what it did not declare fails, in every test.
func TestUndeclaredPlayersFailTheRun(t *testing.T) {
	for want, f := range map[string]*matchfn.Function{
		"the players of tickets are read but were not declared: use Players in Register": matchfn.New(
			func(r *matchfn.Run) error { r.Players(); return nil }),
		`the player attribute "role" is read but was not declared: name it in Register`: matchfn.New(
			func(r *matchfn.Run) error { r.Players().Attribute("role"); return nil }, matchfn.Players("skill")),
		`the player property "x" is read but was not declared: name it in Register`: matchfn.New(
			func(r *matchfn.Run) error { r.Players().Property("x"); return nil }, matchfn.Players()),
		"handles of players are read but were not declared: use PlayerHandles in Register": matchfn.New(
			func(r *matchfn.Run) error { r.Players().Handles(); return nil }, matchfn.Players()),
		"ids of players are read but were not declared: use PlayerIDs in Register": matchfn.New(
			func(r *matchfn.Run) error { _ = r.Players().ID(0); return nil }, matchfn.PlayerHandles()),
	} {
		if _, err := fake.Run(f, fake.Request{Tickets: make([]fake.Ticket, 1)}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	named := matchfn.New(func(r *matchfn.Run) error { r.Players().Attribute("role"); return nil },
		matchfn.PlayerAttributesNamedBy("by"))
	if _, err := fake.Run(named, fake.Request{Settings: `{"by":"role"}`}); err != nil {
		t.Error(err)
	}
}
