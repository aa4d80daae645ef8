package simulation

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/segmentation"
)

// part is a part of the time that is simulated beside the others, from a time on at which no player waits. The part
// before it goes on beyond its end until both are in the same state: then they have the same future. So the result is
// the same as in one piece, and players who wait for long, or for ever, cost time and no truth.
type part struct {
	world *world
	from  time.Duration
	next  *part // nil for the last one
	every time.Duration

	mu      sync.Mutex
	changed sync.Cond // of mu
	marks   []mark
	ended   bool
	joined  bool // no marks are needed any more: the part before it has found one
	err     error

	due  time.Duration // of the next mark
	goes *part         // goes on when this one ended, since it was in the same state: from its mark on
	on   mark
}

// mark is a state at a time.
type mark struct {
	at time.Duration
	// state tells the state from all others. It is empty while a match is made.
	state string
	// What had happened.
	waits, matches int
	counts         Result
	// largest is how many tickets waited at most since the mark before.
	largest int
}

// marksOf is how many marks there are of the whole time, about.
const marksOf = 2000

// separable reports whether parts can be simulated beside each other: a game lasts longer than a wait, and how pools
// are divided depends on all that happened.
func (s *Scenario) separable() bool {
	return s.Recording == "" && !slices.ContainsFunc(s.Configs, func(c *pb.Config) bool {
		return c.GetHosting() != nil || segmentation.Crowds(c.GetPools()) != nil
	})
}

// leastPart is for how many players a part is worthwhile.
const leastPart = 10_000

// Parts is how many parts of a simulation are worthwhile on so many processors. Where no player leaves, parts with an
// odd number more of tickets are never in the same state.
func (s *Scenario) Parts(processors int) int {
	if !s.separable() || s.Population.Patience.IsZero() {
		return 1
	}
	return max(1, min(processors, int(s.Population.Rate*s.until().Seconds()/leastPart)))
}

// until is when the last ticket comes that may be measured, or a little later.
func (s *Scenario) until() time.Duration {
	if s.Measure.To > 0 {
		return min(s.Population.Duration, s.Measure.To)
	}
	return s.Population.Duration
}

// simulateParts simulates parts beside each other. It returns the parts whose results are joined.
func simulateParts(ctx context.Context, o *Options) (chain []*part, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := divide(o.Scenario, o.Parts)
	shown := &progress{parts: parts, until: o.Scenario.until(), done: make([]time.Duration, len(parts)), show: o.Progress}
	for i, p := range parts {
		one := *o
		if o.Progress != nil {
			one.Progress = func(done, _ time.Duration) { shown.note(i, done) }
		}
		if p.world, err = newWorld(ctx, &one, p); err != nil {
			for _, other := range parts[:i] {
				other.world.close()
			}
			return nil, err
		}
	}
	var all sync.WaitGroup
	for _, p := range parts[1:] {
		all.Go(p.run)
	}
	parts[0].run()
	// Parts that go on from the first are known when they end. The others are not needed.
	chain = []*part{parts[0]}
	for last := parts[0]; last.goes != nil; last = last.goes {
		last.goes.await()
		chain = append(chain, last.goes)
	}
	cancel()
	all.Wait()
	for _, p := range parts {
		p.world.close()
	}
	return chain, nil
}

// divide divides the time into as many parts.
func divide(s *Scenario, n int) []*part {
	until := s.until()
	every := min(max(time.Second, until/marksOf), time.Minute).Truncate(time.Millisecond)
	from := append([]time.Duration{0}, s.Population.Split(n, until)...)
	parts := make([]*part, len(from))
	for i := len(parts) - 1; i >= 0; i-- {
		p := &part{from: from[i], every: every, due: (from[i]/every + 1) * every, joined: i == 0}
		p.changed.L = &p.mu
		if i+1 < len(parts) {
			p.next = parts[i+1]
		}
		parts[i] = p
	}
	return parts
}

// progress is the progress of parts together.
type progress struct {
	parts []*part
	until time.Duration
	show  func(done, all time.Duration)
	mu    sync.Mutex
	done  []time.Duration
}

// note notes how far a part is.
func (p *progress) note(i int, done time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	end := p.until
	if next := p.parts[i].next; next != nil {
		end = next.from
	}
	p.done[i] = max(0, min(done, end)-p.parts[i].from)
	sum := time.Duration(0)
	for _, one := range p.done {
		sum += one
	}
	p.show(sum, p.until)
}

