package runner_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// putUploads makes a function with these uploads, counted from 1, of which the last one runs. change alters the record.
func (w *world) putUploads(function string, modules [][]byte, change func(*pb.Function)) {
	w.t.Helper()
	f := &pb.Function{Name: function}
	for i, module := range modules {
		sum := sha256.Sum256(module)
		name := hex.EncodeToString(sum[:]) + ".wasm"
		w.must(w.bus.PutModule(w.t.Context(), name, module))
		w.must(w.store.NoteModule(w.t.Context(), project, name))
		f.Versions = append([]*pb.FunctionVersion{{Version: int64(i + 1), Module: name}}, f.GetVersions()...)
	}
	w.must(w.store.ChangeFunction(w.t.Context(), project, function, func(before *pb.Function) (*pb.Function, error) {
		f.Generation = before.GetGeneration() + 1
		f.Version, f.Module = f.GetVersions()[0].GetVersion(), f.GetVersions()[0].GetModule()
		if change != nil {
			change(f)
		}
		return f, nil
	}))
	w.bus.Poke(w.t.Context(), project, &pb.Poke{Functions: true})
}

// onTrial lets a function with two uploads go back to the first one.
func onTrial(f *pb.Function) {
	f.GetVersions()[1].Worked = 1
	f.TrialUntil = time.Now().Add(time.Hour).UnixMilli()
}

// awaitUpload waits for what heartbeats say of an upload.
func (w *world) awaitUpload(what, function string, upload int64, fit func(*pb.UploadStatus) bool) *pb.UploadStatus {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		w.mu.Lock()
		var last *pb.UploadStatus
		for _, s := range w.statuses {
			for _, u := range s.GetUploads() {
				if u.GetFunction() == function && u.GetUpload() == upload && (last == nil || !fit(last)) {
					last = u
				}
			}
		}
		changed := w.changed
		w.mu.Unlock()
		if last != nil && fit(last) {
			return last
		}
		select {
		case <-changed:
		case <-deadline:
			w.t.Fatalf("waited in vain for %s; upload %d of %s: %v", what, upload, function, last)
		}
	}
}

func TestHealthOfUploads(t *testing.T) {
	w := newWorld(t)
	w.putUploads("f", [][]byte{w.guest}, nil)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("f", 1)
	w.invokeOK("f", "pair", 0) // without tickets: it does not count
	w.ticket(1, nil)
	w.ticket(2, nil)
	for range 3 {
		w.invokeOK("f", "pair", 1)
	}
	if a := w.invoke("f", "fail"); !strings.Contains(a.error, itsOwnError) {
		t.Fatalf("the run says %q", a.error)
	}
	u := w.awaitUpload("four runs", "f", 1, func(u *pb.UploadStatus) bool { return u.GetRuns() == 4 })
	if u.GetFailed() != 1 || u.GetAllRuns() != 4 || u.GetAllFailed() != 1 || !strings.Contains(u.GetError(), "as told") ||
		time.Since(time.UnixMilli(u.GetErrorTime())).Abs() > patience || len(u.GetTimes()) == 0 || len(u.GetMemory()) == 0 ||
		u.GetGeneration() != 1 || u.GetWorked() || u.GetRepeated() > 0 {
		t.Errorf("the heartbeat says %v", u)
	}
	// What is only asked of the function is no run of a cycle.
	w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "f", Position: w.position(), Budget: 20_000,
		Settings: []byte(`{"do":"fail"}`), Check: true}))
	w.invokeOK("f", "pair", 1)
	if u := w.awaitUpload("five runs", "f", 1, func(u *pb.UploadStatus) bool { return u.GetRuns() == 5 }); u.GetFailed() !=
		1 {
		t.Errorf("a check counts: %v", u)
	}
}

