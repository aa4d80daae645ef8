package registry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	canaries "matchmaker.dev/services/internal/canary"
	"matchmaker.dev/services/internal/problem"
	uploads "matchmaker.dev/services/internal/upload"
)

// A canary is looked at about a hundred times in the time that it has run, but not more often than lookEvery and not
// more seldom than lookLatest. Each look reads the report since it began.
const (
	lookEvery  = time.Second
	lookLatest = time.Minute
	lookShare  = 100
)

// looks is what this replica found of canaries last. It is safe for concurrent use.
type looks struct {
	mu  sync.Mutex
	all map[hosted]look
}

// look is what was found of a canary.
type look struct {
	began, step int64 // of the canary, and when its step began
	at          time.Time
	runs        [2]int64 // of the canary, and of them failed
	*canaries.Result
}

func (l *looks) of(key hosted) (look, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.all[key]
	return found, ok
}

func (l *looks) put(key hosted, found look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[hosted]look{}
	}
	l.all[key] = found
}

// keep forgets all canaries but these.
func (l *looks) keep(keys map[hosted]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.all {
		if !keys[key] {
			delete(l.all, key)
		}
	}
}

// canaries are the functions of which a runner has a canary.
func (b *board) canaries() map[hosted]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := map[hosted]bool{}
	for _, r := range b.live() {
		for of, list := range r.hosted {
			if slices.ContainsFunc(list, (*pb.InstanceStatus).GetCanary) {
				found[of] = true
			}
		}
	}
	return found
}

// followCanaries lets canaries grow or ends them, until ctx ends. Every replica does that for all projects: the first
// one that writes a function did it.
func (r *registry) followCanaries(ctx context.Context) {
	r.eachBeat(ctx, func() {
		found := r.board.canaries()
		r.looks.keep(found)
		for key := range found {
			if !r.looks.due(key, r.Store.Now()) {
				continue
			}
			err := r.lookAt(ctx, key)
			if err != nil && !errors.Is(err, errUnchanged) && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "a canary is not judged yet", "project", key.project, "function", key.function,
					"error", err)
			}
		}
	})
}

func (l *looks) due(key hosted, now time.Time) bool {
	last, ok := l.of(key)
	age := now.Sub(time.UnixMilli(last.began))
	return !ok || now.Sub(last.at) >= min(max(age/lookShare, lookEvery), lookLatest)
}

// lookAt looks at the canary of a function, and lets it grow or ends it.
func (r *registry) lookAt(ctx context.Context, key hosted) error {
	f, err := r.Store.Function(ctx, key.project, key.function)
	if problem.KindOf(err) == problem.NotFound {
		return errUnchanged
	}
	if err != nil {
		return err
	}
	c := f.GetCanary()
	if c == nil {
		return errUnchanged
	}
	e, err := r.evidence(ctx, key.project, f)
	if err != nil {
		return err
	}
	found := canaries.Look(e)
	r.looks.put(key, look{c.GetBegan(), c.GetStepBegan(), e.Now, [2]int64{e.Runs, e.Failed}, found})
	worse := found.Worse()
	switch {
	case len(worse) > 0:
		return r.withdraw(ctx, key, f, "it is worse: "+textOf(worse))
	case e.Now.UnixMilli() >= c.GetUntil():
		return r.withdraw(ctx, key, f, fmt.Sprintf("its time is over: in this step it made %d matches, %d are needed; %s",
			found.Matches, canaries.Needed(c), textOf(found.Findings)))
	case found.ByMatches && !found.Sure:
		return r.changeCanary(ctx, key, f, func(next *pb.Function) (*pb.Function, *pb.Event, error) {
			noteLook(next.GetCanary(), e)
			next.Canary.Looks++
			next.Canary.Wanted = 2 * found.Matches
			return next, nil, nil
		})
	case found.ByMatches:
		return r.grow(ctx, key, f, e, fmt.Sprintf("after %d matches, %d of %d runs failed; %s", found.Matches, e.Failed,
			e.Runs, textOf(found.Findings)))
	case found.ByRuns:
		return r.changeCanary(ctx, key, f, func(next *pb.Function) (*pb.Function, *pb.Event, error) {
			noteLook(next.GetCanary(), e)
			return next, nil, nil
		})
	}
	return nil
}

