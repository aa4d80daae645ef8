package runner

import (
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// peers knows which runners live, by their heartbeats.
//
// Silence is measured against this runner's own heartbeats as they come back
// over the bus: a runner that is cut off hears neither itself nor others, and
// must not conclude that it is alone and has to host everything.
type peers struct {
	self            string
	silence, settle time.Duration
	now             func() time.Time

	mu     sync.Mutex
	others map[string]*peer
	first  time.Time // when this runner heard itself first; zero: not yet
	last   time.Time // when it heard itself last
}

type peer struct {
	heard  time.Time
	serves map[target]bool
	hosts  map[string]int32 // how many each project should have, where it is more than usual
}

// target is a function of a project.
type target struct{ project, function string }

func newPeers(o *Options) *peers {
	return &peers{self: o.Name, silence: o.Settings.Silence, settle: o.Settings.Settle, now: o.Now, others: map[string]*peer{}}
}

// hear takes in a heartbeat, and tells whether it changed who lives.
func (p *peers) hear(s *pb.RunnerStatus) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if s.GetRunner() == p.self {
		p.hearSelf(now)
		return false
	}
	known := p.others[s.GetRunner()]
	if s.GetLeaving() {
		delete(p.others, s.GetRunner())
		return known != nil
	}
	serves := make(map[target]bool, len(s.GetInstances()))
	for _, i := range s.GetInstances() {
		if i.GetState() == running {
			serves[target{i.GetProject(), i.GetFunction()}] = true
		}
	}
	p.others[s.GetRunner()] = &peer{heard: now, serves: serves, hosts: s.GetHosts()}
	return known == nil
}

func (p *peers) hearSelf(now time.Time) {
	if p.first.IsZero() {
		p.first = now
	} else if now.Sub(p.last) > p.silence {
		// The bus was away, for the others too perhaps: all get a new chance.
		for _, o := range p.others {
			o.heard = now
		}
	}
	p.last = now
}

// living is the names of the runners that live, this one included, in order; nil as
// long as this runner has not been listening for the settling time.
func (p *peers) living() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first.IsZero() || p.now().Sub(p.first) < p.settle {
		return nil
	}
	names := []string{p.self}
	for name, o := range p.others {
		if p.last.Sub(o.heard) > p.silence {
			delete(p.others, name)
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// serving is how many of the runners, this one left out, serve a function.
func (p *peers) serving(runners []string, t target) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range runners {
		if o := p.others[name]; o != nil && o.serves[t] {
			n++
		}
	}
	return n
}

// hosts is how many runners others say that a project should have, 0 when none says so.
func (p *peers) hosts(project string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := int32(0)
	for _, o := range p.others {
		n = max(n, o.hosts[project])
	}
	return int(n)
}
