package estimate

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// MaxPools is how many bytes the pools of a project may have for which there are estimates.
const MaxPools = 64 << 10

// Pools are the pools of a project's configs. They determine which tickets are alike.
type Pools struct {
	configs []*pb.Config
	names   [][]string
}

// NewPools makes the pools of some configs, of which it keeps neither settings nor hosting. Configs whose pools have
// more than MaxPools bytes in all have none.
func NewPools(configs []*pb.Config) *Pools {
	p, size := new(Pools), 0
	for _, c := range configs {
		c = &pb.Config{Id: c.GetId(), Revision: c.GetRevision(), Queue: c.GetQueue(), Pools: c.GetPools()}
		if size += proto.Size(c); size > MaxPools {
			return new(Pools)
		}
		p.configs = append(p.configs, c)
	}
	slices.SortFunc(p.configs, func(a, b *pb.Config) int { return cmp.Compare(a.GetId(), b.GetId()) })
	for _, c := range p.configs {
		names := slices.Sorted(maps.Keys(c.GetPools()))
		if len(names) == 0 {
			names = []string{""} // a config without pools gets every ticket, as from a pool without filters
		}
		p.names = append(p.names, names)
	}
	return p
}

// ClassOf is the class of a ticket. It is false for a ticket that no pool has. The revision of a config is part of its
// pools: when a config changes, nothing is known any more of its tickets.
func (p *Pools) ClassOf(t *pb.Ticket) (Class, bool) {
	sum, found := fnv.New64a(), false
	for i, c := range p.configs {
		if !waitsIn(t, c.GetQueue()) {
			continue
		}
		var text []byte
		for _, name := range p.names[i] {
			if !has(c.GetPools()[name], t) {
				continue
			}
			if len(text) == 0 {
				text = binary.AppendVarint(appendText(nil, c.GetId()), c.GetRevision())
			}
			text = appendText(text, name)
		}
		if len(text) > 0 {
			_, _ = sum.Write(append(text, 0))
			found = true
		}
	}
	return Class(sum.Sum64()), found
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text)+1)), text...)
}

func waitsIn(t *pb.Ticket, queue string) bool {
	if queue == "" {
		return len(t.GetQueues()) == 0
	}
	return slices.Contains(t.GetQueues(), queue)
}

// has reports whether a pool has a ticket, as package pool selects.
func has(p *pb.Pool, t *pb.Ticket) bool {
	return !slices.ContainsFunc(p.GetFilters(), func(f *pb.Filter) bool {
		value, known := pool.ValueOf(f, t)
		return !known || !pool.Holds(f, value)
	})
}
