package runner_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/runner"
)

// hostByProject is the runner of each project whose function runs on exactly one.
func (w *world) hostByProject() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	homes := map[string]string{}
	for _, s := range w.statuses {
		for _, i := range s.GetInstances() {
			if i.GetState() != "Running" {
				continue
			}
			if _, twice := homes[i.GetProject()]; twice {
				delete(homes, i.GetProject())
				continue
			}
			homes[i.GetProject()] = s.GetRunner()
		}
	}
	return homes
}

// waitSpread waits until each project is on one runner, and all together on that many runners.
func (w *world) waitSpread(projects, runners int) {
	w.t.Helper()
	w.waitUntil(fmt.Sprintf("%d projects on %d runners", projects, runners), func([]*pb.InstanceStatus) bool {
		homes, different := w.hostByProject(), map[string]bool{}
		for _, runner := range homes {
			different[runner] = true
		}
		return len(homes) == projects && len(different) == runners
	})
}

// singleHost is settings with one host per project.
func singleHost() runner.Settings {
	s := quickSettings()
	s.Hosts = 1
	return s
}

func TestKilledRunnerIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	cmd := exec.Command(os.Args[0], runnerCommand, w.redis, w.nats, "victim", t.TempDir(), w.child)
	cmd.Stderr = t.Output()
	w.must(cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	w.invokeOK("f", "pair", 1)

	w.must(cmd.Process.Signal(syscall.SIGKILL))
	w.startRunner("heir", quickSettings())
	w.waitUntil("the heir to serve", func([]*pb.InstanceStatus) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		is := w.statuses["heir"].GetInstances()
		return len(is) == 1 && is[0].GetState() == "Running"
	})
	w.invokeOK("f", "pair", 1)
}

func TestProjectsMoveWithoutInterruption(t *testing.T) {
	w := newWorld(t)
	const projects = 8
	for p := range projects {
		w.put(fmt.Sprint("project-", p), "f", w.guest)
	}
	_, stop := w.startRunner("runner-1", singleHost())
	w.waitSpread(projects, 1)

	moved, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-moved:
				return
			default:
			}
			a := w.awaitAnswer(w.startRun(&pb.RunRequest{Project: fmt.Sprint("project-", n%projects), Function: "f",
				Budget: 60_000}))
			if a.error != "" {
				t.Errorf("run %d: %s", n, a.error)
			}
		}
	}()
	w.startRunner("runner-2", singleHost())
	w.waitSpread(projects, 2)
	close(moved)
	<-done

	// The others do not wait for a runner that leaves in good order.
	stop()
	w.waitUntil("runner-2 to have all", func([]*pb.InstanceStatus) bool {
		homes := w.hostByProject()
		for _, runner := range homes {
			if runner != "runner-2" {
				return false
			}
		}
		return len(homes) == projects
	})
	if a := w.awaitAnswer(w.startRun(&pb.RunRequest{Project: "project-0", Function: "f"})); a.error != "" {
		t.Error(a.error)
	}
}

// servingRunners is the runners on which the function f of the project runs.
func (w *world) servingRunners() (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, s := range w.statuses {
		if slices.ContainsFunc(s.GetInstances(), func(i *pb.InstanceStatus) bool { return i.GetState() == "Running" }) {
			names = append(names, name)
		}
	}
	return names
}

func TestProjectHasMoreHostsUnderLoad(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	s := singleHost()
	s.MaxInstances, s.Crowded, s.Idle = 1, 500*time.Millisecond, 3*time.Second
	w.startRunner("runner-1", s)
	w.startRunner("runner-2", s)
	w.waitServing("f", 1)
	w.waitUntil("one runner", func([]*pb.InstanceStatus) bool { return len(w.servingRunners()) == 1 })
	w.ticket(1, nil)
	w.ticket(2, nil)

	// More runs than the only instance can answer.
	calm := w.generateLoad("f", 4)
	w.waitUntil("two runners", func([]*pb.InstanceStatus) bool { return len(w.servingRunners()) == 2 })
	calm()
	w.waitUntil("one runner again",
		func(all []*pb.InstanceStatus) bool { return len(all) == 1 && len(w.servingRunners()) == 1 })
	w.invokeOK("f", "pair", 1)
}

