package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/lab/dryrun"
	"matchmaker.dev/services/lab/population"
)

// FunctionTest is the command "mm function test".
type FunctionTest struct {
	File      string         `arg:"" completion-predictor:"file" help:"A .wasm module, or a .zip archive with one."`
	Config    string         `placeholder:"FILE" completion-predictor:"file" help:"The config, as for \"mm config put\". Default: no settings and no pools; the function gets all tickets."`
	Tickets   string         `placeholder:"FILE" completion-predictor:"file" help:"The tickets, a JSON array; - is standard input."`
	Generate  int            `placeholder:"N" help:"Generate N tickets instead."`
	Attribute []distribution `sep:"none" placeholder:"NAME=DISTRIBUTION" help:"An attribute of the generated tickets. May be repeated."`
	Value     []choice       `sep:"none" placeholder:"NAME=VALUE|VALUE…" help:"A property of the generated tickets, which is one of the values: JSON or text, as for \"mm ticket create --value\". May be repeated."`
	Players   distribution   `placeholder:"DISTRIBUTION" help:"How many players the generated tickets have. Attributes and values are then the players', and the attributes of a ticket their means."`
	Wait      distribution   `placeholder:"DISTRIBUTION" help:"How many seconds the generated tickets have waited; default: 0."`
	Seed      uint64         `default:"1" help:"Seed of the generated tickets and of the function's random numbers."`
	Backfills string         `placeholder:"FILE" completion-predictor:"file" help:"The backfill tickets, a JSON array; - is standard input."`
	Runs      int            `default:"5" help:"How many cycles to measure."`
	Deadline  time.Duration  `default:"5s" help:"How long a run may take, at most 1m."`
	Memory    int            `default:"256" placeholder:"MIB" help:"How much memory the function may use, in MiB, at most 1024."`
	Show      int            `default:"10" help:"How many matches to print. --output json prints all."`
	Explain   []string       `placeholder:"ID,..." help:"Tickets of which the function is asked why they are in no match."`
	Translation
	Capture string `placeholder:"FILE" completion-predictor:"file" help:"Repeat the run of \"mm ticket capture\" instead, with its tickets, settings and time."`
}

// Help is what the parser prints.
func (FunctionTest) Help() string {
	return `The function runs on this machine as in a runner: in the same sandbox, on the config's pools, with the same
checks of its answer and the same selection among its proposals. No service is needed. The exit code is 1 if the
function fails, and if there is no match: it says why, unless --explain asks of other tickets. Generated tickets wait in
the config's queue.

A distribution is normal:MEAN:STDDEV, uniform:MIN:MAX, choice:A,B,C, exponential:MEAN, lognormal:MEDIAN:SIGMA,
weibull:SCALE:SHAPE or a number. This is the form of the tickets. Each
member is optional. Properties are in Base64. Instead of "wait", in seconds, "created" may give Unix milliseconds:

    [{"id": "a", "attributes": {"skill": 1200}, "properties": {"party": "cmVk"}, "wait": 12.5}]

Backfill tickets have the same members, "connection" and "version", and as "players" the players in the game:

    [{"id": "game", "attributes": {"open": 2, "skill": 1250}, "connection": "10.0.0.1:7777",
      "players": [{"id": "ada", "team": "red"}]}]

Examples:

    mm function test ffa.zip --config config.json --tickets tickets.json
    mm function test ffa.wasm --generate 10000 --attribute skill=normal:1500:300 --attribute region=choice:1,2,3
    mm function test ffa.wasm --config config.json --generate 10000 --attribute skill=uniform:0:9 --wait uniform:0:60
    mm function test rules.zip --config config.json --generate 1000 --players choice:1,1,2,3 \
      --attribute skill=normal:1500:300 --value 'roles=["tank"]|["healer"]|["damage"]'
    mm function test rules.zip --config five.json --generate 500 --attribute skill=normal:1500:100 \
      --value 'roles=["tank"]|["healer"]|["damage"]|["damage"]|["damage"]' --value 'latency={"eu": 30}|{"eu": 55}'
    mm function test ffa.wasm --generate 1000 --attribute skill=normal:1500:300 -o json | jq '.matches[0]'
    mm function test rules.zip --config config.json --tickets tickets.json --explain a,b
    mm function test rules.zip --capture run.capture`
}

// distribution is the flag value DISTRIBUTION, or NAME=DISTRIBUTION for an attribute.
type distribution struct {
	population.Distribution
	name string
	set  bool
}