// The failed runs of a new upload pass on the last good one. A run that fails on both proves nothing. Where the
// function does not go back by itself nothing is repeated.
func TestFailedRunsAreRepeatedOnTheLastGoodUpload(t *testing.T) {
	w := newWorld(t)
	w.putUploads("bad", [][]byte{w.guest, w.duel}, onTrial)
	w.putUploads("good", [][]byte{w.guest, w.guest}, onTrial)
	w.putUploads("off", [][]byte{w.guest, w.duel}, func(f *pb.Function) {
		onTrial(f)
		f.NoReturn = true
	})
	w.putUploads("first", [][]byte{w.duel, w.duel}, func(f *pb.Function) {
		onTrial(f)
		f.GetVersions()[1].Worked = 0
	})
	w.startRunner("runner-1", quickSettings())
	for _, name := range []string{"bad", "good", "off", "first"} {
		w.waitServing(name, 1)
	}
	w.ticket(1, nil)
	w.ticket(2, nil)
	awaitRepeats := func(function, do string, n int64) *pb.UploadStatus {
		t.Helper()
		for deadline := time.Now().Add(patience); ; {
			failed := w.invoke(function, do)
			if failed.error == "" {
				t.Fatalf("%s of %s succeeds", do, function)
			}
			u := w.awaitUpload("a failed run", function, 2, func(u *pb.UploadStatus) bool { return u.GetFailed() > 0 })
			if u.GetRepeated() >= n {
				return u
			}
			if time.Now().After(deadline) {
				t.Fatalf("failed runs are not repeated: %v", u)
			}
		}
	}
	if u := awaitRepeats("bad", "pair", 3); u.GetPassed() != u.GetRepeated() || u.GetRepeatedOn() != 1 {
		t.Errorf("of the new upload that fails: %v", u)
	}
	if u := awaitRepeats("good", "panic", 3); u.GetPassed() != 0 {
		t.Errorf("a ticket that both fail for: %v", u)
	}
	for range 5 {
		w.invoke("off", "pair")
		w.invoke("first", "pair")
	}
	for _, name := range []string{"off", "first"} {
		u := w.awaitUpload("five failed runs", name, 2, func(u *pb.UploadStatus) bool { return u.GetFailed() == 5 })
		if u.GetRepeated() > 0 {
			t.Errorf("runs of %q are repeated: %v", name, u)
		}
	}
	aside := map[string]bool{}
	w.waitUntil("the instances", func(all []*pb.InstanceStatus) bool {
		for _, i := range all {
			if i.GetAside() {
				aside[i.GetFunction()] = true
			}
		}
		return true
	})
	if aside["off"] || aside["first"] {
		t.Errorf("there are instances that repeat runs: %v", aside)
	}
}

// A repeat proves nothing when a ticket left meanwhile: it may be the one that made the run fail.
func TestRepeatWithoutATicketProvesNothing(t *testing.T) {
	w := newWorld(t)
	w.put(project, "other", w.guest)
	w.putUploads("f", [][]byte{w.guest, w.duel}, onTrial)
	s := quickSettings()
	s.RunnerInstances = 2 // so that runs are repeated only when the other function is gone
	w.startRunner("runner-1", s)
	w.waitServing("other", 1)
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	last := w.ticket(3, nil)
	w.invoke("f", "pair")
	position, err := w.store.DeleteTicket(t.Context(), project, last, "owner-3")
	w.must(err)
	w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "f", Position: position, Budget: 20_000,
		Settings: []byte(`{"do":"pair"}`)}))
	w.deleteFunction(project, "other")
	w.waitLogged("f", "asked for pair") // by the upload that passes, a while ago
	w.nextHeartbeat()
	u := w.awaitUpload("the failed runs", "f", 2, func(u *pb.UploadStatus) bool { return u.GetFailed() == 2 })
	if u.GetRepeated() > 0 {
		t.Errorf("a run counts that was repeated without a ticket: %v", u)
	}
	w.invoke("f", "pair")
	u = w.awaitUpload("a repeated run", "f", 2, func(u *pb.UploadStatus) bool { return u.GetRepeated() > 0 })
	if u.GetPassed() != 1 {
		t.Errorf("with the same tickets: %v", u)
	}
}

// nextHeartbeat waits for a heartbeat that was sent after now.
func (w *world) nextHeartbeat() {
	w.t.Helper()
	for range 2 { // one may be on its way
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(patience):
			w.t.Fatal("there is no heartbeat")
		}
	}
}

