package director

import (
	"context"
	"iter"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/match/segmentation"
)

// A leader reads changed configs at once, but on average no more often than once each reloadEvery: a project that
// changes its configs all the time waits for some of the changes, and its other configs go on meanwhile. Claims of a
// config that was changed are refused until it was read.
const (
	reloadEvery = 50 * time.Millisecond
	reloadSpare = 4
)

// reloads says when the configs are to be read.
type reloads struct {
	wanted bool
	// paced is when all reads so far were to have begun, with reloadEvery between them.
	paced time.Time
}

// at is when the configs may be read.
func (r *reloads) at() time.Time { return r.paced.Add(-(reloadSpare - 1) * reloadEvery) }

// begin reports whether the configs are to be read now.
func (r *reloads) begin(now time.Time) bool {
	if !r.wanted || now.Before(r.at()) {
		return false
	}
	if r.paced.Before(now) {
		r.paced = now
	}
	r.wanted, r.paced = false, r.paced.Add(reloadEvery)
	return true
}

// reload reads the configs that changed, if it is time. It gives up runs of configs that were changed or deleted, since
// their claims would be refused, and charges each change to its config.
func (l *leader) reload(ctx context.Context, now time.Time) {
	if !l.reloads.begin(now) {
		return
	}
	l.observed.CountRead(ctx)
	known := make(map[string]int64, len(l.segments))
	for id, segments := range l.segments {
		known[id] = segments[0].config.GetRevision()
	}
	changed, revisions, err := l.Store.ChangedConfigs(ctx, l.project, known)
	if !l.observed.Check(ctx, "reading the configs", err) {
		l.maintenance.lookSoon(l.Now())
		return
	}
	for id, segments := range l.segments {
		if revision, exists := revisions[id]; exists && revision == known[id] {
			continue
		} else if exists {
			l.budget.Account(id).EndDebt(now)
		} else {
			l.chargeChange(ctx, id, 0)
			l.budget.Close(id)
			delete(l.asked, id)
		}
		for _, s := range segments {
			s.stop(now)
		}
		l.configBytes -= proto.Size(segments[0].config)
		delete(l.segments, id)
	}
	for id, config := range changed {
		if l.segments[id] == nil {
			size := proto.Size(config)
			l.configBytes += size
			l.chargeChange(ctx, id, size)
			l.segments[id] = l.newSegments(ctx, config, segmentation.Divide(config.GetPools()), nil)
		}
	}
	configs := make([]*pb.Config, 0, len(l.segments))
	for _, segments := range l.segments {
		configs = append(configs, segments[0].config)
	}
	l.estimator.use(configs)
}

// chargeChange charges the reading of a changed config to it.
func (l *leader) chargeChange(ctx context.Context, config string, size int) {
	cost := schedule.ChangeCost(size)
	l.budget.Account(config).Charge(cost)
	l.observed.RecordCost(ctx, schedule.Cost{Director: cost})
}

// knows reports whether these are the revisions of the configs that the leader has read.
func (l *leader) knows(revisions map[string]int64) bool {
	for id, segments := range l.segments {
		if revision, is := revisions[id]; !is || revision != segments[0].config.GetRevision() {
			return false
		}
	}
	return len(revisions) == len(l.segments)
}

// newSegments makes the segments of a config's pools. Their runs are independent of each other. old is a segment that
// they replace, or nil.
func (l *leader) newSegments(
	ctx context.Context, config *pb.Config, division *segmentation.Division, old *segment,
) []*segment {
	divided, err := division.Expand(config.GetPools())
	if err != nil {
		// The Configs API refuses such a config. This one comes from another version of it.
		l.log.ErrorContext(ctx, "the segments of a config are ignored", "config", config.GetId(), "error", err)
		divided = []map[string]*pb.Pool{config.GetPools()}
	}
	if n := l.countSegments(config.GetId()) + len(divided); l.Segments > 0 && n > l.Segments && len(divided) > 1 {
		log := l.log.WarnContext
		if old != nil && len(l.segments[config.GetId()]) == 1 { // again
			log = l.log.DebugContext
		}
		log(ctx, "all configs of the project have too many segments together: this one is not divided",
			"config", config.GetId(), "segments", n, "most", l.Segments)
		divided = []map[string]*pb.Pool{config.GetPools()}
	}
	timing, before := l.budget.Account(config.GetId()).First(), (*observe.Segment)(nil)
	if old != nil {
		timing, before = old.Next(), old.observed
	}
	segments := make([]*segment, len(divided))
	for i, pools := range divided {
		segments[i] = &segment{
			Segment: timing, config: config, pools: pools, division: division,
			observed: l.observed.Segment(config, pools, before),
		}
		segments[i].See(schedule.PoolsOf(config.GetQueue(), pools))
	}
	return segments
}

// countSegments counts the segments of all other configs.
func (l *leader) countSegments(but string) (n int) {
	for id, segments := range l.segments {
		if id != but {
			n += len(segments)
		}
	}
	return n
}

// resegment makes new segments for configs whose segments no longer fit the tickets. It waits until the runs under way
// are settled, and no new ones start meanwhile: a ticket is in one segment at a time, and no run is in vain.
func (l *leader) resegment(ctx context.Context) {
	for id, old := range l.segments {
		division := old[0].division
		busy := func(s *segment) bool { return !s.Idle() }
		if division == nil || !division.Outgrown || slices.ContainsFunc(old, busy) {
			continue
		}
		last := slices.MaxFunc(old, func(a, b *segment) int { return a.Started().Compare(b.Started()) })
		l.segments[id] = l.newSegments(ctx, old[0].config, division, last)
		l.log.DebugContext(ctx, "the segments of a config are new",
			"config", id, "tickets", division.Made, "segments", len(l.segments[id]))
	}
}

// all are the segments of all configs.
func (l *leader) all() iter.Seq[*segment] {
	return func(yield func(*segment) bool) {
		for _, segments := range l.segments {
			for _, s := range segments {
				if !yield(s) {
					return
				}
			}
		}
	}
}
