package director

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/assignment"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/telemetry"
)

// metrics are what a director measures. Numbers of a project come from its leader alone, so that those of all replicas can be added.
type metrics struct {
	on bool

	projects, configs, pools *telemetry.Labels

	phase              map[string]metric.MeasurementOption
	phases             metric.Float64Histogram
	matching, assigned metric.Float64Histogram
	score, size        metric.Float64Histogram
	runs, proposals    metric.Int64Counter
	claims, matches    metric.Int64Counter
	repaired           metric.Int64Counter
	repairs            map[string]metric.MeasurementOption

	mu sync.Mutex
	// standings are those of the projects that are led here.
	standings map[*leader]standing
}

// standing is what a leader says of its project, once a second.
type standing struct {
	state.Counts
	at    time.Time
	pools map[poolOf]*pb.PoolCount
}

// poolOf names a pool of a config.
type poolOf struct{ config, pool string }

// newMetrics makes the director's instruments.
func newMetrics(m telemetry.Meter) *metrics {
	x := &metrics{
		on:       m.Enabled(),
		projects: m.Labels("project"), configs: m.Labels("project", "config"), pools: m.Labels("project", "config", "pool"),
		standings: map[*leader]standing{},

		phases:   m.WorkSeconds("matchmaker.cycle.phase", "Time of the parts of a cycle: position (the index comes up and an instance is free), query, encode, function, decode, window (proposals wait for others), contest, claim, publish (matches go into the work queue)."),
		matching: m.WaitSeconds("matchmaker.time_to_match", "Time from a ticket's creation to its match, or its proposal to a running game."),
		assigned: assignment.Waited(m),
		score:    m.Histogram("matchmaker.match.score", "{score}", "Scores that match functions gave to the matches that were made.", -100, -10, -1, -.5, 0, .25, .5, .75, .9, 1, 10, 100, 1000, 10000),
		size:     m.Histogram("matchmaker.match.tickets", "{ticket}", "Tickets of the matches that were made.", 1, 2, 4, 6, 8, 10, 16, 32, 64, 100),
		runs:     m.Counter("matchmaker.runs", "{run}", "Runs of configs, by outcome: ok, failed (the function, or the runner), absent (no runner has it), late (nobody answered in time)."),
		proposals: m.Counter("matchmaker.proposals", "{proposal}",
			"Proposals of match functions, by outcome: kept, outbid (another one had a ticket), late (their run was given up), unclaimed (Redis did not answer, or another director leads)."),
		claims: m.Counter("matchmaker.claims", "{claim}",
			"Proposals that won, by what became of their claim: ok, config (it was changed or deleted), ticket (one does not wait any more), backfill (the game is not what it was), failed."),
		matches: m.Counter("matchmaker.matches", "{match}", "Matches that were made, by kind: hosted (a server is allocated), direct (assigned at once), filling (proposed to a running game)."),
		repaired: m.Counter("matchmaker.repaired", "{item}",
			"What a crash or an absence left behind: overdue (matches whose allocation did not begin or end in time), outbox (matches sent again), lapsed (proposals that no server approved), silent (backfill tickets of silent servers), abandoned (tickets that waited for too long)."),
	}
	x.repairs = telemetry.LabelsByValue(nil, "what", "overdue", "outbox", "lapsed", "silent", "abandoned")
	telemetry.StartAtZero(x.repaired, x.repairs)
	x.phase = telemetry.LabelsByValue(nil, "phase", "position", "query", "encode", "function", "decode", "window", "contest", "claim", "publish")
	m.ObservableGauge("matchmaker.leading", "{project}", "Projects that this director leads.", func(_ context.Context, observe telemetry.Observe) {
		x.mu.Lock()
		defer x.mu.Unlock()
		observe(float64(len(x.standings)))
	})
	x.gauge(m, "matchmaker.tickets.waiting", "{ticket}", "Tickets that wait for a match.", func(s *standing) float64 { return float64(s.Waiting) })
	x.gauge(m, "matchmaker.tickets.oldest", "s", "Age of the ticket that has waited for longest.", func(s *standing) float64 { return age(s.Oldest, s.at) })
	x.gauge(m, "matchmaker.matches.open", "{match}", "Matches whose tickets are claimed and have no result yet.", func(s *standing) float64 { return float64(s.Matches) })
	x.gauge(m, "matchmaker.outbox", "{match}", "Matches that are not known to be in the work queue.", func(s *standing) float64 { return float64(s.Outbox) })
	x.gauge(m, "matchmaker.backfills", "{backfill}", "Backfill tickets: running games that want players.", func(s *standing) float64 { return float64(s.Backfills) })
	x.gauge(m, "matchmaker.backfills.proposed", "{backfill}", "Backfill tickets with tickets that wait for approval.", func(s *standing) float64 { return float64(s.Proposed) })
	x.poolGauge(m, "matchmaker.pool.waiting", "{ticket}", "Tickets in a config's pool.", func(_ *standing, c *pb.PoolCount) float64 { return float64(c.GetTickets()) })
	x.poolGauge(m, "matchmaker.pool.oldest", "s", "Age of the oldest ticket in a config's pool.", func(s *standing, c *pb.PoolCount) float64 {
		if c.GetTickets() == 0 {
			return 0
		}
		return age(time.UnixMilli(c.GetOldest()), s.at)
	})
	return x
}

