package invocation

import (
	"errors"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
)

// A function that is only checked gets its settings and pools and no ticket, whether some wait or not. What it keeps
// stays.
func TestFunctionThatIsCheckedGetsNoTicket(t *testing.T) {
	skilled := map[string]*pb.Pool{"skilled": {Filters: []*pb.Filter{{Attribute: "skill"}}}, "all": {}}
	for name, pools := range map[string]map[string]*pb.Pool{"pools": skilled, "no pools": nil} {
		for _, waiting := range []int{0, 4, 30} {
			for _, queue := range []string{"", "ranked"} {
				k := &Session{least: 1, most: 100, bases: map[string]*base{}}
				var got []string
				function := matchfn.New(func(r *matchfn.Run) error {
					got = r.Pools()
					for _, pool := range got {
						if n := len(r.Pool(pool)); n > 0 {
							t.Errorf("%s, %d wait: pool %s has %d tickets", name, waiting, pool, n)
						}
					}
					if r.Tickets() != 0 || r.Keeps() {
						t.Errorf("%s, %d wait: %d tickets, keeps: %t", name, waiting, r.Tickets(), r.Keeps())
					}
					return r.Settings().Err()
				}, matchfn.Attributes("skill"))
				last, err := new(Invoker).Invoke(t.Context(), &Run{
					Request: &pb.RunRequest{Pools: pools, Check: true, Queue: queue, Settings: []byte(`[]`), Now: 9000,
						Census: map[string]*pb.Pool{"every": {}, "skilled": skilled["skilled"]}},
					Index: indexOf(t, waiting, parties), Session: k, Began: time.Now(), Deadline: time.Now().Add(time.Hour),
				}, native{Function: function}, NeedsOf(sandbox.Manifest{Attributes: []string{"skill"}}))
				if _, failed := errors.AsType[FunctionError](err); !failed || last.GetError() == "" {
					t.Errorf("%s, %d wait: the function's error is %v", name, waiting, err)
				}
				want := []string{"all", "skilled"}
				if pools == nil {
					want = nil
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %d wait: the function got the pools %q", name, waiting, got)
				}
				counted := int64(waiting)
				if queue != "" {
					counted = 0
				}
				if n := last.GetStats().GetPopulation()["every"]; n != counted {
					t.Errorf("%s, %d wait: %d are counted in queue %q", name, waiting, n, queue)
				}
				if len(k.bases) > 0 || last.GetStats().GetTickets() != 0 {
					t.Errorf("%s: the function keeps tickets: %v", name, last.GetStats())
				}
			}
		}
	}
}
