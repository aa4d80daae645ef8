package matchfn_test

import (
	"fmt"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

func TestRunHasThePlayersOfTheGames(t *testing.T) {
	var got []string
	f := matchfn.New(func(r *matchfn.Run) error {
		roster := r.BackfillPlayers()
		role := roster.Attribute("role")
		for game := range uint32(r.Backfills()) {
			first, end := roster.Of(game)
			for p := first; p < end; p++ {
				got = append(got, fmt.Sprint(game, " ", roster.ID(p), "/", roster.Team(p), "/", roster.Role(p), "/", role[p],
					"/", len(roster.Handles())))
			}
			got = append(got, fmt.Sprint(game, roster.Barred(game)))
		}
		return nil
	}, matchfn.Players("role"), matchfn.PlayerIDs(), matchfn.PlayerHandles(), matchfn.BackfillPlayers())
	ada := fake.Player{ID: "ada"}
	games := []fake.Backfill{{}, {Roster: []fake.RosterPlayer{
		{ID: "ada", Team: "red", Role: "tank", Attributes: map[string]float64{"role": 1, "unread": 2}}, {ID: "bob"},
	}}}
	if _, err := fake.Run(f, fake.Request{
		Tickets: []fake.Ticket{{}, {Players: []fake.Player{ada}}}, Backfills: games,
	}); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(got, ", "); all != "0 [], 1 ada/red/tank/1/2, 1 bob///NaN/2, 1 [1]" {
		t.Error(all)
	}
	got = nil
	if _, err := fake.Run(f, fake.Request{Backfills: games[:1]}); err != nil || strings.Join(got, "") != "0 []" {
		t.Error(got, err)
	}
}

func TestPlayersOfGamesMustBeDeclared(t *testing.T) {
	f := matchfn.New(func(r *matchfn.Run) error {
		r.BackfillPlayers()
		return nil
	}, matchfn.Players())
	_, err := fake.Run(f, fake.Request{})
	if err == nil || !strings.Contains(err.Error(), "use BackfillPlayers in Register") {
		t.Error(err)
	}
}