// gauge is a number of each project that is led here. Projects beyond those that are told apart are added up.
func (x *metrics) gauge(m telemetry.Meter, name, unit, description string, of func(*standing) float64) {
	m.ObservableGauge(name, unit, description, func(_ context.Context, observe telemetry.Observe) {
		x.mu.Lock()
		defer x.mu.Unlock()
		sums := sums{oldest: unit == "s"}
		for l, s := range x.standings {
			sums.add(x.projects.Of(l.project), of(&s))
		}
		sums.tell(observe)
	})
}

// poolGauge is a number of each pool of the projects that are led here.
func (x *metrics) poolGauge(m telemetry.Meter, name, unit, description string, of func(*standing, *pb.PoolCount) float64) {
	m.ObservableGauge(name, unit, description, func(_ context.Context, observe telemetry.Observe) {
		x.mu.Lock()
		defer x.mu.Unlock()
		sums := sums{oldest: unit == "s"}
		for l, s := range x.standings {
			for p, c := range s.pools {
				sums.add(x.pools.Of(l.project, p.config, p.pool), of(&s, c))
			}
		}
		sums.tell(observe)
	})
}

// sums adds up numbers that have the same labels; of ages the greatest counts.
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

func (s *sums) tell(observe telemetry.Observe) {
	for _, v := range s.values {
		observe(v.value, v.labels...)
	}
}

func age(of, now time.Time) float64 {
	if of.IsZero() {
		return 0
	}
	return max(0, now.Sub(of).Seconds())
}

// took records a part of a cycle.
func (x *metrics) took(ctx context.Context, phase string, d time.Duration) {
	x.phases.Record(ctx, d.Seconds(), x.phase[phase])
}

// stages records what a run says of where its time went.
func (x *metrics) stages(ctx context.Context, s *pb.RunStats) {
	for _, stage := range []struct {
		phase  string
		micros int64
	}{{"position", s.GetWaiting()}, {"query", s.GetQuery()}, {"encode", s.GetEncode()}, {"function", s.GetRun()}, {"decode", s.GetDecode()}} {
		x.took(ctx, stage.phase, time.Duration(stage.micros)*time.Microsecond)
	}
}

// labels are the ones of a config's counters, made once for each course.
type labels struct {
	config     metric.MeasurementOption
	runs       map[string]metric.MeasurementOption
	proposals  map[string]metric.MeasurementOption
	claims     map[string]metric.MeasurementOption
	matches    map[string]metric.MeasurementOption
	assigned   metric.MeasurementOption
	unassigned metric.MeasurementOption
}

func (x *metrics) labels(project, config string) *labels {
	of := x.configs.Of(project, config)
	l := &labels{
		config:     telemetry.WithLabels(of),
		runs:       telemetry.LabelsByValue(of, "outcome", "ok", "failed", "absent", "late"),
		proposals:  telemetry.LabelsByValue(of, "outcome", "kept", "outbid", "late", "unclaimed"),
		claims:     telemetry.LabelsByValue(of, "outcome", "ok", "config", "ticket", "backfill", "failed"),
		matches:    telemetry.LabelsByValue(of, "kind", "hosted", "direct", "filling"),
		assigned:   telemetry.WithLabels(of, attribute.String("result", "connection")),
		unassigned: telemetry.WithLabels(of, attribute.String("result", "error")),
	}
	telemetry.StartAtZero(x.runs, l.runs)
	telemetry.StartAtZero(x.proposals, l.proposals)
	telemetry.StartAtZero(x.claims, l.claims)
	telemetry.StartAtZero(x.matches, l.matches)
	return l
}

