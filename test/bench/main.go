// Command bench measures the service from outside: every service is a process of its own, beside a Redis that writes
// its append-only file and a NATS server. Players are independent, and arrive however many others still wait. This
// process generates the load, and shares the machine with what it measures.
//
// A round starts a new system and measures one shape of load; --list shows the shapes. The medians of all rounds are
// printed with their ranges, each beside what limits it in the same round where there is such a thing. With several
// server binaries, each round measures all of them in turns, and their medians are compared.
//
// It fails when a shape cannot be measured, or when the machine did too much else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/services/test/launch"
)

func main() {
	var c struct {
		Run  options     `cmd:"" default:"withargs" help:"Measure one server binary, or compare several."`
		Page page        `cmd:"" help:"Print a record as the table of docs/performance.md."`
		Size size        `cmd:"" help:"Measure what each service takes: processors for tickets that arrive, memory for those that wait."`
		Soak soak        `cmd:"" help:"Let players arrive for long, and tell whether memory, Redis and the streams stay level."`
		Bare bare        `cmd:"" hidden:""`
		Nats launch.NATS `cmd:"" hidden:""`
	}
	launch.Main("bench", "Measure the service on real parts.", &c)
}

// options say what to measure.
type options struct {
	Matchmaker []string `help:"The server binary. Several are measured in turns and compared with the first." default:"bin/matchmaker" type:"existingfile"`
	Function   []string `help:"The match function, one against one by skill: one for all binaries, or one for each." default:"bin/functions/duel.zip" type:"existingfile"`
	Bad        string   `help:"return: an upload that cannot run the function's config." default:"bin/functions/rules.zip" type:"existingfile"`
	With       []string `help:"More arguments of a service, to compare settings: director=--min-interval=5ms." placeholder:"NAME=ARG" sep:"none"`
	Pair       string   `help:"function: the module whose cost in the sandbox is measured." default:"bin/pair.wasm" type:"existingfile"`

	List   bool     `help:"List the shapes and end."`
	Only   []string `help:"The shapes to measure." placeholder:"SHAPE"`
	Rounds int      `help:"How many times each is measured." default:"5"`
	Again  bool     `help:"Measure a round once more in which the machine was too busy." default:"true" negatable:""`
	JSON   string   `help:"Write a record of all values to this file." placeholder:"FILE"`
	Logs   string   `help:"Write the services' logs to this file." placeholder:"FILE"`
	Seed   uint64   `help:"Seed of skills and arrivals of the first round." default:"1"`
	Parts  bool     `help:"steady, capacity: also the processor time of a ticket in each process."`
	Where  bool     `help:"steady: also where a ticket's time goes. It costs some time itself."`

	Rate     []int         `help:"steady: how many tickets arrive a second; each number is measured." default:"500,2000,5000" placeholder:"N"`
	For      time.Duration `help:"How long players arrive." default:"6s"`
	Hosting  []string      `help:"steady, sustained, capacity, burst, launch: with which hosting: none, instant." enum:"none,instant" default:"none,instant"`
	Requests []string      `help:"steady, sustained, capacity: how many requests a player sends: two, or one, a create that waits." enum:"one,two" default:"two"`
	Warm     time.Duration `help:"How long players come who are not measured, before each load." default:"2s"`
	Settle   time.Duration `help:"How long a system comes to rest after a change, before it is measured." default:"5s"`
	Live     int           `help:"crowd, configs, signs, return: how many tickets arrive a second." default:"1000" placeholder:"N"`

	Crowd    []int         `help:"crowd, restart, signs: how many stand by; each number is measured, of signs the first." default:"100000" placeholder:"N"`
	Configs  int           `help:"configs, queues: how many there are." default:"30" placeholder:"N"`
	Projects int           `help:"projects: how many there are." default:"20" placeholder:"N"`
	Each     int           `help:"projects, queues: how many tickets arrive a second in each; half as many in a queue." default:"100" placeholder:"N"`
	Burst    int           `help:"burst, launch: how many players come." default:"20000" placeholder:"N"`
	Peak     int           `help:"launch: how many come a second at the end of the climb, which takes 100 times --for." default:"4000" placeholder:"N"`
	Curve    string        `help:"launch: write its curve to this file, as SVG." placeholder:"FILE"`
	Streams  int           `help:"streams: how many players follow a ticket each." default:"10000" placeholder:"N"`
	Waiting  []int         `help:"drain: how many tickets wait; each number is measured." default:"100000" placeholder:"N"`
	Least    int           `help:"sustained: the rate to begin with, half of it with hosting; it grows by half until the queue does." default:"4000" placeholder:"N"`
	Hold     time.Duration `help:"sustained: how long a rate must hold." default:"6s"`
	Players  []int         `help:"capacity: how many players there are; each number is measured." default:"1000" placeholder:"N"`
	Idle     int           `help:"idle: how many projects there are." default:"1000" placeholder:"N"`

	Tickets     []int         `help:"function: how many tickets a run is about; each number is measured." default:"100000" placeholder:"N"`
	Scan        int           `help:"function: of how many tickets a tenth is selected; runs side by side are over a twentieth." default:"1000000" placeholder:"N"`
	Connections []int         `help:"create: how many connections; each number is measured." default:"64" placeholder:"N"`
	Volley      time.Duration `help:"create: how long each of the two is measured." default:"3s"`
}

