package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type functionLog struct {
	Name    string `arg:"" completion-predictor:"function" help:"The function's name."`
	Seconds int    `default:"1800" help:"How far back, in seconds." bounds:"1.."`
	Follow  bool   `short:"f" help:"Continue with new lines, until Ctrl-C."`
	Lines   bool   `help:"Print the time, the upload, the config and the instance of each line."`
}

// Validate is called by the parser.
func (c functionLog) Validate() error {
	if c.Lines && c.Follow {
		return usageError("--lines cannot be combined with --follow")
	}
	return nil
}

// Run prints the log.
func (c functionLog) Run(ctx context.Context, followCtx untimed, s *session) error {
	if c.Follow {
		return c.follow(followCtx, s)
	}
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	if c.Lines {
		return c.showLines(ctx, s, api)
	}
	logs, err := api.GetFunctionLog(ctx, c.Name, c.span())
	if err != nil {
		return err
	}
	if s.structured() {
		return s.show(logs)
	}
	if len(logs) == 0 {
		s.note("%s logged nothing in the last %s", c.Name, format.Plural(c.Seconds, "second"))
	}
	for _, instance := range slices.Sorted(maps.Keys(logs)) {
		text := cmp.Or(strings.TrimRight(printable(logs[instance], "\n\t"), "\n"),
			"(nothing in the last "+format.Plural(c.Seconds, "second")+")")
		if _, err := fmt.Fprintf(s.out, "== %s ==\n%s\n", oneLine(instance), text); err != nil {
			return err
		}
	}
	return nil
}

// showLines prints the log line by line.
func (c functionLog) showLines(ctx context.Context, s *session, api *client.Client) error {
	lines, _, err := api.GetFunctionLogLines(ctx, c.Name, c.span(), "")
	if err != nil {
		return err
	}
	g := grid{head: []any{"time", "upload", "config", "instance", "line"}}
	for _, l := range lines {
		g.add(l.Time.UTC().Format("15:04:05.000"), formatUpload(l.Upload), l.Config, l.Instance, printable(l.Text, "\t"))
	}
	return s.show(orEmpty(lines), g.withoutEmptyColumns())
}

func (c functionLog) span() time.Duration { return time.Duration(c.Seconds) * time.Second }

// followInterval is the time between two requests for a log that is followed.
const followInterval = time.Second

// follow prints the log and new lines until ctx ends, which is no error.
func (c functionLog) follow(ctx context.Context, s *session) error {
	api, err := s.connect(asDeveloper(), reconnecting)
	if err != nil {
		return err
	}
	p := logPrinter{session: s}
	for span, position := c.span(), ""; ; span = 0 {
		var logs map[string]string
		logs, position, err = s.readLog(ctx, api, c.Name, span, position)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C is how following ends
		case err != nil:
			return err
		case position == "":
			return errors.New("the service cannot follow logs: its answer has no position")
		}
		if err := p.print(logs); err != nil {
			return err
		}
		if s.sleep(ctx, followInterval) != nil {
			return nil //nolint:nilerr // likewise
		}
	}
}

// readLog reads the lines after a position. It takes at most --timeout.
func (s *session) readLog(
	ctx context.Context, api *client.Client, name string, span time.Duration, position string,
) (logs map[string]string, next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return api.GetFunctionLogAfter(ctx, name, span, position)
}

// logPrinter prints a log in several parts.
type logPrinter struct {
	*session
	last string // the instance of the latest line
}

func (p *logPrinter) print(logs map[string]string) error {
	for _, instance := range slices.Sorted(maps.Keys(logs)) {
		text := strings.TrimRight(logs[instance], "\n")
		if text == "" {
			continue // no new lines
		}
		if err := p.printInstance(instance, text); err != nil {
			return err
		}
	}
	return nil
}

func (p *logPrinter) printInstance(instance, text string) error {
	if p.structured() {
		for line := range strings.SplitSeq(text, "\n") {
			if err := p.printNext(map[string]string{"instance": instance, "line": line}); err != nil {
				return err
			}
		}
		return nil
	}
	if instance != p.last {
		text = fmt.Sprintf("== %s ==\n%s", oneLine(instance), text)
		p.last = instance
	}
	_, err := fmt.Fprintln(p.out, printable(text, "\n\t"))
	return err
}