func TestStoppingRunnerFinishesItsRuns(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	s := quickSettings()
	s.MaxInstances, s.Drain = 1, patience
	r, stop := w.startRunner("runner-1", s)
	w.waitServing("f", 1)
	w.must(r.Ready(t.Context()))
	w.ticket(1, nil)
	w.ticket(2, nil)
	// The only instance hangs, and a second run waits for it to be replaced.
	hung := w.occupy(3 * time.Second)
	stop()
	if a := w.awaitAnswer(hung); !strings.Contains(a.error, "deadline: ") {
		t.Errorf("the run under way: %v", a)
	}
	if a := w.invoke("f", "pair"); a.error != bus.NoRunner {
		t.Errorf("a run after the end: %v", a)
	}
	w.waitLeft("runner-1")
}

func TestSettingsAreChecked(t *testing.T) {
	w := newWorld(t)
	for want, change := range map[string]func(*runner.Settings){
		"--hosts": func(s *runner.Settings) { s.Hosts = -1 },
		"Silence 1s must be at least two": func(s *runner.Settings) {
			s.Silence, s.Heartbeat = time.Second,
				600*time.Millisecond
		},
		"--min-instances 3": func(s *runner.Settings) { s.MinInstances, s.MaxInstances = 3, 2 },
		"--max-hosts 1":     func(s *runner.Settings) { s.MaxHosts = 1 },
	} {
		s := settings.Default[runner.Settings]()
		change(&s)
		_, err := runner.New(runner.Options{
			Store: w.store, Bus: w.bus, Engine: runner.Processes(w.box), Name: "r", Log: discard(), Now: time.Now,
			Settings: s,
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := runner.New(runner.Options{}); err == nil {
		t.Error("a runner of nothing")
	}
}

// A new runner is ready when it serves: the one that it replaces is not taken away before.
func TestRunnerIsReadyWhenItServes(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	r, _ := w.startRunner("runner-1", quickSettings())
	for deadline := time.Now().Add(patience); r.Ready(t.Context()) != nil; {
		if time.Now().After(deadline) {
			t.Fatal("the runner is not ready: ", r.Ready(t.Context()))
		}
	}
	w.invokeOK("f", "pair", 0)
}

// A function that cannot start does not keep its runner from being ready.
func TestRunnerIsReadyWithAFunctionThatFails(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	w.putAs(project, "broken", "broken.wasm", []byte("no module"))
	r, _ := w.startRunner("runner-1", quickSettings())
	for deadline := time.Now().Add(patience); r.Ready(t.Context()) != nil; {
		if time.Now().After(deadline) {
			t.Fatal("the runner is not ready: ", r.Ready(t.Context()))
		}
	}
	w.invokeOK("f", "pair", 0)
}

// Runs never fail while a runner hands its only project over and stops.
func TestStoppingRunnerHandsOver(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	s := quickSettings()
	s.Hosts, s.MaxHosts, s.Leave = 1, 1, patience
	runners, stops := map[string]*runner.Runner{}, map[string]func(){}
	for _, name := range []string{"runner-1", "runner-2"} {
		runners[name], stops[name] = w.startRunner(name, s)
	}
	w.waitUntil("one runner", func([]*pb.InstanceStatus) bool { return len(w.servingRunners()) == 1 })
	host := w.servingRunners()[0]
	left := make(chan struct{})
	go func() {
		defer close(left)
		runners[host].HandOver(t.Context())
		stops[host]()
	}()
	for over := false; !over; {
		select {
		case <-left:
			over = true
		default:
		}
		if a := w.invoke("f", "pair"); a.error != "" {
			t.Fatalf("a run while %s leaves: %s", host, a.error)
		}
	}
	w.waitUntil(host+" to say that it leaves", func([]*pb.InstanceStatus) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.statuses[host].GetLeaving()
	})
}

// Runners that stop together do not wait for each other.
func TestRunnersThatLeaveTogetherDoNotWait(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	s := quickSettings()
	s.Leave = time.Hour
	var runners []*runner.Runner
	for _, name := range []string{"runner-1", "runner-2"} {
		r, _ := w.startRunner(name, s)
		runners = append(runners, r)
	}
	w.waitUntil("two runners", func([]*pb.InstanceStatus) bool { return len(w.servingRunners()) == 2 })
	var leaving sync.WaitGroup
	for _, r := range runners {
		leaving.Go(func() { r.HandOver(t.Context()) })
	}
	leaving.Wait()
}
