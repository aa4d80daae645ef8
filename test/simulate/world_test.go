package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/chaos/checker"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/workload"
)

// Options say what a world is like.
type Options struct {
	Seed uint64
	// Faults is how many there are before the world comes to rest.
	Faults int
	// Lossy: now and then a replica takes over that lacks what was written last.
	Lossy bool
	// Dir is an empty folder for its files.
	Dir string
	// Redis is the address of one that is emptied and used; "" for one in this process.
	Redis string
	Log   *slog.Logger
	// Record gets a line for each step that the gate let go; nil when none is kept.
	Record io.Writer
}

// Outcome is what became of a world.
type Outcome struct {
	History *history.History
	// Steps is how many the gate let go.
	Steps int
	// Faults is how many there were.
	Faults int
	// Problems are what went wrong beside the promises.
	Problems []string
	// Lasted is how long the world lasted, in its own time.
	Lasted time.Duration
}

// How a world is populated: its projects, and the time from one arrival in a project to the next.
var (
	projects = []string{"game-1", "game-2"}
	replicas = []string{
		"allocator-1", "allocator-2", "backfill-1", "config-1", "director-1", "director-2", "party-1", "party-2",
		"registry-1", "registry-2", "runner-1", "runner-2", "ticket-1", "ticket-2",
	}
)

const (
	arrivalPace = 120 * time.Millisecond
	changePace  = 3 * time.Second
	// recovery is the time in which the system repairs what faults broke. It is long: faults go on meanwhile.
	recovery = 30 * time.Second
	// calmTime is how long players still come after the last fault.
	calmTime = 20 * time.Second
	// takeoverTime is how long it takes until an upload runs, when there are no faults.
	takeoverTime = 5 * time.Second
	// restTime is how long the system may take to come to rest after the last fault.
	restTime = 3 * time.Minute
)

// world is a system and its clients.
type world struct {
	Options
	log      *slog.Logger
	gate     *gate
	store    *store
	hub      *hub
	fleet    *fleet
	journal  *history.Journal
	tokens   *issuer.Issuer
	verifier *auth.Verifier
	seats    *keyfile.Keys
	faults   atomic.Int64

	running sync.WaitGroup
	lives   map[string]int
	mu      sync.Mutex
	// processes are the latest lives of replicas.
	processes map[string]*process
	problems  []string
	doomed    *studio
	studios   []*studio
	// untrue: something was not true that must be of all that Redis has.
	untrue bool
}

// Run lets a world live until it had its faults and came to rest. It must be called in a bubble of testing/synctest.
func Run(ctx context.Context, o Options) (out *Outcome, err error) {
	begun := time.Now()
	if o.Log == nil {
		o.Log = discard()
	}
	w := &world{Options: o, log: o.Log, lives: map[string]int{}, processes: map[string]*process{}}
	w.gate = newGate(o.Seed)
	w.gate.record = o.Record
	w.store = &store{gate: w.gate}
	if o.Redis == "" {
		w.store.redis, err = newMemory()
	} else {
		w.store.redis, err = newReal(o.Redis)
	}
	if err != nil {
		return nil, err
	}
	w.hub = newHub(w.gate)
	if err := w.authorities(); err != nil {
		return nil, err
	}
	w.journal, err = history.Begin(filepath.Join(o.Dir, "journal.jsonl"), history.Terms{
		Seed: o.Seed, Claim: claimTime, Allocation: hostTime + hostTime/2 + ackWait, Recovery: recovery,
		Approval: approvalTime, Silence: silenceTime, Takeover: takeoverTime, Enemies: []string{workload.Enemy},
		Directors: []string{"director-1", "director-2"}, Answerers: []string{"ticket-1", "ticket-2"},
	})
	if err != nil {
		return nil, err
	}
	w.fleet = newFleet(w.gate, w.journal)
	w.gate.injected = func(f fault, s *step) {
		w.faults.Add(1)
		w.noteFault(f.String(), s.name())
	}
	ctx, cancel := context.WithCancel(ctx)
	w.running.Go(func() { w.gate.run(ctx) })
	err = w.live(ctx)
	cancel()
	w.running.Wait()
	h, failure := w.journal.End()
	w.store.redis.close()
	return &Outcome{
		History: h, Steps: w.gate.passed, Faults: int(w.faults.Load()),
		Problems: w.problems, Lasted: time.Since(begun),
	}, errors.Join(err, failure)
}

