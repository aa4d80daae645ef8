package registry

import (
	"context"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/usage"
)

// patience is how long an upload waits until it may begin.
const patience = 30 * time.Second

// At most so many logs are read at a time, of one project and by this process. Each read goes through the lines of the
// function in the stream, and holds an answer.
const (
	projectReads = 4
	allReads     = 16
)

// What an upload must do while others wait for its place.
const (
	// minRate is how many bytes a second it must send, and slack is how long it may send none.
	minRate = 256 << 10
	slack   = 2 * time.Second
	// tenure is how long it keeps its place when somebody waits who has none and used less lately.
	tenure = 3 * time.Second
	// review is how often that is looked at.
	review = 250 * time.Millisecond
)

const (
	// unpackedPlaces is how many times as many uploads may wait to be compiled as may be received: a module is a fifth of
	// the longest file, and less.
	unpackedPlaces = 8
	// maxWaiting is how many uploads may wait until they may begin, and maxProjectWaiting those of one project.
	maxWaiting, maxProjectWaiting = 1024, 32
	// placeHalfLife is how fast it is forgotten who held places.
	placeHalfLife = 10 * time.Minute
)

// admission bounds how many uploads are received and unpacked at the same time, and how many of one project are worked
// on in any way. Who waits for the compiler holds no place that others need.
//
// A free place goes to the project that has the fewest, and of those to the one that held places for the shortest time
// lately. Nobody keeps a project waiting that has no place: when all are taken, one gives way. It is that of a sender
// that is too slow, or one of the project with the most, or that of the project that held them for longest. It is safe
// for concurrent use.
type admission struct {
	most, perProject int
	what             string              // is too much at the limit
	limit            string              // its name, "" for that of uploads
	states           [3]string           // of places: waiting, receiving, unpacked
	ended            func(reason string) // is told who gives way; nil when nobody wants to know
	patience         time.Duration

	mu        sync.Mutex
	receiving []*place // and those that are unpacked
	unpacked  []*place // hold their module only; those that gave way and have not left count
	waiting   []*place // to be received
	used      usage.Ledger
	timer     *time.Timer // of the next review, nil when nobody waits
}

func newAdmission(most int) *admission {
	return &admission{
		most: most, perProject: max(1, most/4), used: usage.Ledger{HalfLife: placeHalfLife},
		what: "uploads", patience: patience, states: [3]string{"waiting", "receiving", "compiling"},
	}
}

// newReads bounds the reads of logs in the same way. None gives way: they do not wait for their clients.
func newReads() *admission {
	return &admission{
		most: allReads, perProject: projectReads, used: usage.Ledger{HalfLife: placeHalfLife},
		what: "reads of logs", limit: "log-reads", patience: logPatience, states: [3]string{"waiting", "reading"},
	}
}

func (a *admission) busy() *problem.Error {
	e := problem.New(problem.Limited, "too many %s at the same time: try again later", a.what)
	e.RetryAfter = a.patience
	if a.limit != "" {
		e.Limit = &problem.Limit{Name: a.limit, Amount: a.perProject}
	}
	return e
}

// occupant is who has places, and what for.
type occupant struct{ project, state string }

// open counts who has places, or wants one.
func (a *admission) open() map[occupant]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[occupant]int{}
	for i, places := range [][]*place{a.waiting, a.receiving, a.unpacked} {
		for _, p := range places {
			all[occupant{p.project, a.states[i]}]++
		}
	}
	return all
}

func tooSlow() error {
	return refuse("came too slowly: while other uploads wait, at least %d KiB a second must arrive", minRate>>10)
}

// place is that of an upload.
type place struct {
	admission *admission
	project   string
	granted   chan struct{}   // closed when it may go on, or was refused
	ctx       context.Context //nolint:containedctx // the upload's own, which ends when it gives way
	cancel    context.CancelCauseFunc
	interrupt func() // ends the wait for bytes of the client

	// of admission.mu
	since    time.Time // when it was granted
	due      time.Time // when the next bytes must have come
	received bool
	refused  error // why it must end, nil as long as it need not
}

// enter waits until an upload may begin. When its place is needed for others while it is received, interrupt is called,
// and later the place's ctx ends. Interrupt must return at once.
func (a *admission) enter(ctx context.Context, project string, interrupt func()) (*place, error) {
	p := &place{admission: a, project: project, granted: make(chan struct{}), interrupt: interrupt}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	if err := a.queue(p); err != nil {
		p.cancel(err)
		return nil, err
	}
	timer := time.NewTimer(a.patience)
	defer timer.Stop()
	var err error
	select {
	case <-p.granted:
		if err = p.why(); err == nil {
			return p, nil
		}
	case <-timer.C:
		err = a.busy()
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.leave()
	return nil, err
}

// queue makes an upload wait. When too many wait, one of the project with the most does no longer.
func (a *admission) queue(p *place) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	own := count(a.waiting, p.project)
	if own >= maxProjectWaiting {
		return a.busy()
	}
	if len(a.waiting) >= maxWaiting {
		loser := a.waiting[0]
		for _, w := range a.waiting { // of equals the one that came last
			if count(a.waiting, w.project) >= count(a.waiting, loser.project) {
				loser = w
			}
		}
		if count(a.waiting, loser.project) <= own {
			return a.busy()
		}
		a.waiting = without(a.waiting, loser)
		loser.refused = a.busy()
		close(loser.granted)
	}
	a.waiting = append(a.waiting, p)
	a.grant()
	return nil
}

