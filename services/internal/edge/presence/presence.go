// Package presence notes requests for tickets as signs of life, in projects that end tickets without any
// (tickets.silence in their settings). Processes buffer them in memory, and store them a few times in the time after
// which a ticket ends. Projects without the setting pay one look into a map for each request.
package presence

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

const (
	// tick is how often a Listener looks for what is due.
	tick = time.Second
	// settingsTTL is for how long a project's settings are used, at most. In projects with requests, or with tickets that
	// end, they are read in each tick, as long as that is at most readsPerTick reads. Before tickets end they are read in
	// any case.
	settingsTTL  = 10 * time.Second
	readsPerTick = 256
	// forgetAfter is the time without a request after which a project is forgotten.
	forgetAfter = time.Minute
	// findEvery is how often projects are looked for that have signs of life and are not known.
	findEvery = time.Minute
	// flushEvery is the longest time that what was heard is kept back, and full the number from which it is not.
	flushEvery = 15 * time.Second
	flushAt    = 4096
	// maxBuffered is how many tickets are kept back in all. More than that in a tick are not noted.
	maxBuffered = 1 << 18
	// shutdownTime is how long the state may take to learn the last of it when the process stops.
	shutdownTime = 2 * time.Second
	// maxCheckEvery is the longest time between two looks for silent tickets.
	maxCheckEvery = 5 * time.Second
)

// Options are what a Listener needs.
type Options struct {
	Log *slog.Logger
	// Meter makes the instrument; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Hear stores that tickets were asked for, and Settings reads a project's settings.
	Hear     func(ctx context.Context, project string, tickets []string) error
	Settings func(ctx context.Context, project string) (*pb.ProjectSettings, error)
	// End ends the tickets without a request during silence, and returns for how many others the last request is known.
	// Find lists the projects that have such tickets. Both are nil in processes that only listen.
	End  func(ctx context.Context, project string, silence, gap time.Duration) (tickets int64, err error)
	Find func(ctx context.Context) ([]string, error)
}

// Listener notes requests for tickets.
type Listener struct {
	Options

	mu       sync.Mutex
	projects map[string]*project
	buffered int // tickets, of all projects
	found    time.Time
}

// project is what is known of one.
type project struct {
	// silence is what its settings said at the time read; 0 if no ticket ends. It is not known while read is zero.
	silence time.Duration
	read    time.Time
	// buffered are the tickets that were asked for since the state learned of it.
	buffered map[string]struct{}
	// asked is set after a request since the last tick; last is the time of the last request, or when silent tickets were
	// known.
	asked bool
	last  time.Time
	// flush and look are when the state learns what was heard, and when silent tickets are looked for.
	flush, check time.Time
}

// New makes a Listener.
func New(o Options) *Listener {
	l := &Listener{Options: o, projects: map[string]*project{}}
	o.Meter.ObservableGauge("matchmaker.presence.tickets", "{ticket}",
		"Tickets whose last request this process is still to store, and the most.",
		telemetry.Usage(func() (used, limit int) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.buffered, maxBuffered
		}))
	return l
}

// Heard notes a request for a ticket that exists.
func (l *Listener) Heard(name, ticket string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(l.project(name), ticket)
}

func (l *Listener) project(name string) *project {
	p := l.projects[name]
	if p == nil {
		p = &project{buffered: map[string]struct{}{}}
		l.projects[name] = p
	}
	return p
}

func (l *Listener) note(p *project, ticket string) {
	p.asked = true
	if p.silence == 0 && !p.read.IsZero() || l.buffered >= maxBuffered {
		return
	}
	if _, twice := p.buffered[ticket]; !twice {
		p.buffered[ticket] = struct{}{}
		l.buffered++
	}
}

