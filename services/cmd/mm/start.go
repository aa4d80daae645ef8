package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

const (
	startLimit = 30 * time.Second       // how long an uploaded function is waited for
	startPoll  = 250 * time.Millisecond // how often it is looked at
)

// startup is a module of a function that is to start.
type startup struct {
	function string
	sum      string // the MD5 that the function has with it
	wait     bool
	became   string // what happened to the function
}

// await shows the function when its module runs, or at once when nobody wants to
// wait. That it does not run in time is an error.
func (s *session) await(ctx context.Context, api *client.Client, c startup) error {
	f, err := s.awaitStart(ctx, api, c)
	if err != nil {
		return err
	}
	if err := s.showFunction(f); err != nil {
		return err
	}
	switch {
	case !c.wait || f.Status.State == client.Running:
		return nil
	case f.Status.State == client.Failed:
		s.lastWords(ctx, api, f.Name)
		return fmt.Errorf("function %s is %s, but does not start", f.Name, c.became)
	}
	return fmt.Errorf("function %s is %s, but is %s after %s: see \"mm function get %s\"", f.Name, c.became, f.Status.State, startLimit, f.Name)
}

// awaitStart reads the function until its new module runs or has failed, or
// startLimit is over; just once when nobody wants to wait.
func (s *session) awaitStart(ctx context.Context, api *client.Client, c startup) (*client.Function, error) {
	bar := s.begin("starting "+c.function, 0)
	defer bar.end()
	for end := s.now().Add(startLimit); ; {
		f, err := api.GetFunction(ctx, c.function)
		if err != nil {
			return nil, err
		}
		// Until the service speaks of this module, its state is that of the one before.
		settled := strings.EqualFold(f.MD5, c.sum) && (f.Status.State == client.Running || f.Status.State == client.Failed)
		if settled || !c.wait || !s.now().Before(end) {
			return f, nil
		}
		bar.say(fmt.Sprintf("starting %s: %s", c.function, f.Status.State))
		if err := s.sleep(ctx, startPoll); err != nil {
			return nil, err
		}
	}
}

// lastWords prints the end of the function's logs, which say why it failed.
func (s *session) lastWords(ctx context.Context, api *client.Client, name string) {
	logs, err := api.GetFunctionLog(ctx, name, time.Minute)
	if err != nil {
		s.note("its log cannot be read: %s", s.reason(err))
		return
	}
	const enough = 10
	for _, instance := range slices.Sorted(maps.Keys(logs)) {
		lines := slices.Collect(strings.Lines(logs[instance])) // none of one that was silent
		for _, line := range lines[max(0, len(lines)-enough):] {
			s.note("%s: %s", instance, strings.TrimRight(line, "\n"))
		}
	}
}
