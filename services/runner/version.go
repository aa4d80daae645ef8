package runner

import (
	"context"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
)

// version is one generation of a function: its module and the seats that run it.
type version struct {
	f    *function
	spec *pb.Function

	ctx    context.Context // its end tells the seats to finish
	cancel context.CancelFunc

	loading sync.Mutex
	module  *sandbox.Module // nil until loaded, after it could not be started, and after the last seat left

	mu    sync.Mutex
	seats []*seat
	busy  int
	full  time.Time // when all seats were busy at once last
}

func newVersion(f *function, spec *pb.Function) *version {
	v := &version{f: f, spec: spec}
	v.ctx, v.cancel = context.WithCancel(f.life)
	return v
}

// is tells whether a spec describes this version.
func (v *version) is(spec *pb.Function) bool {
	return v.spec.GetGeneration() == spec.GetGeneration() && v.spec.GetModule() == spec.GetModule()
}

// retire lets every seat finish its run, if it has one, and go.
func (v *version) retire() { v.cancel() }

// grow adds a seat, unless there are as many as may be, or one of them does not
// run: it is about to, or the function is not well and more of it would not help.
func (v *version) grow() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.runs() {
		v.fill(len(v.seats) + 1)
	}
}

// runs tells whether each seat has an instance that does.
func (v *version) runs() bool {
	for _, s := range v.seats {
		if s.report().State != running {
			return false
		}
	}
	return true
}

// fill adds seats until there are n, or as many as may be.
func (v *version) fill(n int) {
	for len(v.seats) < min(n, v.f.env.Settings.MaxInstances) && v.ctx.Err() == nil {
		s := newSeat(v)
		v.seats = append(v.seats, s)
		v.full = v.f.env.Now()
		v.f.going.Go(func() {
			s.keep(v.ctx)
			v.left(s)
		})
	}
}

// match makes the seats as many as the version has that this one takes over from, nil
// for none, and as there must be at least.
func (v *version) match(before *version) {
	n := v.f.env.Settings.MinInstances
	if before != nil {
		n = max(n, len(before.list()))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fill(n)
}

// crowded tells whether there are as many seats as may be, and all of them run.
func (v *version) crowded() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.seats) >= v.f.env.Settings.MaxInstances && v.runs()
}

// left is called by a seat's goroutine at its end. The last one of a retired version puts the module back.
func (v *version) left(s *seat) {
	v.remove(s)
	v.mu.Lock()
	last := len(v.seats) == 0
	v.mu.Unlock()
	if last {
		v.unload()
		v.f.left(v)
	}
	v.f.env.changed()
}

func (v *version) remove(s *seat) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seats = slices.DeleteFunc(v.seats, func(other *seat) bool { return other == s })
}

// spare removes a seat, and tells so, when the others had been enough for Settings.Idle.
func (v *version) spare(s *seat) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.seats) <= v.f.env.Settings.MinInstances || v.f.env.Now().Sub(v.full) < v.f.env.Settings.Idle {
		return false
	}
	v.full = v.f.env.Now() // the next one to go waits as long again
	v.seats = slices.DeleteFunc(v.seats, func(other *seat) bool { return other == s })
	return true
}

// occupy counts a seat as busy until the returned function is called.
func (v *version) occupy() (free func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.busy++; v.busy >= len(v.seats) {
		v.full = v.f.env.Now()
	}
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.busy--
	}
}

// list is a copy of the seats.
func (v *version) list() []*seat {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.seats)
}

// load returns the module, which the version holds from the first time on, until unload.
func (v *version) load(ctx context.Context) (*sandbox.Module, error) {
	v.loading.Lock()
	defer v.loading.Unlock()
	if v.module != nil {
		return v.module, nil
	}
	m, err := v.f.env.module(ctx, v.spec.GetModule())
	if err != nil {
		return nil, err
	}
	v.module = m
	return m, nil
}

// unload puts the module back; the next load brings it again.
func (v *version) unload() {
	v.loading.Lock()
	defer v.loading.Unlock()
	if v.module != nil {
		v.f.env.Box.Release(v.module)
		v.module = nil
	}
}

// ailment is the reason of a seat that has no instance, for an error's text.
func (v *version) ailment() string {
	for _, s := range v.list() {
		if report := s.report(); report.GetReason() != "" {
			return "; " + report.GetName() + ": " + report.GetReason()
		}
	}
	return ""
}