// authorities makes an issuer and a verifier of tokens.
func (w *world) authorities() (err error) {
	if w.tokens, err = issuer.Open(filepath.Join(w.Dir, "keys"), time.Now); err != nil {
		return err
	}
	keys := filepath.Join(w.Dir, "seats")
	if _, err = keyfile.Rotate(keys, time.Now()); err != nil {
		return err
	}
	if w.seats, err = keyfile.Open(keys, time.Now, w.log); err != nil {
		return err
	}
	w.verifier, err = auth.New(auth.Options{Issuers: []auth.Issuer{w.tokens.Trust()}, Log: w.log})
	return err
}

// live is the life of the world.
func (w *world) live(ctx context.Context) error {
	for _, replica := range replicas {
		if err := w.start(ctx, replica); err != nil {
			return err
		}
		pause(ctx, 137*time.Microsecond) // so that their timers do not expire together
	}
	c, err := newWorkload(ctx, w)
	if err != nil {
		return err
	}
	c.Begin(ctx, w.doom)
	defer c.End()
	w.disturb(ctx)
	if err := w.heal(ctx); err != nil {
		return err
	}
	for _, replica := range []string{"runner-1", "runner-2"} { // others come, which find what these keep
		p := w.process(replica)
		w.act(ctx, "stop "+p.name, p.stop)
		w.restartAfter(ctx, replica, 500*time.Millisecond)
	}
	pause(ctx, leaseTime)
	w.journal.Calm()
	c.EndFaults()
	pause(ctx, calmTime)
	if err := c.Close(ctx); err != nil {
		return err
	}
	c.Settle(ctx, restTime, func(int) {})
	c.End()
	c.Last(ctx, restTime, 1)
	w.rest(ctx)
	return nil
}

// act lets the gate do something between two other things.
func (w *world) act(ctx context.Context, label string, do func()) {
	_ = w.gate.call(ctx, newProcess(ctx, "nemesis"), label, nil, func() error { // it has no faults
		do()
		return nil
	})
}

// rates are how likely faults are, each for a while.
var rates = []float64{0.02, 0.1, 0.2, 0.35}

// disturb makes faults until there were enough.
func (w *world) disturb(ctx context.Context) {
	random := rand.New(rand.NewPCG(w.Seed, 2))
	for ctx.Err() == nil && w.faults.Load() < int64(w.Faults) {
		rate := rates[random.IntN(len(rates))]
		w.act(ctx, fmt.Sprint("rate ", rate), func() {
			w.gate.rate = rate
			w.checkTruths()
		})
		pause(ctx, time.Duration(200+random.IntN(1500))*time.Millisecond)
		replica := replicas[random.IntN(len(replicas))]
		switch random.IntN(4) {
		case 0:
			w.crash(ctx, replica)
			w.restartAfter(ctx, replica, time.Duration(random.IntN(4000))*time.Millisecond)
		case 1:
			w.freeze(ctx, replica, time.Duration(random.IntN(3*int(leaseTime))))
		case 2:
			p := w.process(replica)
			w.noteFault("restart", p.name)
			w.act(ctx, "stop "+p.name, p.stop)
			w.restartAfter(ctx, replica, time.Duration(random.IntN(2000))*time.Millisecond)
		case 3:
			if random.IntN(4) == 0 {
				role, _, _ := strings.Cut(replica, "-")
				w.blackout(ctx, role, time.Duration(random.IntN(12000))*time.Millisecond)
			}
		}
		if w.Lossy && random.IntN(3) == 0 {
			w.lose(ctx, time.Duration(100+random.IntN(1500))*time.Millisecond)
		}
	}
	w.act(ctx, "rate 0", func() { w.gate.rate = 0 })
}

// crash kills a replica. Of what it had on its way some happens, without an answer.
func (w *world) crash(ctx context.Context, replica string) {
	p := w.process(replica)
	w.act(ctx, "kill "+p.name, func() {
		if p.dead() {
			return
		}
		w.noteFault("kill", p.name)
		w.faults.Add(1)
		p.kill()
		for _, s := range w.gate.of(p) {
			if w.gate.pick(2) == 0 {
				s.do(mute)
			}
		}
	})
}

