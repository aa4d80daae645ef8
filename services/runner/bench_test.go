package runner_test

import (
	"fmt"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// BenchmarkDuel measures a run from request to last part, through the bus, and its stages. All tickets have four
// attributes; most find an opponent.
func BenchmarkDuel(b *testing.B) {
	for _, tickets := range []int{2, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(tickets), func(b *testing.B) {
			w := newWorld(b)
			w.put(project, "duel", w.duel)
			w.startRunner("runner-1", quickSettings())
			w.createTickets(tickets)
			w.waitServing("duel", 1)
			var sum pb.RunStats
			request := &pb.RunRequest{Project: project, Function: "duel", Position: w.position(), Budget: 60_000}
			w.awaitAnswer(w.startRun(request)) // the instance's memory has grown by now
			for b.Loop() {
				a := w.awaitAnswer(w.startRun(request))
				if a.error != "" {
					b.Fatal(a.error)
				}
				s := a.stats
				sum.Waiting += s.GetWaiting()
				sum.Query += s.GetQuery()
				sum.Encode += s.GetEncode()
				sum.Run += s.GetRun()
				sum.Compute += s.GetCompute()
				sum.Decode += s.GetDecode()
				sum.Proposals += s.GetProposals()
			}
			for unit, total := range map[string]int64{
				"waiting-µs": sum.Waiting, "query-µs": sum.Query, "encode-µs": sum.Encode,
				"run-µs": sum.Run, "compute-µs": sum.Compute, "decode-µs": sum.Decode, "proposals": sum.Proposals,
			} {
				b.ReportMetric(float64(total)/float64(b.N), unit)
			}
		})
	}
}
