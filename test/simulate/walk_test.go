package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/presence"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// A walk makes one call of the state after another, as a seed says. Each may be lost, late, carried out without an
// answer or twice, and sometimes a replica that lags takes over. After every few steps all that Redis has is held
// against what must be true (truth_test.go).
type walk struct {
	*rand.Rand
	ctx    context.Context
	memory *memory
	store  *state.Store // with faults
	calm   *state.Store // without
	heard  *presence.Listener
	away   bool // the state cannot be told, once, which ticket was asked for
	feed   *mirror

	mu sync.Mutex // of what connections use
	// rate is how likely a fault is, and fates say which.
	rate  float64
	fates *rand.Rand
	late  []lateCall
	wires []*wire
	steps int
	// run counts the scripts that were carried out, by their texts.
	run map[string]int

	// quiet: no match is made. resting: no more is begun. over: a walk failed.
	quiet   bool
	resting bool
	over    *atomic.Bool
	record  []string
	n       int // names what is made

	// now is what Redis had when it was last looked at, and before what it had the time before. backups are older ones.
	now, before *image
	backups     []*image

	// most is how many tickets a player may have, the whole time; 0 for any number.
	most      int64
	settings  *pb.ProjectSettings
	keys      map[string]string // the ticket of each Idempotency-Key
	creations []state.Creation
	made      []*pb.Match
	broken    []string // what was found between two looks
	// searches are the tickets of parties, deletable the tickets that a client asked to delete, asked when one asked
	// for a ticket, and excused the matches that a Redis began to ask which another one replaced.
	searches  map[string]string
	deletable map[string]bool
	asked     map[string][]time.Time
	excused   map[string]bool
	// erased are the players that were taken out of a match.
	erased map[string]bool
}

// lateCall is a command that arrives later than its client waits.
type lateCall struct {
	step    int
	command []string
}

const (
	walkProject  = "demo"
	walkReadable = time.Minute
	walkSilence  = 40 * time.Second
	walkClaim    = 10 * time.Second
	walkApproval = 5 * time.Second
)