// blackout kills all replicas of a role, for a while.
func (w *world) blackout(ctx context.Context, role string, d time.Duration) {
	begun := history.Now()
	defer func() {
		for _, replica := range replicas {
			if strings.HasPrefix(replica, role) {
				w.journal.Fault(history.Fault{Span: history.Span{From: begun, To: begun + history.Moment(d.Microseconds())},
					Kind: "kill", Target: replica})
			}
		}
	}()
	for _, replica := range replicas {
		if strings.HasPrefix(replica, role) {
			w.crash(ctx, replica)
		}
	}
	pause(ctx, d)
	for _, replica := range replicas {
		if strings.HasPrefix(replica, role) {
			w.restartAfter(ctx, replica, 0)
		}
	}
}

// lose lets a replica take over that lacks what was written for a while.
func (w *world) lose(ctx context.Context, d time.Duration) {
	m, is := w.store.redis.(*memory)
	if !is {
		return
	}
	var had *image
	loss := history.Loss{Projects: projects}
	w.act(ctx, "the replica has all", func() { had, loss.From = m.image("", w.gate.passed, true), history.Now() })
	pause(ctx, d)
	w.act(ctx, "the replica takes over", func() {
		if had == nil {
			return
		}
		loss.To = history.Now()
		m.restore(had)
		m.takeOver()
		w.store.cut()
		w.faults.Add(1)
		w.noteFault("lose writes", "redis")
		w.journal.Loss(loss)
	})
}

// restartAfter starts a replica again, once its last life is over.
func (w *world) restartAfter(ctx context.Context, replica string, after time.Duration) {
	pause(ctx, after)
	p := w.process(replica)
	p.stop()
	select {
	case <-p.stopped:
	case <-time.After(leaseTime):
		p.kill() // as an orchestrator does
	case <-ctx.Done():
		return
	}
	if err := w.start(ctx, replica); err != nil {
		w.fail("%s does not start: %v", replica, err)
	}
}

// freeze lets a replica stand still for a while.
func (w *world) freeze(ctx context.Context, replica string, d time.Duration) {
	p := w.process(replica)
	w.act(ctx, "freeze "+p.name, func() {
		w.noteFault("freeze", p.name)
		w.faults.Add(1)
		p.frozen = true
	})
	pause(ctx, d)
	w.act(ctx, "continue "+p.name, func() { p.frozen = false })
}

// heal starts what does not run.
func (w *world) heal(ctx context.Context) error {
	for _, replica := range replicas {
		if p := w.process(replica); p.dead() {
			if err := w.start(ctx, replica); err != nil {
				return err
			}
		}
	}
	return nil
}

// rest waits until no ticket is claimed and no server is unused, and writes the events to the journal.
func (w *world) rest(ctx context.Context) {
	var events []history.Event
	for waited := time.Duration(0); waited < restTime; waited += time.Second {
		events = nil
		for _, project := range projects {
			events = append(events, w.hub.events(project)...)
		}
		h := w.journal.SoFar()
		h.Events = events
		if r := checker.Check(h); r.Open == 0 && (r.Kept() || waited > recovery) {
			break
		}
		pause(ctx, time.Second)
	}
	for _, e := range events {
		w.journal.Event(e)
	}
	w.checkModules(ctx)
	w.act(ctx, "look", func() {
		w.checkTruths()
		w.checkRemoval()
	})
}

// checkTruths checks what must be true of all that Redis has, whatever happened. One beside this process is not read.
func (w *world) checkTruths() {
	m, is := w.store.redis.(*memory)
	if !is || w.untrue {
		return
	}
	for _, project := range projects {
		for _, text := range m.image(project, w.gate.passed, false).broken() {
			w.untrue = true
			w.fail("step %d: %s: %s", w.gate.passed, project, text)
		}
	}
}

func (w *world) noteFault(kind, target string) {
	now := history.Now()
	w.journal.Fault(history.Fault{Span: history.Span{From: now, To: now}, Kind: kind, Target: target})
}

func (w *world) setProcess(replica string, p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.processes[replica] = p
}

func (w *world) process(replica string) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.processes[replica]
}

// serving are the live processes of a role, in the order of their names.
func (w *world) serving(role string) (all []*process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, replica := range slices.Sorted(maps.Keys(w.processes)) {
		if p := w.processes[replica]; strings.HasPrefix(replica, role+"-") && p.life.Err() == nil {
			all = append(all, p)
		}
	}
	return all
}

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// pause waits for d. It returns false when ctx ends before.
func pause(ctx context.Context, d time.Duration) bool { return wait.For(ctx, d) == nil }
