package runner_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/runner"
)

func TestUpdateDoesNotInterruptService(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)

	updated, done := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-updated:
				done <- n
				return
			default:
			}
			// The guest accepts every setting; duel refuses the setting "do" with an error of its own. Both are answers.
			if a := w.invoke("f", "pair"); a.error != "" && !strings.Contains(a.error, itsOwnError) {
				t.Errorf("run %d: %s", n, a.error)
			}
		}
	}()
	w.put(project, "f", w.duel)
	w.waitServing("f", 2)
	close(updated)
	if n := <-done; n == 0 {
		t.Error("no run was made meanwhile")
	}
	if a := w.invoke("f", "pair"); !strings.Contains(a.error, itsOwnError) {
		t.Errorf("the old version still answers: %v", a)
	}
}

// An instance that still works on its last run is in the status.
func TestOldInstanceIsInTheStatusUntilItsRunEnds(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	w.startForEndless(1)
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	last := w.occupy(endless)
	w.put(project, "f", w.duel)
	if a := w.invoke("f", "pair"); !strings.Contains(a.error, itsOwnError) {
		t.Fatalf("the new version says %v", a)
	}
	w.waitUntil("both", func(all []*pb.InstanceStatus) bool {
		if len(last) > 0 {
			t.Fatalf("the run is over: %v", <-last)
		}
		there := map[int64]bool{}
		for _, i := range all {
			there[i.GetGeneration()] = i.GetState() == "Running"
		}
		return there[1] && there[2]
	})
}

// occupy starts a run of f that hangs so long, and returns it when it has the only instance.
func (w *world) occupy(budget time.Duration) <-chan *pb.RunPart {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		hung := w.startRun(&pb.RunRequest{Project: project, Function: "f", Position: w.position(),
			Budget: budget.Milliseconds(), Settings: []byte(`{"do":"hang"}`)})
		for len(hung) == 0 { // else the machine stood still meanwhile
			a := w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "f", Position: w.position(), Budget: 2000}))
			if strings.Contains(a.error, noInstance) {
				return hung
			}
			if time.Now().After(deadline) {
				w.t.Fatalf("a run beside one that hangs is answered: %v", a)
			}
		}
	}
}

// noInstance is in the error of a run when others had all instances.
const noInstance = "no instance was free"

func TestVersionThatDoesNotStartLeavesTheOldOne(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	for name, c := range map[string]struct {
		put    func()
		state  string
		reason string
	}{
		"not a module": {func() { w.put(project, "f", []byte("#!/bin/sh")) }, "Terminated", "no WebAssembly module"},
		"damaged":      {func() { w.putAs(project, "f", strings.Repeat("0", 64)+".wasm", w.guest) }, "Terminated", "damaged"},
		"lost": {func() { w.setModule(project, "f", strings.Repeat("1", 64)+".wasm") }, "Terminated",
			"not stored any more"},
		"trap": {func() { w.put(project, "f", startingModule("\x00", 1)) }, "Terminated",
			"the module does not start: unreachable"},
		"memory": {func() { w.put(project, "f", startingModule("\x41\xff\xff\x03\x40\x00\x1a\x00", 1)) }, "Terminated",
			"the limit of 64 MiB"},
		"wrong ABI": {func() { w.put(project, "f", startingModule("", 7)) }, "Terminated", "mm_abi returned 7"},
	} {
		t.Run(name, func(t *testing.T) {
			c.put()
			w.waitUntil("the new version to fail", func(all []*pb.InstanceStatus) bool {
				failed, good := false, false
				for _, i := range all {
					failed = failed || i.GetGeneration() > 1 && i.GetState() == c.state && strings.Contains(i.GetReason(), c.reason)
					good = good || i.GetGeneration() == 1 && i.GetState() == "Running"
				}
				return failed && good
			})
			w.waitLogged("f", c.reason)
			w.invokeOK("f", "pair", 1)
		})
	}
	w.put(project, "f", w.guest)
	w.waitServing("f", 8)
	w.invokeOK("f", "pair", 1)
}

// startingModule is a module that runs the code when it is initialised, and declares the version of the interface.
func startingModule(code string, version byte) []byte {
	section := func(id byte, items ...string) string {
		body := string(byte(len(items))) + strings.Join(items, "")
		return string(id) + string(byte(len(body))) + body
	}
	body := func(code string) string { return string(byte(len(code)+2)) + "\x00" + code + "\x0b" }
	export := func(name, what string) string { return string(byte(len(name))) + name + what }
	return []byte("\x00asm\x01\x00\x00\x00" +
		section(1, "\x60\x00\x00", "\x60\x00\x01\x7f", "\x60\x01\x7f\x01\x7f", "\x60\x01\x7f\x01\x7e") +
		section(3, "\x00", "\x01", "\x02", "\x03") +
		section(5, "\x00\x01") +
		section(7, export("memory", "\x02\x00"), export("_initialize", "\x00\x00"), export("mm_abi", "\x00\x01"),
			export("mm_alloc", "\x00\x02"), export("mm_run", "\x00\x03")) +
		section(10, body(code), body("\x41"+string(version)), body("\x41\x08"), body("\x42\x00")))
}

