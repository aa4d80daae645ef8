package runner

import (
	"sync"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

const (
	// maxSightings is of how many configs a function remembers when they ran, and maxRunMarks at how many times of each.
	// Each takes 2 KiB.
	maxSightings = 1024
	maxRunMarks  = 128
	// markPause is how many milliseconds are between two marks, until there are too many.
	markPause = 1000
)

// sightings say how many runs of a config there were since a time: who asks why a ticket waits wants to know. It is
// safe for concurrent use.
type sightings struct {
	mu      sync.Mutex
	configs map[string]*sighting
}

// sighting is the runs of one config. Other runners have runs of it, too: the numbers of the director count them.
type sighting struct {
	epoch         uint64
	number, count int64
	pause         int64
	marks         []mark // the oldest first
	last          mark
}

// mark says which of all runs was the first one at a time.
type mark struct{ at, count int64 }

func newSightings() *sightings { return &sightings{configs: map[string]*sighting{}} }

// note notes that a run ended well.
func (s *sightings) note(r *pb.RunRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.configs[r.GetConfig()]
	if c == nil {
		if len(s.configs) >= maxSightings {
			return
		}
		c = &sighting{pause: markPause, epoch: r.GetEpoch(), number: r.GetNumber() - 1}
		s.configs[r.GetConfig()] = c
	}
	switch {
	case r.GetNumber() == 0: // of a director of an earlier version
		c.count++
	case r.GetEpoch() > c.epoch:
		c.epoch, c.number = r.GetEpoch(), r.GetNumber()
		c.count += r.GetNumber()
	case r.GetEpoch() == c.epoch && r.GetNumber() > c.number:
		c.count += r.GetNumber() - c.number
		c.number = r.GetNumber()
	}
	c.mark(r.GetNow())
}

func (c *sighting) mark(at int64) {
	if at > c.last.at {
		c.last = mark{at, c.count}
	}
	if n := len(c.marks); n > 0 && at-c.marks[n-1].at < c.pause {
		return
	}
	if len(c.marks) == maxRunMarks {
		for i := range maxRunMarks / 2 {
			c.marks[i] = c.marks[2*i]
		}
		c.marks, c.pause = c.marks[:maxRunMarks/2], 2*c.pause
		c.mark(at)
		return
	}
	c.marks = append(c.marks, mark{at, c.count})
}

// since answers a request that asks for it. It tells of no run that was before, and leaves out those between two marks.
func (s *sightings) since(r *pb.RunRequest) *pb.Seen {
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
	if c.last.at >= r.GetSeenSince() {
		return &pb.Seen{Runs: c.count - c.last.count + 1, Since: c.last.at}
	}
	return nil
}

func (s *sightings) forget(config string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.configs, config)
}
