// Command matchmaker is the matchmaking service: each of its services as a process of its own, all of them in one, or
// all of them with everything that they need for development.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/internal/platform/catalog"
	flags "matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/sandbox"
)

// Exit codes. A service that is stopped when it serves exits with 0; what a signal keeps from its end did not succeed.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	// Instances of match functions are this binary again. They must come up before anything
	// else does: they have little memory, and nothing of what follows.
	if len(os.Args) == 2 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Main())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := newCLI()
	exit := -1
	parser, err := kong.New(c, c.options(ctx, streams{stdout, stderr}, func(code int) { exit = code })...)
	if err != nil {
		return printError(stderr, err, exitFailure)
	}
	parsed, err := flags.Parse(parser, args)
	if exit >= 0 { // --help or --version was answered
		return exit
	}
	if err != nil {
		return printError(stderr, err, exitUsage)
	}
	err = parsed.Run()
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return printError(stderr, err, exitInterrupted)
	}
	return printError(stderr, err, exitFailure)
}

// options are how the command line is read.
func (c *cli) options(ctx context.Context, s streams, exit func(int)) []kong.Option {
	return append(c.commands(),
		kong.Name("matchmaker"),
		kong.Description(description),
		kong.Configuration(fileSettings),
		kong.DefaultEnvars("MATCHMAKER"),
		kong.Vars{"version": version, "services": strings.Join(catalog.Names(), ", ")},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true}),
		kong.ExplicitGroups(groups),
		kong.Writers(s.out, s.err),
		kong.Exit(exit),
		kong.Bind(s),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
}

// printError prints what is wrong, one line for each error.
func printError(w io.Writer, err error, code int) int {
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintln(w, "matchmaker:", line)
		}
	}
	return code
}

// streams are the process's own.
type streams struct {
	out, err io.Writer
}

const description = `Matchmaking for multiplayer games.

Start with 'matchmaker dev': it brings everything it needs. In production each service is a process of its own
('matchmaker ticket', …), or all services are one ('matchmaker all'), with a Redis and a NATS with JetStream beside
them.

Every setting is a flag, an environment variable (MATCHMAKER_ and the flag's name: --min-interval is
MATCHMAKER_MIN_INTERVAL) or a line of a YAML file given with --config (min-interval: 10ms). A flag goes before the
environment, that before the file.`