// evidence is what is known of a canary.
func (r *registry) evidence(ctx context.Context, project string, f *pb.Function) (*canaries.Evidence, error) {
	c, now := f.GetCanary(), r.Store.Now()
	from := time.UnixMilli(c.GetBegan()).Add(-canaries.Before)
	if c.GetBlock() > 0 {
		from = time.UnixMilli(c.GetStepBegan())
	}
	slots, err := r.slots(ctx, project, from, now)
	if err != nil {
		return nil, err
	}
	own := r.board.uploadOf(project, f.GetName(), c.GetUpload())
	other := r.board.uploadOf(project, f.GetName(), f.GetVersion())
	e := &canaries.Evidence{
		Function: f, Now: now, Slots: slots,
		Runs: max(0, own.GetAllRuns()-c.GetRuns()), Failed: max(0, own.GetAllFailed()-c.GetFailed()),
		OtherRuns: other.GetAllRuns(), OtherFailed: other.GetAllFailed(),
	}
	if e.OtherRuns < c.GetWithRuns() {
		e.OtherRuns, e.OtherFailed = c.GetWithRuns(), c.GetWithFailed()
	}
	return e, nil
}

func textOf(findings []canaries.Finding) string {
	texts := make([]string, len(findings))
	for i := range findings {
		texts[i] = findings[i].Text()
	}
	return strings.Join(texts, ", ")
}

// noteLook notes that it was decided by what is known of runs.
func noteLook(c *pb.Canary, e *canaries.Evidence) {
	c.RunLooks++
	c.WithRuns, c.WithFailed = e.OtherRuns, e.OtherFailed
}

// changeCanary changes a function whose canary is as it was.
func (r *registry) changeCanary(ctx context.Context, key hosted, was *pb.Function,
	change func(*pb.Function) (*pb.Function, *pb.Event, error),
) error {
	return r.Store.ChangeFunctionWith(ctx, key.project, key.function,
		func(current *pb.Function) (*pb.Function, *pb.Event, error) {
			if current.GetVersion() != was.GetVersion() || !proto.Equal(current.GetCanary(), was.GetCanary()) {
				return nil, nil, errUnchanged
			}
			return change(current)
		})
}

// withdraw ends a canary: the function runs the other upload for all.
func (r *registry) withdraw(ctx context.Context, key hosted, f *pb.Function, reason string) error {
	err := r.changeCanary(ctx, key, f, func(next *pb.Function) (*pb.Function, *pb.Event, error) {
		endCanary(next, r.Store.Now(), reason)
		return next, functionEvent(next, withdrawnReason, next.GetCanaryEnded().GetReason(), ""), nil
	})
	return r.announce(ctx, key, f, withdrawnReason, reason, err)
}

// grow lets a canary that is no worse have more, or all.
func (r *registry) grow(
	ctx context.Context, key hosted, f *pb.Function, e *canaries.Evidence, reason string,
) error {
	configs, queues, err := r.members(ctx, key.project, key.function)
	if err != nil {
		return err
	}
	grown := proto.CloneOf(f.GetCanary())
	noteLook(grown, e)
	grown.Looks++
	grown.Wanted = 0
	grown.StepBegan = e.Now.UnixMilli()
	for canaries.Percent(grown) < 100 {
		grown.Step++
		percent := canaries.Percent(grown)
		had := len(grown.GetConfigs()) + len(grown.GetQueues())
		switch {
		case len(grown.GetConfigs()) > 0:
			grown.Configs = canaries.Grow(f.GetName(), grown.GetConfigs(), configs, percent)
		case len(grown.GetQueues()) > 0:
			grown.Queues = canaries.Grow(f.GetName(), grown.GetQueues(), queues, percent)
		}
		if grown.GetBlock() > 0 || len(grown.GetConfigs())+len(grown.GetQueues()) > had {
			break // a step in which nobody is new is none
		}
	}
	if canaries.Percent(grown) == 100 {
		return r.promoteCanary(ctx, key, f, reason)
	}
	err = r.changeCanary(ctx, key, f, func(next *pb.Function) (*pb.Function, *pb.Event, error) {
		next.Canary = grown
		return next, functionEvent(next, grownReason, clip("to "+canaryText(grown)+": "+reason), ""), nil
	})
	return r.announce(ctx, key, f, grownReason, reason, err)
}

