package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/match/canary"
)

// The roles of an upload beside the one that serves all configs.
type role string

const (
	pinned   role = "pinned" // configs name it
	canaried role = "canary" // a part of the runs get it
	shadow   role = "shadow" // it gets the runs of the other one too, and what it proposes is compared
	repeater role = "return" // failed runs are repeated on it
)

// text describes an upload's role in a log.
func (r role) text() string {
	switch r {
	case pinned:
		return " for the configs that name it"
	case canaried:
		return " as a canary, for a part of the runs"
	case shadow:
		return " in the shadow"
	case repeater:
		return " to repeat failed runs"
	}
	return ""
}

// How long an upload stays beside another one without runs.
const (
	pinnedIdle   = 10 * time.Minute
	repeaterIdle = 30 * time.Second
)

// auxiliaryKey names an upload beside the one that serves.
type auxiliaryKey struct {
	role   role
	upload int64
}

// returned is the last time that the function went back to an upload by itself; nil if there was none.
func (f *function) returned() *pb.FunctionReturn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.record.GetReturned()
}

// serves reports whether players are served by it, so that it has as many instances as it needs.
func (r role) serves() bool { return r == pinned || r == canaried }

// isTrial reports whether the function's proposals are discarded.
func (f *function) isTrial() bool { return f.role == shadow || f.role == repeater }

// auxiliaryOf returns an upload beside the one that serves, and starts it if need be; nil if the function stops, or if
// the upload is not kept.
func (f *function) auxiliaryOf(key auxiliaryKey) *function {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.startAuxiliary(key)
}

// startAuxiliary is auxiliaryOf for a caller that has the lock.
func (f *function) startAuxiliary(key auxiliaryKey) *function {
	spec := f.specOf(key)
	if f.closed || spec == nil {
		return nil
	}
	b := f.auxiliaries[key]
	if b == nil {
		b = f.newAuxiliary(key)
		if f.auxiliaries == nil {
			f.auxiliaries = map[auxiliaryKey]*function{}
		}
		f.auxiliaries[key] = b
		f.goroutines.Go(func() {
			<-b.life.Done()
			b.goroutines.Wait()
			f.env.statusChanged.Notify()
		})
		b.update(spec)
	}
	b.used = f.env.Now()
	return b
}

// specOf returns what runs beside the upload that serves, nil if it is not kept. A canary has a generation of its own.
func (f *function) specOf(key auxiliaryKey) *pb.Function {
	spec := uploads.As(f.record, key.upload)
	if c := f.record.GetCanary(); spec != nil && key.role == canaried && c.GetUpload() == key.upload {
		spec.Generation = c.GetGeneration()
	}
	return spec
}

// newAuxiliary makes a function for an upload beside the one that serves. It takes no runs from the bus.
func (f *function) newAuxiliary(key auxiliaryKey) *function {
	b := &function{
		functionKey: f.functionKey, env: f.env, feed: f.feed, labels: f.labels, health: f.health, spent: f.spent,
		runCounts: f.runCounts, auxiliaryKey: key, logBudget: f.logBudget, projectLog: f.projectLog,
		ready: make(chan struct{}), runs: map[*run]func(){}, least: 1, most: 1,
	}
	if key.role.serves() {
		b.least, b.most = f.least, f.most
	}
	if key.role == canaried {
		b.home, b.health = f, newHealth(f.env.Store.Now)
		b.health.canary = true
	}
	// No function's name has such a sign, so the gate keeps the configs of both apart.
	b.gate = f.env.gate.Function(f.project, fmt.Sprintf("%s#%s-%d", f.function, key.role, key.upload), b.most,
		b.scaleUp)
	b.life, b.kill = context.WithCancel(f.life)
	return b
}

