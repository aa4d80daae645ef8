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
	startTimeout  = 30 * time.Second
	startInterval = 250 * time.Millisecond
)

// upload is an upload of a function that is to start.
type upload struct {
	function string
	sum      string // its MD5
	wait     bool
	action   string // what the user did, for error messages
}

// showStart waits for the start of an upload if u.wait is set, and shows the function. It fails if the upload does not
// run in time.
func (s *session) showStart(ctx context.Context, api *client.Client, u upload) error {
	f, err := s.waitForStart(ctx, api, u)
	if err := s.showFunction(f, err); err != nil {
		return err
	}
	switch {
	case !u.wait:
		return nil
	case f.Status.State == client.Running:
		s.checkConfigsOf(ctx, api, f.Name)
		return nil
	case f.Status.State == client.Failed:
		s.showLogEnd(ctx, api, f.Name)
		return fmt.Errorf("function %s is %s, but does not start", f.Name, u.action)
	}
	return fmt.Errorf("function %s is %s, but is %s after %s: see \"mm function get %s\"",
		f.Name, u.action, f.Status.State, startTimeout, f.Name)
}

// waitForStart reads the function until the upload runs or has failed, for at most startTimeout. It reads the function
// only once if the upload is not waited for.
func (s *session) waitForStart(ctx context.Context, api *client.Client, u upload) (*client.Function, error) {
	bar := s.startProgress("starting "+u.function, 0)
	defer bar.stop()
	for end := s.now().Add(startTimeout); ; {
		f, err := api.GetFunction(ctx, u.function)
		if err != nil {
			return nil, err
		}
		// With another MD5, the state belongs to the upload before.
		done := strings.EqualFold(f.MD5, u.sum) && (f.Status.State == client.Running || f.Status.State == client.Failed)
		if done || !u.wait || !s.now().Before(end) {
			return f, nil
		}
		bar.setMessage(fmt.Sprintf("starting %s: %s", u.function, f.Status.State))
		if err := s.sleep(ctx, startInterval); err != nil {
			return nil, err
		}
	}
}

// showLogEnd prints the last lines of the function's log, which say why it failed.
func (s *session) showLogEnd(ctx context.Context, api *client.Client, name string) {
	logs, err := api.GetFunctionLog(ctx, name, time.Minute)
	if err != nil {
		s.note("its log cannot be read: %s", s.errorText(err))
		return
	}
	const most = 10
	for _, instance := range slices.Sorted(maps.Keys(logs)) {
		lines := slices.Collect(strings.Lines(logs[instance])) // none if the log is empty
		for _, line := range lines[max(0, len(lines)-most):] {
			s.note("%s: %s", instance, strings.TrimRight(line, "\n"))
		}
	}
}
