package runner

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
)

// version is one generation of a function: its module and the slots that run it.
type version struct {
	f    *function
	spec *pb.Function

	ctx    context.Context
	retire context.CancelFunc // of ctx: each slot finishes its run, if it has one, and ends

	// overlooks is set when a check found that the function cannot work on changes.
	overlooks atomic.Bool
	// keepMost is how many tickets an instance keeps, if that is less than its memory allows; 0 if not.
	keepMost atomic.Int64

	loading sync.Mutex
	module  *sandbox.Module // nil until it is loaded, after a failed start, and after the last slot ended

	mu      sync.Mutex
	slots   []*slot
	busy    int
	allBusy time.Time // when all slots were busy last
}

func newVersion(f *function, spec *pb.Function) *version {
	v := &version{f: f, spec: spec}
	v.ctx, v.retire = context.WithCancel(f.life)
	return v
}

// matches reports whether a spec describes this version.
func (v *version) matches(spec *pb.Function) bool {
	// mistake stale: return true
	return v.spec.GetGeneration() == spec.GetGeneration() && v.spec.GetModule() == spec.GetModule()
}

// scaleUp adds a slot, up to the most that the function has. It adds none while an instance does not run: either that
// instance is about to, or the function fails and more instances would not help.
func (v *version) scaleUp() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.allRunning() {
		v.addSlots(len(v.slots) + 1)
	}
}

// takeOver adds as many slots as the version before has, nil for none, and at least the least that the function has.
func (v *version) takeOver(before *version) {
	n := v.f.least
	if before != nil {
		n = max(n, len(before.copySlots()))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.addSlots(n)
}

// scaleDown removes a slot when the others were enough for Settings.Idle, and reports whether it did.
func (v *version) scaleDown(s *slot) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.f.env.Now()
	if len(v.slots) <= v.f.least || now.Sub(v.allBusy) < v.f.env.Settings.Idle {
		return false
	}
	v.allBusy = now // the next one goes after as long again
	v.remove(s)
	return true
}

// atCapacity reports whether there are as many slots as allowed, and all of them run.
func (v *version) atCapacity() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.slots) >= v.f.most && v.allRunning()
}

// allRunning reports whether the instance of each slot runs. The caller has the lock.
func (v *version) allRunning() bool {
	return !slices.ContainsFunc(v.slots, func(s *slot) bool { return s.status().State != stateRunning })
}

// addSlots adds slots until there are n, or as many as the function has at most. The caller has the lock.
func (v *version) addSlots(n int) {
	for len(v.slots) < min(n, v.f.most) && v.ctx.Err() == nil {
		s := newSlot(v)
		v.slots = append(v.slots, s)
		v.allBusy = v.f.env.Now()
		v.f.goroutines.Go(func() {
			s.run(v.ctx)
			v.slotEnded(s)
		})
	}
}

// remove removes a slot. The caller has the lock.
func (v *version) remove(s *slot) {
	v.slots = slices.DeleteFunc(v.slots, func(other *slot) bool { return other == s })
}

// slotEnded is called when a slot's goroutine ends. The last one of a retired version releases the module.
func (v *version) slotEnded(s *slot) {
	v.mu.Lock()
	v.remove(s)
	last := len(v.slots) == 0
	v.mu.Unlock()
	if last {
		v.releaseModule()
		v.f.versionEnded(v)
	}
	v.f.env.statusChanged.Notify()
}

// markBusy counts a slot as busy until the returned function is called.
func (v *version) markBusy() (free func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy++; v.busy >= len(v.slots) {
		v.allBusy = v.f.env.Now()
	}
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.busy--
	}
}

func (v *version) copySlots() []*slot {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.slots)
}

// failureText says why a slot has no instance, to be appended to an error.
func (v *version) failureText() string {
	for _, s := range v.copySlots() {
		if status := s.status(); status.GetReason() != "" {
			return "; " + status.GetName() + ": " + status.GetReason()
		}
	}
	return ""
}
