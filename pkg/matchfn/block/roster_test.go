package block_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// rosterRequest has three games, of two, no and one players.
func rosterRequest(t *testing.T) []byte {
	t.Helper()
	var b block.RequestBuilder
	b.Start(block.Meta{Now: 5000, Tickets: 2, Backfills: 3})
	copy(b.Numbers(block.KindBackfillCreated, ""), []float64{1, 2, 3})
	copy(b.BackfillVersion(), []int64{1, 2, 3})
	b.Values(block.KindBackfillConnection, "", func(i int) ([]byte, bool) { return []byte("a:1"), i != 1 })
	copy(b.BackfillPlayers(3), []uint32{0, 2, 2, 3})
	b.Texts(block.KindBackfillPlayerTeam, len("redé")).Set(0, "red")
	roles := b.Texts(block.KindBackfillPlayerRole, len("tank"))
	roles.Set(2, "tank")
	copy(b.BackfillBarred(2), []uint32{0, 1, 2, 0})
	copy(b.Handles(block.KindBackfillPlayerHandle), []uint64{7, math.MaxUint64, 1 << 53})
	ids := b.Texts(block.KindBackfillPlayerID, len("adabob"))
	ids.Set(0, "ada")
	ids.Set(1, "bob")
	copy(b.Numbers(block.KindBackfillPlayerAttribute, "role"), []float64{1, math.NaN(), -2})
	request, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(request)
}

func TestRosterIsReadAsItWasWritten(t *testing.T) {
	request := rosterRequest(t)
	r, err := block.ParseRequest(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	ids, _ := r.Values(block.KindBackfillPlayerID, "")
	teams, _ := r.Values(block.KindBackfillPlayerTeam, "")
	roles, _ := r.Values(block.KindBackfillPlayerRole, "")
	role, _ := r.Numbers(block.KindBackfillPlayerAttribute, "role")
	bob, _ := ids.At(1)
	red, _ := teams.At(0)
	_, other := teams.At(1)
	tank, _ := roles.At(2)
	if r.BackfillPlayers() != 3 || !slices.Equal(r.BackfillPlayerStarts, []uint32{0, 2, 2, 3}) || string(bob) != "bob" ||
		string(red) != "red" || other || string(tank) != "tank" || role[2] != -2 ||
		r.BackfillPlayerHandles[1] != math.MaxUint64 || !slices.Equal(r.BackfillBarred, []uint32{0, 1, 2, 0}) {
		t.Errorf("%+v", r)
	}
	var s block.RequestSize
	s.Meta(block.Meta{Tickets: 2, Backfills: 3}, 0)
	s.Backfills(3, 6)
	s.BackfillPlayers(3, 3, len("redé"), len("tank"))
	s.Numbers("", 2*2)
	s.Column("", 3, 0)
	s.Column("", 3, len("adabob"))
	s.Column("role", 3, 0)
	// Meta counts the section of the settings, which this request does not have.
	if n := s.Bytes(); n < int64(len(request)) || n > int64(len(request))+24 {
		t.Errorf("%d bytes were computed for %d", n, len(request))
	}
}

func TestRosterComesBeforeItsColumns(t *testing.T) {
	var b block.RequestBuilder
	b.Start(block.Meta{Backfills: 1})
	b.Handles(block.KindBackfillPlayerHandle)
	b.BackfillPlayers(2)
	if _, err := b.Finish(); err == nil || !strings.Contains(err.Error(), "before the players") {
		t.Error(err)
	}
}