func TestShadowIsComparedAndNotAnswered(t *testing.T) {
	w := newWorld(t)
	inShadow := func(f *pb.Function) {
		f.Version, f.Module, f.Shadow = 1, f.GetVersions()[1].GetModule(), 2
	}
	w.putUploads("same", [][]byte{w.guest, w.guest}, inShadow)
	w.putUploads("fails", [][]byte{w.guest, w.duel}, inShadow)
	w.startRunner("runner-1", quickSettings())
	for _, name := range []string{"same", "fails"} {
		w.waitServing(name, 1)
		w.waitUntil("the shadow to run", func(all []*pb.InstanceStatus) bool {
			for _, i := range all {
				if i.GetFunction() == name && i.GetUpload() == 2 && i.GetAside() && i.GetState() == "Running" {
					return true
				}
			}
			return false
		})
	}
	for n := range 4 {
		w.ticket(float64(n), nil)
	}
	compared := func(function string, enough func(*pb.Comparison) bool) *pb.Comparison {
		t.Helper()
		for deadline := time.Now().Add(patience); ; {
			w.invokeOK(function, "pair", 2)
			u := w.awaitUpload("a comparison", function, 2, func(u *pb.UploadStatus) bool { return u.GetCompared() != nil })
			if enough(u.GetCompared()) {
				return u.GetCompared()
			}
			if time.Now().After(deadline) {
				t.Fatalf("nothing is compared: %v", u)
			}
		}
	}
	c := compared("same", func(c *pb.Comparison) bool { return c.GetAlike() >= 3 })
	if c.GetWith() != 1 || c.GetMatches() != 2*c.GetAlike() || c.GetWithMatches() != c.GetMatches() ||
		c.GetCommon() != c.GetMatches() || c.GetScore() != float64(c.GetMatches()) || c.GetFailed() > 0 {
		t.Errorf("of the same function: %v", c)
	}
	c = compared("fails", func(c *pb.Comparison) bool { return c.GetRuns() >= 3 })
	if c.GetFailed() != c.GetRuns() || c.GetWithFailed() > 0 || c.GetAlike() > 0 {
		t.Errorf("of one that fails: %v", c)
	}
	// It ends when the record says so.
	w.putUploads("same", [][]byte{w.guest, w.guest}, func(f *pb.Function) {
		inShadow(f)
		f.Shadow = 0
	})
	w.waitUntil("the shadow to end", func(all []*pb.InstanceStatus) bool {
		for _, i := range all {
			if i.GetFunction() == "same" && i.GetAside() {
				return false
			}
		}
		return true
	})
}

func TestConfigsGetTheUploadThatTheyName(t *testing.T) {
	w := newWorld(t)
	w.putUploads("f", [][]byte{w.guest, w.duel}, nil)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	run := func(upload int64) answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "f", Config: "c", Position: w.position(),
			Budget: 20_000, Settings: []byte(`{"do":"pair"}`), Upload: upload}))
	}
	if a := run(1); a.error != "" || len(a.proposals) != 1 || a.upload != 1 {
		t.Errorf("upload 1: %+v", a)
	}
	for _, upload := range []int64{0, 2} {
		if a := run(upload); !strings.Contains(a.error, itsOwnError) || a.upload != 2 {
			t.Errorf("upload %d: %+v", upload, a)
		}
	}
	if a := run(7); !strings.Contains(a.error, `upload 7 of function "f", which the config names, is not kept`) {
		t.Errorf("an upload that is not kept: %+v", a)
	}
	// It goes on when another upload runs.
	w.putUploads("f", [][]byte{w.guest, w.duel, w.duel}, nil)
	w.waitUntil("the next upload", func(all []*pb.InstanceStatus) bool {
		for _, i := range all {
			if i.GetUpload() == 3 && i.GetState() == "Running" {
				return true
			}
		}
		return false
	})
	if a := run(1); a.error != "" || len(a.proposals) != 1 || a.upload != 1 {
		t.Errorf("upload 1, later: %+v", a)
	}
	w.awaitUpload("the runs of the upload", "f", 1, func(u *pb.UploadStatus) bool { return u.GetRuns() > 0 })
}

// A runner that has not heard of a rollback refuses to judge settings by the upload before, until it has.
func TestRunThatExpectsAnotherUploadIsRefused(t *testing.T) {
	w := newWorld(t)
	w.putUploads("f", [][]byte{w.guest, w.duel}, nil)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("f", 1)
	check := func(serving int64) answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "f", Config: "c", Check: true,
			Budget: 20_000, Settings: []byte(`{"do":"pair"}`), Serving: serving}))
	}
	for _, serving := range []int64{0, 2} {
		if a := check(serving); !strings.Contains(a.error, `"do"`) {
			t.Errorf("upload %d serves: %+v", serving, a)
		}
	}
	if a := check(1); a.error != bus.OtherUpload {
		t.Errorf("the runner has not heard of the rollback: %+v", a)
	}
	w.putUploads("f", [][]byte{w.guest, w.duel}, func(f *pb.Function) {
		f.Version, f.Module = 1, f.GetVersions()[1].GetModule()
	})
	w.waitUntil("the upload before", func(all []*pb.InstanceStatus) bool {
		return slices.ContainsFunc(all, func(i *pb.InstanceStatus) bool {
			return i.GetFunction() == "f" && i.GetUpload() == 1 && i.GetState() == "Running"
		})
	})
	if a := check(1); a.error == bus.OtherUpload || strings.Contains(a.error, `"do"`) {
		t.Errorf("after the rollback: %+v", a)
	}
	if a := check(2); a.error != bus.OtherUpload {
		t.Errorf("after the rollback, by the upload that served: %+v", a)
	}
}

