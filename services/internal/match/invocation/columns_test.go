package invocation

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/sandbox"
)

// junkAnd is tickets with invented names, each with its own, and some that have a skill and a kit.
func junkAnd(t *testing.T, junk, players int) *pool.Index {
	return indexOf(t, junk+players, func(i int) *pb.Ticket {
		ticket := &pb.Ticket{Id: fmt.Sprint("t", i), Created: int64(i + 1)}
		if i >= junk {
			ticket.AttributeNames, ticket.AttributeValues = []string{"mode", "skill"}, []float64{1, float64(i)}
			ticket.Properties = map[string][]byte{"kit": []byte(fmt.Sprint("kit", i))}
			return ticket
		}
		ticket.Properties = map[string][]byte{}
		for n := range 64 {
			name := fmt.Sprintf("junk%d-%d", i, n)
			ticket.AttributeNames = append(ticket.AttributeNames, name)
			ticket.AttributeValues = append(ticket.AttributeValues, float64(n))
			ticket.Properties[name] = []byte("x")
		}
		return ticket
	})
}

// Whatever names players invent, a function gets what its settings, its pools and its manifest name, and of a function
// that declares nothing they displace nothing that more tickets of its pools have. What it does not get is said.
func TestInventedNamesHideNothing(t *testing.T) {
	everyone := map[string]*pb.Pool{"all": {}}
	skilled := map[string]*pb.Pool{"all": {Filters: []*pb.Filter{{Attribute: "skill"}}}}
	for name, c := range map[string]struct {
		players  int
		settings string
		pools    map[string]*pb.Pool
		manifest sandbox.Manifest
		left     bool
	}{
		"a string in the settings": {1, `{"by":{"list":["kit","skill"]}}`, everyone, sandbox.Manifest{}, true},
		"a filter":                 {1, `{"show":"kit"}`, skilled, sandbox.Manifest{}, false},
		"a member of the settings": {1, `{"weights":{"skill":3,"kit":1}}`, everyone, sandbox.Manifest{}, true},
		"most tickets of its pool": {1, ``, skilled, sandbox.Manifest{}, false},
		"more tickets than others": {2, ``, everyone, sandbox.Manifest{}, true},
		"the manifest": {1, ``, everyone,
			sandbox.Manifest{Attributes: []string{"skill"}, Properties: []string{"kit"}}, false},
		"the setting that the manifest names": {1, `{"by":"skill","what":["kit"]}`, everyone,
			sandbox.Manifest{AttributeSettings: []string{"by"}, PropertySettings: []string{"what"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			index := junkAnd(t, 40, c.players)
			var attributes, properties int
			seen := 0
			f := matchfn.New(func(r *matchfn.Run) error {
				attributes, properties = r.LeftOut()
				if len(r.Attributes()) > 64+2 || len(r.Properties()) > 64+2 {
					t.Errorf("%d attributes and %d properties travel", len(r.Attributes()), len(r.Properties()))
				}
				for i, skill := range r.Attribute("skill") {
					kit, _ := r.Property("kit").Of(uint32(i))
					if !math.IsNaN(skill) && string(kit) == fmt.Sprint("kit", skill) {
						seen++
					}
				}
				return nil
			})
			for range 2 { // the second run has columns for what the first one found among the rest
				seen = 0
				r := &Run{Request: &pb.RunRequest{Pools: c.pools, Settings: []byte(c.settings)}, Index: index, Began: time.Now(),
					Deadline: time.Now().Add(time.Hour)}
				last, err := new(Invoker).Invoke(t.Context(), r, native{Function: f}, NeedsOf(c.manifest))
				if err != nil || seen != c.players {
					t.Fatalf("%d of %d players are seen with skill and kit, %v: %+v", seen, c.players, err, last.GetStats())
				}
				if attributes != r.LeftOut.Attributes || properties != r.LeftOut.Properties || r.LeftOut.Any() != c.left {
					t.Errorf("left out are %+v, the function knows of %d and %d", r.LeftOut, attributes, properties)
				}
				if says := r.LeftOut.String(); c.left && (!strings.Contains(says, `"junk`) || len(says) > 2000) {
					t.Error(says)
				}
				if s := last.GetStats(); s.GetCells() < s.GetTickets() || s.GetBytes() < 16*s.GetTickets() {
					t.Errorf("what it did is not counted: %v", s)
				}
			}
		})
	}
}

// A config that names more than a request may have fails its runs with a clear reason.
func TestSettingsThatNameTooManyFailTheRun(t *testing.T) {
	var list []string
	for i := range 300 {
		list = append(list, fmt.Sprintf("%q", fmt.Sprint("a", i)))
	}
	r := &Run{Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}},
		Settings: fmt.Appendf(nil, `{"by":[%s]}`, strings.Join(list, ","))}, Index: junkAnd(t, 0, 1),
		Began: time.Now(), Deadline: time.Now().Add(time.Hour)}
	needs := NeedsOf(sandbox.Manifest{AttributeSettings: []string{"by"}})
	_, err := new(Invoker).Invoke(t.Context(), r, native{Function: matchfn.New(nil)}, needs)
	mustSay(t, err, "the function declares 300 attributes together with those that its settings name, at most 256")
}

