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

// forger is an instance with a buffer, which it overwrites after its answer.
type forger struct {
	native
	buffer   []byte
	inBuffer bool
	released int
}

func (f *forger) Buffer() []byte { return f.buffer }

func (f *forger) ReleaseBuffer() { f.released++ }

func (f *forger) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	f.inBuffer = &request[0] == &f.buffer[0]
	answer, stats, err := f.native.Run(ctx, request, budget)
	copy(f.buffer, bytes.Repeat([]byte{0x41}, len(f.buffer)))
	return answer, stats, err
}

// A function that overwrites its request does not change what is sent about its tickets.
func TestOverwrittenRequestChangesNothing(t *testing.T) {
	index := indexOf(t, 2, func(i int) *pb.Ticket {
		return &pb.Ticket{Id: fmt.Sprint("t", i), Created: int64(1000 + i), AttributeNames: []string{"skill"},
			AttributeValues: []float64{7}}
	})
	function := matchfn.New(func(r *matchfn.Run) error {
		r.Propose(r.Attribute("skill")[1], 1, 0)
		return nil
	})
	for size, inBuffer := range map[int]bool{4096: true, 64: false} {
		f := &forger{native: native{Function: function}, buffer: make([]byte, size)}
		last, err := new(Invoker).Invoke(t.Context(), &Run{
			Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Now: 3000}, Index: index, Began: time.Now(),
			Deadline: time.Now().Add(time.Minute),
		}, f, Needs{allAttributes: true})
		if err != nil || f.inBuffer != inBuffer || f.released == 0 {
			t.Fatalf("%v; in a buffer of %d bytes: %v; released %d times", err, size, f.inBuffer, f.released)
		}
		if p := last.GetPlain(); !slices.Equal(p.GetOldest(), []int64{1000}) || !slices.Equal(p.GetScores(), []float64{7}) ||
			string(p.GetTickets()) != "t1t0" {
			t.Errorf("proposals are %v", p)
		}
		if all := last.GetStats().GetPools()["all"]; all.GetOldest() != 1000 || all.GetTickets() != 2 {
			t.Errorf("pool is %v", all)
		}
	}
}
