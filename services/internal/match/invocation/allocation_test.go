package invocation

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
)

// neighbours proposes pairs of neighbours.
func neighbours(r *matchfn.Run) error {
	skill := r.Attribute("skill")
	for i := uint32(0); int(i)+1 < len(skill); i += 2 {
		r.Propose(skill[i], i, i+1)
	}
	return nil
}

// A run over a hundred times as many tickets has no more allocations, except for the parts of its answer, from the
// index to the marshalled message.
func TestRunAllocatesNothingForItsTickets(t *testing.T) {
	allocations := func(tickets int) (count float64, parts int) {
		index := indexOf(t, tickets, func(i int) *pb.Ticket {
			return &pb.Ticket{
				Id: fmt.Sprintf("019a9e3c-0000-7000-8000-%012d", i), Created: int64(i),
				AttributeNames: []string{"level", "ping", "region", "skill"}, AttributeValues: []float64{1, 2, 3, float64(i)},
			}
		})
		var inv Invoker
		var sent []byte
		least, proposals := 0.0, 0
		send := func(part *pb.RunPart) (err error) {
			parts++
			proposals += len(part.GetPlain().GetScores())
			sent, err = proto.MarshalOptions{}.MarshalAppend(sent[:0], part)
			return err
		}
		r := &Run{
			Index: index, Answer: send, Began: time.Now(), Deadline: time.Now().Add(time.Hour),
			Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {Filters: []*pb.Filter{{Attribute: "level",
				Min: &least}}}}},
		}
		instance, needs := native{Function: matchfn.New(neighbours)}, NeedsOf(sandbox.Manifest{})
		run := func() {
			parts, proposals = 0, 0
			last, err := inv.Invoke(t.Context(), r, instance, needs)
			if err == nil {
				err = send(last)
			}
			if err != nil || proposals != tickets/2 {
				t.Errorf("%d proposals, %v", proposals, err)
			}
		}
		run() // memory has grown by now
		return testing.AllocsPerRun(5, run), parts
	}
	few, _ := allocations(1000)
	many, parts := allocations(100_000)
	if budget := few + float64(4*parts) + 20; many > budget {
		t.Errorf("%v allocations for 100,000 tickets in %d parts, %v for 1,000", many, parts, few)
	}
}
