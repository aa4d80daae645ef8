package block_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// playersRequest has two tickets of one player and one of three.
func playersRequest(t *testing.T) []byte {
	t.Helper()
	var b block.RequestBuilder
	b.Start(block.Meta{Now: 5000, Tickets: 3})
	copy(b.Created(), []float64{1000, 2000, 3000})
	copy(b.Numbers(block.KindAttribute, "skill"), []float64{1, 2, 3})
	copy(b.Players(5), []uint32{0, 1, 4, 5})
	copy(b.Handles(block.KindPlayerHandle), []uint64{1, math.MaxUint64, 1 << 53, 7, 8})
	ids := b.Texts(block.KindPlayerID, len("adabobédora"))
	for i, id := range []string{"ada", "bob", "é", "", "dora"} {
		if !ids.Set(i, id) {
			t.Fatalf("no room for %q", id)
		}
	}
	roles := b.PlayerAttributes([]string{"role", "skill"})
	copy(roles[0], []float64{1, 2, math.NaN(), -1, 0})
	copy(roles[1], []float64{1.5, math.NaN(), math.NaN(), math.NaN(), math.NaN()})
	b.Columns(block.KindPlayerProperty, []string{"name"}, []int{1})[0].Set(2, "x")
	request, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(request)
}

// alonePlayersRequest has no section that says which players the tickets have: each has one.
func alonePlayersRequest(t *testing.T) []byte {
	t.Helper()
	var b block.RequestBuilder
	b.Start(block.Meta{Now: 5000, Tickets: 2})
	copy(b.Handles(block.KindPlayerHandle), []uint64{9, 8})
	copy(b.PlayerAttributes([]string{"role"})[0], []float64{3, 4})
	request, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(request)
}

func TestPlayersAreReadAsTheyWereWritten(t *testing.T) {
	request := playersRequest(t)
	r, err := block.ParseRequest(request)
	if err != nil {
		t.Fatal(err)
	}
	ids, _ := r.Values(block.KindPlayerID, "")
	role, _ := r.Numbers(block.KindPlayerAttribute, "role")
	name, _ := r.Values(block.KindPlayerProperty, "name")
	id, _ := ids.At(4)
	x, _ := name.At(2)
	if r.Players() != 5 || !slices.Equal(r.PlayerStarts, []uint32{0, 1, 4, 5}) || r.PlayerHandles[1] != math.MaxUint64 ||
		string(id) != "dora" || role[3] != -1 || string(x) != "x" {
		t.Errorf("%+v", r)
	}
	var s block.RequestSize
	s.Meta(block.Meta{Tickets: 3}, 0)
	s.Column("skill", 3, 0)
	s.Numbers("", 3+1)
	s.Column("", 5, 0)
	s.Column("", 5, len("adabobédora"))
	s.Column("role", 5, 0)
	s.Column("skill", 5, 0)
	s.Column("name", 5, 1)
	// Meta counts the section of the settings, which this request does not have.
	if n := s.Bytes(); n < int64(len(request)) || n > int64(len(request))+24 || s.Columns() != 6 {
		t.Errorf("%d bytes and %d columns were computed for %d", n, s.Columns(), len(request))
	}
}

func TestPlayersComeBeforeTheirColumns(t *testing.T) {
	var b block.RequestBuilder
	b.Start(block.Meta{Tickets: 1})
	b.Handles(block.KindPlayerHandle)
	b.Players(2)
	if _, err := b.Finish(); err == nil || !strings.Contains(err.Error(), "the players' columns before the players") {
		t.Error(err)
	}
}
