// Command chaos disturbs a matchmaking system, and says whether it kept its promises.
//
// It builds the services and runs each as processes of its own, beside a Redis and three NATS servers. While players
// come and go, studios change their configs and functions, and running games fill up, it kills processes, stops
// them, and cuts connections, as a plan says that is made from a seed. Then it lets the system come to rest, and
// holds what everybody saw against what was promised.
//
//	history  what was seen
//	verdict  what that proves
//	storm    what is disturbed, and when
//	link     connections that can be cut
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout))
}

// start runs the program, or the part of it that the first argument names.
func start(ctx context.Context, arguments []string, out io.Writer) (code int) {
	if len(arguments) > 0 && arguments[0] == nodeCommand {
		if err := node(ctx, out, arguments[1:]); err != nil {
			fmt.Fprintln(out, err)
			return 1
		}
		return 0
	}
	var o options
	parser, err := kong.New(&o, kong.Name("chaos"), kong.Description("Disturb a matchmaking system, and see whether it keeps its promises."))
	if err == nil {
		_, err = parser.Parse(arguments)
	}
	if err == nil {
		err = run(ctx, o, out)
	}
	if err != nil {
		fmt.Fprintln(out, "chaos:", err)
		return 1
	}
	return 0
}

// options of a run.
type options struct {
	Duration time.Duration `help:"How long to disturb it." default:"2m"`
	Seed     uint64        `help:"Seed of the plan and of the workload; one that nobody had yet when 0."`
	Rate     float64       `help:"Tickets a second." default:"60"`
	Pace     time.Duration `help:"Time from one fault to the next, on average." default:"1500ms"`
	Together int           `help:"How many faults at a time." default:"4"`
	Projects int           `help:"How many projects." default:"3"`
	Race     bool          `help:"Build the services with the race detector."`
	Patience time.Duration `help:"How long the system may take to come to rest afterwards, and to notice what it has to repair." default:"3m"`
	Break    string        `help:"Build the services with one of the mistakes of mistake.go, or with each of them in turn. The run is good when it is found." placeholder:"NAME|all"`
	Dir      string        `help:"Folder for everything; a new temporary one when empty. It is left there when something was found." type:"path" placeholder:"DIR"`
	Keep     bool          `help:"Leave the folder there in any case."`
	Journal  string        `help:"Run nothing, but hold the journal of an earlier run against the promises." type:"existingfile" placeholder:"FILE"`
}
