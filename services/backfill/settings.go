package backfill

import (
	"errors"
	"fmt"
	"time"

	"matchmaker.dev/services/internal/settings"
	"matchmaker.dev/services/internal/state"
)

// Settings of the Backfill API.
type Settings struct {
	ApprovalRate  float64       `help:"How many times a second one server may approve in the long run; 0 means no limit. Once is enough." default:"20" group:"backfill"`
	ApprovalBurst int           `help:"How many times one server may approve at once." default:"100" group:"backfill"`
	RequestRate   float64       `help:"How many requests of the deprecated first generation a project may make a second, each a run of a function; 0 means no limit." name:"backfill-rate" default:"50" group:"backfill"`
	RequestBurst  int           `help:"How many such requests a project may make at once." name:"backfill-burst" default:"200" group:"backfill"`
	RequestTime   time.Duration `help:"How long the run of a function for such a request may take." name:"backfill-time" default:"5s" group:"backfill"`
	Sunset        time.Time     `help:"Day from which on requests of the deprecated first generation may no longer be answered, which their answers announce." name:"backfill-sunset" format:"2006-01-02" placeholder:"YYYY-MM-DD" group:"backfill"`
}

func (s *Settings) approvals() state.Rate {
	return state.Rate{PerSecond: s.ApprovalRate, Burst: s.ApprovalBurst}
}

func (s *Settings) requests() state.Rate {
	return state.Rate{PerSecond: s.RequestRate, Burst: s.RequestBurst}
}

// Validate names the flags that make no sense.
func (s *Settings) Validate() error {
	errs := []error{settings.Positive(map[string]time.Duration{"backfill-time": s.RequestTime})}
	if err := s.approvals().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--approval-rate, --approval-burst: %w", err))
	}
	if err := s.requests().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--backfill-rate, --backfill-burst: %w", err))
	}
	return errors.Join(errs...)
}
