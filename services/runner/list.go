package runner

import (
	"context"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/pool"
)

const (
	// listWait is how long a list may wait for the index and for its turn, and listTime how long it may take: changes of
	// the project's tickets wait for it.
	listWait = 2 * time.Second
	listTime = 250 * time.Millisecond
	// maxListed is how many tickets a list has at most.
	maxListed = 1000
	// listCost is what a list costs beside the values that it looks at, each of which costs cellCost.
	listCost = 100 * time.Microsecond
	cellCost = 2 * time.Nanosecond
)

// listLate is the answer to a list that takes too long.
const listLate = "the list took too long: ask for less, or try again"

// list answers a request that lists tickets. No instance has to do with it. One list is made at a time.
func (f *function) list(ctx context.Context, request *pb.RunRequest, answer bus.SendPart) {
	began := time.Now()
	last := &pb.RunPart{Stats: &pb.RunStats{}}
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	defer context.AfterFunc(f.life, cancel)()
	if err := f.feed.wait(ctx, request.GetPosition()); err != nil {
		last.Error = err.Error()
		f.finish(ctx, answer, last)
		return
	}
	select {
	case f.env.lists <- struct{}{}:
	case <-ctx.Done():
		last.Error = "the runner was busy with other lists"
		f.finish(ctx, answer, last)
		return
	}
	last.Stats.Waiting = time.Since(began).Microseconds()
	work := pool.Work{Deadline: time.Now().Add(listTime)}
	listing := request.GetListing()
	listing.Limit = min(listing.GetLimit(), maxListed)
	f.feed.index.ViewFor(&work, func(v pool.View) {
		last.Listed = v.In(request.GetQueue()).List(request.GetPools(), listing)
	})
	<-f.env.lists
	last.Stats.Cells = work.Cells
	last.Stats.Charge = (listCost + cellCost*time.Duration(work.Cells)).Microseconds()
	if work.Late() {
		last.Listed, last.Error = nil, listLate
	}
	f.finish(ctx, answer, last)
}
