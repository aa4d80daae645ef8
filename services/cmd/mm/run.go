package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/lab"
)

// console is the environment of a command: its files, its clock, and the terminal.
type console struct {
	in       io.Reader
	out, err io.Writer
	width    int    // columns of the terminal that err is, 0 if it is none
	path     string // of mm itself
	binary   string // that sandboxes execute; empty for mm itself
	// configDir is the folder for what mm keeps between commands; empty if there is none.
	configDir string
	now       func() time.Time
	// sleep returns ctx's error if that ends first.
	sleep func(ctx context.Context, d time.Duration) error
}

// message writes a line to standard error. There is nowhere to report that this failed.
func (c console) message(text string) { _, _ = fmt.Fprintf(c.err, "mm: %s\n", text) }

// Exit codes. The help lists them.
const (
	exitSuccess = 0
	exitFailed  = 1
	exitUsage   = 2
	// exitInterrupted is what shells take for Ctrl-C.
	exitInterrupted = 130
)

// untimed is a context that --timeout does not end, for commands that run until Ctrl-C.
type untimed interface{ context.Context }

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, console console) int {
	var (
		line   commandLine
		helped bool // the parser printed help
	)
	parser, err := newParser(&line, console, func(int) { helped = true })
	if err != nil {
		console.message(oneLine(err.Error()))
		return exitFailed
	}
	if code, done := console.complete(ctx, parser); done {
		return code
	}
	command, err := settings.Parse(parser, args)
	if helped {
		return exitSuccess
	}
	values, empty := readGiven(command)
	if err = cmp.Or(empty, err); err != nil {
		text, path := oneLine(strings.ReplaceAll(err.Error(), "\n", "; ")), "mm"
		if command != nil && command.Selected() != nil {
			path = command.Selected().FullPath()
		}
		console.message(fmt.Sprintf("%s (see %s --help)", text, path))
		return exitUsage
	}
	s, err := newSession(line.commonFlags, console)
	s.line = values
	if err != nil {
		console.message(oneLine(err.Error()))
		return exitFailed
	}
	bounded, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	command.BindTo(ctx, (*untimed)(nil))
	command.BindTo(ctx, (*lab.Untimed)(nil))
	do := func(ctx context.Context, s *session) error {
		command.BindTo(ctx, (*context.Context)(nil))
		return command.Run(s)
	}
	watched, _ := command.Selected().Target.Interface().(interface{ watches() bool })
	err = obey(ctx, func() error {
		if watched != nil && watched.watches() {
			return s.repeat(ctx, do)
		}
		return do(bounded, s)
	})
	interrupted := errors.Is(ctx.Err(), context.Canceled) // also what follows until Ctrl-C, and says nothing of it
	switch {
	case err == nil && interrupted:
		return exitInterrupted
	case err == nil:
		return exitSuccess
	}
	text, misuse := s.line.misuse(err)
	if text == "" {
		for _, text := range s.errorLines(err) {
			console.message(text)
		}
	} else {
		console.message(oneLine(text))
	}
	if misuse {
		return exitUsage
	}
	if interrupted {
		return exitInterrupted
	}
	return exitFailed
}

// obeyTime is how long a command may go on after a signal: one that computes, or reads a file, does not look for it.
const obeyTime = 5 * time.Second

// obey runs a command, which it leaves behind if that does not end soon after ctx.
func obey(ctx context.Context, command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(obeyTime):
		return context.Cause(ctx)
	}
}

// help is what the help of commands says besides their line and flags. A section begins with == and the command.
//
//go:embed help.txt
var help string

// newParser returns the parser of the command line. exit is called when it has printed help or the version.
func newParser(line *commandLine, console console, exit func(int)) (*kong.Kong, error) {
	parser, err := kong.New(line,
		kong.Name("mm"), kong.Description(description), kong.Vars{"version": "mm " + version},
		kong.Writers(console.out, console.err),
		kong.Exit(exit),
		kong.BindToProvider((*session).terminal),
		kong.BindToProvider((*session).developerAPI), kong.BindToProvider((*session).serverAPI),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		return nil, err
	}
	helps := map[string]string{}
	for section := range strings.SplitSeq(strings.TrimPrefix(help, "== "), "\n\n== ") {
		command, text, _ := strings.Cut(section, "\n")
		helps["mm "+command] = text
	}
	return parser, kong.Visit(parser.Model.Node, func(part kong.Visitable, next kong.Next) error {
		if node, ok := part.(*kong.Node); ok && helps[node.FullPath()] != "" {
			node.Detail = helps[node.FullPath()]
		}
		return next(nil)
	})
}
