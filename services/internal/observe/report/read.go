package report

import (
	"context"
	"errors"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/wait"
)

const (
	// readStep is how many slots are read at a time.
	readStep = 32
	// readByteCost is what it costs to read a byte of a slot and to add it up.
	readByteCost = 20 * time.Nanosecond
)

// ErrNoTime says that the pace of the project let the slots not be read in time.
var ErrNoTime = errors.New("the report was not read in time")

// Store has reports: a *state.Store.
type Store interface {
	Report(ctx context.Context, project, span string, slots []int64) (
		stored map[int64]*pb.ReportSlot, bytes int, err error)
}

// Pace is how much a project may read, in microseconds of a processor: a *ratelimit.Local.
type Pace interface {
	Reserve(project, caller string, n int) time.Duration
}

// Read reads the slots of a span from first to last, a few at a time and at its pace, and adds them.
func Read(
	ctx context.Context, s Store, pace Pace, project, span string, first, last int64,
	add func(number int64, slot *pb.ReportSlot),
) error {
	for from := first; from <= last; from += readStep {
		var numbers []int64
		for number := from; number < from+readStep && number <= last; number++ {
			numbers = append(numbers, number)
		}
		found, bytes, err := s.Report(ctx, project, span, numbers)
		if err != nil {
			return err
		}
		for number, slot := range found {
			add(number, slot)
		}
		cost := time.Duration(bytes) * readByteCost
		if wait.For(ctx, pace.Reserve(project, "", int(cost/time.Microsecond))) != nil {
			return ErrNoTime
		}
	}
	return nil
}