// claimed records what became of claims.
func (x *metrics) claimed(ctx context.Context, now time.Time, origin *course, c *state.Claim) {
	l, p := origin.labels, c.Match.GetProposal()
	switch c.Refusal {
	case "":
		x.claims.Add(ctx, 1, l.claims["ok"])
	case "config", "backfill":
		x.claims.Add(ctx, 1, l.claims[c.Refusal])
		return
	default:
		x.claims.Add(ctx, 1, l.claims["ticket"])
		return
	}
	kind := "hosted"
	switch {
	case p.GetFilling().GetBackfill() != "":
		kind = "filling"
	case c.Assignments != nil:
		kind = "direct"
	}
	x.matches.Add(ctx, 1, l.matches[kind])
	x.score.Record(ctx, p.GetScore(), l.config)
	x.size.Record(ctx, float64(len(c.Tickets)), l.config)
	result := l.assigned
	if p.GetError() != "" {
		result = l.unassigned
	}
	for _, id := range c.Tickets {
		created, known := state.CreationTime(id)
		if !known {
			continue
		}
		waited := age(created, now)
		if p.GetError() == "" {
			x.matching.Record(ctx, waited, l.config)
		}
		if kind == "direct" {
			x.assigned.Record(ctx, waited, result)
		}
	}
}

// settled records claims that were answered.
func (x *metrics) settled(ctx context.Context, now time.Time, winners []*proposal, claims []*state.Claim) {
	for i, c := range claims {
		x.proposals.Add(ctx, 1, winners[i].Origin.labels.proposals["kept"])
		x.claimed(ctx, now, winners[i].Origin, c)
	}
}

// mended counts what had to be repaired.
func (x *metrics) mended(ctx context.Context, what string, n int) {
	x.repaired.Add(ctx, int64(n), x.repairs[what])
}

// unclaimed counts the winners of a round that are given up, those whose claim failed among them.
func (l *leader) unclaimed(ctx context.Context, r *round, failed []*proposal) {
	for _, p := range failed {
		l.metrics.claims.Add(ctx, 1, p.Origin.labels.claims["failed"])
	}
	for _, p := range r.won[len(r.claims):] {
		l.metrics.proposals.Add(ctx, 1, p.Origin.labels.proposals["unclaimed"])
	}
}

// outbid counts the proposals that lost a round, and take part in no other.
func (l *leader) outbid(ctx context.Context, r *round, again []*proposal) {
	if len(r.entries) == len(r.won) {
		return
	}
	lost := map[*course]int64{}
	for _, p := range r.entries {
		lost[p.Origin]++
	}
	for _, others := range [][]*proposal{r.won, again} {
		for _, p := range others {
			lost[p.Origin]--
		}
	}
	for c, n := range lost {
		if n > 0 {
			l.metrics.proposals.Add(ctx, n, c.labels.proposals["outbid"])
		}
	}
}

// measure says how the project stands.
func (l *leader) measure(ctx context.Context, now time.Time) {
	if !l.metrics.on {
		return
	}
	stands, err := l.Store.Counts(ctx, l.project)
	if !l.trouble.note(ctx, "counting what there is", err) {
		return
	}
	s := standing{Counts: stands, at: now, pools: map[poolOf]*pb.PoolCount{}}
	for c := range l.all() {
		for name := range c.pools {
			sum := s.pools[poolOf{c.config.GetId(), name}]
			if sum == nil {
				sum = new(pb.PoolCount)
				s.pools[poolOf{c.config.GetId(), name}] = sum
			}
			// Where nobody waits no function runs, and nobody looks.
			if of := c.crowd[name]; of.GetTickets() > 0 && stands.Waiting > 0 {
				if sum.GetTickets() == 0 || of.GetOldest() < sum.GetOldest() {
					sum.Oldest = of.GetOldest()
				}
				sum.Tickets += of.GetTickets()
			}
		}
	}
	l.metrics.mu.Lock()
	defer l.metrics.mu.Unlock()
	l.metrics.standings[l] = s
}

// unmeasured forgets a project that is not led here any more.
func (x *metrics) unmeasured(l *leader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.standings, l)
}