// Run tells the state until ctx ends.
func (l *Listener) Run(ctx context.Context) {
	for n := range wait.Every(ctx, tick) {
		if n > 0 {
			l.Tick(ctx, time.Now())
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	l.mu.Lock()
	all := maps.Clone(l.projects)
	l.mu.Unlock()
	for name, p := range all {
		if p.silence > 0 {
			l.flush(last, name, p, time.Now())
		}
	}
}

// Tick does what is due.
func (l *Listener) Tick(ctx context.Context, now time.Time) {
	l.find(ctx, now)
	l.mu.Lock()
	for name, p := range l.projects {
		if p.asked {
			p.asked, p.last = false, now
		}
		if now.Sub(p.last) > forgetAfter {
			l.forget(p)
			delete(l.projects, name)
		}
	}
	all := maps.Clone(l.projects)
	l.mu.Unlock()
	age := min(settingsTTL, time.Duration(1+len(all)/readsPerTick)*tick)
	for name, p := range all {
		if ctx.Err() != nil {
			return
		}
		since := now.Sub(p.read)
		checks := l.End != nil && p.silence > 0 && !now.Before(p.check)
		matters := p.silence > 0 || p.last.Equal(now)
		if (checks || matters && since >= age || since >= settingsTTL) && !l.learn(ctx, name, p, now) {
			continue
		}
		if p.silence == 0 {
			continue
		}
		if !now.Before(p.flush) || l.isFull(p) {
			l.flush(ctx, name, p, now)
		}
		if l.End != nil && !now.Before(p.check) {
			l.end(ctx, name, p, now)
		}
	}
}

// find adds projects that have tickets without a request to this process.
func (l *Listener) find(ctx context.Context, now time.Time) {
	if l.Find == nil || now.Sub(l.found) < findEvery {
		return
	}
	names, err := l.Find(ctx)
	if !l.check(ctx, "looking for projects with silent tickets", "", err) {
		return
	}
	l.found = now
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		l.project(name).last = now
	}
}

// learn reads what a project wants.
func (l *Listener) learn(ctx context.Context, name string, p *project, now time.Time) bool {
	settings, err := l.Settings(ctx, name)
	if !l.check(ctx, "reading whether silent tickets end", name, err) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.silence, p.read = state.SilenceOf(settings), now
	if p.silence == 0 {
		l.forget(p)
	}
	return true
}

// forget forgets what was heard. The caller has the mutex.
func (l *Listener) forget(p *project) {
	l.buffered -= len(p.buffered)
	p.buffered = map[string]struct{}{}
}

// isFull reports whether so much was heard that it is not kept back.
func (l *Listener) isFull(p *project) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(p.buffered) >= flushAt
}

// flush lets the state know what was heard. What it could not learn is kept for the next time.
func (l *Listener) flush(ctx context.Context, name string, p *project, now time.Time) {
	l.mu.Lock()
	tickets := slices.Collect(maps.Keys(p.buffered))
	l.forget(p)
	l.mu.Unlock()
	p.flush = now.Add(min(p.silence/4, flushEvery))
	if len(tickets) == 0 || l.check(ctx, "noting who asks for tickets", name, l.Hear(ctx, name, tickets)) {
		return
	}
	// mistake unheard: return
	p.flush = now.Add(tick)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ticket := range tickets {
		l.note(p, ticket)
	}
}

// end ends silent tickets.
func (l *Listener) end(ctx context.Context, name string, p *project, now time.Time) {
	every := max(tick, min(p.silence/10, maxCheckEvery))
	p.check = now.Add(every)
	tickets, err := l.End(ctx, name, p.silence, 3*every)
	if l.check(ctx, "ending silent tickets", name, err) && tickets > 0 {
		p.last = now
	}
}

// check reports whether something succeeded, and logs it otherwise.
func (l *Listener) check(ctx context.Context, doing, name string, err error) bool {
	if err != nil && !errors.Is(err, context.Canceled) {
		l.Log.WarnContext(ctx, doing, "project", name, "error", err)
	}
	return err == nil
}
