package director

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/platform/quota"
)

// BenchmarkPrice measures what schedule charges for proposals and their tickets: the director's work on a message of
// 4,096 proposals until each has won or lost. price-ns is what they are charged.
func BenchmarkPrice(b *testing.B) {
	const many = 4096
	for _, tickets := range []int{0, 2, 10} {
		b.Run(fmt.Sprintf("proposals of %d tickets", tickets), func(b *testing.B) {
			var packed proposals.Plain
			for i := range many {
				packed.Propose(float64(i*7919%many), 0)
				packed.Team()
				for j := range tickets {
					packed.Ticket(fmt.Sprintf("019a9e3c-0000-7000-8000-%012d", i*tickets+j))
				}
			}
			message, err := proto.Marshal(&pb.RunPart{Run: "run", Plain: packed.Message()})
			if err != nil {
				b.Fatal(err)
			}
			from, space := &segment{config: &pb.Config{Id: "config"}}, quota.NewShares[string](proposalMemory)
			for b.Loop() {
				part := new(pb.RunPart)
				if err := proto.Unmarshal(message, part); err != nil {
					b.Fatal(err)
				}
				if err := proposals.Unpack(part); err != nil {
					b.Fatal(err)
				}
				size := sizeOf(bus.Part{RunPart: part, Bytes: len(message)})
				if !space.Take("config", size*many) {
					b.Fatal("there is no room")
				}
				var waiting pending
				var taken matched
				waiting.add(time.Time{}, 0, "config", newProposals(from, part.GetProposals(), size, true))
				for left := many; left > 0; {
					e := newEvaluation(waiting.take(evaluateStep), &taken)
					for _, p := range e.selected {
						taken.add(p.Tickets)
					}
					for _, p := range e.candidates {
						space.Give(p.Config, p.Origin.size)
					}
					left -= len(e.candidates)
				}
			}
			price := schedule.CostOf(nil, schedule.Traffic{Proposals: many, Mentions: many * tickets}, 0).Director
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/many, "ns/proposal")
			b.ReportMetric(float64(price.Nanoseconds())/many, "price-ns")
		})
	}
}