// grant gives free places to who is next, and takes some from others when nobody can be next. The caller has the lock.
func (a *admission) grant() {
	now := time.Now()
	for len(a.receiving) < a.most {
		next := a.next(now)
		if next == nil {
			break
		}
		a.waiting = without(a.waiting, next)
		a.receiving = append(a.receiving, next)
		next.since, next.due = now, now.Add(slack)
		close(next.granted)
	}
	next := a.next(now)
	if next != nil {
		a.makeRoom(next, now)
	}
	switch {
	case next != nil && a.timer == nil:
		a.timer = time.AfterFunc(review, a.review)
	case next == nil && a.timer != nil:
		a.timer.Stop()
		a.timer = nil
	}
}

func (a *admission) review() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	a.grant()
}

// next is the upload that gets the next place, nil when nobody may have one.
func (a *admission) next(now time.Time) *place {
	var best *place
	for _, w := range a.waiting {
		held := a.placesOf(w.project)
		if held >= a.perProject {
			continue
		}
		if best == nil || a.before(w.project, best.project, now) {
			best = w
		}
	}
	return best
}

// before returns whether a project comes before another: it has fewer places, or as many and held them for less time,
// in whole seconds, or fewer of its uploads wait.
func (a *admission) before(one, other string, now time.Time) bool {
	if h, o := a.placesOf(one), a.placesOf(other); h != o {
		return h < o
	}
	if u, o := a.usedBy(one, now).Truncate(time.Second), a.usedBy(other, now).Truncate(time.Second); u != o {
		return u < o
	}
	return count(a.waiting, one) < count(a.waiting, other)
}

// makeRoom ends uploads that are too slow, and one more if next has no place and others have had theirs for long. One
// gives way at a time.
func (a *admission) makeRoom(next *place, now time.Time) {
	if slices.ContainsFunc(a.receiving, func(p *place) bool { return p.refused != nil }) {
		return // that place is free in a moment
	}
	for _, p := range a.receiving {
		if !p.received && p.project != next.project && now.After(p.due) {
			p.giveWay(tooSlow())
			return
		}
	}
	if a.placesOf(next.project) > 0 {
		return
	}
	if loser := a.loser(a.receiving, next.project, now, tenure); loser != nil {
		loser.giveWay(a.busy())
	}
}

// loser is the upload that gives way to a project without one: that of the project with the most, or with the most use
// lately, if that is more than what the project itself used. It was granted long ago.
func (a *admission) loser(of []*place, project string, now time.Time, long time.Duration) *place {
	var loser *place
	for _, p := range of {
		if p.refused != nil || p.received && long > 0 || now.Sub(p.since) < long {
			continue
		}
		if count(of, p.project) == 1 && a.usedBy(p.project, now) <= a.usedBy(project, now) {
			continue
		}
		mine, most := count(of, p.project), 0
		if loser != nil {
			most = count(of, loser.project)
		}
		if mine > most || mine == most && a.usedBy(p.project, now) > a.usedBy(loser.project, now) {
			loser = p
		}
	}
	return loser
}

// giveWay ends an upload. The caller has the lock.
func (p *place) giveWay(why error) {
	if p.admission.ended != nil {
		reason := "fair"
		if problem.KindOf(why) == problem.Invalid {
			reason = "slow"
		}
		p.admission.ended(reason)
	}
	p.refused = why
	p.cancel(why)
	if !p.received {
		p.interrupt()
	}
}

// placesOf is how many places a project has, of any kind.
func (a *admission) placesOf(project string) int {
	return count(a.receiving, project) + count(a.unpacked, project)
}

// usedBy is for how long a project held places lately, those that it holds included.
func (a *admission) usedBy(project string, now time.Time) time.Duration {
	used := a.used.Of(project, now)
	for _, places := range [][]*place{a.receiving, a.unpacked} {
		for _, p := range places {
			if p.project == project {
				used += now.Sub(p.since)
			}
		}
	}
	return used
}

// why is why the upload must end, nil if it need not.
func (p *place) why() error {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	return p.refused
}

// reason is why the upload failed with err: it had to end, or err.
func (p *place) reason(err error) error {
	if why := p.why(); why != nil && err != nil {
		return why
	}
	return err
}

// arrived is called when n bytes of the upload have come.
func (p *place) arrived(n int) {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	now := time.Now()
	p.due = p.due.Add(time.Duration(n) * time.Second / minRate)
	if most := now.Add(slack); p.due.After(most) { // what came fast is no reason to come slowly later
		p.due = most
	}
}

// keepFile is called when all of the upload has come. From then on it does not wait for its client.
func (p *place) keepFile() {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	p.received = true
}

// keepModule is called when only the module of the upload is left in memory. The place that it had is free then. When
// too many uploads have only their modules left, one of the project with the most gives way to one that has none.
func (p *place) keepModule() error {
	a := p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	living := 0
	for _, other := range a.unpacked {
		if other.refused == nil {
			living++
		}
	}
	if living >= unpackedPlaces*a.most {
		var loser *place
		if count(a.unpacked, p.project) == 0 {
			loser = a.loser(a.unpacked, p.project, time.Now(), 0)
		}
		if loser == nil {
			return a.busy()
		}
		loser.giveWay(a.busy())
	}
	p.received = true
	a.receiving = without(a.receiving, p)
	a.unpacked = append(a.unpacked, p)
	a.grant()
	return nil
}

// leave ends the upload, or its wish for a place.
func (p *place) leave() {
	p.cancel(nil)
	a := p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	a.receiving, a.unpacked, a.waiting = without(a.receiving, p), without(a.unpacked, p), without(a.waiting, p)
	if !p.since.IsZero() {
		now := time.Now()
		a.used.Add(p.project, now.Sub(p.since), now)
	}
	a.grant()
}

// count is how many places are of a project.
func count(places []*place, project string) (n int) {
	for _, p := range places {
		if p.project == project {
			n++
		}
	}
	return n
}

func without(places []*place, p *place) []*place {
	return slices.DeleteFunc(places, func(other *place) bool { return other == p })
}
