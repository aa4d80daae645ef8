package pool

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

func enter(t *testing.T, ix *Index, id string, names ...string) {
	t.Helper()
	raw, err := proto.Marshal(&pb.Ticket{
		Id: id, Created: 1, AttributeNames: names, AttributeValues: make([]float64, len(names)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Put(id, raw); err != nil {
		t.Fatal(err)
	}
}

// footprint is the bytes in the columns of attributes.
func (ix *Index) footprint() int {
	n := 0
	for _, c := range ix.columns {
		n += 8*cap(c.keys) + 4*cap(c.slots)
	}
	return n
}

// It does what an attacker would do: few tickets with many attributes come first, so that these are common, then a
// crowd in which each ticket has names of its own.
func TestMemoryIsProportionalToTheValues(t *testing.T) {
	const rich, names, poor = 100, 200, 50_000
	ix := New()
	var many []string
	for i := range names {
		many = append(many, fmt.Sprint("many", i))
	}
	for i := range rich {
		enter(t, ix, fmt.Sprint("rich", i), many...)
	}
	if len(ix.dense) != names {
		t.Fatalf("%d columns are dense, want all %d", len(ix.dense), names)
	}
	for i := range poor {
		enter(t, ix, fmt.Sprint("poor", i), fmt.Sprint("own", i))
	}
	values := rich*names + poor
	if limit := 100 * values; ix.footprint() > limit {
		t.Errorf("%d bytes for %d values, more than %d", ix.footprint(), values, limit)
	}
	if len(ix.columns) != names+poor {
		t.Errorf("%d columns, want %d", len(ix.columns), names+poor)
	}
	for i := range poor {
		ix.Drop(fmt.Sprint("poor", i))
	}
	if len(ix.columns) != names {
		t.Errorf("%d columns for %d names in use", len(ix.columns), names)
	}
	for i := range rich {
		ix.Drop(fmt.Sprint("rich", i))
	}
	if len(ix.columns) != 0 || len(ix.dense) != 0 {
		t.Errorf("an empty index has %d columns", len(ix.columns))
	}
}

// An index is as small after a crowd as before it.
func TestCrowdLeavesNoMemory(t *testing.T) {
	const n = 50_000
	ix := New()
	for i := range n {
		enter(t, ix, fmt.Sprint(i), "skill", fmt.Sprint("rare", i%1000))
	}
	for i := range n - 10 {
		ix.Drop(fmt.Sprint(i))
	}
	limit := 4 * (slackSlots + 4*wordSlots)
	slots, keys, words := cap(ix.slots), cap(ix.created.keys), cap(ix.present)
	if slots > limit || keys > limit || words > limit/wordSlots+wordSlots {
		t.Errorf("memory for %d slots, %d keys and %d words of bits is kept for 10 tickets", slots, keys, words)
	}
	if limit := 100 << 10; ix.footprint() > limit {
		t.Errorf("columns of %d bytes for 10 tickets, more than %d", ix.footprint(), limit)
	}
}

// A ticket that is put over and over takes the slots of one.
func TestReplacingMakesNoHoles(t *testing.T) {
	ix := New()
	for range 10 * slackSlots {
		enter(t, ix, "one", "skill", "rare")
	}
	if len(ix.slots) > 2*slackSlots {
		t.Errorf("%d slots for one ticket", len(ix.slots))
	}
	if c := ix.columns["skill"]; c.uses != 1 {
		t.Errorf("one ticket uses its column %d times", c.uses)
	}
}

// A selection that is used again keeps neither tickets nor lists.
func TestReusedSelectionKeepsNothing(t *testing.T) {
	ix, all := New(), map[string]*pb.Pool{"all": {}}
	for i := range 100 {
		enter(t, ix, fmt.Sprint(i))
	}
	var s Selection
	for range 100 {
		ix.View(func(v View) { v.Select(all, &s) })
	}
	if cap(s.lists) > 1000 {
		t.Errorf("100 selections of 100 tickets take %d numbers", cap(s.lists))
	}
	ix.Reset()
	ix.View(func(v View) { v.Select(all, &s) })
	for _, kept := range s.tickets[:cap(s.tickets)] {
		if kept != nil {
			t.Fatalf("an empty selection keeps ticket %s alive", kept.id)
		}
	}
}

func TestEqualStampsAreOrderedByID(t *testing.T) {
	const n = 1000
	stamps, tickets, slots := make([]uint64, n), make([]*ticket, n), make([]uint32, n)
	for i := range n {
		stamps[i] = uint64(1 << 40 * (n - i/2)) // descending, by pairs
		tickets[i] = &ticket{id: fmt.Sprintf("%04d", n-i)}
		slots[i] = uint32(i)
	}
	new(sorter).sort(slots, stamps, tickets)
	want := make([]uint32, n)
	for i := range want {
		want[i] = uint32(n - 1 - i)
	}
	if !slices.Equal(slots, want) {
		t.Errorf("got %v, want them descending", slots)
	}
}
