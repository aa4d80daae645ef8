// Command mm is the studio's command line: it uploads match functions, writes
// configs, makes tokens for trying things out, and plays the part of a player.
//
// Results go to standard output, everything else to standard error. The exit
// code is 0 when the command did what it says, 1 when it failed, and 2 when the
// command line makes no sense.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"matchmaker.dev/services/internal/sandbox"
)

func main() {
	// What "mm function test" tries runs in this binary again, which must not do anything else before.
	if len(os.Args) == 2 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Main())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the command to end, the next one ends it.
	context.AfterFunc(ctx, stop)
	path, err := os.Executable()
	if err != nil {
		path = "mm"
	}
	os.Exit(run(ctx, os.Args[1:], console{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		path: path, width: width(os.Stderr), now: time.Now, sleep: sleep,
	}))
}

// width is how many columns a terminal has, 0 for a file that is none, or a
// terminal that cannot draw over what is on it.
func width(file *os.File) int {
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || os.Getenv("TERM") == "dumb" {
		return 0
	}
	return columns
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
