package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"matchmaker.dev/services/test/launch"
)

// series is a run of this program.
type series struct {
	*options
	record
	// errs gets the progress, logs the services' logs.
	errs, logs io.Writer
	// processors tells what all processors have done.
	processors func() launch.Processors
	// took are the times of the rounds of each shape.
	took map[string]times
}

// measure measures all rounds of all shapes. It goes on when one fails.
func (s *series) measure(ctx context.Context, out io.Writer) error {
	chosen := s.chosen()
	progress(s.errs, "%d rounds of %d shapes take about %s", s.options.Rounds, len(chosen), s.left(chosen, 0))
	for i, one := range chosen {
		if err := s.shape(ctx, one, chosen[i+1:]); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			progress(s.errs, "%s: %v", one.name, err)
			s.Failed = append(s.Failed, fmt.Sprintf("%s: %v", one.name, err))
		}
		s.Minutes = math.Round(time.Since(s.Started).Minutes()*10) / 10
		if err := s.save(s.JSON); err != nil {
			return err
		}
		if wanted := func(l *line) bool { return l.Shape == one.name }; slices.ContainsFunc(s.Binaries[0].Lines, wanted) {
			s.print(out, wanted)
		}
	}
	return nil
}

// shape measures all rounds of a shape, the binaries in turns.
func (s *series) shape(ctx context.Context, one shape, after []shape) error {
	for n := range s.options.Rounds {
		for k := range s.Binaries {
			b := s.Binaries[(k+n)%len(s.Binaries)]
			which := ""
			if len(s.Binaries) > 1 {
				which = " of " + b.Version
			}
			progress(s.errs, "%s, round %d of %d%s; %s are left", one.name, n+1, s.options.Rounds, which,
				s.left(append([]shape{one}, after...), n*len(s.Binaries)+k))
			if err := s.round(ctx, one, b, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// round measures a round, and with --again once more if the machine was too busy.
func (s *series) round(ctx context.Context, one shape, b *binary, n int) error {
	var r *round
	var busy string
	tries := 1
	if s.Again {
		tries++
	}
	for range tries {
		r = &round{options: s.options, binary: b, number: n, errs: s.errs, logs: s.logs}
		began, before := time.Now(), s.processors()
		if err := one.measure(r, ctx); err != nil {
			return err
		}
		s.took[one.name] = append(s.took[one.name], time.Since(began))
		if busy = s.processors().Since(before).TooBusy(); busy == "" {
			busy = r.late
		}
		if busy == "" {
			break
		}
		progress(s.errs, "  the machine is too busy: %s", busy)
	}
	for _, reading := range r.readings {
		b.line(one.name, reading).add(reading, busy)
	}
	return nil
}

// left estimates how long the rest takes, when done rounds of the first shape are over.
func (s *series) left(rest []shape, done int) time.Duration {
	var sum time.Duration
	for i, one := range rest {
		each := one.takes
		if took := s.took[one.name]; len(took) > 0 {
			each = slices.Clone(took).quantile(0.5)
		}
		rounds := s.options.Rounds * len(s.Binaries)
		if i == 0 {
			rounds -= done
		}
		sum += each * time.Duration(rounds)
	}
	return sum.Round(10 * time.Second)
}

// errBusyMachine and errFailed are why a run is not a success although there are numbers.
var (
	errBusyMachine = errors.New("the machine was too busy: some lines say nothing")
	errFailed      = errors.New("some shapes could not be measured")
)

// verdict is an error unless everything was measured on a quiet machine.
func (r *record) verdict() error {
	var errs []error
	if r.busy() > 0 {
		errs = append(errs, errBusyMachine)
	}
	if len(r.Failed) > 0 {
		errs = append(errs, errFailed)
	}
	return errors.Join(errs...)
}