// small is an instance of a function that may use little memory.
type small struct{ native }

func (small) Memory() int { return 1 << 20 }

// A request that the function could not hold is refused before it is written, with the numbers.
func TestTooLongRequestIsRefusedBeforeItIsWritten(t *testing.T) {
	const names, tickets = 11_000, 2_000
	var all []string
	for i := range names {
		all = append(all, fmt.Sprint("a", i))
	}
	index := someTickets(t, tickets)
	for what, m := range map[string]sandbox.Manifest{"attributes": {Attributes: all}, "properties": {Properties: all}} {
		t.Run(what, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			sent := 0
			ran := matchfn.New(func(*matchfn.Run) error { t.Error("the function ran"); return nil })
			last, err := new(Invoker).Invoke(t.Context(), request(index, &sent), small{native{Function: ran}}, NeedsOf(m))
			runtime.ReadMemStats(&after)
			mustSay(t, err, "the request would have 169 MiB: 11000 columns × 2000 tickets; it may have 0 MiB, since the "+
				"function may use 1: declare fewer attributes or properties, or narrow the pools")
			if n := last.GetStats().GetBytes(); n < names*tickets*8 {
				t.Errorf("the request would have %d bytes", n)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
				t.Errorf("%d bytes were allocated to refuse it", used)
			}
		})
	}
}

// reserver is an instance that gives memory when it is asked, and meanwhile something happens.
type reserver struct {
	native
	buffer    []byte
	asked     int
	meanwhile func()
	inBuffer  bool
}

func (r *reserver) Buffer() []byte { return r.buffer }

func (r *reserver) Reserves(int) bool { return true }

func (r *reserver) Reserve(_ context.Context, n int, _ time.Duration) ([]byte, error) {
	r.asked++
	r.meanwhile()
	words := make([]uint64, n/8+4)
	r.buffer = make([]byte, 0)
	r.buffer = append(r.buffer, make([]byte, len(words)*8)...)
	return r.buffer, nil
}

func (r *reserver) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	r.inBuffer = &request[0] == &r.buffer[0]
	return r.native.Run(ctx, request, budget)
}

// A request is written where the function wants it, also the first one. The index may change while the function is
// asked: then the tickets are selected anew.
func TestRequestIsWrittenWhereTheFunctionWantsIt(t *testing.T) {
	for name, put := range map[string]int{"nothing happens": 0, "a ticket comes": 1, "many tickets come": 1000} {
		t.Run(name, func(t *testing.T) {
			index := someTickets(t, 100)
			var tickets []float64
			f := &reserver{native: native{Function: matchfn.New(func(r *matchfn.Run) error {
				tickets = slices.Clone(r.Created())
				return nil
			})}}
			f.meanwhile = func() {
				for i := range put {
					raw, err := proto.Marshal(&pb.Ticket{Created: int64(1_000_000 + i)})
					if err == nil {
						err = index.Put(fmt.Sprint("late", f.asked, i), raw)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				put = 0
			}
			sent := 0
			var inv Invoker
			last, err := inv.Invoke(t.Context(), request(index, &sent), f, Needs{})
			if err != nil || !f.inBuffer || len(tickets) != index.Len() || !slices.IsSorted(tickets) {
				t.Fatalf("%d of %d tickets, in the buffer: %v, %v", len(tickets), index.Len(), f.inBuffer, err)
			}
			if last.GetStats().GetTickets() != int64(index.Len()) {
				t.Errorf("stats: %v", last.GetStats())
			}
			asked := f.asked
			if _, err = inv.Invoke(t.Context(), request(index, &sent), f, Needs{}); err != nil || f.asked != asked {
				t.Errorf("asked %d times for a second request of the same size, %v", f.asked-asked, err)
			}
		})
	}
	index, n := someTickets(t, 1), 0
	f := &reserver{native: native{Function: matchfn.New(nil)}}
	f.meanwhile = func() {
		for range 2 << n {
			n++
			raw, _ := proto.Marshal(&pb.Ticket{Created: 1})
			_ = index.Put(fmt.Sprint("late", n), raw)
		}
	}
	sent := 0
	_, err := new(Invoker).Invoke(t.Context(), request(index, &sent), f, Needs{})
	mustSay(t, err, "the tickets of its pools became more while its request was written")
}
