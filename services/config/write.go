package config

import (
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
)

// bodyOf is a stored config with its hosting keys, as shown tells of them. PUT accepts it, and stores the same.
func bodyOf(c *pb.Config, shown *pb.HostingKeys) response.Config {
	b := response.Config{Matchmaking: response.Matchmaking{
		Name: c.GetName(),
		TargetFunction: response.FunctionTarget{
			Name: c.GetFunction(), Version: c.GetFunctionVersion(), Upload: c.GetUpload(),
		},
		Config: c.GetSettings(),
	}, Queue: c.GetQueue(), Seats: c.GetSeats()}
	if c.GetPoolsSet() {
		b.Pools = make(map[string][]response.PoolFilter, len(c.GetPools()))
	}
	for name, pool := range c.GetPools() {
		filters := make([]response.PoolFilter, 0, len(pool.GetFilters()))
		for _, f := range pool.GetFilters() {
			filters = append(filters, filterOf(f))
		}
		b.Pools[name] = filters
	}
	if c.GetAcceptance() > 0 {
		b.Acceptance = &response.AcceptanceRule{Seconds: int(c.GetAcceptance() / 1000)}
	}
	if c.GetResultTime() > 0 {
		b.Result = &response.ResultRule{Seconds: int(c.GetResultTime() / 1000)}
	}
	if c.GetReport() != nil {
		b.Report = &response.ReportRule{Attributes: c.GetReport().GetAttributes()}
	}
	if h := c.GetHosting(); h != nil {
		b.Hosting = &response.Hosting{
			Profile: h.GetProfile(), Access: shown.GetAccess(), Secret: shown.GetSecret(), FleetID: h.GetFleet(),
			OnAllocationError: h.GetOnAllocationError(),
		}
	}
	return b
}

func filterOf(f *pb.Filter) response.PoolFilter {
	out := response.PoolFilter{Attribute: f.GetAttribute(), Count: f.GetCount(), Min: f.Min, Max: f.Max}
	if s := f.GetSegmentation(); s != nil {
		out.Segmentation = &response.Segmentation{
			DistributionType: s.GetDistribution(), SegmentBehaviorType: s.GetBehavior(), Value: int(s.GetValue()),
			Stddev: s.Stddev,
		}
	}
	return out
}
