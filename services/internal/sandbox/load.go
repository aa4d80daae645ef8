package sandbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"matchmaker.dev/services/internal/problem"
)

// Cost is what it took to load a module.
type Cost struct {
	Processor time.Duration // of the compiler and of the trial start, of this call alone
	Waited    time.Duration // for a place in a lane
	Slow      bool          // it did not fit into the quick lane
}

// stage is how much a module may take in a lane.
type stage struct {
	processor, compile, start time.Duration // of the compiler: processor time, elapsed time; of the trial
	memory                    int           // of the compiler, in bytes
	nice                      int           // more than this process is
	last                      bool          // who does not fit is refused
}

// The quick lane fits Go modules of 4 MB and most others: one of 2.4 MB takes 1 s of a processor, and starts in 0.1 s.
// The kernel counts whole seconds. Elapsed times have room for a busy machine: who is
// only slow because of others must not end behind the slow ones.
const (
	quickPlaces    = 2
	quickProcessor = 2 * time.Second
	quickElapsed   = 6 * time.Second
	quickStart     = time.Second
	quickMemory    = 4 // the part of Limits.CompileMemory
	// busy is how much longer than its limit of processor time a child of low priority may take on a busy machine.
	busy = 6
)

func (b *Box) quickStage() stage {
	return stage{
		processor: min(quickProcessor, b.limits.Compile), compile: min(quickElapsed, busy*b.limits.Compile),
		start: min(quickStart, b.limits.Start), memory: b.limits.CompileMemory / quickMemory, nice: 10,
	}
}

func (b *Box) slowStage() stage {
	return stage{
		processor: b.limits.Compile, compile: busy * b.limits.Compile, start: b.limits.Start,
		memory: b.limits.CompileMemory, nice: 15, last: true,
	}
}

// loading is a module that is being loaded, for all who asked for it meanwhile.
type loading struct {
	cancel  context.CancelFunc
	owners  map[string]bool // see lanes.join
	expects time.Duration   // the estimate of its processor time
	waiting map[string]int  // how many wait for it, by owner
	users   int             // the sum of them
	ended   chan struct{}
	// the result, once ended
	module *Module
	held   map[string]*Module // the module, for each owner who waits
	noRoom map[string]error   // why an owner may not hold it
	cost   Cost
	err    error
}

// share loads a module once for all who ask at the same time. It goes on as long as one of them waits. The first one
// pays.
func (b *Box) share(
	ctx context.Context, owner, hash string, load func(context.Context, *loading) (*Module, error),
) (*Module, Cost, error) {
	l, first, err := b.joinLoading(ctx, owner, hash, load)
	if err != nil {
		return nil, Cost{}, err
	}
	select {
	case <-l.ended:
	case <-ctx.Done():
		b.abandon(l, owner)
		if !first {
			return nil, Cost{}, ctx.Err()
		}
		<-l.ended // for what it cost: that is charged, whoever waits for it
		return nil, l.cost, ctx.Err()
	}
	cost := l.cost
	if !first {
		cost = Cost{Waited: cost.Waited, Slow: cost.Slow}
	}
	if l.err != nil {
		return nil, cost, l.err
	}
	return l.held[owner], cost, l.noRoom[owner]
}

