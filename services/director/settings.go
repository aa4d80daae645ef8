package director

import (
	"errors"
	"math"
	"time"

	"matchmaker.dev/services/internal/platform/settings"
)

// Settings of the director.
type Settings struct {
	MinInterval   time.Duration `help:"Least time between two runs of a config, on average: after a pause, two may follow each other at once. Where n configs have equal pools, more than three, n thirds of it, and --max-interval at most." default:"10ms" group:"cycle"`
	MaxInterval   time.Duration `help:"A config runs at least this often, since functions widen with time." default:"1s" group:"cycle"`
	Window        time.Duration `help:"How long proposals wait for runs of other configs that started with their own." default:"20ms" group:"cycle"`
	Run           time.Duration `help:"How long a run of a function may take." default:"5s" name:"run-time" group:"cycle"`
	Cores         float64       `help:"How much processor time a project's runs may take, in seconds each second, in all processes together; what is beyond it waits. 0 means no limit." default:"1" name:"project-cores" group:"cycle"`
	Lease         time.Duration `help:"How long a project stays with a director that says nothing." default:"3s" group:"cycle"`
	Claim         time.Duration `help:"How long a claimed ticket waits for its allocation to begin before it may be matched again." default:"30s" group:"cycle"`
	Approval      time.Duration `help:"How long tickets that were proposed to a running game wait for the approval of its server before they wait for others again." name:"approval-time" default:"20s" group:"backfill"`
	Silence       time.Duration `help:"A backfill ticket whose server has said nothing for this long is deleted." name:"backfill-silence" default:"1h" group:"backfill"`
	BackfillFirst bool          `help:"Fill running games before new ones are opened, whatever the scores; without it the scores decide." negatable:"" default:"true" group:"backfill"`
	Matches       int           `help:"Most matches of a project that wait for their servers; beyond it no tickets are claimed until some have one. 0 means no limit." default:"10000" name:"max-matches" group:"cycle"`
	RatingAge     time.Duration `help:"Ratings and standing of a player that did not change for this long are deleted." name:"rating-age" default:"9600h" group:"tickets"`
	Waiting       time.Duration `help:"A ticket that has waited this long is taken for abandoned and deleted." default:"1h" name:"wait-limit" group:"tickets"`
	Unserved      time.Duration `help:"How long a queue may be without a config before the tickets that wait in it end, where the project refuses such tickets." default:"20s" name:"unserved-grace" group:"tickets"`
	ConfigHistory time.Duration `help:"How long it is kept what a config was before a change, and what a deleted one was." default:"720h" name:"config-history" group:"cycle"`
}

// Validate names the flags that make no sense.
func (s *Settings) Validate() error {
	var err error
	if s.Cores < 0 || math.IsNaN(s.Cores) || math.IsInf(s.Cores, 0) {
		err = errors.New("--project-cores must not be negative, and finite")
	}
	if s.Matches < 0 {
		err = errors.Join(err, errors.New("--max-matches must not be negative"))
	}
	return errors.Join(err, settings.Positive(map[string]time.Duration{
		"min-interval": s.MinInterval, "max-interval": s.MaxInterval, "run-time": s.Run,
		"lease": s.Lease, "claim": s.Claim, "wait-limit": s.Waiting, "rating-age": s.RatingAge, "unserved-grace": s.Unserved,
		"approval-time": s.Approval, "backfill-silence": s.Silence, "config-history": s.ConfigHistory,
	}))
}
