package pool_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/segmentation"
)

// model is an index of maps and loops.
type model map[string]*pb.Ticket

// valueOf is a ticket's attribute, or NaN if it has none.
func valueOf(t *pb.Ticket, attribute string) float64 {
	if attribute == pool.Created {
		return float64(t.Created)
	}
	found := math.NaN()
	for i, name := range t.AttributeNames {
		if v := t.AttributeValues[i]; name == attribute && !math.IsNaN(v) {
			found = v
		}
	}
	return found
}

func selects(f *pb.Filter, v float64) bool {
	switch {
	case math.IsNaN(v) || f.Min != nil && !(v >= *f.Min):
		return false
	case f.Max == nil || v < *f.Max:
		return true
	default:
		return f.Min != nil && *f.Min == *f.Max && v == *f.Max
	}
}

// isIn reports whether a ticket waits in a queue, "" for those without.
func isIn(t *pb.Ticket, queue string) bool {
	if queue == "" {
		return len(t.Queues) == 0
	}
	return slices.Contains(t.Queues, queue)
}

func (m model) members(queue string, p *pb.Pool) (ids []string) {
	for id, t := range m {
		leaves := func(f *pb.Filter) bool {
			if f.Count != "" {
				return !selects(f, float64(max(1, len(t.Players))))
			}
			return !selects(f, valueOf(t, f.Attribute))
		}
		if isIn(t, queue) && !slices.ContainsFunc(p.Filters, leaves) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// The model has few values, so that some equal the bounds of filters.
var (
	values = rapid.SampledFrom([]float64{
		math.Inf(-1), -2, -1, math.Copysign(0, -1), 0, 5e-324, 1, 1.5, 2, 1e18, math.Inf(1), math.NaN(),
	})
	attributes = rapid.SampledFrom([]string{"a", "b", "c", "rare1", "rare2", "rare3", pool.Created, ""})
	times      = rapid.Int64Range(now, now+5)
	ids        = rapid.StringMatching(`t[0-9]{1,2}`)
	queues     = rapid.SampledFrom([]string{"ranked", "casual", "rare"})
	contents   = rapid.SliceOf(rapid.Byte())

	tickets = rapid.Custom(func(t *rapid.T) *pb.Ticket {
		ticket := &pb.Ticket{Id: ids.Draw(t, "id"), Created: times.Draw(t, "created")}
		ticket.Owner = "owner of " + ticket.Id
		for k := range rapid.IntRange(-4, 3).Draw(t, "players") {
			ticket.Players = append(ticket.Players, &pb.Player{Id: fmt.Sprint(ticket.Id, "/", k)})
		}
		for range rapid.IntRange(0, 5).Draw(t, "attributes") {
			ticket.AttributeNames = append(ticket.AttributeNames, attributes.Draw(t, "name"))
			ticket.AttributeValues = append(ticket.AttributeValues, values.Draw(t, "value"))
		}
		if rapid.Bool().Draw(t, "queued") {
			ticket.Queues = rapid.SliceOfN(queues, 0, 3).Draw(t, "queues")
		}
		ticket.Properties = rapid.MapOfN(rapid.StringN(0, 2, -1), contents, 0, 3).Draw(t, "properties")
		return ticket
	})
	bounds = rapid.OneOf(values, rapid.SampledFrom([]float64{now, now + 1, now + 2.5, now + 4, now + 5}))
	filter = rapid.Custom(func(t *rapid.T) *pb.Filter {
		f := &pb.Filter{Attribute: attributes.Draw(t, "attribute")}
		if rapid.IntRange(0, 5).Draw(t, "counts") == 0 {
			f.Attribute, f.Count = "", pool.CountPlayers
		}
		if rapid.Bool().Draw(t, "has min") {
			f.Min = proto.Float64(bounds.Draw(t, "min"))
		}
		switch rapid.IntRange(0, 2).Draw(t, "max") {
		case 1:
			f.Max = proto.Float64(bounds.Draw(t, "max"))
		case 2:
			f.Max = f.Min
		}
		return f
	})
	pools = rapid.MapOfN(rapid.StringMatching(`p[0-9]`), rapid.Custom(func(t *rapid.T) *pb.Pool {
		return &pb.Pool{Filters: rapid.SliceOfN(filter, 0, 3).Draw(t, "filters")}
	}), 0, 4)
)

// An index and a model change alike, while a crowd comes and goes: columns turn from dense to sparse and back, the
// index is compacted, and saved and loaded.
func TestIndexAgreesWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]int{2, pool.DefaultNames}).Draw(t, "names")
		ix, m := pool.NewSized(names), model{}
		clock := time.Unix(1_700_000_000, 0)
		var s pool.Selection
		crowd := 0
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				ticket := tickets.Draw(t, "ticket")
				raw, err := proto.Marshal(ticket)
				if err != nil {
					t.Fatal(err)
				}
				if err := ix.Put(ticket.Id, raw); err != nil {
					t.Fatal(err)
				}
				clear(raw) // the index must have copied what it keeps
				m[ticket.Id] = ticket
			},
			"use": func(t *rapid.T) {
				clock = clock.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "minutes")) * time.Minute)
				ix.Use(clock, rapid.SliceOfN(attributes, 0, 3).Draw(t, "names"))
			},
			"drop": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				if _, there := m[id]; ix.Drop(id) != there {
					t.Fatalf("Drop(%q) = %t", id, !there)
				}
				delete(m, id)
			},
			"crowd comes": func(t *rapid.T) {
				for range rapid.IntRange(1, 400).Draw(t, "n") {
					crowd++
					ticket := &pb.Ticket{
						Id: fmt.Sprint("crowd", crowd), Created: now + int64(crowd%7),
						AttributeNames: []string{"crowd"}, AttributeValues: []float64{float64(crowd)},
					}
					if crowd%3 > 0 {
						ticket.Queues = []string{"crowd"}
					}
					raw, err := proto.Marshal(ticket)
					if err != nil {
						t.Fatal(err)
					}
					if err := ix.Put(ticket.Id, raw); err != nil {
						t.Fatal(err)
					}
					m[ticket.Id] = ticket
				}
			},
			"crowd leaves": func(*rapid.T) {
				for ; crowd > 0; crowd-- {
					id := fmt.Sprint("crowd", crowd)
					ix.Drop(id)
					delete(m, id)
				}
			},
			"": func(t *rapid.T) {
				if ix.Len() != len(m) {
					t.Fatalf("Len() = %d, want %d", ix.Len(), len(m))
				}
				pools := pools.Draw(t, "pools")
				queue := rapid.OneOf(queues, rapid.SampledFrom([]string{"", "crowd", "nobody"})).Draw(t, "queue")
				ix.View(func(v pool.View) {
					checkQueues(t, v, m)
					v = v.In(queue)
					v.Select(pools, &s)
					checkSelection(t, v, &s, m, queue, pools)
					checkCounts(t, v, &s, m, queue)
				})
			},
		})
	})
}