func newWalk(t *testing.T, seed uint64) *walk {
	t.Helper()
	m, err := newMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	w := &walk{Rand: rand.New(rand.NewPCG(seed, 3)), fates: rand.New(rand.NewPCG(seed, 4)), ctx: t.Context(), memory: m,
		run: map[string]int{}, searches: map[string]string{}, deletable: map[string]bool{}, asked: map[string][]time.Time{},
		excused: map[string]bool{}, erased: map[string]bool{}, keys: map[string]string{}, most: int64(seed % 3),
		now: &image{}, before: &image{}}
	m.scripts.ran = func(text string) { w.run[text]++ }
	open := func(rate *float64) *state.Store {
		s, err := state.Open(state.Options{
			Server: state.Server{URL: "redis://192.0.2.1"}, Log: discard(), History: 10_000, Functions: 8,
			Limits: state.Limits{Waiting: 80, TicketMemory: 1, Backfills: 12, BackfillMemory: 1, Projects: 3, Keys: 100},
			Dial: func(context.Context, string, string) (net.Conn, error) {
				s, err := m.open()
				c := &wire{walk: w, session: s, rate: rate}
				w.mu.Lock()
				defer w.mu.Unlock()
				w.wires = append(w.wires, c)
				return c, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	w.store, w.calm = open(&w.rate), open(new(float64))
	w.heard = presence.New(presence.Options{
		Log: discard(), Meter: telemetry.Meter{}, Hear: w.hear, Settings: w.store.Settings,
		End: func(ctx context.Context, project string, silence, gap time.Duration) (int64, error) {
			found, err := w.store.EndUnheard(ctx, project, silence, gap, walkReadable)
			return found.Known, err
		},
	})
	w.feed = &mirror{wake: make(chan struct{}, 1)}
	return w
}

// wire is a connection to the Redis of a walk, at the client's end.
type wire struct {
	walk           *walk
	session        session
	rate           *float64
	request, reply bytes.Buffer
	broken         error
}

// Write implements net.Conn.
func (c *wire) Write(b []byte) (int, error) {
	c.walk.mu.Lock()
	defer c.walk.mu.Unlock()
	return c.request.Write(b)
}

// Read implements net.Conn.
func (c *wire) Read(b []byte) (int, error) {
	c.walk.mu.Lock()
	defer c.walk.mu.Unlock()
	if c.broken != nil && c.reply.Len() == 0 {
		return 0, c.broken
	}
	if c.request.Len() > 0 {
		if commands, err := parseCommands(c.request.Bytes()); err != nil {
			c.broken = err
		} else {
			c.walk.carry(c, commands)
		}
		c.request.Reset()
	}
	if c.reply.Len() > 0 {
		return c.reply.Read(b)
	}
	if c.broken == nil {
		c.broken = os.ErrDeadlineExceeded
	}
	return 0, c.broken
}

// carry carries commands out, or not. The caller has the mutex.
func (w *walk) carry(c *wire, commands [][]string) {
	n := len(commands)
	if mayFail(commands[0]) && w.fates.Float64() < *c.rate {
		c.broken = io.ErrUnexpectedEOF
		switch w.fates.IntN(3) {
		case 0: // lost
			return
		case 1:
			for _, command := range commands {
				w.late = append(w.late, lateCall{w.steps + 1 + w.fates.IntN(60), command})
			}
			return
		}
		n = 1 + w.fates.IntN(n) // the answer is lost
	}
	for _, command := range commands[:n] {
		reply := exec(c.session, command)
		if c.broken == nil {
			c.reply.Write(reply)
		}
	}
}

// mayFail reports whether a command is none by which a client connects.
func mayFail(command []string) bool {
	return !slices.Contains([]string{"HELLO", "CLIENT", "PING", "INFO"}, strings.ToUpper(command[0]))
}

// Close implements net.Conn.
func (c *wire) Close() error {
	c.walk.mu.Lock()
	defer c.walk.mu.Unlock()
	c.broken = net.ErrClosed
	c.walk.wires = slices.DeleteFunc(c.walk.wires, func(other *wire) bool { return other == c })
	return nil
}

// LocalAddr, RemoteAddr, SetDeadline, SetReadDeadline and SetWriteDeadline implement net.Conn.
func (c *wire) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *wire) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *wire) SetDeadline(time.Time) error      { return nil }
func (c *wire) SetReadDeadline(time.Time) error  { return nil }
func (c *wire) SetWriteDeadline(time.Time) error { return nil }

// arrive carries out what arrives late.
func (w *walk) arrive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, _ := w.memory.open()
	w.late = slices.DeleteFunc(w.late, func(l lateCall) bool {
		if l.step > w.steps {
			return false
		}
		w.note("late %.60s", labelOf([][]string{l.command}))
		exec(s, l.command)
		return true
	})
}

// putBack lets a replica take over that lacks what was written since a backup. Behind a proxy, no connection breaks;
// then it takes over two seconds before a service writes, in which readers of the feed notice that it went back.
func (w *walk) putBack() {
	proxied := w.IntN(2) == 0
	w.replace(proxied)
	if proxied {
		pause(w.ctx, 2*time.Second)
	}
}

func (w *walk) replace(proxied bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.wires {
		if !proxied {
			c.broken = io.EOF
		}
	}
	back := w.backups[w.IntN(len(w.backups))]
	w.note("put back to step %d, proxied: %v", back.step, proxied)
	w.backups = slices.DeleteFunc(w.backups, func(i *image) bool { return i.step > back.step })
	w.late, w.keys = nil, map[string]string{}
	for id, m := range back.matches {
		if m.state == "o" {
			w.excused[id] = true
		}
	}
	w.memory.restore(back)
	w.memory.takeOver()
	w.now, w.before = back, &image{}
}

func (w *walk) note(format string, args ...any) {
	now := time.Now().Format("04:05.000")
	w.record = append(w.record, fmt.Sprintf("%d %s ", w.steps, now)+fmt.Sprintf(format, args...))
}

// sleep lets time pass, also for clients that ask for tickets.
func (w *walk) sleep(d time.Duration) {
	pause(w.ctx, d)
	w.mu.Lock()
	w.memory.redis.FastForward(d)
	w.mu.Unlock()
	w.heard.Tick(w.ctx, time.Now())
	if err := w.sweepParties(); err != nil {
		w.note("parties: %v", err)
	}
}

// walk walks n steps.
func (w *walk) walk(t *testing.T, n int) {
	t.Helper()
	w.begin(t)
	w.askOnce(t)
	total := 0
	for _, s := range walkSteps {
		total += s.weight
	}
	for range n {
		if w.over.Load() {
			return // another walk failed
		}
		w.next()
		w.arrive()
		if d := w.IntN(4); d > 0 {
			w.sleep(time.Duration(w.IntN(400*d*d)) * time.Millisecond)
		}
		at := w.IntN(total)
		for _, s := range walkSteps {
			if at -= s.weight; at >= 0 {
				continue
			}
			if do := s.choose(w); do != nil {
				err := do()
				w.note("%s: %v", s.name, err)
				if w.IntN(12) == 0 {
					w.note("again: %v", do())
				}
			}
			break
		}
		if w.IntN(200) == 0 && len(w.backups) > 0 {
			w.putBack()
		}
		if w.IntN(4) == 0 && !w.look(t) {
			return
		}
	}
	w.rest(t)
}

// next begins a step.
func (w *walk) next() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.steps++; w.steps%200 == 1 {
		w.rate, w.quiet = []float64{0, 0.02, 0.1, 0.3}[w.IntN(4)], w.IntN(4) == 0
	}
}

