package party

import (
	"errors"
	"fmt"
	"time"

	"matchmaker.dev/services/internal/state"
)

// Settings of the Parties API.
type Settings struct {
	Size      int           `help:"Most members of a party." default:"16" name:"max-party-members" group:"parties"`
	Parties   int           `help:"Most parties of a project." default:"100000" name:"max-parties" group:"parties"`
	Silence   time.Duration `help:"How long a member may be silent. Then it leaves, and the oldest other member follows a leader." default:"2m" name:"party-silence" group:"parties"`
	Rate      float64       `help:"How many requests a second one player may send to one process in the long run; 0 means no limit." default:"10" name:"party-rate" group:"parties"`
	Burst     int           `help:"How many such requests a player may send at once." default:"50" name:"party-burst" group:"parties"`
	JoinRate  float64       `help:"How many codes a second one player may try with one process in the long run; 0 means no limit." default:"0.5" name:"party-join-rate" group:"parties"`
	JoinBurst int           `help:"How many codes a player may try at once." default:"10" name:"party-join-burst" group:"parties"`
	Held      int           `help:"How many requests one process holds open until a party changes; a project gets half of what the others leave free. Those beyond are answered at once." default:"20000" name:"max-held-parties" group:"parties"`
}

// largest is the most members that a party can have: the most players of a ticket.
const largest = 64

// shortest is the shortest time after which a member is silent: gaps are noticed only within a part of it.
const shortest = 10 * time.Second

func (s *Settings) requests() state.Rate { return state.Rate{PerSecond: s.Rate, Burst: s.Burst} }

func (s *Settings) joins() state.Rate { return state.Rate{PerSecond: s.JoinRate, Burst: s.JoinBurst} }

func (s *Settings) limits() state.PartyLimits {
	return state.PartyLimits{Parties: s.Parties, Silence: s.Silence}
}

// attention is how often a member is noted as there, at least, whose request or stream is open.
func (s *Settings) attention() time.Duration { return s.Silence / 4 }

// noted is for how long it is not noted again that a member was heard of.
func (s *Settings) noted() time.Duration { return s.Silence / 8 }

// Validate names the flags that make no sense.
func (s *Settings) Validate() error {
	var errs []error
	if s.Size < 2 || s.Size > largest {
		errs = append(errs, fmt.Errorf("--max-party-members: 2 to %d are expected", largest))
	}
	if s.Parties < 1 {
		errs = append(errs, errors.New("--max-parties: at least 1 is expected"))
	}
	if s.Silence < shortest {
		errs = append(errs, fmt.Errorf("--party-silence: at least %v is expected", shortest))
	}
	if s.Held < 0 {
		errs = append(errs, errors.New("--max-held-parties: must not be negative"))
	}
	if err := s.requests().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--party-rate, --party-burst: %w", err))
	}
	if err := s.joins().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--party-join-rate, --party-join-burst: %w", err))
	}
	return errors.Join(errs...)
}
