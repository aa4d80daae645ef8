package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

type functionLog struct {
	Name    string `arg:"" help:"The function's name."`
	Seconds int    `default:"1800" help:"How far back, in seconds."`
	Follow  bool   `short:"f" help:"Go on with what is logged from now on, until Ctrl-C."`
}

func (functionLog) Help() string {
	return `With --follow --timeout is for each look at the log, of which there is one a second. Every line is printed once, those of one instance in their order; as JSON each line is an object.

Examples:

    mm function log duel
    mm function log duel --seconds 60
    mm function log duel --follow --seconds 10`
}

// Validate is called by the parser.
func (c functionLog) Validate() error {
	if c.Seconds < 1 {
		return usageError("--seconds must be 1 or more")
	}
	return nil
}

// Run prints the log.
func (c functionLog) Run(ctx context.Context, endless unbounded, s *session) error {
	if c.Follow {
		if err := c.follow(endless, s); endless.Err() == nil {
			return err
		}
		return nil // Ctrl-C is how following ends
	}
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	logs, err := api.GetFunctionLog(ctx, c.Name, c.span())
	if err != nil {
		return err
	}
	if s.Output == "json" {
		return s.show(logs)
	}
	if len(logs) == 0 {
		s.note("%s logged nothing in the last %d seconds", c.Name, c.Seconds)
	}
	for _, instance := range slices.Sorted(maps.Keys(logs)) {
		text := strings.TrimRight(printable(logs[instance], "\n\t"), "\n")
		if text == "" {
			text = fmt.Sprintf("(nothing in the last %d seconds)", c.Seconds)
		}
		if _, err := fmt.Fprintf(s.out, "== %s ==\n%s\n", plain(instance), text); err != nil {
			return err
		}
	}
	return nil
}

func (c functionLog) span() time.Duration { return time.Duration(c.Seconds) * time.Second }

// followPoll is how often a log is looked at that is followed.
const followPoll = time.Second

// follow prints the log and what comes, until ctx ends or something fails.
func (c functionLog) follow(ctx context.Context, s *session) error {
	api, err := s.connect(asDeveloper(), patient)
	if err != nil {
		return err
	}
	t := tail{session: s}
	for span, position := c.span(), ""; ; span = 0 {
		var logs map[string]string
		logs, position, err = s.look(ctx, api, c.Name, span, position)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Ctrl-C is how following ends
		case err != nil:
			return err
		case position == "":
			return errors.New("the service does not say how far the log was read, so that it cannot be followed")
		}
		if err := t.print(logs); err != nil {
			return err
		}
		if s.sleep(ctx, followPoll) != nil {
			return nil //nolint:nilerr // likewise
		}
	}
}

// look reads what is behind a position, within --timeout.
func (s *session) look(ctx context.Context, api *client.Client, name string, span time.Duration, position string) (map[string]string, string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return api.GetFunctionLogAfter(ctx, name, span, position)
}

// tail prints a log piece by piece.
type tail struct {
	*session
	last string // the instance whose lines were printed last
}

func (t *tail) print(logs map[string]string) error {
	for _, instance := range slices.Sorted(maps.Keys(logs)) {
		text := strings.TrimRight(logs[instance], "\n")
		if text == "" {
			continue // it is there, and printed nothing
		}
		if err := t.lines(instance, text); err != nil {
			return err
		}
	}
	return nil
}

func (t *tail) lines(instance, text string) error {
	if t.Output == "json" {
		encoder := json.NewEncoder(t.out)
		encoder.SetEscapeHTML(false)
		for line := range strings.SplitSeq(text, "\n") {
			if err := encoder.Encode(map[string]string{"instance": instance, "line": line}); err != nil {
				return err
			}
		}
		return nil
	}
	if instance != t.last {
		text = fmt.Sprintf("== %s ==\n%s", plain(instance), text)
		t.last = instance
	}
	_, err := fmt.Fprintln(t.out, printable(text, "\n\t"))
	return err
}