// promoteCanary lets a canary that grew to all be the upload that runs. As after an upload, the function goes back by
// itself if its runs fail.
func (r *registry) promoteCanary(ctx context.Context, key hosted, f *pb.Function, reason string) error {
	says, err := r.manifestOf(ctx, key.project, key.function, uploads.Of(f, f.GetCanary().GetUpload()))
	if err != nil {
		return err
	}
	err = r.changeCanary(ctx, key, f, func(current *pb.Function) (*pb.Function, *pb.Event, error) {
		v := uploads.Of(current, current.GetCanary().GetUpload())
		if v == nil {
			return nil, nil, errUnchanged
		}
		next := withVersion(current, v, says, r.Store.Now())
		next.TrialUntil = trialUntil(next, r.Store.Now(), r.Settings.Trial)
		next.CanaryEnded.Reason = clip(reason)
		return next, functionEvent(next, promotedReason, next.GetCanaryEnded().GetReason(), ""), nil
	})
	return r.announce(ctx, key, f, promotedReason, reason, err)
}

// announce tells of a change of a canary, unless there was none.
func (r *registry) announce(
	ctx context.Context, key hosted, f *pb.Function, outcome, reason string, err error,
) error {
	if err != nil {
		return err
	}
	r.Log.InfoContext(ctx, "canary judged", "project", key.project, "function", key.function, "upload",
		f.GetCanary().GetUpload(), "outcome", outcome, "reason", reason)
	r.metrics.canaryChanged(ctx, key.project, outcome)
	r.tellChange(ctx, key.project)
	return nil
}

// canary is what is known of the upload that a part of the runs get.
type canary struct {
	Version      int64    `json:"version"`
	Configs      []string `json:"configs,omitzero"`
	Queues       []string `json:"queues,omitzero"`
	BlockSeconds int64    `json:"blockSeconds,omitzero"`
	// Steps are the parts in percent, and Step which of them it has reached; 0 if it has those that the studio named.
	Steps        []int32 `json:"steps"`
	Step         int32   `json:"step"`
	Began        string  `json:"began"`
	StepBegan    string  `json:"stepBegan"`
	Until        string  `json:"until"`
	LeastMatches int64   `json:"leastMatches"`
	// TolerancePercent is by how much waits and measures may be worse in any case.
	TolerancePercent int32 `json:"tolerancePercent"`
	// Matches are those of this step, and Runs and Failed its runs since it began.
	Matches  int64     `json:"matches"`
	Runs     int64     `json:"runs"`
	Failed   int64     `json:"failed"`
	Health   *health   `json:"health,omitzero"`
	Findings []finding `json:"findings,omitzero"`
}

// finding compares a canary with the other upload.
type finding struct {
	Name    string   `json:"name"`
	Canary  float64  `json:"canary"`
	Current float64  `json:"current"`
	Worse   *float64 `json:"worseBy,omitzero"` // as a part of Current
	P       float64  `json:"p"`
	Limit   float64  `json:"limit"`
	Seen    *float64 `json:"seen,omitzero"`
}

type canaryEnded struct {
	Version  int64  `json:"version"`
	Time     string `json:"time"`
	Promoted bool   `json:"promoted"`
	Reason   string `json:"reason"`
}

// canaryOf describes the canary, nil when there is none.
func (r *registry) canaryOf(project string, f *pb.Function) *canary {
	c := f.GetCanary()
	if c == nil {
		return nil
	}
	answer := &canary{
		Version: c.GetUpload(), Configs: c.GetConfigs(), Queues: c.GetQueues(), BlockSeconds: c.GetBlock() / 1000,
		Steps: c.GetSteps(), Step: c.GetStep(), Began: iso8601(c.GetBegan()), StepBegan: iso8601(c.GetStepBegan()),
		Until: iso8601(c.GetUntil()), LeastMatches: canaries.Needed(c),
		TolerancePercent: canaries.ToleranceOf(c),
		Health:           healthOf(r.board.uploadOf(project, f.GetName(), c.GetUpload())),
	}
	last, ok := r.looks.of(hosted{project, f.GetName()})
	if !ok || last.began != c.GetBegan() || last.step != c.GetStepBegan() {
		return answer
	}
	answer.Matches, answer.Runs, answer.Failed = last.Matches, last.runs[0], last.runs[1]
	for _, found := range last.Findings {
		answer.Findings = append(answer.Findings, finding{
			Name: found.Name, Canary: orNone(found.Canary), Current: orNone(found.Other), Worse: finite(found.Change),
			P: orNone(found.P), Limit: found.Limit, Seen: finite(found.Seen),
		})
	}
	return answer
}

// finite is nil for what is no number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// orNone is 0 for what is no number.
func orNone(v float64) float64 {
	if finite(v) == nil {
		return 0
	}
	return v
}
