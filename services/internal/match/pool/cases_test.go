package pool_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/pool/pooltest"
)

// now is when the tests' tickets are created.
const now = 1_700_000_000_000

func marshalled(t testing.TB, ticket *pb.Ticket) []byte {
	t.Helper()
	raw, err := proto.Marshal(ticket)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func put(t testing.TB, ix *pool.Index, ticket *pb.Ticket) {
	t.Helper()
	if err := ix.Put(ticket.Id, marshalled(t, ticket)); err != nil {
		t.Fatal(err)
	}
}

// members are the ids that a pool selects.
func members(ix *pool.Index, p *pb.Pool) []string {
	var s pool.Selection
	ix.View(func(v pool.View) { v.Select(map[string]*pb.Pool{"all": p}, &s) })
	var ids []string
	for _, i := range s.Pool("all") {
		ids = append(ids, s.ID(int(i)))
	}
	slices.Sort(ids)
	return ids
}

func TestPoolsIncludeAndExcludeByTheTable(t *testing.T) {
	for _, dense := range []bool{true, false} {
		for _, c := range pooltest.Cases() {
			t.Run(fmt.Sprintf("dense=%t/%s", dense, c.Name), func(t *testing.T) {
				ix := pool.New()
				if !dense { // tickets without attributes make every column sparse
					for i := range 1000 {
						put(t, ix, &pb.Ticket{Id: fmt.Sprint("other", i), Created: now})
					}
				}
				enter := func(prefix string, tickets []pooltest.Ticket) (ids []string) {
					for i, attributes := range tickets {
						ticket := &pb.Ticket{Id: fmt.Sprint(prefix, i), Created: now}
						for _, name := range slices.Sorted(maps.Keys(attributes)) {
							ticket.AttributeNames = append(ticket.AttributeNames, name)
							ticket.AttributeValues = append(ticket.AttributeValues, attributes[name])
						}
						put(t, ix, ticket)
						ids = append(ids, ticket.Id)
					}
					return ids
				}
				in, out := enter("in", c.In), enter("out", c.Out)
				got := members(ix, &pb.Pool{Filters: c.Filters})
				for _, id := range in {
					if !slices.Contains(got, id) {
						t.Errorf("ticket %s is not in the pool", id)
					}
				}
				for _, id := range out {
					if slices.Contains(got, id) {
						t.Errorf("ticket %s is in the pool", id)
					}
				}
			})
		}
	}
}
