package runner_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/match/pool"
)

// A run with ten times as many tickets has no more allocations in this process: for selecting and writing them, for the
// way into the sandbox and back, for checking the answer and sending the proposals.
func TestRunAllocatesNothingForItsTickets(t *testing.T) {
	shop, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	module, _, err := shop.box.Load(t.Context(), "", shop.guest)
	if err != nil {
		t.Fatal(err)
	}
	defer shop.box.Release(module)
	instance, err := shop.box.Start(t.Context(), module, "guest", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer instance.Close()

	const few, many = 1_000, 10_000
	allocations := func(tickets int) float64 {
		index := pool.New()
		for i := range tickets {
			body, err := proto.Marshal(&pb.Ticket{
				Created:        int64(1_700_000_000_000 + i),
				AttributeNames: []string{"skill"}, AttributeValues: []float64{float64(i * 7919 % tickets)},
			})
			if err == nil {
				err = index.Put(fmt.Sprintf("9b2c4f60-7d1e-4a53-8c0f-%012d", i), body)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		proposals, strangers := 0, 0
		skill := func(id []byte) int {
			n, err := strconv.Atoi(string(id[len(id)-12:]))
			if err != nil {
				t.Fatal(err)
			}
			return n * 7919 % tickets // each once
		}
		var message []byte
		send := func(part *pb.RunPart) (err error) {
			// Pairs and a score are sent as columns. Reading them is up to the director, and allocates.
			plain := part.GetPlain()
			n := len(plain.GetScores())
			proposals += n
			for i := range n {
				size := int(plain.GetSizes()[0]) // all ids have as many bytes
				pair := plain.GetTickets()[2*i*size:][:2*size]
				if plain.GetTeams()[i] != 2 || skill(pair[:size])/2 != skill(pair[size:])/2 {
					strangers++
				}
			}
			message, err = proto.MarshalOptions{}.MarshalAppend(message[:0], part)
			return err
		}
		var invoker invocation.Invoker
		run := invocation.Run{
			Request: &pb.RunRequest{
				Project: project, Function: "guest", Now: 1_700_000_100_000, Settings: []byte(`{"do":"pair"}`),
				Pools: map[string]*pb.Pool{"all": {Filters: []*pb.Filter{{Attribute: "skill"}}}},
			},
			Index: index, Answer: send,
		}
		needs := invocation.NeedsOf(module.Manifest)
		return testing.AllocsPerRun(5, func() {
			proposals = 0
			run.Began = time.Now()
			run.Deadline = run.Began.Add(time.Minute)
			last, err := invoker.Invoke(t.Context(), &run, instance, needs)
			if err == nil {
				err = send(last)
			}
			if err != nil || proposals != tickets/2 || strangers > 0 {
				t.Fatalf("%d proposals for %d tickets, %d of those that are no neighbours, %v", proposals, tickets, strangers, err)
			}
		})
	}
	least, most := allocations(few), allocations(many)
	t.Logf("%v allocations for %d tickets, %v for %d", least, few, most, many)
	// Other work of this process, like a timer of an earlier test, may allocate a little.
	if most-least > (many-few)/20 {
		t.Errorf("a run allocates %v times for %d tickets, and %v times for %d", least, few, most, many)
	}
}
