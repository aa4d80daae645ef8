package invocation

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
)

// forger is an instance that gives a room, and writes to it when it has its answer.
type forger struct {
	native
	room   []byte
	inRoom bool
	left   int
}

func (f *forger) Buffer() []byte { return f.room }

func (f *forger) ReleaseBuffer() { f.left++ }

func (f *forger) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	f.inRoom = &request[0] == &f.room[0]
	answer, stats, err := f.native.Run(ctx, request, budget)
	copy(f.room, bytes.Repeat([]byte{0x41}, len(f.room)))
	return answer, stats, err
}

// What a function does to the memory that its request lies in changes nothing of what is said of its tickets.
func TestRequestsInARoomAreNotBelieved(t *testing.T) {
	index := indexOf(t, 2, func(i int) *pb.Ticket {
		return &pb.Ticket{Id: fmt.Sprint("t", i), Created: int64(1000 + i), AttributeNames: []string{"skill"}, AttributeValues: []float64{7}}
	})
	function := matchfn.New(func(r *matchfn.Run) error {
		r.Propose(r.Attribute("skill")[1], 1, 0)
		return nil
	})
	for size, inRoom := range map[int]bool{4096: true, 64: false} {
		f := &forger{native: native{function}, room: make([]byte, size)}
		last, err := new(Invoker).Invoke(t.Context(), &Run{
			Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Now: 3000}, Index: index, Began: time.Now(), Deadline: time.Now().Add(time.Minute),
		}, f, Needs{allAttributes: true})
		if err != nil || f.inRoom != inRoom || f.left == 0 {
			t.Fatalf("%v; in a room of %d bytes: %v; left %d times", err, size, f.inRoom, f.left)
		}
		if p := last.GetPlain(); !slices.Equal(p.GetOldest(), []int64{1000}) || !slices.Equal(p.GetScores(), []float64{7}) || string(p.GetTickets()) != "t1t0" {
			t.Errorf("proposals are %v", p)
		}
		if all := last.GetStats().GetPools()["all"]; all.GetOldest() != 1000 || all.GetTickets() != 2 {
			t.Errorf("pool is %v", all)
		}
	}
}
