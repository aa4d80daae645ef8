package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/storm"
	"matchmaker.dev/services/test/proxy"
)

// stopTime is how long a process may take to stop in good order before it is killed.
const stopTime = 30 * time.Second

// injector does what a storm's plan says.
type injector struct {
	system  *system
	journal *history.Journal
	say     sayer

	mu sync.Mutex
	// busy are held while a target or group is disturbed: on a slow machine that lasts longer than was planned.
	busy map[string]*sync.Mutex
	// complaints are what processes did that is wrong whatever the promises say.
	complaints []string
}

// run returns when the storm is over, and with it all faults.
func (i *injector) run(ctx context.Context, plan []storm.Fault, lasts time.Duration) {
	begun := time.Now()
	var under sync.WaitGroup
	for n, f := range plan {
		if !pause(ctx, f.At-time.Since(begun)) {
			break
		}
		i.say("%3d of %d  %s %s for %v", n+1, len(plan), f.Kind, f.Target.Name, f.For.Round(10*time.Millisecond))
		under.Go(func() { i.do(ctx, f) })
	}
	pause(ctx, lasts-time.Since(begun))
	under.Wait()
}

func (i *injector) do(ctx context.Context, f storm.Fault) {
	busy := i.turn(cmp.Or(f.Target.Group, f.Target.Name))
	busy.Lock()
	defer busy.Unlock()
	from := history.Now()
	switch f.Kind {
	case storm.Kill, storm.Freeze, storm.Restart:
		if err := i.disturb(ctx, f); err != nil {
			i.complain("%v", err)
		}
	case storm.Refuse:
		i.cut(ctx, f, proxy.Refused)
	case storm.Silence:
		i.cut(ctx, f, proxy.Silent)
	case storm.Deafen:
		i.cut(ctx, f, proxy.Deaf)
	case storm.Slow:
		i.cut(ctx, f, proxy.Slow)
	}
	i.journal.Fault(history.Fault{Span: history.Span{From: from, To: history.Now()}, Kind: string(f.Kind), Target: f.Target.Name})
}

// turn is for one fault at a time.
func (i *injector) turn(name string) *sync.Mutex {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.busy[name] == nil {
		if i.busy == nil {
			i.busy = map[string]*sync.Mutex{}
		}
		i.busy[name] = new(sync.Mutex)
	}
	return i.busy[name]
}

// disturb does something to a process.
func (i *injector) disturb(ctx context.Context, f storm.Fault) error {
	u := i.system.units[f.Target.Name]
	p := u.process()
	if !p.Running() {
		i.complain("%s ended without being asked: %v", u.name, p.Err())
		return u.start()
	}
	switch f.Kind {
	case storm.Freeze:
		p.Signal(syscall.SIGSTOP)
		pause(ctx, f.For)
		p.Signal(syscall.SIGCONT)
		return nil
	case storm.Kill:
		p.Kill()
	default:
		_ = p.Stop(stopTime) // a service without its stores may be killed
	}
	pause(ctx, f.For)
	return u.start()
}

// cut does something to a stretch of network.
func (i *injector) cut(ctx context.Context, f storm.Fault, s proxy.State) {
	for _, l := range i.system.proxies[f.Target.Name] {
		l.Set(s)
	}
	pause(ctx, f.For)
	for _, l := range i.system.proxies[f.Target.Name] {
		l.Set(proxy.Open)
	}
}

// heal opens what is cut, and starts what does not run.
func (i *injector) heal() error {
	for _, proxies := range i.system.proxies {
		for _, l := range proxies {
			l.Set(proxy.Open)
		}
	}
	for _, name := range i.system.names() {
		u := i.system.units[name]
		if p := u.process(); !p.Running() {
			i.complain("%s ended without being asked: %v", name, p.Err())
			if err := u.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *injector) complain(format string, args ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.complaints = append(i.complaints, fmt.Sprintf(format, args...))
}