// waitCanary waits until both uploads of a function run, of which the second is the canary.
func (w *world) waitCanary(function string) {
	w.t.Helper()
	w.waitUntil("both uploads of "+function+" to run", func(all []*pb.InstanceStatus) bool {
		runs := map[int64]bool{}
		for _, i := range all {
			if i.GetFunction() == function && i.GetState() == "Running" && i.GetCanary() == i.GetAside() {
				runs[i.GetUpload()] = i.GetCanary() == (i.GetUpload() == 2)
			}
		}
		return runs[1] && runs[2]
	})
}

// The runs of a config get the canary, and no others. Each part of an answer says which upload made it, and for which
// share. A canary that never starts takes no run.
func TestRunsOfTheCanary(t *testing.T) {
	w := newWorld(t)
	until := func(f *pb.Function, c *pb.Canary) {
		f.Version, f.Module, f.Canary = 1, f.GetVersions()[1].GetModule(), c
		c.Upload, c.Until = 2, math.MaxInt64
	}
	w.putUploads("f", [][]byte{w.duel, w.guest}, func(f *pb.Function) {
		until(f, &pb.Canary{Configs: []string{"a"}, Changed: 7, Generation: 9})
	})
	w.putUploads("never", [][]byte{w.guest, []byte("no module")}, func(f *pb.Function) {
		until(f, &pb.Canary{Configs: []string{"a"}, Changed: 7, Generation: 9})
	})
	w.startRunner("runner-1", quickSettings())
	w.waitUntil("never to run", func(all []*pb.InstanceStatus) bool {
		states := map[int64]string{}
		for _, i := range all {
			if i.GetFunction() == "never" {
				states[i.GetUpload()] = i.GetState()
			}
		}
		return states[1] == "Running" && states[2] == "Terminated"
	})
	w.waitCanary("f")
	w.ticket(1, nil)
	w.ticket(2, nil)
	run := func(function, config string, upload int64) (a answer, marks []int64) {
		t.Helper()
		parts := w.startRun(&pb.RunRequest{Project: project, Function: function, Config: config, Position: w.position(),
			Budget: 20_000, Settings: []byte(`{"do":"pair"}`), Upload: upload})
		copied := make(chan *pb.RunPart, 1000)
		for {
			select {
			case p := <-parts:
				marks = append(marks, p.GetCanary())
				if copied <- p; p.GetLast() {
					return w.awaitAnswer(copied), slices.Compact(marks)
				}
			case <-time.After(patience):
				t.Fatal("the run was not answered")
			}
		}
	}
	for _, c := range []struct {
		function, config string
		names            int64 // which upload the config names
		upload           int64
		fails            string
		mark             int64
	}{
		{"f", "a", 0, 2, "", 7},
		{"f", "b", 0, 1, itsOwnError, 7},
		{"f", "a", 1, 1, itsOwnError, 0},
		{"never", "a", 0, 1, "", 7},
	} {
		a, marks := run(c.function, c.config, c.names)
		if a.upload != c.upload || !strings.Contains(a.error, c.fails) || (a.error == "") != (c.fails == "") ||
			!slices.Equal(marks, []int64{c.mark}) {
			t.Errorf("%+v: upload %d, marks %v, error %q", c, a.upload, marks, a.error)
		}
	}
	w.awaitUpload("the run of the canary", "f", 2, func(u *pb.UploadStatus) bool {
		return u.GetAllRuns() == 1 && u.GetCanary() && u.GetGeneration() == 9
	})
	// Others get it: the same instances, whose runs still count.
	w.putUploads("f", [][]byte{w.duel, w.guest}, func(f *pb.Function) {
		until(f, &pb.Canary{Queues: []string{"none"}, Changed: 8, Generation: 9})
	})
	eventually := time.Now().Add(patience)
	for a, marks := run("f", "a", 0); a.upload != 1 || !slices.Equal(marks, []int64{8}); a, marks = run("f", "a", 0) {
		if time.Now().After(eventually) {
			t.Fatalf("config a still gets the canary: upload %d, marks %v", a.upload, marks)
		}
	}
	w.awaitUpload("the runs of the canary", "f", 2, func(u *pb.UploadStatus) bool {
		return u.GetAllRuns() >= 1 && u.GetCanary()
	})
	// It ends.
	w.putUploads("f", [][]byte{w.duel, w.guest}, func(f *pb.Function) {
		until(f, &pb.Canary{})
		f.Canary = nil
	})
	w.waitUntil("the canary to end", func(all []*pb.InstanceStatus) bool {
		return !slices.ContainsFunc(all, func(i *pb.InstanceStatus) bool { return i.GetFunction() == "f" && i.GetAside() })
	})
	if a, marks := run("f", "a", 0); a.upload != 1 || !slices.Equal(marks, []int64{0}) {
		t.Errorf("after its end: upload %d, marks %v", a.upload, marks)
	}
}

