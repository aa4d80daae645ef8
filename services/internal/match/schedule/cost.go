package schedule

import (
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Costs of counted work. Measured time depends on what else uses the processor, and a project must not pay for others.
// These are estimates for one core of a small virtual machine. To compare the costs of proposals and mentions with
// measured times: go test -run '^$' -bench Price ./services/director
const (
	// A run takes three messages or more, from director to runner and back, and two or more goroutines wake up. Of a
	// project with 200 configs that find nothing, a run took 0.4 ms of the director's processor time.
	runCost     = 200 * time.Microsecond
	messageCost = 20 * time.Microsecond
	// byteCost is the cost of a byte in a message: it is marshalled, sent through NATS and unmarshalled.
	byteCost = 10 * time.Nanosecond
	// cellCost is the cost of a value that a filter reads, or that is written into the request of a function.
	cellCost = 2 * time.Nanosecond
	// A proposal is checked, packed, unpacked, sorted and evaluated.
	proposalCost = 2 * time.Microsecond
	mentionCost  = 200 * time.Nanosecond
	// ClaimCost is the cost of a claim, most of it Redis's own.
	ClaimCost = 20 * time.Microsecond
	// changeCost is the cost of reading a config that changed or was deleted.
	changeCost = 100 * time.Microsecond
)

// ChangeCost returns the director's cost of a change of a config of so many bytes.
func ChangeCost(size int) time.Duration { return changeCost + time.Duration(size)*byteCost }

// Cost is what a run is charged for, by the service that did the work.
type Cost struct{ Runner, Function, Director, Bus time.Duration }

// Sum is the whole cost.
func (c Cost) Sum() time.Duration { return c.Runner + c.Function + c.Director + c.Bus }

// Traffic is what a run sent through the director.
type Traffic struct {
	// Request is the length of the request. Bytes, Messages, Proposals and Mentions count the answer.
	Request, Bytes, Messages, Proposals, Mentions int
}

// CostOf returns the cost of a run, from the runner's stats and the director's own counts. stats is nil if the runner
// sent none. A run that a runner took and never answered is charged for all the time, lost.
func CostOf(stats *pb.RunStats, t Traffic, lost time.Duration) Cost {
	micros := func(n int64) time.Duration { return time.Duration(max(0, n)) * time.Microsecond }
	function, runner := micros(stats.GetProcessor()), micros(stats.GetCharge()-stats.GetProcessor())
	if stats.GetCharge() == 0 { // no instance was given the run
		function, runner = micros(stats.GetRun()), micros(stats.GetQuery()+stats.GetEncode()+stats.GetDecode())
	}
	return Cost{
		Runner:   max(runner, cellCost*time.Duration(max(0, stats.GetCells()))),
		Function: function + lost,
		Director: proposalCost*time.Duration(t.Proposals) + mentionCost*time.Duration(t.Mentions),
		Bus:      runCost + messageCost*time.Duration(t.Messages) + byteCost*time.Duration(t.Request+t.Bytes),
	}
}
