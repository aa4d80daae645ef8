package state

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// Inventory counts what a project has.
type Inventory struct {
	// Listed: directors lead it. Leader is the last that did.
	Listed bool
	Leader string
	// Unused counts modules that no function names. Claims are matches without a result, Returns matches whose servers are
	// to be given back.
	Configs, Functions, Unused, Waiting, Claims, Returns, Backfills int64
}

// inventoryBatch is the number of projects that are read in one round trip.
const inventoryBatch = 100

// Inventories reads what projects have.
func (s *Store) Inventories(ctx context.Context, projects []string) ([]Inventory, error) {
	all := make([]Inventory, 0, len(projects))
	for some := range slices.Chunk(projects, inventoryBatch) {
		batch, err := s.inventories(ctx, some)
		if err != nil {
			return nil, err
		}
		all = append(all, batch...)
	}
	return all, nil
}

func (s *Store) inventories(ctx context.Context, projects []string) ([]Inventory, error) {
	listed := make([]*redis.BoolCmd, len(projects))
	leases := make([]*redis.SliceCmd, len(projects))
	counts := make([][]*redis.IntCmd, len(projects))
	_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, project := range projects {
			k := keysOf(project)
			listed[i], leases[i] = p.SIsMember(ctx, global.projects(), project), p.HMGet(ctx, k.lease(), "owner")
			counts[i] = []*redis.IntCmd{p.HLen(ctx, k.configs()), p.HLen(ctx, k.functions())}
			for _, set := range []string{k.unused(), k.waiting(), k.claims(), k.deallocations(), k.backfills()} {
				counts[i] = append(counts[i], p.ZCard(ctx, set))
			}
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	all := make([]Inventory, len(projects))
	var in replied
	for i, n := range counts {
		all[i] = Inventory{Listed: listed[i].Val(), Configs: n[0].Val(), Functions: n[1].Val(), Unused: n[2].Val(),
			Waiting: n[3].Val(), Claims: n[4].Val(), Returns: n[5].Val(), Backfills: n[6].Val()}
		all[i].Leader = in.text(in.row(leases[i])[0])
	}
	return all, in.err
}