// begin sets up what steps need, and follows the feed.
func (w *walk) begin(t *testing.T) {
	t.Helper()
	w.settings = &pb.ProjectSettings{Tickets: &pb.TicketRules{Listed: true, EndsTold: true,
		PlayerLimit: w.most, WhenReached: "refuse", Silence: walkSilence.Milliseconds()}}
	_, err := w.calm.AcquireLease(w.ctx, walkProject, "d1", time.Minute)
	for _, id := range walkConfigs {
		_, _, failure := w.calm.PutConfig(w.ctx, walkProject, &pb.Config{Id: id, Queue: "q1"}, state.AnyRevision)
		err = errors.Join(err, failure)
	}
	if err = errors.Join(err, w.calm.PutSettings(w.ctx, walkProject, w.settings, state.AnyRevision)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.ctx)
	var done sync.WaitGroup
	done.Go(func() { w.calm.Follow(ctx, walkProject, w.feed, w.feed.wake) })
	t.Cleanup(func() { stop(); done.Wait() })
}

// hear tells the state which tickets were asked for, or fails once if it is away.
func (w *walk) hear(ctx context.Context, project string, tickets []string) error {
	if w.away {
		w.away = false
		return io.ErrUnexpectedEOF
	}
	return w.store.Hear(ctx, project, tickets)
}

// askOnce: a ticket is asked for as it comes, and once more while the state is away, which is told later. The look
// after each second sees whether the ticket ends too early.
func (w *walk) askOnce(t *testing.T) {
	t.Helper()
	if err := w.creating(w.creation(w.ticket("", "patient")))(); err != nil {
		t.Fatal(err)
	}
	w.look(t)
	id := w.one(w.now.in("w"))
	for at := time.Duration(0); at < walkSilence*5/4; at += time.Second {
		if at == 0 || at == walkSilence*2/5 {
			w.away, w.asked[id] = at > 0, append(w.asked[id], time.Now())
			w.heard.Heard(walkProject, id)
		}
		if w.sleep(time.Second); !w.look(t) {
			return
		}
	}
	if w.away || len(w.now.in("w")) != 1 {
		t.Errorf("the ticket that was asked for does not wait; told in vain: %v", !w.away)
	}
}

