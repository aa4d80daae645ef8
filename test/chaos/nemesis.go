package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/schedule"
)

// stopTime is how long a process may take to stop in good order before it is killed.
const stopTime = 30 * time.Second

// slice is how long a process that starves works, once in ten times as long.
const slice = 10 * time.Millisecond

// nemesis injects the faults of a schedule into a system.
type nemesis struct {
	system  *system
	journal *history.Journal
	log     logFunc
	// projects are the projects of the workload.
	projects []string

	watching sync.WaitGroup
	mu       sync.Mutex
	// problems are what processes did that is wrong in any run.
	problems []string
}

// run injects the faults. It returns when the time given is over and the faults too.
func (n *nemesis) run(ctx context.Context, faults []schedule.Fault, lasts time.Duration) {
	// On a slow machine a fault lasts longer than its schedule says. The next fault of the same target or group waits for
	// it.
	locks := map[string]*sync.Mutex{}
	begun := time.Now()
	var running sync.WaitGroup
	for i, f := range faults {
		if !pause(ctx, f.At-time.Since(begun)) {
			break
		}
		n.log("%3d of %d  %s %s for %v", i+1, len(faults), f.Kind, f.Target.Name, f.For.Round(10*time.Millisecond))
		key := cmp.Or(f.Target.Group, f.Target.Name)
		if locks[key] == nil {
			locks[key] = new(sync.Mutex)
		}
		lock := locks[key]
		running.Go(func() {
			lock.Lock()
			defer lock.Unlock()
			n.inject(ctx, f)
		})
	}
	pause(ctx, lasts-time.Since(begun))
	running.Wait()
}

// inject injects one fault, ends it and writes it to the journal.
func (n *nemesis) inject(ctx context.Context, f schedule.Fault) {
	from := history.Now()
	switch f.Kind {
	case schedule.Kill, schedule.Freeze, schedule.Restart, schedule.Starve:
		if err := n.disturb(ctx, f); err != nil {
			n.problem("%v", err)
		}
	case schedule.FillMemory, schedule.FillDisk, schedule.FailOver, schedule.Lose, schedule.Move:
		if err := n.disturbStore(ctx, f); err != nil && ctx.Err() == nil {
			n.problem("%s %s: %v", f.Kind, f.Target.Name, err)
		}
	case schedule.Refuse:
		n.cut(ctx, f, proxy.Refused)
	case schedule.Silence:
		n.cut(ctx, f, proxy.Silent)
	case schedule.Deafen:
		n.cut(ctx, f, proxy.Deaf)
	case schedule.Slow:
		n.cut(ctx, f, proxy.Slow)
	}
	n.journal.Fault(history.Fault{
		Span: history.Span{From: from, To: history.Now()}, Kind: string(f.Kind), Target: f.Target.Name,
	})
}

// disturb injects the fault of a process.
func (n *nemesis) disturb(ctx context.Context, f schedule.Fault) error {
	u := n.system.units[f.Target.Name]
	p := u.process()
	if !p.Running() {
		n.problem("%s ended by itself: %v", u.name, p.Err())
		return u.start()
	}
	switch f.Kind {
	case schedule.Freeze:
		p.Signal(syscall.SIGSTOP)
		pause(ctx, f.For)
		p.Signal(syscall.SIGCONT)
		return nil
	case schedule.Starve:
		for begun := time.Now(); time.Since(begun) < f.For; pause(ctx, slice) {
			p.Signal(syscall.SIGSTOP)
			pause(ctx, 9*slice)
			p.Signal(syscall.SIGCONT)
		}
		return nil
	case schedule.Kill:
		p.Kill()
	default:
		_ = p.Stop(stopTime) // it may have to be killed: it cannot reach its stores during another fault
	}
	pause(ctx, f.For)
	return u.start()
}

// cut injects the fault of a connection.
func (n *nemesis) cut(ctx context.Context, f schedule.Fault, s proxy.State) {
	for _, p := range n.system.proxies[f.Target.Name] {
		p.Set(s)
	}
	pause(ctx, f.For)
	for _, p := range n.system.proxies[f.Target.Name] {
		p.Set(proxy.Open)
	}
}

// heal opens all connections and starts the processes that do not run.
func (n *nemesis) heal() error {
	for _, proxies := range n.system.proxies {
		for _, p := range proxies {
			p.Set(proxy.Open)
		}
	}
	for _, name := range n.system.names() {
		u := n.system.units[name]
		if p := u.process(); !p.Running() {
			n.problem("%s ended by itself: %v", name, p.Err())
			if err := u.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// scheduled compares the faults that happened with the schedule's.
func (n *nemesis) scheduled(faults []schedule.Fault) {
	due, happened := map[string]int{}, map[string]int{}
	for _, f := range faults {
		due[string(f.Kind)]++
	}
	for _, f := range n.journal.SoFar().Faults {
		happened[f.Kind]++
	}
	for _, kind := range schedule.Kinds(n.system.targets()) {
		n.log("%4d  %s", happened[string(kind)], kind)
		if happened[string(kind)] < due[string(kind)] {
			n.problem("there were %d faults of the kind %q in the schedule, and %d happened", due[string(kind)], kind,
				happened[string(kind)])
		}
	}
}

// problem notes a problem.
func (n *nemesis) problem(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.problems = append(n.problems, fmt.Sprintf(format, args...))
}
