package pool

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

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

// footprint is the bytes in the columns of attributes, and of values without one.
func (ix *Index) footprint() int {
	n := 0
	for _, c := range ix.columns {
		n += 8*cap(c.keys) + 4*cap(c.slots)
	}
	for _, t := range ix.tickets {
		n += len(t.rest)
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
	if len(ix.columns) != DefaultNames {
		t.Errorf("%d columns, want %d", len(ix.columns), DefaultNames)
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

// Invented names get no columns for more than the index was made for, and no run suffers: a name that a run asks for
// has its column and its values, also if it comes later than all others, and keeps it. Promise 9.
func TestInventedNamesTakeNoColumnFromThoseInUse(t *testing.T) {
	const names = 8
	ix, now := NewSized(names), time.Unix(1_700_000_000, 0)
	ix.Use(now, []string{"pinned"})
	for i := range 2000 { // so many that the index is compacted meanwhile
		enter(t, ix, fmt.Sprint("junk", i), fmt.Sprint("junk", i), fmt.Sprint("more", i))
		if i%2 == 1 {
			ix.Drop(fmt.Sprint("junk", i))
		}
	}
	for i := range 10 {
		enter(t, ix, fmt.Sprint("player", i), "pinned", "late")
	}
	if n := ix.Names(); n != names {
		t.Errorf("%d columns, want %d", n, names)
	}
	if c := ix.columns["pinned"]; c == nil || c.uses != 10 {
		t.Error("the pinned name has no column of all its values")
	}
	count := func(name string) (n int64, cells int64) {
		var w Work
		ix.ViewFor(&w, func(v View) { n = v.Count(map[string]*pb.Pool{"": {Filters: []*pb.Filter{{Attribute: name}}}})[""] })
		return n, w.Cells
	}
	n, before := count("late")
	if n != 10 || ix.columns["late"] != nil {
		t.Errorf("%d tickets have the attribute without a column, want 10", n)
	}
	if ix.Use(now, []string{"late", "junk0", "late"}) == 0 {
		t.Error("to build columns costs nothing")
	}
	n, after := count("late")
	if n != 10 || ix.columns["late"] == nil || after >= before/10 {
		t.Errorf("%d tickets have the attribute with a column, in %d cells, without one in %d", n, after, before)
	}
	if n := ix.Names(); n != names {
		t.Errorf("%d columns, want %d", n, names)
	}
	if n, _ := count("junk0"); n != 1 {
		t.Errorf("%d tickets have another attribute, want 1", n)
	}
	if n, _ := count("more0"); n != 1 {
		t.Errorf("%d tickets have an attribute that lost its column, want 1", n)
	}

	// More pinned names than the index was made for have columns, too, while runs ask for them.
	var many []string
	for i := range 2 * names {
		many = append(many, fmt.Sprint("junk", 2*i))
	}
	ix.Use(now, many)
	if n := ix.Names(); n != 2*names+2 {
		t.Errorf("%d columns, want those that are pinned, %d", n, 2*names+2)
	}
	ix.Use(now.Add(pinTime), []string{"pinned"})
	ix.Use(now.Add(pinTime), []string{"late", "junk100"})
	if n := ix.Names(); n != names {
		t.Errorf("%d columns, want %d", n, names)
	}
	// And there is an end to it.
	for i := range 3 * pinnedFactor {
		ix.Use(now.Add(pinTime+time.Duration(i)*time.Second), []string{fmt.Sprint("one", i), fmt.Sprint("two", i),
			fmt.Sprint("three", i)})
	}
	if n := ix.Names(); n > pinnedFactor*names {
		t.Errorf("%d columns, more than %d", n, pinnedFactor*names)
	}
	ix.Use(now.Add(4*pinTime), nil)
	for id := range maps.Clone(ix.tickets) {
		ix.Drop(id)
	}
	if ix.Names() != 0 || ix.ticketBytes != 0 {
		t.Errorf("an empty index has %d columns and %d bytes for tickets", ix.Names(), ix.ticketBytes)
	}
}

// The size that the index reports is about what it takes.
func TestSizeIsHonest(t *testing.T) {
	for name, body := range map[string]func(i int) *pb.Ticket{
		"plain": func(i int) *pb.Ticket {
			return &pb.Ticket{
				Created: int64(i), AttributeNames: []string{"a", "b", "c", "d"}, AttributeValues: []float64{1, 2, 3, 4},
			}
		},
		"own names": func(i int) *pb.Ticket {
			var t pb.Ticket
			for n := range 8 {
				t.AttributeNames = append(t.AttributeNames, fmt.Sprintf("attribute-%d-%d", i, n))
				t.AttributeValues = append(t.AttributeValues, float64(n))
			}
			return &t
		},
		"properties": func(i int) *pb.Ticket {
			return &pb.Ticket{Properties: map[string][]byte{"kit": make([]byte, 100), "name": []byte(fmt.Sprint(i))}}
		},
		"own properties": func(i int) *pb.Ticket {
			return &pb.Ticket{Properties: map[string][]byte{fmt.Sprintf("property-%032d", i): make([]byte, 10)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 20_000
			raws, ids := make([][]byte, n), make([]string, n)
			for i := range n {
				raw, err := proto.Marshal(body(i))
				if err != nil {
					t.Fatal(err)
				}
				raws[i], ids[i] = raw, fmt.Sprintf("019a9e3c-0000-7000-8000-%012d", i)
			}
			runtime.GC()
			runtime.GC() // what pools kept through the first one
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ix := New()
			for i := range n {
				if err := ix.Put(strings.Clone(ids[i]), raws[i]); err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			takes, says := int64(after.HeapAlloc)-int64(before.HeapAlloc), ix.Size()
			t.Logf("%d bytes a ticket, the index says %d", takes/n, says/n)
			if says < takes*7/10 || says > takes*14/10 {
				t.Errorf("takes %d bytes, the index says %d", takes, says)
			}
			runtime.KeepAlive(raws)
			runtime.KeepAlive(ids)
		})
	}
}

// However many names are invented, those that many tickets have are found.
func TestFrequentNamesAreFoundAmongInventedOnes(t *testing.T) {
	ix := NewSized(4)
	for i := range 6000 {
		names := []string{fmt.Sprint("junk", i), fmt.Sprint("more", i)}
		if i%50 == 0 {
			names = append(names, "skill")
		}
		raw, err := proto.Marshal(&pb.Ticket{AttributeNames: names, AttributeValues: make([]float64, len(names)),
			Properties: map[string][]byte{names[0]: nil, names[len(names)-1]: nil}})
		if err == nil {
			err = ix.Put(fmt.Sprint(i), raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var s Selection
	ix.View(func(v View) {
		v.Select(nil, &s)
		got := v.Attributes(&s, nil, 8)
		if !slices.Contains(got.Most, "skill") || got.Left == 0 || len(got.Some) != someNames {
			t.Errorf("the attributes are %+v", got)
		}
	})
	if got := s.PropertyNames(nil, nil, 8); !slices.Contains(got.Most, "skill") || got.Left == 0 {
		t.Errorf("the properties are %+v", got)
	}
	var many tally
	for i := range 100_000 {
		many.add(fmt.Sprint(i), 1)
		if i%500 == 0 {
			many.add("often", 1)
		}
	}
	if len(many.uses) > 2*tallied || !slices.Contains(many.names(64).Most, "often") {
		t.Errorf("%d names are counted, the most used are %q", len(many.uses), many.names(64).Most)
	}
}

// A view that is late selects nothing and says so, and what was done is counted.
func TestWorkIsCountedAndEnds(t *testing.T) {
	ix := New()
	for i := range 1000 {
		enter(t, ix, fmt.Sprint(i), "skill")
	}
	pools := map[string]*pb.Pool{"a": {Filters: []*pb.Filter{{Attribute: "skill"}, {Attribute: "skill"}}}}
	var s Selection
	for _, filters := range []int64{2, 3} {
		var w Work
		ix.ViewFor(&w, func(v View) { v.Select(pools, &s) })
		if s.N() != 1000 || w.Late() || w.Cells < filters*1000 || w.Cells > filters*1100 {
			t.Errorf("%d tickets, %d cells for %d filters", s.N(), w.Cells, filters)
		}
		pools["a"].Filters = append(pools["a"].Filters, &pb.Filter{Attribute: Created})
	}
	w := Work{Deadline: time.Unix(1, 0)}
	ix.ViewFor(&w, func(v View) { v.Select(pools, &s) })
	if s.N() != 0 || !w.Late() {
		t.Errorf("%d tickets after the deadline", s.N())
	}
}

// The memory of a long selection is given back.
func TestLongSelectionIsGivenBack(t *testing.T) {
	var s Selection
	long, short := New(), New()
	for i := range keptElements + 100 {
		enter(t, long, fmt.Sprint(i))
	}
	enter(t, short, "one")
	for _, ix := range []*Index{long, short, short} {
		ix.View(func(v View) { v.Select(map[string]*pb.Pool{"all": {}}, &s) })
	}
	if n := max(cap(s.tickets), cap(s.slots), cap(s.numbers), cap(s.lists)); n > keptElements {
		t.Errorf("memory for %d tickets is kept for one", n)
	}
}
