package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/cmd/mm/trial"
	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/settings"
)

type functionTest struct {
	File      string         `arg:"" help:"A .wasm module, or a .zip archive that holds one."`
	Config    string         `placeholder:"FILE" help:"The config, as \"mm config put\" takes it. Without one the function has no settings, and sees all tickets."`
	Tickets   string         `placeholder:"FILE" help:"The tickets, a JSON array; - is standard input."`
	Generate  int            `placeholder:"N" help:"Make up N tickets instead."`
	Attribute []distribution `sep:"none" placeholder:"NAME=DISTRIBUTION" help:"An attribute of the made up tickets. May be repeated."`
	Wait      distribution   `placeholder:"DISTRIBUTION" help:"How many seconds the made up tickets have waited; 0 by default."`
	Seed      uint64         `default:"1" help:"What the tickets are made up from, and the function's random numbers."`
	Backfills string         `placeholder:"FILE" help:"Backfill tickets that the function sees, a JSON array."`
	Runs      int            `default:"5" help:"How often to run, for the times."`
	Deadline  time.Duration  `default:"5s" help:"How long a run may take, at most 1m."`
	Memory    int            `default:"256" placeholder:"MIB" help:"How much memory the function may have, in MiB, at most 1024."`
	Show      int            `default:"10" help:"How many matches to print. --output json prints all."`
}

func (functionTest) Help() string {
	return `The function runs on this machine as a runner would run it: in the same sandbox, on the pools of the config, with the same checks of its answer and the same choice among its proposals. No service is needed. The exit code is 1 when the function fails.

A distribution is normal:MEAN:STDDEV, uniform:MIN:MAX, choice:A,B,C or a number. The file of tickets has, each member optional, the properties in Base64, and "created" in Unix milliseconds in place of "wait" in seconds allowed:

    [{"id": "a", "attributes": {"skill": 1200}, "properties": {"party": "cmVk"}, "wait": 12.5}]

Backfill tickets have the same, and "connection" and "version":

    [{"id": "game", "attributes": {"open": 2, "skill": 1250}, "connection": "10.0.0.1:7777"}]

Examples:

    mm function test ffa.zip --config config.json --tickets tickets.json
    mm function test ffa.wasm --config config.json --generate 10000 --attribute skill=normal:1500:300 --attribute region=choice:1,2,3 --wait uniform:0:60
    mm function test ffa.wasm --generate 1000 --attribute skill=normal:1500:300 -o json | jq '.matches[0]'`
}

// distribution is DISTRIBUTION, or for an attribute NAME=DISTRIBUTION.
type distribution struct {
	name string
	from trial.Distribution
	set  bool
}

