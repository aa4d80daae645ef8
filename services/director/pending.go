package director

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"time"

	"matchmaker.dev/services/internal/match/evaluator"
)

// pending are proposals that wait for an evaluation, by config. An evaluation takes some of each config's, its best
// first: so a config with very many of them does not make the others wait.
type pending struct {
	// since is when the first of them came, and took the duration of its run. since is zero if none waits.
	since   time.Time
	took    time.Duration
	configs map[string]*ranking
}

// add adds proposals of a config's run that took so long, the preferred one first.
func (p *pending) add(now time.Time, took time.Duration, config string, sorted []*proposal) {
	if len(p.configs) == 0 {
		p.since, p.took = now, took
	}
	r := p.configs[config]
	if r == nil {
		if p.configs == nil {
			p.configs = map[string]*ranking{}
		}
		r = new(ranking)
		p.configs[config] = r
	}
	r.count += len(sorted)
	heap.Push(r, sorted)
}

// take takes up to n proposals. If there are more, each config has an even share of n, and other configs get what it
// does not need.
func (p *pending) take(n int) []*proposal {
	// Those with the fewest first, so that what they leave of their shares is known.
	configs := slices.SortedFunc(maps.Keys(p.configs), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.configs[a].count, p.configs[b].count), cmp.Compare(a, b))
	})
	var taken []*proposal
	for i, config := range configs {
		r := p.configs[config]
		// Rounded up: each config has a share, even if there are more configs than n.
		others := len(configs) - i
		share := (max(0, n-len(taken)) + others - 1) / others
		taken = r.take(taken, max(1, share))
		if r.count == 0 {
			delete(p.configs, config)
		}
	}
	if len(p.configs) == 0 {
		p.since = time.Time{}
	}
	return taken
}

// queues are the queues of the configs whose proposals wait.
func (p *pending) queues() map[string]bool {
	queues := map[string]bool{}
	for _, r := range p.configs {
		queues[r.lists[0][0].Origin.config.GetQueue()] = true
	}
	return queues
}

// all returns the proposals, and forgets them.
func (p *pending) all() []*proposal {
	var all []*proposal
	for _, r := range p.configs {
		for _, list := range r.lists {
			all = append(all, list...)
		}
	}
	*p = pending{}
	return all
}

// ranking is a heap of sorted lists of proposals, with the list on top whose first one is preferred to all others.
type ranking struct {
	lists [][]*proposal
	count int
}

// take appends up to n proposals to taken, the preferred ones first.
func (r *ranking) take(taken []*proposal, n int) []*proposal {
	if n >= r.count { // all of them: the evaluation sorts anyway
		for _, list := range r.lists {
			taken = append(taken, list...)
		}
		r.lists, r.count = nil, 0
		return taken
	}
	r.count -= n
	for range n {
		best := r.lists[0]
		taken = append(taken, best[0])
		if r.lists[0] = best[1:]; len(best) > 1 {
			heap.Fix(r, 0)
		} else {
			heap.Pop(r)
		}
	}
	return taken
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (r *ranking) Len() int           { return len(r.lists) }
func (r *ranking) Less(i, j int) bool { return evaluator.Compare(r.lists[i][0], r.lists[j][0]) < 0 }
func (r *ranking) Swap(i, j int)      { r.lists[i], r.lists[j] = r.lists[j], r.lists[i] }
func (r *ranking) Push(x any)         { r.lists = append(r.lists, x.([]*proposal)) }

// Pop removes the last list.
func (r *ranking) Pop() any {
	last := r.lists[len(r.lists)-1]
	r.lists = r.lists[:len(r.lists)-1]
	return last
}
