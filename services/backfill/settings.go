package backfill

import (
	"errors"
	"fmt"
	"math"
	"time"

	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// Settings of the Backfill API.
type Settings struct {
	ApprovalRate  float64       `help:"How many times a second one server may approve in the long run; 0 means no limit. Once is enough." default:"20" group:"backfill"`
	ApprovalBurst int           `help:"How many times one server may approve at once." default:"100" group:"backfill"`
	RequestRate   float64       `help:"How many requests of the deprecated first generation a project may make a second, each a run of a function; 0 means no limit." name:"backfill-rate" default:"50" group:"backfill"`
	RequestBurst  int           `help:"How many such requests a project may make at once." name:"backfill-burst" default:"200" group:"backfill"`
	RequestTime   time.Duration `help:"How long the run of a function for such a request may take." name:"backfill-time" default:"5s" group:"backfill"`
	Cores         float64       `help:"How much processor time the runs for such requests of a project may take, in seconds each second, in all processes together; 0 means no limit." name:"backfill-cores" default:"0.5" group:"backfill"`
	Sunset        time.Time     `help:"Day from which on requests of the deprecated first generation may no longer be answered, which their answers announce." name:"backfill-sunset" format:"2006-01-02" placeholder:"YYYY-MM-DD" group:"backfill"`
}

func (s *Settings) approvals() state.Rate {
	return state.Rate{PerSecond: s.ApprovalRate, Burst: s.ApprovalBurst}
}

func (s *Settings) requests() state.Rate {
	return state.Rate{PerSecond: s.RequestRate, Burst: s.RequestBurst}
}

// maxCores is more than any system has.
const maxCores = 1_000_000

// searchWindow is how long a project's budget for searches takes to fill: after a rest all of it may be used at once.
const searchWindow = 10 * time.Second

func (s *Settings) searches() state.Budget {
	return state.Budget{Amount: time.Duration(s.Cores * float64(searchWindow)), Window: searchWindow}
}

// Validate names the flags that make no sense.
func (s *Settings) Validate() error {
	errs := []error{settings.Positive(map[string]time.Duration{"backfill-time": s.RequestTime})}
	if err := s.approvals().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--approval-rate, --approval-burst: %w", err))
	}
	if s.Cores < 0 || math.IsNaN(s.Cores) || s.Cores > maxCores {
		errs = append(errs, fmt.Errorf("--backfill-cores must not be negative, and at most %d", maxCores))
	}
	if err := s.requests().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--backfill-rate, --backfill-burst: %w", err))
	}
	return errors.Join(errs...)
}
