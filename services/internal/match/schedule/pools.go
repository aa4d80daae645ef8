package schedule

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Pools stands for the tickets that a segment sees: segments with equal Pools see the same ones. A segment that shares
// its tickets with no other has the zero Pools.
type Pools [sha256.Size]byte

// PoolsOf returns the Pools of a queue and its pools. They do not depend on pool names, filter order and duplicates.
func PoolsOf(queue string, pools map[string]*pb.Pool) Pools {
	alike := make([][]byte, 0, len(pools))
	for _, p := range pools {
		filters := make([][]byte, 0, len(p.GetFilters()))
		for _, f := range p.GetFilters() {
			raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(f)
			if err != nil {
				return Pools{} // a name that is not UTF-8: the Configs API refuses it
			}
			filters = append(filters, raw)
		}
		alike = append(alike, joined(filters))
	}
	if len(alike) == 0 {
		alike = append(alike, nil) // all tickets of the queue, as a pool without filters has them
	}
	return sha256.Sum256(append(binary.AppendUvarint(nil, uint64(len(queue))), queue+string(joined(alike))...))
}

// joined is a set of texts as one text.
func joined(set [][]byte) (all []byte) {
	slices.SortFunc(set, bytes.Compare)
	for _, one := range slices.CompactFunc(set, bytes.Equal) {
		all = append(binary.AppendUvarint(all, uint64(len(one))), one...)
	}
	return all
}

// See notes which tickets the segment's runs see.
func (s *Segment) See(p Pools) { s.pools = p }

// aloneAs is how many segments with equal pools run as if each were alone. More of them together run as often as that
// many, and each run finds more tickets. Segments of fruitless configs are counted apart: they slow down no other.
const aloneAs = 3

// group is the key of segments that are counted together.
type group struct {
	pools     Pools
	fruitless bool
}

func (s *Segment) group() group { return group{s.pools, s.account.isFruitless()} }

// sharers counts the segments that are counted together. It is nil where there are no more than aloneAs segments, and
// where work has no limit.
func (s State[S]) sharers() (counts map[group]int) {
	if s.Budget == nil || s.Budget.cores == 0 {
		return nil
	}
	n := 0
	for range s.Segments {
		if n++; n > aloneAs {
			break
		}
	}
	if n <= aloneAs {
		return nil
	}
	counts = map[group]int{}
	for one := range s.Segments {
		if segment := one.schedule(); segment.pools != (Pools{}) {
			counts[segment.group()]++
		}
	}
	return counts
}

// interval is the least time between two runs of a segment, on average.
func (s State[S]) interval(segment *Segment, sharers map[group]int) time.Duration {
	n := time.Duration(sharers[segment.group()])
	return max(s.MinInterval, min(s.MinInterval*n/aloneAs, s.MaxInterval))
}