func checkQueues(t *rapid.T, v pool.View, m model) {
	want, crossing := map[string]int64{}, int64(0)
	for _, ticket := range m {
		names := slices.Compact(slices.Sorted(slices.Values(ticket.Queues)))
		for _, name := range names {
			want[name]++
		}
		if len(names) > 1 {
			crossing++
		}
	}
	if got := v.Crossing(); got != crossing {
		t.Fatalf("%d tickets wait in several queues, want %d", got, crossing)
	}
	if got := v.Queues(10); !maps.Equal(got, want) {
		t.Fatalf("Queues = %v, want %v", got, want)
	}
	if some := v.Queues(1); len(some) != min(1, len(want)) {
		t.Fatalf("Queues(1) = %v of %v", some, want)
	}
	for name, n := range want {
		if some := v.Queues(1, "none", name); len(some) != 1 || some[name] != n {
			t.Fatalf("Queues(1, %s) = %v of %v", name, some, want)
		}
	}
}

func checkSelection(
	t *rapid.T, v pool.View, s *pool.Selection, m model, queue string, pools map[string]*pb.Pool,
) {
	union := map[string]bool{}
	if len(pools) == 0 {
		for id, ticket := range m {
			if isIn(ticket, queue) {
				union[id] = true
			}
		}
	}
	for name, p := range pools {
		var got []string
		numbers := s.Pool(name)
		for i, n := range numbers {
			if i > 0 && numbers[i-1] >= n {
				t.Fatalf("pool %s: numbers %v do not ascend", name, numbers)
			}
			got = append(got, s.ID(int(n)))
			union[s.ID(int(n))] = true
		}
		slices.Sort(got)
		if want := m.members(queue, p); !slices.Equal(got, want) {
			t.Fatalf("pool %s: got %q, want %q", name, got, want)
		}
	}
	if s.N() != len(union) {
		t.Fatalf("N() = %d, the pools have %d", s.N(), len(union))
	}
	created := make([]float64, s.N())
	v.Column(s, pool.Created, created)
	if !slices.IsSorted(created) {
		t.Fatalf("created %v is not in order", created)
	}
	column := make([]float64, s.N())
	for _, name := range []string{"a", "b", "rare1", "crowd", pool.Created, "nobody", ""} {
		v.Column(s, name, column)
		for i, got := range column {
			if want := valueOf(m[s.ID(i)], name); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("ticket %s, attribute %q: got %v, want %v", s.ID(i), name, got, want)
			}
		}
	}
	for i := range s.N() {
		ticket := m[s.ID(i)]
		checkProperties(t, s, i, ticket.Properties)
	}
}

