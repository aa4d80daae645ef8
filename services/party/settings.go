package party

import (
	"time"

	"matchmaker.dev/services/internal/state"
)

// Settings of the Parties API.
type Settings struct {
	Size      int           `help:"Most members of a party, 2 to 64: they become one ticket." default:"16" name:"max-party-members" bounds:"2..64" group:"parties"`
	Parties   int           `help:"Most parties of a project." default:"100000" name:"max-parties" bounds:"1.." group:"parties"`
	Silence   time.Duration `help:"How long a member may be silent, at least 10s, as it is noticed only within a part of it. Then it leaves, and the oldest other member follows a leader." default:"2m" name:"party-silence" bounds:"10s.." group:"parties"`
	Rate      float64       `help:"How many requests a second one player may send to one process in the long run; 0 means no limit." default:"10" name:"party-rate" bounds:"0..1000000" group:"parties"`
	Burst     int           `help:"How many such requests a player may send at once." default:"50" name:"party-burst" bounds:"1.." rate:"party-rate" group:"parties"`
	JoinRate  float64       `help:"How many codes a second one player may try with one process in the long run; 0 means no limit." default:"0.5" name:"party-join-rate" bounds:"0..1000000" group:"parties"`
	JoinBurst int           `help:"How many codes a player may try at once." default:"10" name:"party-join-burst" bounds:"1.." rate:"party-join-rate" group:"parties"`
	Held      int           `help:"How many requests one process holds open until a party changes; a project gets half of what the others leave free. Those beyond are answered at once." default:"20000" name:"max-held-parties" bounds:"0.." group:"parties"`
}

func (s *Settings) requests() state.Rate { return state.Rate{PerSecond: s.Rate, Burst: s.Burst} }

func (s *Settings) joins() state.Rate { return state.Rate{PerSecond: s.JoinRate, Burst: s.JoinBurst} }

func (s *Settings) limits() state.PartyLimits {
	return state.PartyLimits{Parties: s.Parties, Silence: s.Silence}
}

// attention is how often a member is noted as there, at least, whose request or stream is open.
func (s *Settings) attention() time.Duration { return s.Silence / 4 }

// noted is for how long it is not noted again that a member was heard of.
func (s *Settings) noted() time.Duration { return s.Silence / 8 }
