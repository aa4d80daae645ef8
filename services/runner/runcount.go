package runner

import (
	"math"
	"slices"
	"sync"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

const (
	// maxRunCounts is the number of configs whose runs a function remembers, and maxRunMarks the number of times for each.
	// Each takes 2 KiB.
	maxRunCounts = 1024
	maxRunMarks  = 128
)

// runCounts counts the runs of a config since a time, for explanations why a ticket waits. It is safe for concurrent
// use.
type runCounts struct {
	mu      sync.Mutex
	configs map[string]*runCount
}

// runCount is the runs of one config. Other runners have runs of it, too: the numbers of the director count them.
type runCount struct {
	epoch         uint64
	number, count int64
	marks         []mark // the oldest first, the closer the younger
}

// mark says which of all runs was the first one at a time.
type mark struct{ at, count int64 }

func newRunCounts() *runCounts { return &runCounts{configs: map[string]*runCount{}} }

// note notes that a run ended well.
func (s *runCounts) note(r *pb.RunRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.configs[r.GetConfig()]
	if c == nil {
		if len(s.configs) >= maxRunCounts {
			return
		}
		c = &runCount{epoch: r.GetEpoch(), number: r.GetNumber() - 1}
		s.configs[r.GetConfig()] = c
	}
	switch {
	case r.GetEpoch() > c.epoch:
		c.epoch, c.number = r.GetEpoch(), r.GetNumber()
		c.count += r.GetNumber()
	case r.GetEpoch() == c.epoch && r.GetNumber() > c.number:
		c.count += r.GetNumber() - c.number
		c.number = r.GetNumber()
	}
	c.mark(r.GetNow())
}

// mark adds a mark. Of too many, it drops the one that leaves the least gap for its age: so the count for a ticket that
// waited for long is off by a part of that time, and for a young one by little.
func (c *runCount) mark(at int64) {
	n := len(c.marks)
	if n > 0 && at <= c.marks[n-1].at {
		return
	}
	c.marks = append(c.marks, mark{at, c.count})
	if n < maxRunMarks {
		return
	}
	least, smallest := 0, math.Inf(1)
	for i := 1; i < n; i++ {
		gap, age := c.marks[i+1].at-c.marks[i-1].at, at-c.marks[i-1].at
		if share := float64(gap) / float64(age); share < smallest {
			least, smallest = i, share
		}
	}
	c.marks = slices.Delete(c.marks, least, least+1)
}

// since answers a request that asks for it: how many runs there were at least, and when the first was at the latest. It
// tells of no run that was before.
func (s *runCounts) since(r *pb.RunRequest) *pb.Seen {
	if r.GetSeenSince() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.configs[r.GetConfig()]
	if c == nil {
		return nil
	}
	for _, m := range c.marks {
		if m.at >= r.GetSeenSince() {
			return &pb.Seen{Runs: c.count - m.count + 1, Since: m.at}
		}
	}
	return nil
}

func (s *runCounts) forget(config string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.configs, config)
}