// run simulates the part.
func (p *part) run() {
	err := p.world.run()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.err = true, err
	p.changed.Broadcast()
}

// await waits until the part has ended.
func (p *part) await() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		p.changed.Wait()
	}
}

// pass notes that nothing happens before a time, and tells whether another part goes on from here.
func (p *part) pass(until time.Time) (ends bool) {
	for until.After(p.world.began.Add(p.due)) {
		m := p.world.mark(p.due, p.wanted())
		p.mu.Lock()
		p.marks = append(p.marks, m)
		p.changed.Broadcast()
		p.mu.Unlock()
		if p.joins(m) {
			return true
		}
		p.due += p.every
	}
	return false
}

// wanted reports whether a mark must say its state: the next part compares it, or the one before.
func (p *part) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.joined || p.next != nil && p.due > p.next.from
}

// joins reports whether a later part is in the same state.
func (p *part) joins(own mark) bool {
	for next := p.next; next != nil && own.at > next.from; {
		other, ended := next.markAt(own.at)
		switch {
		case ended == nil && own.state != "" && other.state == own.state:
			p.on, p.goes = other, next
			next.join()
			return true
		case ended == nil:
			return false
		}
		next = ended.goes // it joined another one before
	}
	return false
}

// markAt waits for the mark at a time. If the part ended before, it returns the part.
func (p *part) markAt(at time.Duration) (m mark, ended *part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		i, found := slices.BinarySearchFunc(p.marks, at, func(m mark, at time.Duration) int { return int(m.at - at) })
		switch {
		case found:
			return p.marks[i], nil
		case p.ended:
			return mark{}, p
		}
		p.changed.Wait()
	}
}

// join notes that the part before has found its mark.
func (p *part) join() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.joined = true
}

// mark is the state of the world now, if it is wanted.
func (w *world) mark(at time.Duration, wanted bool) mark {
	m := mark{at: at, waits: len(w.result.Waits), matches: len(w.result.Matches), counts: *w.result, largest: w.largest}
	w.largest = w.Index.Len()
	if wanted {
		m.state = w.describe(w.began.Add(at))
	}
	return m
}

// describe tells the state from all others, if nothing is under way: whatever is, ends soon.
func (w *world) describe(now time.Time) string {
	if len(w.games) > 0 || w.inUse > 0 {
		return ""
	}
	text, settled := w.AppendMark(nil, now)
	if !settled {
		return ""
	}
	numbers := make([]int, 0, len(w.tickets))
	for _, t := range w.tickets {
		if !t.waits {
			return ""
		}
		numbers = append(numbers, t.number)
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		text = binary.BigEndian.AppendUint64(text, uint64(number))
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// join is the result of parts, each of which goes on where the one before it ended.
func join(chain []*part) (*Result, error) {
	r := chain[0].world.result
	for i, p := range chain {
		if p.err != nil {
			return nil, p.world.explain(p.err)
		}
		if i == 0 {
			continue
		}
		from, is := chain[i-1].on, p.world.result
		r.Waits = append(r.Waits, is.Waits[from.waits:]...)
		r.Matches = append(r.Matches, is.Matches[from.matches:]...)
		r.add(is, &from.counts)
		r.Largest = max(r.Largest, p.largest(from.at))
		r.Arrivals = is.Arrivals
		for _, what := range is.Overlooked {
			if !slices.Contains(r.Overlooked, what) {
				r.Overlooked = append(r.Overlooked, what)
			}
		}
	}
	return r, nil
}

// add adds what was counted since a mark. Parts have neither servers nor games.
func (r *Result) add(is, mark *Result) {
	r.Tickets += is.Tickets - mark.Tickets
	r.Players += is.Players - mark.Players
	r.Runs += is.Runs - mark.Runs
	r.Kept += is.Kept - mark.Kept
	r.Proposed += is.Proposed - mark.Proposed
	r.Asked += is.Asked - mark.Asked
	r.Declined += is.Declined - mark.Declined
}

// largest is how many tickets waited at most since a mark.
func (p *part) largest(since time.Duration) int {
	n := p.world.largest
	for _, m := range p.marks {
		if m.at > since {
			n = max(n, m.largest)
		}
	}
	return n
}