// UnmarshalText is called by the parser.
func (d *distribution) UnmarshalText(text []byte) (err error) {
	name, value, hasName := strings.Cut(string(text), "=")
	if !hasName {
		name, value = "", name
	}
	d.name, d.set = name, true
	if d.Distribution, err = population.ParseDistribution(value); err != nil && hasName {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// choice is the flag value NAME=VALUE|VALUE….
type choice struct {
	name   string
	values [][]byte
}

// UnmarshalText is called by the parser.
func (c *choice) UnmarshalText(text []byte) error {
	name, values, ok := strings.Cut(string(text), "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not NAME=VALUE|VALUE…, such as roles='[\"tank\"]|[\"healer\"]'", text)
	}
	c.name = name
	for one := range strings.SplitSeq(values, "|") {
		var is any
		if json.Unmarshal([]byte(one), &is) != nil {
			is = one
		}
		properties, err := client.Values{name: is}.Properties()
		if err != nil {
			return err
		}
		c.values = append(c.values, properties[name])
	}
	return nil
}

const (
	maxTickets = 10_000_000 // some gigabytes
	maxRuns    = 10_000
)

// Validate is called by the parser.
func (c FunctionTest) Validate() error {
	fromStdin := slices.DeleteFunc([]string{c.Config, c.Tickets, c.Backfills},
		func(file string) bool { return file != "-" })
	switch {
	case c.Capture != "" && (c.Tickets+c.Config+c.Backfills != "" || c.Generate != 0 || len(c.Explain) > 0):
		return errors.New("--capture has tickets and settings of its own, and names the tickets that are explained")
	case c.Capture != "":
		return nil
	case (c.Tickets == "") == (c.Generate == 0):
		return errors.New("tickets are required: either --tickets FILE or --generate N")
	case c.Generate < 0 || c.Generate > maxTickets:
		return fmt.Errorf("--generate must be from 1 to %d", maxTickets)
	case c.Tickets != "" && (len(c.Attribute)+len(c.Value) > 0 || c.Wait.set || c.Players.set):
		return errors.New("--attribute, --value, --players and --wait are for generated tickets, with --generate")
	case len(fromStdin) > 1:
		return errors.New("only one file can be -, standard input")
	case c.Runs < 1 || c.Runs > maxRuns:
		return fmt.Errorf("--runs must be from 1 to %d", maxRuns)
	case c.Deadline < time.Millisecond || c.Deadline > time.Minute:
		return errors.New("--deadline must be from 1ms to 1m")
	case c.Memory < 1 || c.Memory > 1024:
		return errors.New("--memory must be from 1 to 1024, in MiB")
	case len(c.Explain) > block.MaxAsked:
		return fmt.Errorf("--explain: at most %d tickets", block.MaxAsked)
	case c.Show < 0:
		return errors.New("--show must be 0 or more")
	case c.Wait.name != "":
		return errors.New("--wait takes a distribution without a name, such as uniform:0:60")
	case c.Players.name != "":
		return errors.New("--players takes a distribution without a name, such as choice:1,1,2")
	}
	return c.checkNames()
}

// checkNames refuses names of attributes and properties that cannot be.
func (c FunctionTest) checkNames() error {
	seen := map[string]bool{}
	for _, a := range c.Attribute {
		if a.name == "" {
			return errors.New("--attribute needs a name, such as skill=normal:1500:300")
		}
		if a.name == pool.Created {
			return errors.New("--attribute created: the service sets this attribute itself; use --wait")
		}
		if seen[a.name] {
			return fmt.Errorf("--attribute %s is given twice", a.name)
		}
		seen[a.name] = true
	}
	values := map[string]bool{}
	for _, v := range c.Value {
		if values[v.name] {
			return fmt.Errorf("--value %s is given twice", v.name)
		}
		values[v.name] = true
	}
	return nil
}

// Run runs the function and prints a report.
func (c FunctionTest) Run(ctx context.Context, t *Terminal) error {
	module, err := readModule(c.File)
	if err != nil {
		return err
	}
	if c.Capture != "" {
		return t.inSandbox(c.limits(), func(box *sandbox.Supervisor) error { return c.replay(ctx, t, box, module) })
	}
	config, err := c.config(t)
	if err != nil {
		return err
	}
	now := t.Now().Truncate(time.Millisecond)
	tickets, err := c.tickets(t, now, config)
	if err != nil {
		return err
	}
	backfills, err := c.backfills(t, now)
	if err != nil {
		return err
	}
	for _, id := range c.Explain {
		if !slices.ContainsFunc(tickets, func(t *pb.Ticket) bool { return t.GetId() == id }) {
			return fmt.Errorf("--explain: there is no ticket %q", id)
		}
	}
	return t.inSandbox(c.limits(), func(box *sandbox.Supervisor) error {
		return c.run(ctx, t, box, &trial{module, config, tickets, backfills, now})
	})
}

func (c FunctionTest) limits() sandbox.Limits {
	return sandbox.Limits{Memory: c.Memory << 20, Run: c.Deadline}
}

// inSandbox runs something with a sandbox of its own.
func (t *Terminal) inSandbox(limits sandbox.Limits, with func(*sandbox.Supervisor) error) (err error) {
	dir, err := os.MkdirTemp("", "mm")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	box, err := sandbox.New(sandbox.Options{
		Dir: filepath.Join(dir, "sandbox"), Code: sandbox.UserCode(), Binary: t.Binary, Log: slog.New(slog.DiscardHandler),
		Limits: limits,
	})
	if err != nil {
		return err
	}
	defer box.Close()
	return with(box)
}

// trial is what a function is tried on.
type trial struct {
	module    []byte
	config    *pb.Config
	tickets   []*pb.Ticket
	backfills []*pb.Backfill
	now       time.Time
}

func (c FunctionTest) run(ctx context.Context, t *Terminal, box *sandbox.Supervisor, on *trial) error {
	_, stop := t.Progress("running " + filepath.Base(c.File))
	defer stop()
	var lines []string
	result, err := dryrun.Run(ctx, dryrun.Options{
		Box: box, Function: on.module, Config: on.config, Tickets: on.tickets, Backfills: on.backfills,
		Now: on.now, Seed: c.Seed, Budget: c.Deadline, Cycles: c.Runs, Explain: c.Explain,
		Log: func(line string) { lines = append(lines, line) },
	})
	stop()
	if err != nil {
		t.Log(lines)
		if ctx.Err() != nil {
			return err
		}
		return c.wrap(err)
	}
	r := newReport(c.File, on.tickets, on.backfills, result, on.now)
	r.attend(on.config)
	r.explain(c.Explain, result)
	// A ticket in no match may be the expected answer to the question.
	if err := t.showReport(r, lines, c.Show); err != nil || len(c.Explain) > 0 || c.Capture != "" {
		return err
	}
	if len(r.Matches) == 0 {
		return errors.New("no match: " + whyNone(r, on.config, on.tickets, result.Explanations))
	}
	return nil
}

// runError is the failure of a function's run.
type runError struct{ error }

func (e runError) Unwrap() error { return e.error }

// Lines are the reason and the stack.
func (e runError) Lines() []string {
	lines := []string{"the function failed: " + e.Error()}
	if died, ok := errors.AsType[*sandbox.Error](e.error); ok && died.Stack != "" {
		lines = append(lines, strings.Split(strings.TrimRight(died.Stack, "\n"), "\n")...)
	}
	return lines
}

// wrap adds to an error whether the file or the function caused it.
func (c FunctionTest) wrap(err error) error {
	refused, ok := errors.AsType[*problem.Error](err)
	switch {
	case !ok:
		return runError{err}
	case refused.Kind == problem.Invalid:
		return fmt.Errorf("%s: %s", c.File, refused.Detail)
	}
	return err
}

func (c FunctionTest) config(t *Terminal) (*pb.Config, error) {
	if c.Config == "" {
		return new(pb.Config), nil
	}
	text, err := t.ReadConfig(c.Config, c.Translation)
	if err != nil {
		return nil, err
	}
	r := definition.NewReader(text, settings.Default[definition.Limits]())
	config, _ := r.Config()
	return config, t.AddFile(c.Config, r.Err())
}

func (c FunctionTest) tickets(t *Terminal, now time.Time, config *pb.Config) ([]*pb.Ticket, error) {
	if c.Tickets != "" {
		text, err := t.ReadJSON(c.Tickets)
		if err != nil {
			return nil, err
		}
		tickets, err := dryrun.ReadTickets(text, now)
		return tickets, t.AddFile(c.Tickets, err)
	}
	attributes := map[string]population.Distribution{}
	for _, a := range c.Attribute {
		attributes[a.name] = a.Distribution
	}
	properties := map[string][][]byte{}
	for _, v := range c.Value {
		properties[v.name] = v.values
	}
	var queues []string
	if queue := config.GetQueue(); queue != "" {
		queues = []string{queue}
	}
	return dryrun.Generator{
		Queues: queues, Count: c.Generate, Attributes: attributes, Properties: properties, Players: c.Players.Distribution,
		Wait: c.Wait.Distribution, Seed: c.Seed, Now: now,
	}.Tickets(), nil
}

func (c FunctionTest) backfills(t *Terminal, now time.Time) ([]*pb.Backfill, error) {
	if c.Backfills == "" {
		return nil, nil
	}
	text, err := t.ReadJSON(c.Backfills)
	if err != nil {
		return nil, err
	}
	backfills, err := dryrun.ReadBackfills(text, now)
	return backfills, t.AddFile(c.Backfills, err)
}