// Validate is called by kong.
func (o *options) Validate() error {
	numbers := slices.Concat(o.Rate, o.Crowd, o.Waiting, o.Players, o.Tickets, o.Connections,
		[]int{o.Rounds, o.Live, o.Streams, o.Configs, o.Projects, o.Each, o.Burst, o.Peak, o.Least, o.Idle, o.Scan})
	switch {
	case slices.ContainsFunc(numbers, func(n int) bool { return n < 1 }):
		return errors.New("numbers must be 1 or more")
	case o.For <= 0 || o.Hold <= 0 || o.Volley <= 0 || o.Warm <= 0 || o.Settle <= 0:
		return errors.New("--for, --hold, --volley, --warm and --settle: must be more than 0")
	case len(o.Function) != 1 && len(o.Function) != len(o.Matchmaker):
		return errors.New("--function: must be one, or one for each --matchmaker")
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(shapes(), func(s shape) bool { return s.name == name }) {
			return fmt.Errorf("--only: there is no shape %q; --list shows all", name)
		}
	}
	return nil
}

// chosen are the shapes to measure.
func (o *options) chosen() (all []shape) {
	for _, s := range shapes() {
		if slices.Contains(o.Only, s.name) || len(o.Only) == 0 && !s.asked {
			all = append(all, s)
		}
	}
	return all
}

// manners are all that --hosting and --requests name.
func (o *options) manners() (all []manner) {
	for _, h := range o.Hosting {
		for _, r := range o.Requests {
			all = append(all, manner{hosted: h == "instant", one: r == "one"})
		}
	}
	return all
}

// Run is called by kong.
func (o *options) Run(ctx context.Context, out io.Writer) error {
	if o.List {
		for _, s := range shapes() {
			fmt.Fprintf(out, "%-10s %s\n", s.name, s.says)
		}
		return nil
	}
	// The generator must leave the machine to what it measures.
	debug.SetGCPercent(400)
	logs := io.Discard
	if o.Logs != "" {
		file, err := os.Create(o.Logs)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		logs = file
	}
	s := &series{options: o, errs: os.Stderr, logs: logs, processors: launch.ProcessorsNow, took: map[string]times{},
		record: record{Started: time.Now(), Machine: describe(ctx), Rounds: o.Rounds}}
	for i, path := range o.Matchmaker {
		text, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		s.Binaries = append(s.Binaries, &binary{Matchmaker: path, Function: o.Function[i%len(o.Function)],
			Version: strings.TrimSpace(string(text))})
	}
	fmt.Fprintln(out, s.Machine)
	if err := s.measure(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "%g minutes, load at the end %s\n", s.Minutes, launch.Load())
	return s.verdict()
}
