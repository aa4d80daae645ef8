package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"matchmaker.dev/services/test/chaos/checker"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/storm"
)

// startTime is how long the start may take on a machine that has much else to do.
const startTime = 4 * time.Minute

// afterglow is how long players still come when the last fault is over.
const afterglow = 2 * time.Second

var errBroken = errors.New("promises were broken")

// run does what the options say.
func run(ctx context.Context, o options, out io.Writer) error {
	switch {
	case o.Journal != "":
		return again(o.Journal, out)
	case o.Break == "all":
		var err error
		dir := o.Dir
		for _, m := range mistakes() {
			if o.Break = m.name; dir != "" {
				o.Dir = filepath.Join(dir, m.name)
			}
			if err = errors.Join(err, storms(ctx, o, out)); ctx.Err() != nil {
				break
			}
		}
		return err
	}
	return storms(ctx, o, out)
}

// storms is one run: it disturbs a system of its own, and judges it.
func storms(ctx context.Context, o options, out io.Writer) (err error) {
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
	h, complaints, err := disturb(ctx, o, dir, (&progress{out: out, begun: time.Now()}).say)
	if h == nil {
		return err
	}
	v := checker.Check(h)
	report(out, v)
	if o.Break != "" {
		return found(o.Break, v, out)
	}
	racy, failure := races(dir)
	complaints = append(complaints, racy...)
	for _, c := range complaints {
		fmt.Fprintln(out, "!", c)
	}
	if !v.Kept() || len(complaints) > 0 {
		err = errors.Join(err, errBroken)
	}
	return errors.Join(err, failure)
}

// found tells whether a mistake has shown in the promise that it breaks.
func found(name string, v *checker.Verdict, out io.Writer) error {
	m, err := mistakeOf(name)
	if err != nil {
		return err
	}
	if len(v.Promises[m.promise-1].Broken) == 0 {
		return fmt.Errorf("the mistake %q was not found", name)
	}
	fmt.Fprintf(out, "the mistake %q was found: promise %d is broken\n\n", name, m.promise)
	return nil
}

// sayer says what a run is at.
type sayer func(format string, args ...any)

// progress puts the time before it.
type progress struct {
	out   io.Writer
	begun time.Time
}

func (p *progress) say(format string, args ...any) {
	fmt.Fprintf(p.out, "%6.1fs  %s\n", time.Since(p.begun).Seconds(), fmt.Sprintf(format, args...))
}

// races are what the race detector has found in the processes.
func races(dir string) (found []string, err error) {
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

// folder is where everything is written.
func folder(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "chaos-")
	}
	return dir, os.MkdirAll(dir, 0o750)
}

// again holds the journal of an earlier run against the promises.
func again(journal string, out io.Writer) error {
	file, err := os.Open(journal)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	h, err := history.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", journal, err)
	}
	v := checker.Check(h)
	report(out, v)
	if !v.Kept() {
		return errBroken
	}
	return nil
}

// disturb runs a system, disturbs it, lets it come to rest, and returns what was seen; nil when it came to nothing.
func disturb(ctx context.Context, o options, dir string, say sayer) (h *history.History, complaints []string, err error) {
	made, err := build(ctx, o, dir, say)
	if err != nil {
		return nil, nil, err
	}
	begun := false
	journal, err := history.Begin(filepath.Join(dir, "journal.jsonl"), history.Terms{
		Seed: o.Seed, Claim: claimTime, Allocation: hostTime + 15*time.Second, Recovery: o.Patience, Approval: approvalTime,
		Enemies: []string{enemyConfig},
	})
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		seen, failure := journal.End()
		if err = errors.Join(err, failure); begun {
			h = seen
		}
	}()
	fleet, err := newFleet(journal, o.Seed)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, fleet.close()) }()
	s, err := newSystem(dir, made, fleet)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	say("starting %d processes", len(s.names()))
	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := s.start(starting); err != nil {
		return nil, nil, err
	}
	begun = true
	complaints, err = weather(ctx, o, s, journal, say)
	return nil, complaints, err
}

// weather lets players, studios, games and the storm loose on a system, and returns when it has come to rest.
func weather(ctx context.Context, o options, s *system, journal *history.Journal, say sayer) (complaints []string, err error) {
	w, err := newWorkload(ctx, o, s, journal)
	if err != nil {
		return nil, err
	}
	injector := &injector{system: s, journal: journal, say: say}
	plan := storm.Plan(storm.Weather{Seed: o.Seed, Duration: o.Duration, Pace: o.Pace, Together: o.Together, Targets: s.targets()})

	w.begin(ctx)
	defer w.end()
	injector.run(ctx, plan, o.Duration)
	if err := injector.heal(); err != nil {
		return nil, err
	}
	healing, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := s.ready(healing); err != nil {
		return nil, err
	}
	journal.Calm()
	say("calm")
	pause(ctx, afterglow)
	if err := w.close(ctx); err != nil {
		return nil, err
	}
	w.settle(ctx, o.Patience, say)
	w.end()
	say("nobody waits")
	w.last(ctx, o.Patience)
	return injector.complaints, rest(ctx, s, w.crowds, journal, o.Patience)
}