// UnmarshalText is called by the parser.
func (d *distribution) UnmarshalText(text []byte) (err error) {
	name, value, named := strings.Cut(string(text), "=")
	if !named {
		name, value = "", name
	}
	d.name, d.set = name, true
	if d.from, err = trial.ParseDistribution(value); err != nil && named {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

const (
	mostMade = 10_000_000 // tickets: some gigabytes
	mostRuns = 10_000
)

// Validate is called by the parser.
func (c functionTest) Validate() error {
	switch {
	case (c.Tickets == "") == (c.Generate == 0):
		return usageError("the tickets are needed: either --tickets FILE or --generate N")
	case c.Generate < 0 || c.Generate > mostMade:
		return usageError(fmt.Sprintf("--generate must be from 1 to %d", mostMade))
	case c.Tickets != "" && (len(c.Attribute) > 0 || c.Wait.set):
		return usageError("--attribute and --wait are for tickets that are made up, with --generate")
	case c.fromStdin() > 1:
		return usageError("only one file can be -, standard input")
	case c.Runs < 1 || c.Runs > mostRuns:
		return usageError(fmt.Sprintf("--runs must be from 1 to %d", mostRuns))
	case c.Deadline < time.Millisecond || c.Deadline > time.Minute:
		return usageError("--deadline must be from 1ms to 1m")
	case c.Memory < 1 || c.Memory > 1024:
		return usageError("--memory must be from 1 to 1024, in MiB")
	case c.Show < 0:
		return usageError("--show must be 0 or more")
	case c.Wait.name != "":
		return usageError("--wait takes a distribution without a name, as uniform:0:60")
	}
	seen := map[string]bool{}
	for _, a := range c.Attribute {
		if a.name == "" {
			return usageError("--attribute needs a name, as skill=normal:1500:300")
		}
		if a.name == pool.Created {
			return usageError("--attribute created: the service sets this attribute itself; --wait says since when the tickets wait")
		}
		if seen[a.name] {
			return usageError(fmt.Sprintf("--attribute %s is given twice", a.name))
		}
		seen[a.name] = true
	}
	return nil
}

// fromStdin is how many files are standard input.
func (c functionTest) fromStdin() (n int) {
	for _, file := range []string{c.Config, c.Tickets, c.Backfills} {
		if file == stdin {
			n++
		}
	}
	return n
}

// Run tries the function.
func (c functionTest) Run(ctx context.Context, s *session) (err error) {
	module, err := readModule(c.File)
	if err != nil {
		return err
	}
	config, err := c.config(s)
	if err != nil {
		return err
	}
	now := s.now().Truncate(time.Millisecond)
	tickets, err := c.tickets(s, now)
	if err != nil {
		return err
	}
	backfills, err := c.backfills(s, now)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mm")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	box, err := sandbox.New(sandbox.Options{
		Dir: filepath.Join(dir, "sandbox"), Binary: s.binary, Log: slog.New(slog.DiscardHandler),
		Limits: sandbox.Limits{Memory: c.Memory << 20, Run: c.Deadline},
	})
	if err != nil {
		return err
	}
	defer box.Close()
	bar := s.begin("trying "+filepath.Base(c.File), 0)
	defer bar.end()
	var lines []string
	result, err := trial.Try(ctx, trial.Options{
		Box: box, Function: module, Config: config, Tickets: tickets, Backfills: backfills,
		Now: now, Seed: c.Seed, Budget: c.Deadline, Cycles: c.Runs,
		Log: func(line string) { lines = append(lines, line) },
	})
	bar.end()
	if err != nil {
		s.printLog(lines)
		if ctx.Err() != nil {
			return err
		}
		return c.explain(err)
	}
	return s.showVerdict(newVerdict(c.File, tickets, backfills, result, now), lines, c.Show)
}

// explain says whether it was the file, the function, or this machine.
func (c functionTest) explain(err error) error {
	refused, ok := errors.AsType[*problem.Error](err)
	switch {
	case !ok:
		return failure{err}
	case refused.Kind == problem.Invalid:
		return fmt.Errorf("%s: %s", c.File, refused.Detail) // nothing of it ran
	}
	return err
}

// config is the config to try, the empty one when none is given.
func (c functionTest) config(s *session) (*pb.Config, error) {
	if c.Config == "" {
		return new(pb.Config), nil
	}
	text, err := s.readJSON(c.Config)
	if err != nil {
		return nil, err
	}
	r := definition.NewReader(text, settings.Default[definition.Limits]())
	config, _ := r.Config()
	return config, inFile(c.Config, r.Err())
}

func (c functionTest) tickets(s *session, now time.Time) ([]*pb.Ticket, error) {
	if c.Tickets != "" {
		text, err := s.readJSON(c.Tickets)
		if err != nil {
			return nil, err
		}
		tickets, err := trial.Read(text, now)
		return tickets, inFile(c.Tickets, err)
	}
	crowd := trial.Crowd{Size: c.Generate, Attributes: map[string]trial.Distribution{}, Wait: c.Wait.from, Seed: c.Seed, Now: now}
	for _, a := range c.Attribute {
		crowd.Attributes[a.name] = a.from
	}
	return crowd.Generate(), nil
}

func (c functionTest) backfills(s *session, now time.Time) ([]*pb.Backfill, error) {
	if c.Backfills == "" {
		return nil, nil
	}
	text, err := s.readJSON(c.Backfills)
	if err != nil {
		return nil, err
	}
	backfills, err := trial.ReadBackfills(text, now)
	return backfills, inFile(c.Backfills, err)
}
