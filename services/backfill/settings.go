package backfill

import (
	"time"

	"matchmaker.dev/services/internal/state"
)

// Settings of the Backfill API.
type Settings struct {
	ApprovalRate  float64       `help:"How many times a second one server may approve in the long run, and as often, with each process, create, replace and delete backfill tickets; 0 means no limit. Once is enough." default:"20" bounds:"0..1000000" group:"backfill"`
	ApprovalBurst int           `help:"How many such requests of one server may come at once." default:"100" bounds:"1.." rate:"approval-rate" group:"backfill"`
	ChangeRate    float64       `help:"How many times a second the servers of a project may create, replace and delete backfill tickets in the long run, with each process; 0 means no limit. 10,000 servers that do so every 5 seconds need 2000." name:"backfill-change-rate" default:"5000" bounds:"0..1000000" group:"backfill"`
	ChangeBurst   int           `help:"How many such requests of a project may come at once." name:"backfill-change-burst" default:"20000" bounds:"1.." rate:"backfill-change-rate" group:"backfill"`
	RequestRate   float64       `help:"How many requests of the deprecated first generation a project may make a second, each a run of a function; 0 means no limit." name:"backfill-rate" default:"50" bounds:"0..1000000" group:"backfill"`
	RequestBurst  int           `help:"How many such requests a project may make at once." name:"backfill-burst" default:"200" bounds:"1.." rate:"backfill-rate" group:"backfill"`
	RequestTime   time.Duration `help:"How long the run of a function for such a request may take." name:"backfill-time" default:"5s" bounds:">0" group:"backfill"`
	Cores         float64       `help:"How much processor time the runs for such requests of a project may take, in seconds each second, in all processes together; 0 means no limit." name:"backfill-cores" default:"0.5" bounds:"0..1000000" group:"backfill"`
	Sunset        time.Time     `help:"Day from which on requests of the deprecated first generation may no longer be answered, which their answers announce." name:"backfill-sunset" format:"2006-01-02" placeholder:"YYYY-MM-DD" group:"backfill"`
}

func (s *Settings) approvals() state.Rate {
	return state.Rate{PerSecond: s.ApprovalRate, Burst: s.ApprovalBurst}
}

func (s *Settings) changes() state.Rate {
	return state.Rate{PerSecond: s.ChangeRate, Burst: s.ChangeBurst}
}

func (s *Settings) requests() state.Rate {
	return state.Rate{PerSecond: s.RequestRate, Burst: s.RequestBurst}
}

// searchWindow is how long a project's budget for searches takes to fill: after a rest all of it may be used at once.
const searchWindow = 10 * time.Second

func (s *Settings) searches() state.Budget {
	return state.Budget{Amount: time.Duration(s.Cores * float64(searchWindow)), Window: searchWindow}
}
