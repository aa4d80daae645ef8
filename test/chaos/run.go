package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/services/test/chaos/checker"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/mistake"
	"matchmaker.dev/services/test/chaos/schedule"
	"matchmaker.dev/services/test/workload"
)

// startTime is how long the start may take on a busy machine.
const startTime = 4 * time.Minute

// calmTime is how long new players still come after the last fault.
const calmTime = 2 * time.Second

var errBroken = errors.New("promises were broken")

// run does what the options say.
func run(ctx context.Context, o options, out io.Writer) error {
	switch {
	case o.Journal != "":
		return checkJournal(o.Journal, out)
	case slices.Equal(o.Break, []string{"all"}):
		return runEach(ctx, o, out)
	}
	return runOnce(ctx, o, out)
}

// runEach runs once with each mistake.
func runEach(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := folder(o.Dir)
	if err != nil {
		return err
	}
	if o.made, err = build(ctx, o, dir, newLog(out)); err != nil {
		return err
	}
	for _, m := range mistake.All() {
		if m.Simulated || m.Truth != "" {
			continue
		}
		o.Break, o.Dir = []string{m.Name}, filepath.Join(dir, m.Name)
		if err = errors.Join(err, runOnce(ctx, o, out)); ctx.Err() != nil {
			break
		}
	}
	if err == nil && !o.Keep {
		err = os.RemoveAll(dir)
	}
	return err
}

// runOnce injects faults into a new system, checks what was seen and prints the result.
func runOnce(ctx context.Context, o options, out io.Writer) (err error) {
	mistakes, err := mistake.Of(o.Break...)
	if err != nil {
		return err
	}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano()) % 1_000_000
	}
	fmt.Fprintf(out, "seed %d\n", o.Seed)
	dir, err := folder(o.Dir)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil || o.Keep {
			fmt.Fprintf(out, "seed %d; the journal and the logs are in %s\n", o.Seed, dir)
		} else {
			err = os.RemoveAll(dir)
		}
	}()
	h, problems, err := record(ctx, o, dir, newLog(out))
	if h == nil {
		return err
	}
	result := checker.Check(h)
	report(out, result)
	if o.Break != nil {
		return found(mistakes, result, out)
	}
	crashes, failure := crashes(dir)
	problems = append(problems, crashes...)
	for _, p := range problems {
		fmt.Fprintln(out, "!", p)
	}
	if !result.Kept() || len(problems) > 0 {
		err = errors.Join(err, errBroken)
	}
	return errors.Join(err, failure)
}

// found returns nil when the checker found all mistakes: the promises that they break are broken.
func found(all []mistake.Mistake, r *checker.Result, out io.Writer) error {
	var errs []error
	for _, m := range all {
		if len(r.Promises[m.Promise-1].Broken) == 0 {
			errs = append(errs, fmt.Errorf("the mistake %q was not found", m.Name))
			continue
		}
		fmt.Fprintf(out, "the mistake %q was found: promise %d is broken\n", m.Name, m.Promise)
	}
	return errors.Join(errs...)
}

// logFunc prints a line about the progress of a run.
type logFunc func(format string, args ...any)

// newLog prints lines with the time since now.
func newLog(out io.Writer) logFunc {
	begun := time.Now()
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, "%6.1fs  %s\n", time.Since(begun).Seconds(), fmt.Sprintf(format, args...))
	}
}

// crashes finds data races and panics in the logs of the processes.
func crashes(dir string) (found []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "logs", "*.log"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte("WARNING: DATA RACE")) {
			found = append(found, "there is a data race, see "+file)
		}
		if bytes.Contains(text, []byte("\npanic: ")) || bytes.Contains(text, []byte("\nfatal error: ")) {
			found = append(found, "there was a panic, see "+file)
		}
	}
	return found, nil
}

// folder is the folder for all files of a run.
func folder(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "chaos-")
	}
	return dir, os.MkdirAll(dir, 0o750)
}

// checkJournal checks the journal of an earlier run.
func checkJournal(journal string, out io.Writer) error {
	file, err := os.Open(journal)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	h, err := history.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", journal, err)
	}
	result := checker.Check(h)
	report(out, result)
	if !result.Kept() {
		return errBroken
	}
	return nil
}

// record starts a system, injects faults, waits until the system is at rest and returns the history. The history is nil
// when the system did not start.
func record(
	ctx context.Context, o options, dir string, log logFunc,
) (h *history.History, problems []string, err error) {
	made := o.made
	if made == nil {
		if made, err = build(ctx, o, dir, log); err != nil {
			return nil, nil, err
		}
	}
	started := false
	journal, err := history.Begin(filepath.Join(dir, "journal.jsonl"), history.Terms{
		Seed: o.Seed, Claim: claimTime, Allocation: hostTime + 15*time.Second, Recovery: o.Patience, Approval: approvalTime,
		Silence: silenceTime,
		Enemies: []string{workload.Enemy}, Directors: []string{"director-1", "director-2"}, Stores: storeNames(o.State),
		Answerers: []string{"ticket-1", "ticket-2"},
	})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		seen, failure := journal.End()
		if err = errors.Join(err, failure); started {
			h = seen
		}
	}()
	fleet, err := newFleet(journal, o.Seed)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, fleet.close()) }()
	s, err := newSystem(ctx, layout{
		dir: dir, made: made, fleet: fleet, state: o.State, disk: o.Disk, clocks: o.Clocks, mistakes: o.Break,
	}, log)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	log("starting %d processes", len(s.names()))
	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := s.start(starting); err != nil {
		return nil, nil, err
	}
	started = true
	problems, err = exercise(ctx, o, s, journal, log)
	return nil, problems, err
}

// exercise runs the workload and the nemesis on a system, and returns when the system is at rest.
func exercise(
	ctx context.Context, o options, s *system, journal *history.Journal, log logFunc,
) (problems []string, err error) {
	w, removal, err := newWorkload(ctx, o, s, journal)
	if err != nil {
		return nil, err
	}
	nemesis := &nemesis{system: s, journal: journal, log: log}
	for _, c := range w.Crowds {
		nemesis.projects = append(nemesis.projects, c.Project)
	}
	if err := s.stores.locate(ctx, nemesis.projects); err != nil {
		return nil, err
	}
	faults := schedule.Make(schedule.Options{
		Seed: o.Seed, Duration: o.Duration, Pace: o.Pace, Together: o.Together, Targets: s.targets(),
	})

	watching, stop := context.WithCancel(ctx)
	defer func() { stop(); nemesis.watching.Wait() }()
	nemesis.watch(watching)
	w.Begin(ctx, removal.run)
	s.fleet.watch(w.Began)
	defer w.End()
	nemesis.run(ctx, faults, o.Duration)
	nemesis.scheduled(faults)
	if err := nemesis.heal(); err != nil {
		return nil, err
	}
	healing, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for _, p := range s.stores.pairs {
		if _, _, err := p.whole(healing); err != nil {
			return nil, err
		}
	}
	if err := s.ready(healing); err != nil {
		return nil, err
	}
	journal.Calm()
	w.EndFaults()
	log("all faults are over")
	pause(ctx, calmTime)
	if err := w.Close(ctx); err != nil {
		return nil, err
	}
	w.Settle(ctx, o.Patience, func(players int) { log("%d players wait", players) })
	w.End()
	log("no ticket waits")
	w.Last(ctx, o.Patience, 16)
	err = rest(ctx, s, w.Crowds, journal, o.Patience)
	removal.look(ctx)
	return slices.Concat(nemesis.problems, removal.problems), err
}
