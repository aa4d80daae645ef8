// Command chaos injects faults into a matchmaking system and checks whether the system keeps its promises. It is built
// like Jepsen's tests.
//
// It builds the services and runs them as separate processes, with three NATS servers and one Redis, or a Redis with a
// replica and Sentinels, or a cluster. A workload creates and deletes tickets, changes configs and functions, and fills
// running games. Meanwhile the nemesis kills, freezes and starves processes, cuts connections, fills the memory and the
// disk of Redis and has its replicas take over, by a schedule that is made from a seed. At the end chaos waits until
// the system is at rest, and checks the history of all requests and answers against each promise.
//
// Its packages:
//
//	history   what clients, the hosting system and the event log saw, and the journal file with it
//	checker   checks a history against the promises
//	schedule  which faults there are, and when
//	player    the players, which simulation has too
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

// start runs the program, or a NATS server when the first argument says so.
func start(ctx context.Context, arguments []string, out io.Writer) (code int) {
	if len(arguments) > 0 && arguments[0] == nodeCommand {
		if err := node(ctx, out, arguments[1:]); err != nil {
			fmt.Fprintln(out, err)
			return 1
		}
		return 0
	}
	var o options
	parser, err := kong.New(&o, kong.Name("chaos"),
		kong.Description("Inject faults into a matchmaking system and check whether it keeps its promises."))
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
	Duration time.Duration `help:"How long faults are injected." default:"2m"`
	Seed     uint64        `help:"Seed of the schedule and of the workload; a new one when 0."`
	Rate     float64       `help:"Tickets a second." default:"60"`
	Pace     time.Duration `help:"Time from one fault to the next, on average." default:"1500ms"`
	Together int           `help:"How many faults there may be at a time." default:"4"`
	Projects int           `help:"How many projects there are." default:"3"`
	State    string        `help:"How Redis keeps the state: single, sentinel (with a replica, which takes over) or cluster (of three, with replicas)." enum:"single,sentinel,cluster" default:"single"`
	Disk     bool          `help:"Let the disk of a single Redis be full now and then. It gets a file system of its own, which only root can mount."`
	Clocks   bool          `help:"Let the clocks of the services' hosts be wrong, by seconds, an hour or a day, and differently after each start. All packages are built anew for it, which takes minutes the first time."`
	Large    float64       `help:"The share of players whose tickets have large properties." default:"0.02"`
	Race     bool          `help:"Build the services with the race detector."`
	Patience time.Duration `help:"How long the system may take to come to rest after the faults, and to repair what they broke." default:"3m"`
	Break    []string      `help:"Build the services with mistakes of the package mistake, or with each of them in turn. The run succeeds when the checker finds them." placeholder:"NAME,…|all"`
	Dir      string        `help:"Folder for all files; a new temporary one when empty. It is kept when a promise was broken." type:"path" placeholder:"DIR"`
	Keep     bool          `help:"Keep the folder in any case."`
	Journal  string        `help:"Run nothing. Check the journal of an earlier run again." type:"existingfile" placeholder:"FILE"`

	made *artefacts // for all runs; nil when a run builds them itself
}
