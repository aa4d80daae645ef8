package invocation

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// MaxExplained is how many bytes of explanations an answer may bring: they travel in its last part. What is more is
// dropped.
const MaxExplained = 256 << 10

// askedOf is the ids of the tickets that a run asks about: no more than there may be.
func askedOf(r *pb.RunRequest) []string {
	return r.GetExplain()[:min(len(r.GetExplain()), block.MaxAsked)]
}

// findAsked finds the tickets of the selection that the run asks about. In other runs it takes no time.
func (e *encoder) findAsked() {
	e.asked = nil
	list := askedOf(e.run.Request)
	if len(list) == 0 {
		return
	}
	ids := setOf(list)
	for i := range e.selection.N() {
		if _, asked := ids[e.selection.ID(i)]; asked {
			e.asked = append(e.asked, uint32(i))
		}
	}
	e.work.Count(e.selection.N())
}

// notSeen is said of tickets that the function did not get.
const notSeen = "the function did not get it: it is in none of the pools, or another ticket of its players comes first"

// unseen explains the tickets in question that are not in the selection.
func (e *encoder) unseen() (all []*pb.Explanation) {
	for _, id := range askedOf(e.run.Request) {
		if !slices.ContainsFunc(e.asked, func(number uint32) bool { return e.selection.ID(int(number)) == id }) {
			all = append(all, &pb.Explanation{Ticket: id, Reason: notSeen, Candidates: -1})
		}
	}
	return all
}

// places are where the tickets that the run asks about stand among those that the function gets, by age: see RunPart.
func (e *encoder) places() (all []int64) {
	for _, id := range askedOf(e.run.Request) {
		at := slices.IndexFunc(e.asked, func(number uint32) bool { return e.selection.ID(int(number)) == id })
		if at < 0 {
			all = append(all, 0)
			continue
		}
		all = append(all, int64(e.asked[at])+1) // numbers ascend by creation
	}
	return all
}

// explanations are an answer's explanations, with the ids of the tickets.
func explanations(a *block.Answer, asked []uint32, s *pool.Selection) (all []*pb.Explanation) {
	of, size := map[uint32]int{}, 0
	for _, e := range a.Explanations() {
		if _, is := slices.BinarySearch(asked, e.Ticket); !is || of[e.Ticket] == block.MaxReasons {
			continue
		}
		id := s.ID(int(e.Ticket))
		if size += len(id) + len(e.Reason) + 16; size > MaxExplained {
			break
		}
		of[e.Ticket]++
		all = append(all, &pb.Explanation{Ticket: id, Reason: e.Reason, Candidates: int64(e.Candidates)})
	}
	return all
}
