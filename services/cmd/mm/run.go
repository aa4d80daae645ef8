package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"
)

// console is what surrounds a run of mm.
type console struct {
	in       io.Reader
	out, err io.Writer
	width    int    // columns of the terminal that err is; 0 when it is none
	path     string // of mm itself
	binary   string // what sandboxes execute; empty for mm itself
	now      func() time.Time
	// sleep waits, or returns ctx's error when that ends first.
	sleep func(ctx context.Context, d time.Duration) error
}

// tell writes a line to standard error. That it could not be written is nothing
// that could be told.
func (c console) tell(text string) { _, _ = fmt.Fprintf(c.err, "mm: %s\n", text) }

// Exit codes, as the help has them.
const (
	succeeded = 0
	failed    = 1
	misused   = 2
)

// unbounded is the context of a command that goes on until it is told to end; any
// other's ends with --timeout.
type unbounded interface{ context.Context }

// usageError is a command line that makes no sense, beyond what the parser can tell.
type usageError string

func (e usageError) Error() string { return string(e) }

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, console console) int {
	var (
		line   commandLine
		helped bool // the parser printed help, and would have exited
	)
	parser, err := kong.New(&line,
		kong.Name("mm"), kong.Description(description),
		kong.Writers(console.out, console.err),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		console.tell(plain(err.Error()))
		return failed
	}
	command, err := parser.Parse(args)
	if helped {
		return succeeded
	}
	if err != nil {
		console.tell(fmt.Sprintf("%s (see %s --help)", plain(err.Error()), helpOn(err)))
		return misused
	}
	s := &session{commonFlags: line.commonFlags, console: console}
	s.Data = nearest(s.Data)
	bounded, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	command.BindTo(bounded, (*context.Context)(nil))
	command.BindTo(ctx, (*unbounded)(nil))
	err = command.Run(s)
	if err == nil {
		return succeeded
	}
	for _, text := range s.explain(err) {
		console.tell(text)
	}
	if _, misuse := errors.AsType[usageError](err); misuse {
		return misused
	}
	return failed
}

// helpOn is the command whose help would have helped.
func helpOn(err error) string {
	if parse, ok := errors.AsType[*kong.ParseError](err); ok {
		if node := parse.Context.Selected(); node != nil {
			return node.FullPath()
		}
	}
	return "mm"
}
