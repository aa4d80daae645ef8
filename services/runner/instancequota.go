package runner

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// instanceQuota bounds the instances that a runner may have, over all projects: each may take as much memory as a
// function may have. When all are taken, the project with the fewest gets the next one, and a project that has two more
// than another gives one up for it.
type instanceQuota struct {
	most int

	mu      sync.Mutex
	held    []*instancePlace
	waiting []*instancePlace // the one that came first is the first
}

const (
	// placeIdle is how long an instance must have had no runs to be ended for a function that has none.
	placeIdle = 10 * time.Second
	// placeRetry is how often a waiting slot looks for such an instance.
	placeRetry = time.Second
)

// instancePlace is the place of an instance, which has it from take to release.
type instancePlace struct {
	quota *instanceQuota
	of    functionKey
	asked chan struct{} // has one element when the instance should end

	// The lock of places guards these:
	granted chan struct{} // closed when the place is taken
	held    bool
	wanted  bool // asked was sent to
	busy    bool
	used    time.Time
}

func (p *instanceQuota) newPlace(of functionKey) *instancePlace {
	return &instancePlace{quota: p, of: of, asked: make(chan struct{}, 1)}
}

// usage returns how many places are taken, and how many there are.
func (p *instanceQuota) usage() (taken, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held), p.most
}

// tryTake takes the place if one is free and no slot waits.
func (l *instancePlace) tryTake() bool {
	p := l.quota
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) >= p.most || len(p.waiting) > 0 {
		return false
	}
	p.grant(l)
	return true
}

// take takes the place, and waits until there is one.
func (l *instancePlace) take(ctx context.Context) error {
	p := l.quota
	p.mu.Lock()
	granted := make(chan struct{})
	l.granted = granted
	p.waiting = append(p.waiting, l)
	p.distribute()
	p.mu.Unlock()
	retry := time.Tick(placeRetry)
	for {
		select {
		case <-granted:
			return nil
		case <-ctx.Done():
			l.release()
			return ctx.Err()
		case <-retry:
			p.mu.Lock()
			p.distribute()
			p.mu.Unlock()
		}
	}
}

// release gives the place up, or waits for none any more.
func (l *instancePlace) release() {
	p := l.quota
	p.mu.Lock()
	defer p.mu.Unlock()
	mine := func(other *instancePlace) bool { return other == l }
	p.held, p.waiting = slices.DeleteFunc(p.held, mine), slices.DeleteFunc(p.waiting, mine)
	l.held, l.wanted, l.busy = false, false, false
	select {
	case <-l.asked:
	default:
	}
	p.distribute()
}

// setBusy notes whether the instance has a run.
func (l *instancePlace) setBusy(busy bool) {
	l.quota.mu.Lock()
	defer l.quota.mu.Unlock()
	l.busy, l.used = busy, time.Now()
}

// grant gives a place to l. The caller has the lock, as for all below.
func (p *instanceQuota) grant(l *instancePlace) {
	p.held = append(p.held, l)
	l.held, l.used = true, time.Now()
	if l.granted != nil {
		close(l.granted)
		l.granted = nil
	}
}

// distribute gives free places to the slots that wait, and asks for one for each slot that goes on waiting.
func (p *instanceQuota) distribute() {
	for len(p.waiting) > 0 && len(p.held) < p.most {
		counts := p.counts()
		next := slices.MinFunc(p.waiting, func(a, b *instancePlace) int {
			return cmp.Compare(counts[functionKey{project: a.of.project}], counts[functionKey{project: b.of.project}])
		})
		p.waiting = slices.DeleteFunc(p.waiting, func(other *instancePlace) bool { return other == next })
		p.grant(next)
	}
	asked := 0
	for _, l := range p.held {
		if l.wanted {
			asked++
		}
	}
	for _, l := range p.waiting[min(asked, len(p.waiting)):] {
		p.ask(l)
	}
}

// counts returns how many places each function has, and under the empty name each project. A place whose holder is
// asked to give it up does not count.
func (p *instanceQuota) counts() map[functionKey]int {
	counts := map[functionKey]int{}
	for _, l := range p.held {
		if !l.wanted {
			counts[l.of]++
			counts[functionKey{project: l.of.project}]++
		}
	}
	return counts
}

// ask asks the holder of a place to give it up for l, if that is fair: its project has at least two more than the
// project of l, or nothing ran there for a while and the function of l has no other instance. A function may also
// replace its own.
func (p *instanceQuota) ask(l *instancePlace) {
	counts, now := p.counts(), time.Now()
	ofProject := func(l *instancePlace) int { return counts[functionKey{project: l.of.project}] }
	var best *instancePlace
	rank := func(h *instancePlace) []int {
		r := []int{ofProject(h), 0, counts[h.of], int(now.Sub(h.used))}
		if !h.busy {
			r[1] = 1
		}
		return r
	}
	for _, h := range p.held {
		idle := !h.busy && now.Sub(h.used) >= placeIdle && (counts[l.of] == 0 || h.of == l.of)
		if h.wanted || ofProject(h) <= ofProject(l)+1 && !idle {
			continue
		}
		if best == nil || slices.Compare(rank(h), rank(best)) > 0 {
			best = h
		}
	}
	if best != nil {
		best.wanted = true
		best.asked <- struct{}{}
	}
}
