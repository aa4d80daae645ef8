package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	uploads "matchmaker.dev/services/internal/upload"
)

// What an upload runs for beside the one that serves all configs.
type role string

const (
	pinned   role = "pinned" // configs name it
	shadow   role = "shadow" // it gets the runs of the other one too, and what it proposes is compared
	repeater role = "return" // failed runs are repeated on it
)

// text says in a log what an upload runs for.
func (r role) text() string {
	switch r {
	case pinned:
		return " for the configs that name it"
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

// besideKey names an upload beside the one that serves.
type besideKey struct {
	role   role
	upload int64
}

// beside is an upload of a function beside the one that serves: a function of its own, which takes no runs from the
// bus.
type beside struct {
	*function
	key  besideKey
	used time.Time // guarded by the lock of the function that it is beside of
}

// returned is the last time that the function went back to an upload by itself; nil if there was none.
func (f *function) returned() *pb.FunctionReturn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.record.GetReturned()
}

// isTrial returns whether nobody is served by what the function proposes.
func (f *function) isTrial() bool { return f.role == shadow || f.role == repeater }

// besideOf returns an upload beside the one that serves, and starts it if need be; nil if the function stops, or if the
// upload is not kept.
func (f *function) besideOf(key besideKey) *beside {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.startBeside(key)
}

// startBeside is besideOf for a caller that has the lock.
func (f *function) startBeside(key besideKey) *beside {
	spec := uploads.As(f.record, key.upload)
	if f.closed || spec == nil {
		return nil
	}
	b := f.besides[key]
	if b == nil {
		b = &beside{function: f.newBeside(key), key: key}
		if f.besides == nil {
			f.besides = map[besideKey]*beside{}
		}
		f.besides[key] = b
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

func (f *function) newBeside(key besideKey) *function {
	b := &function{
		functionKey: f.functionKey, env: f.env, feed: f.feed, labels: f.labels, health: f.health, sightings: f.sightings,
		spent: f.spent,
		role:  key.role, logBudget: f.logBudget, projectLog: f.projectLog, ready: make(chan struct{}), runs: map[*run]func(){},
		least: 1, most: 1,
	}
	if key.role == pinned {
		b.least, b.most = f.least, f.most
	}
	// No name of a function has such a sign: the gate tells its configs apart from those of the function.
	b.gate = f.env.gate.Function(f.project, fmt.Sprintf("%s#%s-%d", f.function, key.role, key.upload), b.most,
		b.scaleUp)
	b.life, b.kill = context.WithCancel(f.life)
	return b
}

// keepBesides updates the uploads beside the one that serves, and ends those that nobody needs. The caller has the
// lock.
func (f *function) keepBesides() {
	now, target := f.env.Now(), uploads.TrialTarget(f.record, f.env.Store.Now())
	for key, b := range f.besides {
		spec := uploads.As(f.record, key.upload)
		idle := now.Sub(b.used)
		switch {
		case spec == nil,
			key.role == pinned && idle >= pinnedIdle && b.gate.Idle(),
			key.role == shadow && key.upload != f.record.GetShadow(),
			key.role == repeater && (key.upload != target.GetVersion() || idle >= repeaterIdle) && b.gate.Idle():
			delete(f.besides, key)
			b.kill()
		default:
			b.update(spec)
		}
	}
	if n := f.record.GetShadow(); n != 0 && n != f.record.GetVersion() && f.current != nil {
		f.startBeside(besideKey{shadow, n})
	}
	f.trying.Store(target != nil || f.record.GetShadow() != 0)
}

// shadowOf returns the upload that runs in the shadow, nil if there is none that could.
func (f *function) shadowOf() *beside {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.besides[besideKey{shadow, f.record.GetShadow()}]
}

// servingFor returns the function that serves runs for an upload: this one, or one beside it.
func (f *function) servingFor(upload int64) (*function, error) {
	if upload == 0 {
		return f, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != nil && f.current.spec.GetVersion() == upload {
		return f, nil
	}
	if f.closed {
		return nil, errLeaving
	}
	b := f.startBeside(besideKey{pinned, upload})
	if b == nil {
		return nil, fmt.Errorf("upload %d of function %q, which the config names, is not kept: name another one in "+
			"matchmaking.targetFunction.upload", upload, f.function)
	}
	return b.function, nil
}

// errLeaving is the failure of runs that come when the function stops.
var errLeaving = errors.New("the function is leaving this runner, try again")

// sortedBesides is the uploads beside the one that serves. The caller has the lock.
func (f *function) sortedBesides() []*beside {
	list := make([]*beside, 0, len(f.besides))
	for _, b := range f.besides {
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b *beside) int { return cmp.Compare(a.key.upload, b.key.upload) })
	return list
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
	v := f.current
	if v == nil {
		v = f.next
	}
	f.mu.Unlock()
	if v == nil {
		return ""
	}
	return v.failureText()
}
