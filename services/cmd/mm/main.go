// Command mm is the command line for studios. It uploads match functions, writes configs, makes tokens for development,
// and acts as a player or a game server.
//
// Results go to standard output, everything else to standard error. The exit code is 0 on success, 1 on failure, 2 for
// a wrong command line, and 130 after Ctrl-C.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"

	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/sandbox"
)

func main() {
	// "mm function test" starts this binary again as a sandbox, which must do nothing else before.
	if len(os.Args) == 2 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Main())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal cancels the command, the next one kills it.
	context.AfterFunc(ctx, stop)
	path, err := os.Executable()
	if err != nil {
		path = "mm"
	}
	dir, err := os.UserConfigDir()
	if err == nil {
		dir = filepath.Join(dir, "matchmaker")
	}
	os.Exit(run(ctx, os.Args[1:], console{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, configDir: dir,
		path: path, width: terminalWidth(os.Stderr), now: time.Now, sleep: wait.For,
	}))
}

// terminalWidth returns a terminal's columns. It returns 0 for a file that is no terminal, and for a terminal that
// cannot move its cursor.
func terminalWidth(file *os.File) int {
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || os.Getenv("TERM") == "dumb" {
		return 0
	}
	return columns
}

// version is set by the build: -ldflags "-X main.version=…".
var version = "dev"

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(s *session) error {
	_, err := fmt.Fprintln(s.out, "mm", version)
	return err
}