func checkProperties(t *rapid.T, s *pool.Selection, i int, want map[string][]byte) {
	list := s.Properties(i)
	byName := func(a, b pool.Property) int { return cmp.Compare(a.Name, b.Name) }
	if len(list) != len(want) || !slices.IsSortedFunc(list, byName) {
		t.Fatalf("properties %v, want %v by name", list, want)
	}
	for name, content := range want {
		if got, found := s.Property(i, name); !found || got != string(content) {
			t.Fatalf("property %q: got %q, %t, want %q", name, got, found, content)
		}
	}
	if _, found := s.Property(i, "not there"); found {
		t.Fatal("found a property that is not there")
	}
}

func checkCounts(t *rapid.T, v pool.View, s *pool.Selection, m model, queue string) {
	uses := map[string]int{}
	for _, name := range []string{"a", "b", "c", "rare1", "rare2", "rare3", "crowd", "", pool.Created} {
		for i := range s.N() {
			if !math.IsNaN(valueOf(m[s.ID(i)], name)) {
				uses[name]++
			}
		}
	}
	counted := pools.Draw(t, "counted")
	want := segmentation.Population{}
	for name, p := range counted {
		want[name] = int64(len(m.members(queue, p)))
	}
	if got := v.Count(counted); !maps.Equal(got, want) {
		t.Fatalf("Count(%v) = %v, want %v", counted, got, want)
	}
	delete(uses, pool.Created)
	delete(uses, "b")
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b))
	})
	left := names[min(len(names), 3):]
	names = slices.Sorted(slices.Values(names[:min(len(names), 3)]))
	got := v.Attributes(s, map[string]bool{"b": true}, 3)
	if !slices.Equal(got.Most, names) || got.Left != len(left) {
		t.Fatalf("of the attributes are %q and %d more, want %q and %q", got.Most, got.Left, names, left)
	}
	checkPropertyNames(t, s, m)
}

func checkPropertyNames(t *rapid.T, s *pool.Selection, m model) {
	uses := map[string]int{}
	for i := range s.N() {
		for name := range m[s.ID(i)].Properties {
			uses[name]++
		}
	}
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b))
	})
	left := len(names) - min(len(names), 2)
	names = slices.Sorted(slices.Values(names[:len(names)-left]))
	if got := s.PropertyNames(nil, nil, 2); !slices.Equal(got.Most, names) || got.Left != left {
		t.Fatalf("of the properties are %q and %d more, want %q and %d", got.Most, got.Left, names, left)
	}
}
