package pool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

var everyone = map[string]*pb.Pool{"all": {}}

// order are the ids of all tickets by number.
func order(ix *pool.Index) (ids []string) {
	var s pool.Selection
	ix.View(func(v pool.View) { v.Select(everyone, &s) })
	for i := range s.N() {
		ids = append(ids, s.ID(i))
	}
	return ids
}

// The numbers depend on the tickets alone: not on the order in which they came, and not on tickets before them.
func TestReplicasNumberTicketsAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var tickets []*pb.Ticket
	for i := range 5000 {
		tickets = append(tickets, &pb.Ticket{Id: fmt.Sprintf("%x", random.Uint64()), Created: now + int64(i/50)})
	}
	first := pool.New()
	for _, ticket := range tickets {
		put(t, first, ticket)
	}
	want := order(first)
	if len(want) != len(tickets) {
		t.Fatalf("%d tickets are selected, of %d", len(want), len(tickets))
	}

	second := pool.New()
	for i := range 3000 {
		put(t, second, &pb.Ticket{Id: fmt.Sprint("gone", i), Created: now + int64(i)})
	}
	for _, i := range random.Perm(len(tickets)) {
		put(t, second, tickets[i])
	}
	for i := range 3000 {
		second.Drop(fmt.Sprint("gone", i))
	}
	if got := order(second); !slices.Equal(got, want) {
		t.Error("a replica with another past numbers the tickets in another order")
	}
}

func TestSelectionOutlivesItsTickets(t *testing.T) {
	ix := pool.New()
	put(t, ix, &pb.Ticket{Id: "one", Created: now, Properties: map[string][]byte{"name": []byte("Ada")}})
	var s pool.Selection
	ix.View(func(v pool.View) { v.Select(everyone, &s) })
	put(t, ix, &pb.Ticket{Id: "one", Created: now, Properties: map[string][]byte{"name": []byte("Bob")}})
	ix.Reset()
	if got, _ := s.Property(0, "name"); s.ID(0) != "one" || got != "Ada" {
		t.Errorf("ticket %q with the property %q, want one with Ada", s.ID(0), got)
	}
	if ix.Len() != 0 || len(order(ix)) != 0 {
		t.Error("a reset index has tickets")
	}
	if s.Pool("other") != nil {
		t.Error("a pool that was not selected has tickets")
	}
}

func TestDamagedBodyChangesNothing(t *testing.T) {
	ix := pool.New()
	good := &pb.Ticket{Id: "one", Created: now, AttributeNames: []string{"skill"}, AttributeValues: []float64{1}}
	put(t, ix, good)
	whole := marshalled(t, good)
	for name, raw := range map[string][]byte{
		"cut off":             whole[:len(whole)-1],
		"no value":            marshalled(t, &pb.Ticket{AttributeNames: []string{"skill"}}),
		"no name":             marshalled(t, &pb.Ticket{AttributeValues: []float64{1}}),
		"created before 1970": marshalled(t, &pb.Ticket{Created: -1}),
		"created too late":    marshalled(t, &pb.Ticket{Created: 1 << 60}),
		"values cut off":      {5<<3 | 2, 3, 0, 0, 0},
		"property cut off":    {6<<3 | 2, 2, 1<<3 | 2, 9},
		"property without id": {6<<3 | 2, 1, 0},
	} {
		if err := ix.Put("one", raw); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	skilled := &pb.Pool{Filters: []*pb.Filter{below("skill", 2)}}
	if got := members(ix, skilled); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the pool has %q after damaged bodies, want one", got)
	}
}

// It reads while tickets change in pairs of attributes that must always agree.
func TestViewsAreConsistent(t *testing.T) {
	ix := pool.New()
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			var s pool.Selection
			var a, b []float64
			for {
				select {
				case <-done:
					return
				default:
				}
				ix.View(func(v pool.View) {
					v.Select(map[string]*pb.Pool{"all": {Filters: []*pb.Filter{{Attribute: "a"}}}}, &s)
					a, b = make([]float64, s.N()), make([]float64, s.N())
					v.Column(&s, "a", a)
					v.Column(&s, "b", b)
				})
				for i := range a {
					if a[i] != -b[i] {
						t.Errorf("ticket %s: a = %v, b = %v", s.ID(i), a[i], b[i])
						return
					}
				}
			}
		})
	}
	changes := 20_000
	if testing.Short() {
		changes = 5000
	}
	for i := range changes {
		v := float64(i)
		put(t, ix, &pb.Ticket{
			Id: fmt.Sprint(i % 500), Created: now + int64(i),
			AttributeNames: []string{"a", "b"}, AttributeValues: []float64{v, -v},
		})
		if i%3 == 0 {
			ix.Drop(fmt.Sprint(i % 700))
		}
	}
	close(done)
	readers.Wait()
}