// look holds what Redis has against what must be true, and tells whether it is.
func (w *walk) look(t *testing.T) bool {
	t.Helper()
	w.mu.Lock()
	now := w.memory.image(walkProject, w.steps, true)
	w.mu.Unlock()
	w.before, w.now = w.now, now
	if w.IntN(8) == 0 {
		w.backups = append(w.backups[max(0, len(w.backups)-8):], now)
	}
	broken := w.truths()
	if text := w.feed.compare(w); text != "" {
		broken = append(broken, text)
	}
	for _, text := range broken {
		t.Errorf("step %d: %s", w.steps, text)
		w.over.Store(true)
	}
	return len(broken) == 0
}

// rest ends all that is under way, and checks that nothing is left of it.
func (w *walk) rest(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	w.rate, w.late, w.resting = 0, nil, true
	w.mu.Unlock()
	for n := range 60 {
		if !w.look(t) {
			return
		}
		for _, s := range walkSteps {
			if do := s.choose(w); s.chores && do != nil {
				if err := do(); err != nil && n >= 10 { // connections may be broken before that
					t.Errorf("%s at rest: %v", s.name, err)
				}
			}
		}
		// Players are silent only while parties are looked at all the time, and matches are kept for a day.
		w.sleep([]time.Duration{4 * time.Second, time.Minute, 4 * time.Hour}[min(2, max(0, n-30)/10)])
	}
	if !w.look(t) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(w.now.keys)) {
		name, is := strings.CutPrefix(key, w.now.prefix)
		if is && !slices.Contains(walkStays, name) {
			t.Errorf("at rest: %s is left: %v", name, w.now.keys[key])
		}
	}
}

// walkStays are the keys of a project in which nothing is under way.
var walkStays = []string{
	"configs", "revisions", "revision", "config_names", "config_changes", "config_history", "settings", "queues",
	"functions", "unused", "feed", "feed_seq", "feed_name", "stream_bytes", "history", "history_seq", "published", "lease",
	"rates", "served", "hosting_windows",
	"unserved", "webhooks", "ratings", "rated", "steps", "audit",
}

// TestWalkOverEveryScript walks on, up to three times as far, until each script was carried out: some are due seldom.
func TestWalkOverEveryScript(t *testing.T) {
	n := 16
	if short() {
		n = 3
	}
	left := scriptsByFile(t)
	var sum sync.Mutex
	var over atomic.Bool
	one := func(t *testing.T, seed uint64) {
		dir := folder(t)
		synctest.Test(t, func(t *testing.T) {
			w := newWalk(t, seed)
			w.over = &over
			w.walk(t, 3000)
			if err := os.WriteFile(filepath.Join(dir, "record"), []byte(strings.Join(w.record, "\n")), 0o600); err != nil {
				t.Error(err)
			}
			sum.Lock()
			defer sum.Unlock()
			w.mu.Lock()
			defer w.mu.Unlock()
			maps.DeleteFunc(left, func(_, first string) bool {
				return slices.ContainsFunc(slices.Collect(maps.Keys(w.run)), func(script string) bool {
					return strings.Contains(script, first)
				})
			})
		})
	}
	all := seeds(1, n)
	for i := range uint64(2 * n) {
		all = append(all, *seed+1000+i)
	}
	t.Run("seeds", func(t *testing.T) {
		for _, seed := range all[:n] {
			t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
				t.Parallel()
				one(t, seed)
			})
		}
	})
	for _, seed := range all[n:] {
		if len(left) > 0 && !t.Failed() {
			t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { one(t, seed) })
		}
	}
	if len(left) > 0 && !t.Failed() {
		t.Errorf("no walk carries %q out", slices.Sorted(maps.Keys(left)))
	}
}

// scriptsByFile are the first lines of the scripts by their files.
func scriptsByFile(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../services/internal/state/script/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scripts", err)
	}
	first := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		first[filepath.Base(file)] = line
	}
	return first
}
