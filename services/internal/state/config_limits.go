package state

import (
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/segmentation"
)

// ConfigLimits are limits of all configs of a project together. Each segment is a run of a function in every cycle, and
// each filter a scan of a column. 0 means no limit.
type ConfigLimits struct {
	Configs  int `help:"Most configs of a project. 0 means no limit." default:"200" name:"max-configs" bounds:"0.." group:"cycle"`
	Filters  int `help:"Most filters of all configs of a project. 0 means no limit." default:"4096" name:"max-config-filters" bounds:"0.." group:"cycle"`
	Segments int `help:"Most segments of all configs of a project. Those that depend on the number of tickets count as one, and get what the others leave. 0 means no limit." default:"1024" name:"max-config-segments" bounds:"0.." group:"cycle"`
	Bytes    int `help:"Most bytes of all configs of a project, as they are stored. 0 means no limit." default:"4194304" name:"max-config-bytes" bounds:"0.." group:"cycle"`
	History  int `help:"Most bytes of what the configs of a project were before, to go back to." default:"16777216" name:"max-config-history" bounds:"1.." group:"cycle"`
}

// exceeded returns the limit that a change would exceed, and the number.
func (l *ConfigLimits) exceeded(what string, number int64) error {
	switch what {
	case "configs":
		return problem.New(problem.Invalid, "the project has %d configs, the most it may have (--max-configs): delete one "+
			"first", number-1).Exceeds("max-configs")
	case "filters":
		return tooMany(number, "filters", l.Filters, "max-config-filters")
	case "segments":
		return tooMany(number, "segments", l.Segments, "max-config-segments")
	}
	return tooMany(number, "bytes", l.Bytes, "max-config-bytes")
}

func tooMany(number int64, what string, limit int, setting string) error {
	return problem.New(problem.Invalid,
		"all configs of the project would have %d %s together, at most %d are allowed (--%s): make this one smaller, or "+
			"delete another", number, what, limit, setting).Exceeds(setting)
}

// countConfig counts what limits bound.
func countConfig(c *pb.Config) (filters, segments int) {
	for _, p := range c.GetPools() {
		filters += len(p.GetFilters())
	}
	divided, err := segmentation.Expand(c.GetPools(), nil)
	if err != nil {
		return filters, 1 // one that the Configs API refuses has no segments
	}
	return filters, max(1, len(divided))
}
