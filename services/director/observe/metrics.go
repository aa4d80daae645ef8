package observe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// metrics are the counters and histograms of a replica. Only its leader reports a project's numbers, so the numbers of
// all replicas can be added.
type metrics struct {
	configs, projects *telemetry.Labels
	parties, measures *telemetry.Labels

	phase              telemetry.Values
	phases             metric.Float64Histogram
	matching, assigned metric.Float64Histogram
	score              metric.Float64Histogram
	size, players      metric.Float64Histogram
	waits, measured    metric.Float64Histogram
	runs, proposals    metric.Int64Counter
	claims, matches    metric.Int64Counter
	work               metric.Float64Counter
	delay              metric.Float64Histogram
	repaired           metric.Int64Counter
	repairs            telemetry.Values
	removed            metric.Int64Counter
	reads              metric.Int64Counter
}

func newMetrics(m telemetry.Meter) *metrics {
	sizes := []float64{1, 2, 4, 6, 8, 10, 16, 32, 64, 100} // of matches
	x := &metrics{
		configs: m.Labels("project", "config"), projects: m.Labels("project"),
		parties:  m.Labels("project", "queue", "party"),
		measures: m.Labels("project", "queue", "party", "kind", "measure"),
		phase: telemetry.LabelsByValue(nil, "phase",
			"position", "query", "encode", "function", "decode", "window", "contest", "claim", "publish"),
		phases: m.WorkSeconds("matchmaker.cycle.phase",
			"Time of the parts of a cycle: position (the index comes up and an instance is free), query, encode, "+
				"function, decode, window (proposals wait for others), contest, claim, "+
				"publish (matches go into the work queue)."),
		matching: m.WaitSeconds("matchmaker.time_to_match",
			"Time from a ticket's creation to its match, or its proposal to a running game."),
		assigned: assignment.Waited(m),
		score: m.Histogram("matchmaker.match.score", "{score}",
			"Scores that match functions gave to the matches that were made.",
			-100, -10, -1, -.5, 0, .25, .5, .75, .9, 1, 10, 100, 1000, 10000),
		waits: m.WaitSeconds("matchmaker.match.wait",
			"Time from a ticket's creation to its match, by how many players the ticket has, of configs with a report."),
		measured: m.Histogram("matchmaker.match.measure", "{value}",
			"How good the matches were that were made, by how many players their largest party has: the spread of an "+
				"attribute, the gap between teams, and what functions measure.",
			-100, -10, -1, -.1, 0, .01, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000),
		size:    m.Histogram("matchmaker.match.tickets", "{ticket}", "Tickets of the matches that were made.", sizes...),
		players: m.Histogram("matchmaker.match.players", "{player}", "Players of the matches that were made.", sizes...),
		runs: m.Counter("matchmaker.runs", "{run}",
			"Runs of configs, by outcome: ok, failed (the function, or the runner), absent (no runner has it), "+
				"late (no runner answered in time), bus (the message bus did not take the run)."),
		proposals: m.Counter("matchmaker.proposals", "{proposal}",
			"Proposals of match functions, by outcome: kept, outbid (another one had a ticket), "+
				"late (their run was given up), dropped (too many of the project were under way), "+
				"unclaimed (Redis did not answer, or another director leads)."),
		claims: m.Counter("matchmaker.claims", "{claim}",
			"Proposals that won, by what became of their claim: ok, config (it was changed or deleted), "+
				"ticket (one does not wait any more), backfill (the game is not what it was), "+
				"full (the project has as many matches as it may have), "+
				"hosting (it has no servers for more matches: the tickets wait), "+
				"target (nor for those of whose profile, fleet or region it never gave one), failed."),
		matches: m.Counter("matchmaker.matches", "{match}",
			"Matches that were made, by kind: hosted (a server is allocated), direct (assigned at once), "+
				"filling (proposed to a running game, or its players are asked for it)."),
		work: m.Seconds("matchmaker.project.work",
			"Processor time that projects are charged, by kind: function (of the instances), runner (to select, write and "+
				"check), director (to evaluate and claim), bus (messages). Most of it is counted, not measured."),
		delay: m.WaitSeconds("matchmaker.run.delay",
			"Time for which runs that were due did not start, because their project had used its budget (--project-cores)."),
		repaired: m.Counter("matchmaker.repaired", "{item}",
			"What a crash or an absence left behind: overdue (matches whose allocation did not begin or end in time), "+
				"outbox (matches sent again), lapsed (proposals that no server approved), "+
				"silent (backfill tickets of silent servers), abandoned (tickets that waited for too long), "+
				"unserved (tickets in queues that no config serves any more)."),
		removed: m.Counter("matchmaker.events.removed", "{message}",
			"Messages of events that were removed before their age, because the project had more than its share of the room "+
				"(--event-bytes)."),
		reads: m.Counter("matchmaker.configs.reads", "{read}",
			"Reads of the configs of a project. Changes that come faster than they may be read are read together."),
		repairs: telemetry.LabelsByValue(nil, "what", "overdue", "outbox", "lapsed", "silent", "abandoned",
			"unserved"),
	}
	telemetry.StartAtZero(x.repaired, x.repairs)
	return x
}

// recordPhase records how long a phase of a cycle took.
func (x *metrics) recordPhase(ctx context.Context, phase string, d time.Duration) {
	x.phases.Record(ctx, d.Seconds(), x.phase.Of(phase))
}

// stages records where the time of a run went.
func (x *metrics) stages(ctx context.Context, s *pb.RunStats) {
	for _, stage := range []struct {
		phase  string
		micros int64
	}{
		{"position", s.GetWaiting()}, {"query", s.GetQuery()}, {"encode", s.GetEncode()}, {"function", s.GetRun()},
		{"decode", s.GetDecode()},
	} {
		x.recordPhase(ctx, stage.phase, time.Duration(stage.micros)*time.Microsecond)
	}
}

// labels are the labels of a config's counters.
type labels struct {
	config     metric.MeasurementOption
	runs       telemetry.Values
	proposals  telemetry.Values
	claims     telemetry.Values
	matches    telemetry.Values
	assigned   metric.MeasurementOption
	unassigned metric.MeasurementOption
}

func (x *metrics) labels(project, config string) *labels {
	of := x.configs.Of(project, config)
	l := &labels{
		config:    telemetry.WithLabels(of),
		runs:      telemetry.LabelsByValue(of, "outcome", "ok", "failed", "absent", "late", "bus"),
		proposals: telemetry.LabelsByValue(of, "outcome", "kept", "outbid", "late", "dropped", "unclaimed"),
		claims: telemetry.LabelsByValue(of, "outcome", "ok", "config", "ticket", "backfill", "full", "hosting", "target",
			"players", "failed"),
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
