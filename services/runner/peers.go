package runner

import (
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// peers knows which runners are alive, from their heartbeats.
//
// Silence is measured against this runner's own heartbeats as they return over the bus. A runner that is cut off
// receives no heartbeats, not even its own, and must not conclude that it is alone and hosts everything.
type peers struct {
	self            string
	silence, settle time.Duration
	now             func() time.Time

	mu      sync.Mutex
	others  map[string]*peer
	leaving bool      // this runner hands its projects over
	first   time.Time // when this runner's first heartbeat returned; zero before
	last    time.Time // when its last one did
}

type peer struct {
	lastHeartbeat time.Time
	serves        map[functionKey]bool
	desiredHosts  map[string]int32 // by project, where it is more than usual
	handing       bool             // it is going to shut down
}

// functionKey names a function of a project.
type functionKey struct{ project, function string }

func newPeers(o *Options) *peers {
	return &peers{
		self: o.Name, silence: o.Settings.Silence, settle: o.Settings.Settle, now: o.Now, others: map[string]*peer{},
	}
}

// update takes a heartbeat, and reports whether it changed the set of living runners.
func (p *peers) update(s *pb.RunnerStatus) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if s.GetRunner() == p.self {
		p.updateSelf(now)
		return false
	}
	known := p.others[s.GetRunner()]
	if s.GetLeaving() {
		delete(p.others, s.GetRunner())
		return known != nil
	}
	serves := make(map[functionKey]bool, len(s.GetInstances()))
	for _, i := range s.GetInstances() {
		if i.GetState() == stateRunning && !i.GetAside() {
			serves[functionKey{i.GetProject(), i.GetFunction()}] = true
		}
	}
	p.others[s.GetRunner()] = &peer{
		lastHeartbeat: now, serves: serves, desiredHosts: s.GetHosts(), handing: s.GetHanding(),
	}
	return known == nil || known.handing != s.GetHanding()
}

func (p *peers) updateSelf(now time.Time) {
	if p.first.IsZero() {
		p.first = now
	} else if now.Sub(p.last) > p.silence {
		// The bus was down, perhaps for the others too: their silence starts again.
		for _, o := range p.others {
			o.lastHeartbeat = now
		}
	}
	p.last = now
}

// leave notes that this runner hands its projects over.
func (p *peers) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaving = true
}

// isLeaving reports whether this runner hands its projects over.
func (p *peers) isLeaving() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leaving
}

// alive is the names of the runners that are alive and not about to shut down, sorted, this one included. It is nil
// until this runner has listened for Settings.Settle.
func (p *peers) alive() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first.IsZero() || p.now().Sub(p.first) < p.settle {
		return nil
	}
	names := make([]string, 0, 1+len(p.others))
	if !p.leaving {
		names = append(names, p.self)
	}
	for name, o := range p.others {
		if p.last.Sub(o.lastHeartbeat) > p.silence {
			delete(p.others, name)
		} else if !o.handing {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// countServing is how many of the runners, other than this one, serve a function.
func (p *peers) countServing(runners []string, f functionKey) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range runners {
		if o := p.others[name]; o != nil && o.serves[f] {
			n++
		}
	}
	return n
}

// desiredHosts is the most hosts that another runner wants for a project, 0 when none wants more than usual.
func (p *peers) desiredHosts(project string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := int32(0)
	for _, o := range p.others {
		n = max(n, o.desiredHosts[project])
	}
	return int(n)
}