// updateAuxiliaries updates the uploads beside the one that serves, and ends unused ones. The caller has the lock.
func (f *function) updateAuxiliaries() {
	now, target := f.env.Now(), uploads.TrialTarget(f.record, f.env.Store.Now())
	needed := map[int64]bool{target.GetVersion(): true} // to repeat failed runs
	if f.record.GetCanary() != nil {
		needed[f.record.GetVersion()] = true
	}
	for key, b := range f.auxiliaries {
		spec := f.specOf(key)
		idle, isCanary := now.Sub(b.used), key.upload == f.record.GetCanary().GetUpload()
		switch {
		case spec == nil,
			key.role == pinned && idle >= pinnedIdle && b.gate.Idle(),
			key.role == canaried && !isCanary && b.gate.Idle(),
			key.role == shadow && key.upload != f.record.GetShadow(),
			key.role == repeater && (!needed[key.upload] || idle >= repeaterIdle) && b.gate.Idle():
			delete(f.auxiliaries, key)
			b.kill()
		case key.role == canaried && !isCanary: // it ends its runs
		default:
			b.update(spec)
		}
	}
	if n := f.record.GetShadow(); n != 0 && n != f.record.GetVersion() && f.current != nil {
		f.startAuxiliary(auxiliaryKey{shadow, n})
	}
	if n := f.record.GetCanary().GetUpload(); n != 0 && n != f.record.GetVersion() && f.current != nil {
		f.startAuxiliary(auxiliaryKey{canaried, n})
	}
	f.trying.Store(target != nil || f.record.GetShadow() != 0 || f.home != nil)
}

// shadowOf returns the upload that runs in the shadow, nil if there is none that could.
func (f *function) shadowOf() *function {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.auxiliaries[auxiliaryKey{shadow, f.record.GetShadow()}]
}

// servingFor returns the function that serves a run: this one, or one beside it, for a config that names an upload and
// for the runs of the canary.
func (f *function) servingFor(r *run) (*function, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	upload := r.Request.GetUpload()
	if serving := r.Request.GetServing(); serving != 0 && (f.record.GetVersion() != serving ||
		f.current != nil && f.current.spec.GetVersion() != serving) {
		return nil, errOtherUpload
	}
	if upload == 0 {
		return f.servingPart(r), nil
	}
	if f.current != nil && f.current.spec.GetVersion() == upload {
		return f, nil
	}
	if f.closed {
		return nil, errLeaving
	}
	b := f.startAuxiliary(auxiliaryKey{pinned, upload})
	if b == nil {
		return nil, fmt.Errorf("upload %d of function %q, which the config names, is not kept: name another one in "+
			"matchmaking.targetFunction.upload", upload, f.function)
	}
	return b, nil
}

// servingPart returns the function that serves a run of a config without an upload, and marks the run if there is a
// canary. Until an instance of the canary is ready for the first time, no run waits for it. The caller has the lock.
func (f *function) servingPart(r *run) *function {
	if f.record.GetCanary() == nil {
		return f
	}
	now := r.Request.GetNow()
	if now == 0 {
		now = f.env.Store.Now().UnixMilli()
	}
	var upload int64
	upload, r.canary = canary.For(f.record, r.Request.GetConfig(), r.Request.GetQueue(), now)
	if upload == 0 || f.closed || f.current != nil && f.current.spec.GetVersion() == upload {
		return f
	}
	if b := f.startAuxiliary(auxiliaryKey{canaried, upload}); b != nil {
		select {
		case <-b.ready:
			return b
		default:
		}
	}
	return f
}

// errOtherUpload is the failure of runs that are to be made by the upload that serves, and expect another one.
var errOtherUpload = errors.New(bus.OtherUpload)

// errLeaving is the failure of runs that come when the function stops.
var errLeaving = errors.New("the function is leaving this runner, try again")

// sortedAuxiliaries is the uploads beside the one that serves. The caller has the lock.
func (f *function) sortedAuxiliaries() []*function {
	return slices.SortedFunc(maps.Values(f.auxiliaries), func(a, b *function) int {
		return cmp.Compare(a.upload, b.upload)
	})
}

// spec is the version that runs, or is to run; nil if there is none.
func (f *function) spec() *pb.Function {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.current != nil:
		return f.current.spec
	case f.next != nil:
		return f.next.spec
	}
	return nil
}

// failureText says why an instance of the version that runs, or is to run, is not there.
func (f *function) failureText() string {
	f.mu.Lock()
	v := cmp.Or(f.current, f.next)
	f.mu.Unlock()
	if v == nil {
		return ""
	}
	return v.failureText()
}
