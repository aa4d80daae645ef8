package main

import (
	"errors"
	"strings"

	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/fault"
	"matchmaker.dev/services/runner/sandbox"
)

// listed is a failure that takes several lines to explain.
type listed interface {
	error
	lines() []string
}

// inFile names the file that faults are in.
func inFile(file string, err error) error {
	if faults, ok := errors.AsType[*definition.Faults](err); ok {
		return faulty{file, faults}
	}
	return err
}

// faulty is a file with faults, one line each.
type faulty struct {
	file string
	*definition.Faults
}

func (f faulty) lines() []string {
	var lines []string
	for _, one := range f.List() {
		lines = append(lines, f.file+": "+one.Message)
	}
	return lines
}

// failure is a run that failed.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// lines are the reason, and where in the function it happened.
func (f failure) lines() []string {
	reason := f.Error()
	if refused, ok := errors.AsType[*fault.Error](f.error); ok {
		reason = refused.Detail
	}
	lines := []string{"the function failed: " + reason}
	if died, ok := errors.AsType[*sandbox.Error](f.error); ok && died.Stack != "" {
		lines = append(lines, strings.Split(strings.TrimRight(died.Stack, "\n"), "\n")...)
	}
	return lines
}