// Promise 9.
func TestFailedRunDoesNotAffectOthers(t *testing.T) {
	w := newWorld(t)
	w.put(project, "bad", w.guest)
	w.put(project, "good", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("bad", 1)
	w.waitServing("good", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)

	before := w.invokeOK("bad", "pair", 1).stats.GetInstance()
	if a := w.invoke("bad", "fail"); a.error != itsOwnError || a.stats.GetInstance() != before {
		t.Errorf("an error that the function returned: %v", a)
	}
	if a := w.invoke("bad", "panic"); !strings.Contains(a.error, "trap") || a.stats.GetInstance() != before {
		t.Errorf("a panic: %v", a)
	}
	w.waitReplaced("bad", before)
	hung := w.startRun(&pb.RunRequest{
		Project: project, Function: "bad", Position: w.position(), Budget: 3000, Settings: []byte(`{"do":"hang"}`),
	})
	w.invokeOK("good", "pair", 1)
	a := w.awaitAnswer(hung)
	if !strings.Contains(a.error, "deadline: ") {
		t.Errorf("a hang: %v", a)
	}
	if after := w.invokeOK("bad", "pair", 1).stats.GetInstance(); after == before || after == a.stats.GetInstance() {
		t.Errorf("instance %s was used again", after)
	}
	log := w.waitLogged("bad", "deadline")
	for _, want := range []string{"asked for panic", "[runner] started", "panic: as told",
		"another instance will be started in 100ms", "[runner] as told"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %q:\n%s", want, log)
		}
	}
	if log := w.waitLogged("good", "asked for pair"); strings.Contains(log, "as told") {
		t.Errorf("the log of one function is in the log of another:\n%s", log)
	}
}

func TestDeletedFunctionIsNotServed(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("f", 1)
	w.deleteFunction(project, "f")
	w.waitUntil("f to go", func(all []*pb.InstanceStatus) bool { return len(all) == 0 })
	if a := w.invoke("f", "pair"); a.error != bus.NoRunner {
		t.Errorf("a run of it: %v", a)
	}
	// The index was dropped with the last function, and is read again.
	w.ticket(1, nil)
	w.ticket(2, nil)
	w.put(project, "f", w.guest)
	w.waitServing("f", 1)
	w.invokeOK("f", "pair", 1)
}

// Runs of a deleted config end, though they have time left: the one that hangs and the one that waits. Runs of another
// config go on, and so does the function.
func TestRunsOfADeletedConfigEnd(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	s := quickSettings()
	s.MaxInstances = 2
	w.startRunner("runner-1", s)
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	other := w.startHanging("stays")
	gone := []<-chan *pb.RunPart{w.startHanging("gone"), w.startHanging("gone")}
	w.endRuns("gone", gone...)
	w.invokeOK("f", "pair", 1)
	for {
		select {
		case part := <-other:
			if part.GetLast() {
				t.Fatalf("the run of another config ended: %v", part)
			}
			continue
		default:
		}
		return
	}
}

// startHanging starts a run of f for a config that does not end by itself.
func (w *world) startHanging(config string) <-chan *pb.RunPart {
	w.t.Helper()
	return w.startRun(&pb.RunRequest{Project: project, Function: "f", Config: config, Position: w.position(),
		Budget: endless.Milliseconds(), Settings: []byte(`{"do":"hang"}`)})
}

// endRuns deletes the config of runs, and waits until they have ended for that reason.
func (w *world) endRuns(config string, runs ...<-chan *pb.RunPart) {
	w.t.Helper()
	again, deadline := time.NewTicker(50*time.Millisecond), time.After(patience)
	defer again.Stop()
	for _, parts := range runs {
		for ended := false; !ended; {
			select {
			case part := <-parts:
				ended = part.GetLast()
				if text := part.GetError(); ended && !strings.Contains(text, "the config was deleted") {
					w.t.Errorf("the run ended with %q", text)
				}
			case <-again.C: // the runner may have a run and not know it yet
				w.bus.Poke(w.t.Context(), project, &pb.Poke{Deleted: config})
			case <-deadline:
				w.t.Fatal("a run of the deleted config goes on")
			}
		}
	}
}

