package main

import (
	"errors"
	"strings"

	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/sandbox"
)

// listed is a failure that takes several lines to explain.
type listed interface {
	error
	lines() []string
}

// inFile names the file that faults are in.
func inFile(file string, err error) error {
	if faults, ok := errors.AsType[*definition.FieldErrors](err); ok {
		return faulty{nameOf(file), faults}
	}
	return err
}

// faulty is a file with faults, one line each.
type faulty struct {
	file string
	*definition.FieldErrors
}

func (f faulty) lines() []string {
	var lines []string
	for _, one := range f.List() {
		lines = append(lines, f.file+": "+strings.TrimPrefix(one.Message, definition.Path("").String()+": "))
	}
	return lines
}

// failure is a run that failed.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// lines are the reason, and where in the function it happened.
func (f failure) lines() []string {
	lines := []string{"the function failed: " + f.Error()}
	if died, ok := errors.AsType[*sandbox.Error](f.error); ok && died.Stack != "" {
		lines = append(lines, strings.Split(strings.TrimRight(died.Stack, "\n"), "\n")...)
	}
	return lines
}
