package observe

import (
	"context"
	"iter"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// gauges are the gauges of the projects that a replica leads.
type gauges struct {
	enabled                 bool
	projects, pools, queues *telemetry.Labels

	mu  sync.Mutex
	all map[*Project]snapshot
}

// snapshot is the numbers of a project at a moment.
type snapshot struct {
	state.Counts
	Usage
	at    time.Time
	pools map[poolID]*pb.PoolCount
}

// Usage is how much of its limits a project uses.
type Usage struct {
	// Quiet: nothing is stored in the project that becomes due.
	Quiet bool
	// Debt is the processor time beyond its budget.
	Debt time.Duration
	// Configs, Filters and Segments count all configs together.
	Configs, Filters, Segments int
	// ConfigBytes is about how many bytes all configs take.
	ConfigBytes int
	// ProposalBytes is about how many bytes unsettled proposals take.
	ProposalBytes int64
	// Queues is how many tickets wait in each queue that a config serves, and Unserved in all others together. A ticket of
	// several queues counts in each.
	Queues   map[string]int64
	Unserved int64
	// Players counts the players of all waiting tickets, QueuePlayers and UnservedPlayers the players in these queues. A
	// number that is missing, or less than the number of tickets, counts as the number of tickets.
	Players         int64
	QueuePlayers    map[string]int64
	UnservedPlayers int64
}

type poolID struct{ config, pool string }

func newGauges(m telemetry.Meter) *gauges {
	x := &gauges{
		enabled: m.Enabled(), projects: m.Labels("project"), pools: m.Labels("project", "config", "pool"),
		queues: m.Labels("project", "queue"),
		all:    map[*Project]snapshot{},
	}
	m.ObservableGauge("matchmaker.leading", "{project}", "Projects that this director leads.",
		func(_ context.Context, observe telemetry.Observe) {
			x.mu.Lock()
			defer x.mu.Unlock()
			observe(float64(len(x.all)))
		})
	m.ObservableGauge("matchmaker.leading.quiet", "{project}",
		"Led projects in which no ticket, match, result or backfill ticket is stored.",
		func(_ context.Context, observe telemetry.Observe) {
			x.mu.Lock()
			defer x.mu.Unlock()
			quiet := 0
			for _, s := range x.all {
				if s.Quiet {
					quiet++
				}
			}
			observe(float64(quiet))
		})
	x.gauge(m, "matchmaker.tickets.waiting", "{ticket}", "Tickets that wait for a match.",
		func(s *snapshot) float64 { return float64(s.Waiting) })
	x.gauge(m, "matchmaker.players.waiting", "{player}", "Players of the tickets that wait for a match.",
		func(s *snapshot) float64 { return float64(max(int64(s.waitIn(s.Players)), s.Waiting)) })
	x.gauge(m, "matchmaker.queue.unserved", "{ticket}",
		"Tickets that wait in queues that no config serves, once for each queue.",
		func(s *snapshot) float64 { return s.waitIn(s.Unserved) })
	x.gauge(m, "matchmaker.queue.unserved.players", "{player}",
		"Players of the tickets that wait in queues that no config serves, once for each queue.",
		func(s *snapshot) float64 { return s.waitIn(max(s.Unserved, s.UnservedPlayers)) })
	x.queueGauge(m, "matchmaker.queue.waiting", "{ticket}", "Tickets that wait in a queue that a config serves.",
		func(s *snapshot, queue string) int64 { return s.Queues[queue] })
	x.queueGauge(m, "matchmaker.queue.players", "{player}",
		"Players of the tickets that wait in a queue that a config serves.",
		func(s *snapshot, queue string) int64 { return max(s.Queues[queue], s.QueuePlayers[queue]) })
	x.gauge(m, "matchmaker.tickets.large", "By", "Bytes of the tickets that take more than 1 KiB each.",
		func(s *snapshot) float64 { return float64(s.Large) })
	x.gauge(m, "matchmaker.tickets.results", "{ticket}", "Tickets whose results are kept.",
		func(s *snapshot) float64 { return float64(s.Results) })
	x.gauge(m, "matchmaker.tickets.oldest", "s", "Age of the ticket that has waited for longest.",
		func(s *snapshot) float64 { return age(s.Oldest, s.at) })
	x.gauge(m, "matchmaker.matches.open", "{match}", "Matches whose tickets are claimed and have no result yet.",
		func(s *snapshot) float64 { return float64(s.Matches) })
	x.gauge(m, "matchmaker.project.debt", "s", "Processor time that a project used beyond its budget (--project-cores).",
		func(s *snapshot) float64 { return s.Debt.Seconds() })
	x.gauge(m, "matchmaker.configs", "{config}", "Configs of a project.",
		func(s *snapshot) float64 { return float64(s.Configs) })
	x.gauge(m, "matchmaker.configs.size", "By", "About how many bytes the configs of a project take.",
		func(s *snapshot) float64 { return float64(s.ConfigBytes) })
	x.gauge(m, "matchmaker.filters", "{filter}", "Filters of all configs of a project.",
		func(s *snapshot) float64 { return float64(s.Filters) })
	x.gauge(m, "matchmaker.segments", "{segment}", "Segments of all configs of a project: each is a run in every cycle.",
		func(s *snapshot) float64 { return float64(s.Segments) })
	x.gauge(m, "matchmaker.proposals.memory", "By",
		"About how much memory a project's proposals take until they are settled.",
		func(s *snapshot) float64 { return float64(s.ProposalBytes) })
	x.gauge(m, "matchmaker.events.unpublished", "{event}", "Events and their tickets, unpublished or of the last 4 s.",
		func(s *snapshot) float64 { return float64(s.Unpublished) })
	x.gauge(m, "matchmaker.outbox", "{match}", "Matches that are not known to be in the work queue.",
		func(s *snapshot) float64 { return float64(s.Outbox) })
	x.gauge(m, "matchmaker.backfills", "{backfill}", "Backfill tickets: running games that want players.",
		func(s *snapshot) float64 { return float64(s.Backfills) })
	x.gauge(m, "matchmaker.backfills.size", "By", "Bytes of the backfill tickets.",
		func(s *snapshot) float64 { return float64(s.BackfillBytes) })
	x.gauge(m, "matchmaker.joins", "{match}", "Matches that wait for the approval of a running game.",
		func(s *snapshot) float64 { return float64(s.Joins) })
	x.poolGauge(m, "matchmaker.pool.waiting", "{ticket}", "Tickets in a config's pool.",
		func(_ *snapshot, c *pb.PoolCount) float64 { return float64(c.GetTickets()) })
	x.poolGauge(m, "matchmaker.pool.players", "{player}", "Players of the tickets in a config's pool.",
		func(_ *snapshot, c *pb.PoolCount) float64 { return float64(c.GetPlayers()) })
	x.poolGauge(m, "matchmaker.pool.oldest", "s", "Age of the oldest ticket in a config's pool.",
		func(s *snapshot, c *pb.PoolCount) float64 {
			if c.GetTickets() == 0 {
				return 0
			}
			return age(time.UnixMilli(c.GetOldest()), s.at)
		})
	return x
}

// Measuring reports whether the gauges are read.
func (o *Observer) Measuring() bool { return o.gauges.enabled }

// Measure sets the project's gauges. segments are all that it has.
func (p *Project) Measure(now time.Time, counts state.Counts, usage Usage, segments iter.Seq[*Segment]) {
	s := snapshot{Counts: counts, Usage: usage, at: now, pools: map[poolID]*pb.PoolCount{}}
	for segment := range segments {
		for name := range segment.pools {
			id := poolID{segment.config.GetId(), name}
			sum := s.pools[id]
			if sum == nil {
				sum = new(pb.PoolCount)
				s.pools[id] = sum
			}
			// Where no ticket waits no function runs, and counts are old.
			if count := segment.counts[name]; count.GetTickets() > 0 && counts.Waiting > 0 {
				if sum.GetTickets() == 0 || count.GetOldest() < sum.GetOldest() {
					sum.Oldest = count.GetOldest()
				}
				sum.Tickets += count.GetTickets()
				sum.Players += max(count.GetTickets(), count.GetPlayers())
			}
		}
	}
	p.gauges.mu.Lock()
	defer p.gauges.mu.Unlock()
	p.gauges.all[p] = s
}

// Close removes the project's gauges.
func (p *Project) Close() {
	p.gauges.mu.Lock()
	defer p.gauges.mu.Unlock()
	delete(p.gauges.all, p)
}

// gauge is a number of each project. Projects beyond those that have labels of their own are summed.
func (x *gauges) gauge(m telemetry.Meter, name, unit, description string, of func(*snapshot) float64) {
	x.sum(m, name, unit, description, func(project string, s *snapshot, sums *sums) {
		sums.add(x.projects.Of(project), of(s))
	})
}

// poolGauge is a number of each pool of each project.
func (x *gauges) poolGauge(
	m telemetry.Meter, name, unit, description string, of func(*snapshot, *pb.PoolCount) float64,
) {
	x.sum(m, name, unit, description, func(project string, s *snapshot, sums *sums) {
		for id, c := range s.pools {
			sums.add(x.pools.Of(project, id.config, id.pool), of(s, c))
		}
	})
}

// queueGauge is a number of each queue that a config serves, of each project.
func (x *gauges) queueGauge(
	m telemetry.Meter, name, unit, description string, of func(s *snapshot, queue string) int64,
) {
	x.sum(m, name, unit, description, func(project string, s *snapshot, sums *sums) {
		for queue := range s.Queues {
			sums.add(x.queues.Of(project, queue), s.waitIn(of(s, queue)))
		}
	})
}

// sum is a gauge of the sums to which add adds the numbers of each project.
func (x *gauges) sum(
	m telemetry.Meter, name, unit, description string, add func(project string, s *snapshot, sums *sums),
) {
	m.ObservableGauge(name, unit, description, func(_ context.Context, observe telemetry.Observe) {
		x.mu.Lock()
		defer x.mu.Unlock()
		sums := sums{oldest: unit == "s"}
		for p, s := range x.all {
			add(p.name, &s, &sums)
		}
		sums.observe(observe)
	})
}

// waitIn is how many tickets or players wait. Where no ticket waits no function runs, and the count is old.
func (s *snapshot) waitIn(n int64) float64 {
	if s.Waiting == 0 {
		return 0
	}
	return float64(n)
}

// sums adds numbers that have the same labels. Of ages it takes the greatest.
type sums struct {
	oldest bool
	values map[attribute.Distinct]sum
}

type sum struct {
	labels []attribute.KeyValue
	value  float64
}

func (s *sums) add(labels []attribute.KeyValue, value float64) {
	if s.values == nil {
		s.values = map[attribute.Distinct]sum{}
	}
	set := attribute.NewSet(labels...)
	before := s.values[set.Equivalent()].value
	if s.oldest {
		value = max(before, value)
	} else {
		value += before
	}
	s.values[set.Equivalent()] = sum{labels, value}
}

func (s *sums) observe(observe telemetry.Observe) {
	for _, v := range s.values {
		observe(v.value, v.labels...)
	}
}

// age is in seconds; 0 if there is nothing that has one.
func age(of, now time.Time) float64 {
	if of.IsZero() {
		return 0
	}
	return max(0, now.Sub(of).Seconds())
}