func TestInstancesFollowTheLoad(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	s := quickSettings()
	s.MaxInstances, s.Idle = 2, 3*time.Second
	w.startRunner("runner-1", s)
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	probe := func() answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "f", Position: w.position(),
			Budget: 1000}))
	}

	// One instance hangs, so other runs need another one.
	w.config = "gone"
	first := w.startHanging(w.config)
	for running := allRunning(2, 1); ; {
		w.invokeOK("f", "pair", 1)
		if running(w.waitUntil("an instance", func(all []*pb.InstanceStatus) bool { return len(all) > 0 })) {
			break
		}
	}
	// All instances hang: a run waits no longer than half of its budget.
	second := w.startHanging(w.config)
	for a, deadline := probe(), time.Now().Add(patience); !strings.Contains(a.error,
		noInstance+": waited for 500ms"); a = probe() {
		if a.error != "" && !strings.Contains(a.error, noInstance) || time.Now().After(deadline) {
			t.Fatalf("a run with all instances taken: %s", a.error)
		}
	}
	w.endRuns(w.config, first, second)
	w.config = "another"
	// Both are replaced, and one of them ends when there is work for one only.
	w.waitUntil("two new instances", func(all []*pb.InstanceStatus) bool { return len(all) == 2 })
	for n, deadline := 2, time.Now().Add(patience); n > 1; {
		w.invokeOK("f", "pair", 1)
		n = len(w.waitUntil("an instance", func(all []*pb.InstanceStatus) bool { return len(all) > 0 }))
		if time.Now().After(deadline) {
			t.Fatal("both instances stay")
		}
	}
}

// allRunning reports whether the instances are n of a generation, and run.
func allRunning(n int, generation int64) func([]*pb.InstanceStatus) bool {
	return func(all []*pb.InstanceStatus) bool {
		for _, i := range all {
			if i.GetState() != "Running" || i.GetGeneration() != generation {
				return false
			}
		}
		return len(all) == n
	}
}

func TestInstancesDoNotFallBelowMinInstances(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	s := quickSettings()
	s.MinInstances, s.MaxInstances, s.Idle = 2, 3, 50*time.Millisecond
	w.startRunner("runner-1", s)
	w.waitUntil("two instances", allRunning(2, 1))
	w.ticket(1, nil)
	calm := w.generateLoad("f", 6)
	w.waitUntil("three instances", allRunning(3, 1))
	calm()
	w.waitUntil("the least again", allRunning(2, 1))
	w.waitUntil("a heartbeat with others than two instances, or twenty with two", func() func([]*pb.InstanceStatus) bool {
		beats := 0
		return func(all []*pb.InstanceStatus) bool {
			if !allRunning(2, 1)(all) {
				t.Errorf("the instances are %v", all)
			}
			beats++
			return beats > 20 || t.Failed()
		}
	}())
}

func TestNewVersionHasAsManyInstancesAsTheOldOne(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	s := quickSettings()
	s.MaxInstances, s.Idle = 3, time.Hour
	w.startRunner("runner-1", s)
	w.waitUntil("one instance", allRunning(1, 1))
	w.ticket(1, nil)
	calm := w.generateLoad("f", 6)
	w.waitUntil("three instances", allRunning(3, 1))
	calm()
	w.put(project, "f", w.guest)
	w.waitUntil("three instances of the new version", allRunning(3, 2))
}

// forgetful is a bus that fails to take runs at first.
type forgetful struct {
	runner.Bus
	failures atomic.Int32
}

func (b *forgetful) ServeRuns(name, project, function string,
	handle func(context.Context, *pb.RunRequest, bus.SendPart)) (bus.Subscription, error) {
	if b.failures.Add(-1) >= 0 {
		return nil, errors.New("not yet")
	}
	return b.Bus.ServeRuns(name, project, function, handle)
}

// TestRunsAreTakenAfterAFailure: a subscription that fails is tried again.
func TestRunsAreTakenAfterAFailure(t *testing.T) {
	w := newWorld(t)
	b := new(forgetful)
	b.failures.Store(2)
	w.put(project, "f", w.guest)
	w.startRunner("runner-1", quickSettings(), func(o *runner.Options) {
		b.Bus = o.Bus
		o.Bus = b
	})
	w.waitServing("f", 1)
	for deadline := time.Now().Add(patience); ; {
		parts := w.startRun(&pb.RunRequest{Project: project, Function: "f", Position: w.position(), Budget: 20_000})
		select {
		case <-parts:
			return
		case <-time.After(time.Second):
		}
		if time.Now().After(deadline) {
			t.Fatal("no run is taken")
		}
	}
}
