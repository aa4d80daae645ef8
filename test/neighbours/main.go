// Command neighbours measures what one tenant can do to another. It starts every service as a process of its own, with
// a Redis and a NATS server, and attacks the system through its API as a tenant can. Meanwhile it measures how long
// players of another project wait, and players of another config of the attacker's project; how much memory the runner
// holds; how long a small upload of a third project takes; and how long it takes until all is as before, once the
// attacker's functions and configs were deleted.
//
// Each attack has a system of its own and is compared with the time right before it. One that misses a goal is tried
// once more if the machine did too much beside it. It fails when a goal is missed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/launch"
)

func main() {
	var c struct {
		Run  options     `cmd:"" default:"withargs" help:"Measure."`
		Nats launch.NATS `cmd:"" hidden:""`
	}
	launch.Main("neighbours",
		"Measure what one tenant can do to another: attacks through the API, and what others notice.", &c)
}

// options say what to measure.
type options struct {
	Matchmaker string `help:"The server binary." default:"bin/matchmaker" type:"existingfile"`
	Function   string `help:"The match function of the victims: one against one by an attribute." default:"bin/functions/duel.zip" type:"existingfile"`

	List bool          `help:"List the attacks and end."`
	Only []string      `help:"The attacks to measure, by name or the beginning of it; all when absent." placeholder:"NAME"`
	For  time.Duration `help:"How long an attack is held." default:"60s"`

	Baseline time.Duration `help:"How long the victims are measured before an attack." default:"15s"`
	Recovery time.Duration `help:"How long they are measured after it." default:"12s"`
	Flood    int           `help:"How many requests a second the attacks send that consist of requests alone: the sender is on the same machine." default:"500"`
	Pairs    int           `help:"How many pairs of players come a second, in each victim." default:"20"`

	JSON string `help:"Write a record of every measurement to this file." placeholder:"FILE"`
	Logs string `help:"Folder for the logs of the services, a file for each attack." default:"bin/neighbours-logs" type:"path"`

	Service []string `help:"More arguments of a service, to compare settings: runner=--max-instances=4." placeholder:"NAME=ARG" sep:"none"`
}

// Validate is called by kong.
func (o *options) Validate() error {
	if o.For <= 0 || o.Baseline <= 0 || o.Recovery < settled || o.Pairs < 1 || o.Flood < 1 {
		return fmt.Errorf("--for, --baseline, --pairs and --flood: must be more than 0; --recovery: %s or more", settled)
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(attacks(), func(a attack) bool { return strings.HasPrefix(a.name, name) }) {
			return fmt.Errorf("--only: there is no attack %q; --list shows all", name)
		}
	}
	return nil
}

// chosen are the attacks to measure.
func (o *options) chosen() (all []attack) {
	for _, a := range attacks() {
		named := func(name string) bool { return strings.HasPrefix(a.name, name) }
		if len(o.Only) == 0 || slices.ContainsFunc(o.Only, named) {
			all = append(all, a)
		}
	}
	return all
}

var errGoals = errors.New("goals were missed, see the table")

// Run is called by kong.
func (o *options) Run(ctx context.Context) (err error) {
	if o.List {
		for _, a := range attacks() {
			fmt.Printf("%-26s %s\n", a.name, a.says)
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "neighbours-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.MkdirAll(o.Logs, 0o750); err != nil {
		return err
	}
	made := newArsenal(dir)
	r := report{Started: time.Now(), Load: launch.Load(), options: o}
	for i, a := range o.chosen() {
		progress("%s (%d of %d): %s", a.name, i+1, len(o.chosen()), a.says)
		before := launch.ProcessorsNow()
		result, err := o.try(ctx, a, made)
		if busy := launch.ProcessorsNow().Since(before).TooBusy(); err == nil && len(result.Missed) > 0 && busy != "" {
			progress("  again, since the machine was too busy: %s; missed: %s", busy, strings.Join(result.Missed, "; "))
			result, err = o.try(ctx, a, made)
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w; logs in %s", a.name, err, o.log(a))
		}
		for _, missed := range result.Missed {
			progress("  missed: %s", missed)
		}
		r.Results = append(r.Results, result)
		if err := r.save(); err != nil {
			return err
		}
	}
	r.print(os.Stdout)
	if r.missed() {
		return errGoals
	}
	return context.Cause(ctx)
}

// log is the file of a trial's logs.
func (o *options) log(a attack) string { return filepath.Join(o.Logs, a.name+".log") }

// save writes the record.
func (r *report) save() error {
	if r.JSON == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(r.JSON, text, 0o600)
}

// progress says what is measured now.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05")+" "+format+"\n", args...)
}

// pause waits for d. It returns false when ctx ends before.
func pause(ctx context.Context, d time.Duration) bool { return wait.For(ctx, d) == nil }
