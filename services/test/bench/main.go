// Command bench measures a `matchmaker dev` process with a Redis of its own, over HTTP on the loopback interface. This
// process generates the load, and shares the machine with what it measures.
//
//	function   a run of a match function in its sandbox, compared with the same code in this process
//	create     tickets created per second, compared with a bare handler that decodes the same body
//	steady     time from the 201 to the assignment in a GET, at a steady rate of arrivals
//	capacity   tickets per second of players who come again as soon as they are assigned, and the cost of each
//	sustained  the highest rate of arrivals at which the queue does not grow
//	drain      time until many waiting tickets are assigned, after a config was put
//	idle       processor time of projects without tickets
//	soak       whether what is stored and held stays level; only for make soak
//	size       processor time and memory of each service as a process of its own; only for make sizing
//
// It fails when an answer is not the expected one, or a ticket has no assignment at the end.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"matchmaker.dev/services/test/launch"
)

func main() {
	var c struct {
		Run  options     `cmd:"" default:"withargs" help:"Measure."`
		Bare bare        `cmd:"" hidden:""`
		Nats launch.NATS `cmd:"" hidden:""`
	}
	launch.Main("bench", "Measure the service on real parts.", &c)
}

// options say what to measure.
type options struct {
	Matchmaker string   `help:"The server binary." default:"bin/matchmaker" type:"existingfile"`
	Function   string   `help:"The match function: one against one by skill." default:"bin/functions/duel.zip" type:"existingfile"`
	Pair       string   `help:"The match function whose cost in the sandbox is measured." default:"bin/pair.wasm" type:"existingfile"`
	Only       []string `help:"What to measure: function, create, steady, capacity, sustained, drain, idle, size, soak." enum:"function,create,steady,capacity,sustained,drain,idle,size,soak" default:"function,create,steady,capacity,sustained,drain,idle"`

	Tickets []int `help:"function: how many tickets a run is about; each number is measured." default:"1000,10000,100000,1000000" placeholder:"N"`

	Connections []int         `help:"create: how many connections; each number is measured." default:"64,256" placeholder:"N"`
	Rounds      int           `help:"create: how many times each of the two is measured." default:"5"`
	Round       time.Duration `help:"create: how long a round is." default:"3s"`

	Rate     []int         `help:"steady: how many tickets arrive a second; each number is measured." default:"500,2000,5000" placeholder:"N"`
	For      time.Duration `help:"steady, capacity, size: how long they arrive." default:"10s"`
	Hosting  []string      `help:"steady, capacity, sustained: with which hosting: none, instant." enum:"none,instant" default:"none,instant"`
	Requests []string      `help:"steady, capacity, sustained: how many requests a player sends: two, or one, a create that waits." enum:"one,two" default:"two"`
	Seed     uint64        `help:"steady, size: seed of skills and arrivals." default:"1"`

	Players []int `help:"capacity: how many players there are; each number is measured." default:"1000" placeholder:"N"`

	Least int           `help:"sustained: the rate to begin with; it grows by half until the queue does." default:"4000" placeholder:"N"`
	Hold  time.Duration `help:"sustained: how long a rate must hold." default:"10s"`

	Waiting []int `help:"drain: how many tickets wait; each number is measured." default:"10000,50000,100000" placeholder:"N"`

	Projects int           `help:"idle: how many projects there are." default:"1000" placeholder:"N"`
	Rest     time.Duration `help:"idle, size: how long they are watched." default:"10s"`

	Arrive int `help:"size: how many tickets arrive a second." default:"1000" placeholder:"N"`
	Stay   int `help:"size: how many tickets wait." default:"100000" placeholder:"N"`

	Soak     time.Duration `help:"soak: how long players arrive. Results, tokens and events last a tenth of it." default:"1h"`
	SoakRate int           `help:"soak: how many arrive a second with hosting, and as many without." default:"200" placeholder:"N"`

	Dev []string `help:"More arguments of 'matchmaker dev', to compare settings." placeholder:"ARG"`
}

// Validate is called by kong.
func (o *options) Validate() error {
	switch numbers := slices.Concat(o.Tickets, o.Connections, o.Rate, o.Players, o.Waiting,
		[]int{o.Rounds, o.Least, o.Projects, o.Arrive, o.Stay}); {
	case slices.ContainsFunc(numbers, func(n int) bool { return n < 1 }):
		return errors.New("--tickets, --connections, --rounds, --rate, --players, --least, --waiting, --projects, --arrive" +
			" and --stay: must be 1 or more")
	case o.SoakRate < 1 || o.Soak < time.Minute:
		return errors.New("--soak-rate: must be 1 or more, --soak: at least 1m")
	case o.Round <= 0 || o.For <= 0 || o.Hold <= 0 || o.Rest <= 0:
		return errors.New("--round, --for, --hold and --rest: must be more than 0")
	}
	return nil
}

// bench is one run of this program.
type bench struct {
	options
	out io.Writer
	// errs gets the progress and the servers' logs.
	errs io.Writer
}

// Run is called by kong.
func (o *options) Run(ctx context.Context, out io.Writer) error {
	// The generator must leave the machine to what it measures.
	debug.SetGCPercent(400)
	b := &bench{options: *o, out: out, errs: os.Stderr}
	fmt.Fprintf(out, "%s, %d CPUs, load %s\n", runtime.Version(), runtime.NumCPU(), launch.Load())
	for _, section := range []struct {
		name    string
		measure func(context.Context) error
	}{{"function", b.function}, {"create", b.create}, {"steady", b.steady}, {"capacity", b.capacity}, {"sustained",
		b.sustained}, {"drain", b.drain}, {"idle", b.idle}, {"size", b.size}, {"soak", b.soak}} {
		if !slices.Contains(o.Only, section.name) {
			continue
		}
		if err := section.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", section.name, err)
		}
	}
	fmt.Fprintf(out, "load at the end %s\n", launch.Load())
	return nil
}

// progress prints what is measured now.
func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.errs, "bench: "+format+"\n", args...)
}