// A selection allocates nothing, and a ticket little.
func TestReuseAllocatesNothing(t *testing.T) {
	ix := pool.New()
	ids, bodies := crowd(t, 5000)
	for i, id := range ids {
		if err := ix.Put(id, bodies[i]); err != nil {
			t.Fatal(err)
		}
	}
	pools := map[string]*pb.Pool{"low": {Filters: []*pb.Filter{below("skill", 0.5)}}, "all": {}}
	var s pool.Selection
	column := make([]float64, len(ids))
	if n := testing.AllocsPerRun(10, func() {
		ix.View(func(v pool.View) {
			v.Select(pools, &s)
			v.Column(&s, "skill", column)
		})
	}); n > 0 {
		t.Errorf("a selection allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := ix.Put(ids[0], bodies[0]); err != nil {
			t.Fatal(err)
		}
	}); n > 8 { // the ticket; its list of columns when it is not shared; what the decoder makes of names and properties
		t.Errorf("a ticket of four attributes allocates %v times", n)
	}
}

// FuzzPut compares what the index has of a ticket with the ticket.
func FuzzPut(f *testing.F) {
	for _, ticket := range []*pb.Ticket{
		{},
		{Id: "one", Owner: "someone", Created: now},
		{
			AttributeNames: []string{"a", "b"}, AttributeValues: []float64{1, -1},
			Properties: map[string][]byte{"p": {1}, "q": nil},
		},
		{Players: []*pb.Player{
			{Id: "ada", AttributeNames: []string{"a"}, AttributeValues: []float64{1}},
			{Id: "bob", Properties: map[string][]byte{"p": {1}}},
		}},
	} {
		f.Add(marshalled(f, ticket))
	}
	f.Add([]byte{4<<3 | 2, 1, 'a', 5<<3 | 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f})     // a value that is not packed
	f.Add([]byte{6<<3 | 2, 2, 1 << 3, 0})                                       // a property whose name is a number
	f.Add([]byte{6<<3 | 2, 3, 2<<3 | 2, 1, 'x', 6<<3 | 2, 3, 2<<3 | 2, 1, 'y'}) // two properties of one name
	f.Fuzz(func(t *testing.T, raw []byte) {
		ix := pool.New()
		err := ix.Put("one", slices.Clone(raw))
		var ticket pb.Ticket
		if proto.Unmarshal(raw, &ticket) != nil {
			if err == nil || ix.Len() > 0 {
				t.Fatalf("Put: %v, of damaged bytes", err)
			}
			return
		}
		valid := len(ticket.AttributeNames) == len(ticket.AttributeValues) && ticket.Created >= 0 && ticket.Created < 1<<44-1
		for _, p := range ticket.Players {
			valid = valid && len(p.AttributeNames) == len(p.AttributeValues)
		}
		if (err == nil) != valid {
			t.Fatalf("Put: %v, for %v", err, &ticket)
		}
		if !valid || len(ticket.Queues) > 0 { // the pools of everyone have no tickets of queues
			return
		}
		var s pool.Selection
		ix.View(func(v pool.View) {
			v.Select(everyone, &s)
			column := make([]float64, 1)
			for _, name := range append(ticket.AttributeNames, pool.Created) {
				v.Column(&s, name, column)
				if want := valueOf(&ticket, name); column[0] != want && want == want {
					t.Errorf("attribute %q is %v, want %v", name, column[0], want)
				}
			}
		})
		if len(s.Properties(0)) != len(ticket.Properties) {
			t.Errorf("properties %q, want %q", s.Properties(0), ticket.Properties)
		}
		for name, content := range ticket.Properties {
			if got, found := s.Property(0, name); !found || got != string(content) {
				t.Errorf("property %q is %q, want %q", name, got, content)
			}
		}
	})
}