// Failed runs of a canary are repeated on the upload that runs for the others, unless the studio wants no return. Runs
// of the same upload for a config that names it are told apart.
func TestFailedRunsOfTheCanaryAreRepeated(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"bad", "off"} {
		w.putUploads(name, [][]byte{w.guest, w.duel}, func(f *pb.Function) {
			f.Version, f.Module, f.NoReturn = 1, f.GetVersions()[1].GetModule(), name == "off"
			f.Canary = &pb.Canary{Upload: 2, Until: math.MaxInt64, Configs: []string{"a"}, Generation: 9}
		})
	}
	w.startRunner("runner-1", quickSettings())
	for _, name := range []string{"bad", "off"} {
		w.waitCanary(name)
	}
	w.ticket(1, nil)
	w.ticket(2, nil)
	run := func(function, config string, upload int64) answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: function, Config: config, Upload: upload,
			Position: w.position(), Budget: 20_000, Settings: []byte(`{"do":"pair"}`)}))
	}
	for n := int64(1); n <= 3; n++ {
		for _, name := range []string{"off", "bad"} {
			if a := run(name, "a", 0); a.upload != 2 || a.error == "" {
				t.Fatalf("the canary of %s: %+v", name, a)
			}
		}
		if a := run("bad", "b", 0); a.upload != 1 || a.error != "" {
			t.Errorf("another config: %+v", a)
		}
		w.awaitUpload("a repeated run", "bad", 2, func(u *pb.UploadStatus) bool {
			return u.GetCanary() && u.GetGeneration() == 9 && u.GetRepeatedOn() == 1 && u.GetRepeated() == n &&
				u.GetPassed() == n
		})
	}
	if a := run("bad", "named", 2); a.upload != 2 || a.error == "" {
		t.Errorf("a config that names the upload: %+v", a)
	}
	w.awaitUpload("the run of that config", "bad", 2, func(u *pb.UploadStatus) bool {
		return !u.GetCanary() && u.GetAllRuns() == 1 && u.GetRepeated() == 0
	})
	w.awaitUpload("the runs of the canary", "off", 2, func(u *pb.UploadStatus) bool {
		return u.GetCanary() && u.GetAllFailed() == 3 && u.GetRepeated() == 0
	})
}

func TestLogLinesHaveTheirUploadAndConfig(t *testing.T) {
	w := newWorld(t)
	w.putUploads("f", [][]byte{w.guest, w.guest}, nil)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	for _, config := range []string{"casual", "ranked"} {
		w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "f", Config: config, Position: w.position(),
			Budget: 20_000, Settings: []byte(`{"do":"` + config + `"}`)}))
	}
	w.waitLogged("f", "asked for ranked")
	found := map[string]string{}
	_, err := w.bus.ReadLog(t.Context(), project, "f", bus.LogStart{}, func(l *pb.LogLines) bool {
		lines := strings.Split(l.GetText(), "\n")
		for i, m := range l.GetMarks() {
			end := len(lines)
			if i+1 < len(l.GetMarks()) {
				end = int(l.GetMarks()[i+1].GetLine())
			}
			for _, line := range lines[m.GetLine():end] {
				if l.GetUpload() == 2 && time.Since(time.UnixMilli(m.GetTime())).Abs() < patience {
					found[line] = m.GetConfig()
				}
			}
		}
		return true
	})
	w.must(err)
	if found["asked for casual"] != "casual" || found["asked for ranked"] != "ranked" {
		t.Errorf("the lines are of the configs %v", found)
	}
}
