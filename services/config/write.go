package config

import (
	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// body is Config of the contract, with its casing, as answers have it. What was not given is not there; an empty object
// that was given is.
type body struct {
	Matchmaking matchmaking         `json:"matchmaking"`
	Pools       map[string][]filter `json:"pools,omitzero"`
	Queue       string              `json:"queue,omitzero"`
	Acceptance  *acceptance         `json:"acceptance,omitzero"`
	Seats       bool                `json:"seats,omitzero"`
	Report      *reported           `json:"report,omitzero"`
	Hosting     *hosting            `json:"hosting,omitzero"`
}

// reported is what is told of the matches, beside what is told of all.
type reported struct {
	Attributes []string `json:"attributes,omitzero"`
}

type acceptance struct {
	Seconds int64 `json:"seconds"`
}

type matchmaking struct {
	Name           string         `json:"name,omitzero"`
	TargetFunction targetFunction `json:"targetFunction"`
	Config         jsontext.Value `json:"config,omitzero"`
}

type targetFunction struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
	Upload  int64  `json:"upload,omitzero"`
}

type filter struct {
	Attribute    string        `json:"attribute,omitzero"`
	Count        string        `json:"count,omitzero"`
	Min          *float64      `json:"min,omitzero"`
	Max          *float64      `json:"max,omitzero"`
	Segmentation *segmentation `json:"segmentation,omitzero"`
}

type segmentation struct {
	DistributionType    string   `json:"DistributionType"`
	SegmentBehaviorType string   `json:"SegmentBehaviorType"`
	Value               int64    `json:"Value"`
	Stddev              *float64 `json:"Stddev,omitzero"`
}

type hosting struct {
	Profile string `json:"Profile,omitzero"`
	Access  string `json:"Access,omitzero"`
	Secret  string `json:"Secret,omitzero"`
	FleetID string `json:"FleetId,omitzero"`

	OnAllocationError string `json:"OnAllocationError,omitzero"`
}

// bodyOf is a stored config with its hosting keys, as shown tells of them. PUT accepts it, and stores the same.
func bodyOf(c *pb.Config, shown *pb.HostingKeys) body {
	b := body{Matchmaking: matchmaking{
		Name:           c.GetName(),
		TargetFunction: targetFunction{Name: c.GetFunction(), Version: c.GetFunctionVersion(), Upload: c.GetUpload()},
		Config:         c.GetSettings(),
	}, Queue: c.GetQueue(), Seats: c.GetSeats()}
	if c.GetPoolsSet() {
		b.Pools = make(map[string][]filter, len(c.GetPools()))
	}
	for name, pool := range c.GetPools() {
		filters := make([]filter, 0, len(pool.GetFilters()))
		for _, f := range pool.GetFilters() {
			filters = append(filters, filterOf(f))
		}
		b.Pools[name] = filters
	}
	if c.GetAcceptance() > 0 {
		b.Acceptance = &acceptance{Seconds: c.GetAcceptance() / 1000}
	}
	if c.GetReport() != nil {
		b.Report = &reported{c.GetReport().GetAttributes()}
	}
	if h := c.GetHosting(); h != nil {
		b.Hosting = &hosting{
			Profile: h.GetProfile(), Access: shown.GetAccess(), Secret: shown.GetSecret(), FleetID: h.GetFleet(),
			OnAllocationError: h.GetOnAllocationError(),
		}
	}
	return b
}

func filterOf(f *pb.Filter) filter {
	out := filter{Attribute: f.GetAttribute(), Count: f.GetCount(), Min: f.Min, Max: f.Max}
	if s := f.GetSegmentation(); s != nil {
		out.Segmentation = &segmentation{
			DistributionType: s.GetDistribution(), SegmentBehaviorType: s.GetBehavior(), Value: s.GetValue(), Stddev: s.Stddev,
		}
	}
	return out
}
