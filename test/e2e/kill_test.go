package e2e

import (
	"syscall"
	"testing"
	"time"
)

// In these tests a process is killed or frozen while players keep coming. Each player must get one match.

// directorKilled: another director takes over the project.
func directorKilled(t *testing.T, p *project) {
	p.actor(t)
	var leader string
	var epoch uint64
	all := p.crowd(t, 90, map[int]func(){
		30: func() {
			leader, epoch = p.leader(t)
			p.s.kill(leader)
		},
	})
	if heir, later := p.leader(t); heir == leader || later <= epoch {
		t.Errorf("%s with epoch %d was followed by %s with epoch %d, want the other director and a later epoch", leader,
			epoch, heir, later)
	}
	all.paired(t)
	all.meet(t)
	p.s.start(t, leader)
}

// directorFrozen: a director that is frozen for longer than its lease changes nothing when it goes on.
func directorFrozen(t *testing.T, p *project) {
	p.actor(t)
	var frozen *replica
	all := p.crowd(t, 90, map[int]func(){
		30: func() {
			name, epoch := p.leader(t)
			frozen = p.s.replica(name)
			frozen.Signal(syscall.SIGSTOP)
			eventually(t, "another director leads "+p.name, func() bool {
				_, later := p.leader(t)
				return later > epoch
			})
		},
		45: func() { frozen.Signal(syscall.SIGCONT) },
	})
	all.paired(t)
	all.meet(t)
}

// leader is the director that leads the project, and its epoch.
func (p *project) leader(t *testing.T) (name string, epoch uint64) {
	t.Helper()
	eventually(t, "a director leads "+p.name, func() bool {
		for _, director := range p.s.all() {
			if e, leads := director.log.last("leading a project", p.name); leads && director.Running() && e.Epoch > epoch {
				name, epoch = director.name, e.Epoch
			}
		}
		return name != ""
	})
	return name, epoch
}

// runnerKilled: the other runner takes over, also when a function of the killed one hangs.
func runnerKilled(t *testing.T, p *project) {
	p.actor(t)
	p.upload(t, "spinner", p.s.made.actor)
	p.put(t, "spinner", rules{function: "spinner", settings: map[string]any{"part": "spin"}, side: 1})
	p.awaitInstance(t, "actor", "runner-1")
	all := p.crowd(t, 90, map[int]func(){
		30: func() { p.s.replica("runner-1").Signal(syscall.SIGSTOP) }, // it keeps the runs that it gets from now on
		40: func() { p.s.kill("runner-1") },
	})
	all.paired(t)
	all.meet(t)
	p.awaitNoInstance(t, "actor", "runner-1")
	// Measure how long the instances of a killed runner are still shown.
	p.s.start(t, "runner-1")
	p.awaitInstance(t, "actor", "runner-1")
	p.s.kill("runner-1")
	killed := time.Now()
	p.awaitNoInstance(t, "actor", "runner-1")
	t.Logf("a killed runner's instances are gone from GET /functions/actor after %v",
		time.Since(killed).Round(10*time.Millisecond))
	p.s.start(t, "runner-1")
}

// allocatorKilled: another allocator finishes the matches of the killed one. The killed one's game servers end with it;
// players that come later reach theirs.
func allocatorKilled(t *testing.T, p *project) {
	p.actor(t)
	all := p.crowd(t, 90, map[int]func(){
		30: func() { p.s.replica("allocator-1").Signal(syscall.SIGSTOP) }, // it keeps the matches that it gets from now on
		70: func() { p.s.kill("allocator-1") },
	})
	all.paired(t)
	p.crowd(t, 10, nil).meet(t)
	p.s.start(t, "allocator-1")
}
