package desk

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/runner/sandbox"
)

// forger is an instance that gives a room, and writes to it when it has its answer.
type forger struct {
	*matchfn.Function
	room   []byte
	inRoom bool
	left   int
}

func (*forger) Name() string { return "forger" }

func (f *forger) Room() []byte { return f.room }

func (f *forger) Leave() { f.left++ }

func (f *forger) Run(_ context.Context, request []byte, _ time.Duration) ([]byte, sandbox.Stats, error) {
	f.inRoom = &request[0] == &f.room[0]
	answer := slices.Clone(f.Answer(request))
	copy(f.room, bytes.Repeat([]byte{0x41}, len(f.room)))
	return answer, sandbox.Stats{}, nil
}

// What a function does to the memory that its request lies in changes nothing of what is said of its tickets.
func TestRequestsInARoomAreNotBelieved(t *testing.T) {
	index := pool.New()
	for i := range 2 {
		id := fmt.Sprint("t", i)
		body, err := proto.Marshal(&pb.Ticket{Id: id, Created: int64(1000 + i), AttributeNames: []string{"skill"}, AttributeValues: []float64{7}})
		if err != nil {
			t.Fatal(err)
		}
		if err := index.Put(id, body); err != nil {
			t.Fatal(err)
		}
	}
	function := matchfn.New(func(r *matchfn.Run) error {
		r.Propose(r.Attribute("skill")[1], 1, 0)
		return nil
	})
	for size, inRoom := range map[int]bool{4096: true, 64: false} {
		f := &forger{Function: function, room: make([]byte, size)}
		last, err := new(Desk).Work(t.Context(), &Run{
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