// joinLoading joins the loading of a module that is under way, or begins one.
func (b *Box) joinLoading(
	ctx context.Context, owner, hash string, load func(context.Context, *loading) (*Module, error),
) (l *loading, first bool, err error) {
	for {
		b.mu.Lock()
		l = b.loadings[hash]
		if l == nil {
			life, cancel := context.WithCancel(context.WithoutCancel(ctx))
			l = &loading{cancel: cancel, owners: map[string]bool{owner: true}, waiting: map[string]int{owner: 1}, users: 1,
				ended: make(chan struct{})}
			b.loadings[hash] = l
			b.loaders.Go(func() {
				defer cancel()
				l.module, l.err = load(life, l)
				b.endLoading(hash, l)
			})
			b.mu.Unlock()
			return l, true, nil
		}
		if l.users > 0 {
			l.users++
			l.waiting[owner]++
			b.mu.Unlock()
			b.lanes.join(l.owners, owner)
			return l, false, nil
		}
		b.mu.Unlock() // it was given up, and has not ended yet
		select {
		case <-l.ended:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// endLoading forgets a loading that has ended. Everybody who waits for it then holds the module, as far as there is
// room for it.
func (b *Box) endLoading(hash string, l *loading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.loadings, hash)
	if l.module != nil {
		l.held, l.noRoom = map[string]*Module{}, map[string]error{}
		for owner, n := range l.waiting {
			if n > 0 {
				l.held[owner], l.noRoom[owner] = b.hold(b.cached[hash], owner, n)
			}
		}
	}
	close(l.ended)
}

// abandon is called by who waits no longer. The last one ends the loading.
func (b *Box) abandon(l *loading, owner string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-l.ended:
		if m := l.held[owner]; m != nil {
			b.cached[m.Hash].release(owner)
		}
	default:
		l.waiting[owner]--
		if l.users--; l.users == 0 {
			l.cancel()
		}
	}
}

// quickMargin is how many times what the quick lane gives a module may be expected to take that tries it all the same.
// The estimate is twice too high for what compilers make, and about right for modules that are made to be slow.
const quickMargin = 2.5

// isQuick tells whether a module that is expected to take so long tries the quick lane.
func (b *Box) isQuick(expects time.Duration) bool {
	return float64(expects) <= quickMargin*float64(b.quickStage().processor)
}

// loadInLanes tries a module in the quick lane, and if it does not fit there in the slow one. One that is expected to
// take much longer than the quick lane gives it goes to the slow one at once.
func (b *Box) loadInLanes(
	ctx context.Context, owner string, l *loading, try func(context.Context, stage) (time.Duration, error),
) error {
	for _, at := range []struct {
		lane *lane
		stage
	}{{&b.lanes.quick, b.quickStage()}, {&b.lanes.slow, b.slowStage()}} {
		if !at.last && !b.isQuick(l.expects) {
			continue
		}
		began := b.now()
		t, err := b.lanes.enter(ctx, at.lane, l.owners, min(l.expects, at.processor))
		l.cost.Waited += max(0, b.now().Sub(began))
		if err != nil {
			return err
		}
		l.cost.Slow = at.last
		spent, err := try(ctx, at.stage)
		l.cost.Processor += spent
		b.lanes.charge(owner, t, spent)
		b.lanes.leave(t)
		if err == nil || at.last || !needsMore(err) || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// needsMore returns whether a module may have failed for want of time or memory. When a process exceeds its processor
// time, the kernel ends it and says nothing. On a busy machine it counts a good deal more than the process had.
func needsMore(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Cause == Deadline || e.Cause == Memory || e.Cause == Died)
}

// refusals remembers modules that were refused, so that to refuse them again costs nothing.
type refusals struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]refused
}

type refused struct {
	err   error
	until time.Time
}

const (
	maxRefusals = 1024
	// refusalAge is how long a module stays refused, and timeoutAge one that took too long: the machine may be busy.
	refusalAge = 10 * time.Minute
	timeoutAge = time.Minute
)

// of returns why a module was refused lately, nil when it was not.
func (r *refusals) of(hash string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.known[hash]
	if !ok {
		return nil
	}
	if !r.now().Before(known.until) {
		delete(r.known, hash)
		return nil
	}
	return known.err
}

// remember remembers an error that is the module's own.
func (r *refusals) remember(hash string, err error) {
	if problem.KindOf(err) != problem.Invalid {
		return
	}
	age := refusalAge
	if e, ok := errors.AsType[*Error](err); ok && e.Cause == Deadline {
		age = timeoutAge
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxRefusals {
		oldest := ""
		for hash, known := range r.known {
			if oldest == "" || known.until.Before(r.known[oldest].until) {
				oldest = hash
			}
		}
		delete(r.known, oldest)
	}
	r.known[hash] = refused{err, r.now().Add(age)}
}
