// Command quality measures how good matches are, and how long players wait for them: of the function rules, of simple
// readings of how other matchmakers build matches, and of baselines, all on the same players. Time is virtual.
// docs/quality.md describes it.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"

	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/world"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

// options say what to measure.
type options struct {
	worlds  []world.World
	engines []engine.Name // all without
	seeds   int
	points  int
	out     string
	flexi   string // a checkout
	workers int
}

func parse(args []string, output io.Writer) (options, error) {
	flags := flag.NewFlagSet("quality", flag.ContinueOnError)
	flags.SetOutput(output)
	names := flags.String("worlds", "", "the worlds to play, with commas; all but the large ones when empty")
	var o options
	flags.Func("engine", "an engine to play, once for each; all without", func(name string) error {
		o.engines = append(o.engines, engine.Name(name))
		return engine.Exists(engine.Name(name))
	})
	seeds := flags.Int("seeds", 30, "how many seeds each world has")
	points := flags.Int("points", 3, "how many seeds each point of a curve has; no curves with 0")
	large := flags.Bool("large", false, "play the large worlds too, with one seed each: hours")
	out := flags.String("out", "bin/quality", "folder for the tables and curves")
	flexi := flags.String("flexi", "", "a checkout of github.com/moepig/flexi, which is played too")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "how many runs go on at a time")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	o.seeds, o.points, o.out, o.workers, o.flexi = *seeds, *points, *out, *workers, *flexi
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("there is no argument %q", flags.Arg(0))
	case o.seeds < 1 || o.points < 0 || o.workers < 1:
		return o, errors.New("-seeds and -workers must be at least 1, -points at least 0")
	}
	for _, w := range world.All() {
		if *names == "" && (!w.Large || *large) {
			o.worlds = append(o.worlds, w)
		}
	}
	for name := range strings.SplitSeq(*names, ",") {
		if name == "" {
			continue
		}
		w, ok := world.Find(name)
		if !ok {
			return o, fmt.Errorf("-worlds: there is no world %q", name)
		}
		o.worlds = append(o.worlds, w)
	}
	return o, nil
}

func run(ctx context.Context, args []string, output io.Writer) error {
	o, err := parse(args, output)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o750); err != nil {
		return err
	}
	if o.flexi != "" {
		folder, err := os.MkdirTemp("", "flexi-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if err := engine.BuildFlexi(ctx, o.flexi, folder); err != nil {
			return err
		}
	}
	var tables bytes.Buffer
	for _, w := range o.worlds {
		seeds, points := o.seeds, o.points
		if w.Large {
			seeds, points = 1, 0
		}
		results, err := play(ctx, &o, w, seeds, output)
		if err != nil {
			return err
		}
		from := tables.Len()
		results.Write(&tables)
		_, _ = output.Write(tables.Bytes()[from:])
		if err := draw(ctx, &o, w, points, output); err != nil {
			return err
		}
		// After each world, so that a run that is stopped leaves what it has.
		if err := os.WriteFile(filepath.Join(o.out, "tables.md"), tables.Bytes(), 0o600); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(output, "The tables and curves are in %s.\n", o.out)
	return err
}
