package pool_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
)

// variety is tickets that have all that a ticket can have.
func variety() []*pb.Ticket {
	return []*pb.Ticket{
		{Id: "solo", Owner: "ada", Created: now, AttributeNames: []string{"skill"}, AttributeValues: []float64{-1.5},
			Properties: map[string][]byte{"blob": {0, 255}}, Queues: []string{"ranked", "casual"}, Trace: []byte("span")},
		{Id: "nobody's", Created: now + 1},
		{Id: "party", Owner: "bob", Created: now + 2, AttributeNames: []string{"level", "skill"},
			AttributeValues: []float64{3, 4}, Players: []*pb.Player{
				{Id: "bob", AttributeNames: []string{"ping", "skill"}, AttributeValues: []float64{20, 4},
					Properties: map[string][]byte{"name": []byte("Bob")}},
				{Id: "eve"},
			}},
	}
}

func putEach(t testing.TB, ix *pool.Index, tickets ...*pb.Ticket) {
	t.Helper()
	for _, ticket := range tickets {
		put(t, ix, ticket)
	}
}

func saved(t testing.TB, ix *pool.Index) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ix.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLoadedIndexIsTheOneThatWasSaved(t *testing.T) {
	for _, owners := range []bool{false, true} {
		ix := pool.New()
		if owners {
			ix.KeepOwners()
		}
		putEach(t, ix, &pb.Ticket{Id: "gone", Created: now, AttributeNames: []string{"gone"}, AttributeValues: []float64{1}})
		putEach(t, ix, variety()...)
		ix.Drop("gone")
		data := saved(t, ix)
		again := pool.New()
		if err := again.Load(bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(saved(t, again), data) {
			t.Errorf("owners %t: what was loaded is saved otherwise", owners)
		}
		if again.KeepOwners() == owners {
			t.Errorf("owners %t: the other index does not know whether it keeps them", owners)
		}
		for _, name := range []string{"ada", "bob"} {
			if strings.Contains(string(data), name) != (owners || name == "bob") {
				t.Errorf("owners %t: %s is in the file, or missing", owners, name)
			}
		}
	}
}

// Loaded tickets share players with tickets that come later.
func TestLoadedIndexKnowsThePlayersWhoComeAgain(t *testing.T) {
	ix := pool.New()
	putEach(t, ix, variety()...)
	again := pool.New()
	if err := again.Load(bytes.NewReader(saved(t, ix))); err != nil {
		t.Fatal(err)
	}
	putEach(t, again, &pb.Ticket{Id: "second", Owner: "ada", Created: now + 5, Queues: []string{"ranked"}},
		&pb.Ticket{Id: "third", Owner: "eve", Created: now + 6}, &pb.Ticket{Id: "fourth", Owner: "zoe", Created: now + 7})
	again.View(func(v pool.View) {
		for queue, want := range map[string][]string{"": {"nobody's", "party", "fourth"}, "ranked": {"solo"}} {
			var s pool.Selection
			var got []string
			v.In(queue).Select(map[string]*pb.Pool{"all": {}}, &s)
			for i := range s.N() {
				got = append(got, s.ID(i))
			}
			if !slices.Equal(got, want) {
				t.Errorf("selected of queue %q are %q, want %q", queue, got, want)
			}
			if span, _ := s.Trace(0); queue != "" && span != "span" {
				t.Errorf("the span is %q", span)
			}
		}
	})
}

func TestLoadRefusesWhatSaveDidNotWrite(t *testing.T) {
	ix := pool.New()
	putEach(t, ix, variety()...)
	data := saved(t, ix)
	refused := func(what string, ix *pool.Index, data []byte) {
		t.Helper()
		had := ix.Len()
		if err := ix.Load(bytes.NewReader(data)); err == nil {
			t.Errorf("%s was loaded", what)
		} else if ix.Len() > 0 {
			t.Errorf("%s: %d tickets, and %d before", what, ix.Len(), had)
		}
	}
	for n := range data {
		refused("a part", pool.New(), data[:n])
	}
	refused("more than an index", pool.New(), append(slices.Clone(data), 0))
	flags := slices.Clone(data)
	flags[0] = 2
	refused("an unknown flag", pool.New(), flags)
	full := pool.New()
	putEach(t, full, variety()[0])
	refused("an index on top of another", full, data)
	keeps := pool.New()
	keeps.KeepOwners()
	refused("an index without the ids of owners", keeps, data)
	const head = 1 + 16 + 1 // the number of tickets is the last byte
	twice := slices.Concat(data[:head-1], []byte{6}, data[head:], data[head:])
	refused("each ticket twice", pool.New(), twice)
}

func FuzzLoad(f *testing.F) {
	ix := pool.New()
	putEach(f, ix, variety()...)
	f.Add(saved(f, ix))
	f.Add(saved(f, pool.New()))
	f.Fuzz(func(t *testing.T, data []byte) {
		ix := pool.New()
		if err := ix.Load(bytes.NewReader(data)); err != nil {
			if ix.Len() > 0 {
				t.Errorf("%d tickets after an error", ix.Len())
			}
			return
		}
		if err := ix.Save(io.Discard); err != nil {
			t.Error(err)
		}
	})
}
