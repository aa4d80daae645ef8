package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	canaries "matchmaker.dev/services/internal/canary"
	"matchmaker.dev/services/internal/problem"
	reports "matchmaker.dev/services/internal/report"
	"matchmaker.dev/services/internal/web"
)

// What a canary has if the studio does not say it, and what it may have at most. Reports are kept for a day, and those
// of the hour before are needed until it ends.
const (
	canaryLeast, fewestLeast, mostLeast = 200, 10, 1_000_000
	canaryTime, longestCanary           = 12 * time.Hour, 22 * time.Hour
	longestBlock                        = time.Hour
	mostSteps, mostNames, mostMeasures  = 10, 100, 16
	longestName                         = 64 // of a measure
	mostTolerance                       = 1000
)

// canaryRequest is the body of a request for a canary. Absent members have a default.
type canaryRequest struct {
	Version *int64 `json:"version"`
	// Configs, Queues and BlockSeconds say who gets it: one of them.
	Configs      []string `json:"configs"`
	Queues       []string `json:"queues"`
	BlockSeconds int64    `json:"blockSeconds"`
	// Steps are the parts, in percent, to which it grows.
	Steps           []int32 `json:"steps"`
	LeastMatches    int64   `json:"leastMatches"`
	DeadlineSeconds int64   `json:"deadlineSeconds"`
	// TolerancePercent is by how much waits and measures may be worse in any case.
	TolerancePercent *int32 `json:"tolerancePercent"`
	// Measures say of what the function measures whether "more" or "less" is better.
	Measures map[string]string `json:"measures"`
}

// canary answers POST /functions/{name}/actions/canary: a version that is kept runs for some configs or queues, or in
// some blocks of time, and grows by itself; for the version 0 none does any more.
func (r *registry) canary(c echo.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	var of canaryRequest
	if err := web.Decode(c, &of); err != nil {
		return err
	}
	if of.Version == nil || *of.Version < 0 {
		return problem.New(problem.Invalid, "version: missing or negative: name the version that is to be the canary, or 0 "+
			"to end it")
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if *of.Version == 0 {
		ended := false
		err := r.changeFunction(c, name, func(f *pb.Function) (string, error) {
			if ended = f.GetCanary() != nil; !ended {
				return "", errUnchanged
			}
			endCanary(f, r.Store.Now(), "the studio ended it")
			return withdrawnReason, nil
		})
		if err == nil && ended {
			r.metrics.canaryChanged(ctx, project, withdrawnReason)
		}
		return err
	}
	asked, err := of.read()
	if err != nil {
		return err
	}
	f, err := r.Store.Function(ctx, project, name)
	if err != nil {
		return err
	}
	if err := mayBeCanary(f, *of.Version); err != nil {
		return err
	}
	if err := r.checkMembers(ctx, project, f, asked); err != nil {
		return err
	}
	if err := r.allowRestarts(ctx, project, 1); err != nil { // it starts instances
		return err
	}
	tally := r.board.uploadOf(project, name, *of.Version)
	err = r.changeFunction(c, name, func(f *pb.Function) (string, error) {
		if err := mayBeCanary(f, *of.Version); err != nil {
			return "", err
		}
		now := r.Store.Now()
		asked.Upload, asked.Began, asked.StepBegan = *of.Version, now.UnixMilli(), now.UnixMilli()
		asked.Until = now.Add(of.deadline()).UnixMilli()
		asked.Runs, asked.Failed = tally.GetAllRuns(), tally.GetAllFailed()
		f.Canary, f.CanaryEnded = asked, nil
		if f.GetShadow() == *of.Version {
			f.Shadow = 0
		}
		return canaryReason, nil
	})
	if err == nil {
		r.metrics.canaryChanged(ctx, project, "begun")
	}
	return err
}

func (q *canaryRequest) deadline() time.Duration {
	if q.DeadlineSeconds == 0 {
		return canaryTime
	}
	return time.Duration(q.DeadlineSeconds) * time.Second
}

// read checks what a request says, and adds what it leaves out.
func (q *canaryRequest) read() (*pb.Canary, error) {
	ways := 0
	for _, is := range []bool{len(q.Configs) > 0, len(q.Queues) > 0, q.BlockSeconds != 0} {
		if is {
			ways++
		}
	}
	invalid := func(format string, args ...any) (*pb.Canary, error) {
		return nil, problem.New(problem.Invalid, format, args...)
	}
	switch longest := int64(longestBlock / time.Second); {
	case ways != 1:
		return invalid("configs, queues, blockSeconds: name the configs or the queues that get the canary, or how long its " +
			"blocks of time are: one of the three")
	case q.BlockSeconds < 0 || q.BlockSeconds > longest:
		return invalid("blockSeconds: %d, must be from 1 to %d", q.BlockSeconds, longest)
	case len(q.Configs)+len(q.Queues) > mostNames:
		return invalid("configs, queues: %d names, at most %d are allowed", len(q.Configs)+len(q.Queues), mostNames)
	case slices.Contains(q.Queues, ""):
		return invalid("queues: a name is empty: name the configs for the tickets that wait in no queue")
	case q.LeastMatches != 0 && (q.LeastMatches < fewestLeast || q.LeastMatches > mostLeast):
		return invalid("leastMatches: %d, must be from %d to %d", q.LeastMatches, fewestLeast, mostLeast)
	case q.TolerancePercent != nil && (*q.TolerancePercent < 1 || *q.TolerancePercent > mostTolerance):
		return invalid("tolerancePercent: %d, must be from 1 to %d", *q.TolerancePercent, mostTolerance)
	case q.DeadlineSeconds < 0 || q.DeadlineSeconds > int64(longestCanary/time.Second):
		return invalid("deadlineSeconds: %d, must be from 1 to %d: reports are kept for a day", q.DeadlineSeconds,
			int64(longestCanary/time.Second))
	}
	c := &pb.Canary{
		Configs: distinct(q.Configs), Queues: distinct(q.Queues), Block: q.BlockSeconds * 1000, Steps: q.Steps,
		Least: q.LeastMatches, Tolerance: canaries.Tolerance,
	}
	if q.TolerancePercent != nil {
		c.Tolerance = *q.TolerancePercent
	}
	if c.GetLeast() == 0 {
		c.Least = canaryLeast
	}
	if c.GetBlock() > 0 {
		c.Step = 1
	}
	switch {
	case len(c.GetSteps()) == 0 && c.GetBlock() > 0:
		c.Steps = []int32{10, 25, 50, 100}
	case len(c.GetSteps()) == 0:
		c.Steps = []int32{50, 100}
	}
	if err := checkSteps(c); err != nil {
		return nil, err
	}
	if len(q.Measures) > mostMeasures {
		return invalid("measures: %d, at most %d are allowed", len(q.Measures), mostMeasures)
	}
	for _, name := range slices.Sorted(maps.Keys(q.Measures)) {
		better := q.Measures[name]
		if name == "" || len(name) > longestName || better != "more" && better != "less" {
			return invalid("measures: %.80q: %.80q: a name of 1 to %d bytes must have \"more\" or \"less\", whichever is better",
				name, better, longestName)
		}
		c.Measures = append(c.Measures, &pb.CanaryMeasure{Name: name, More: better == "more"})
	}
	return c, nil
}

func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

func checkSteps(c *pb.Canary) error {
	steps := c.GetSteps()
	last := int32(0)
	for _, percent := range steps {
		if percent <= last || percent > 100 {
			return problem.New(problem.Invalid, "steps: %v: must be percentages from 1 to 100, each more than the one before",
				steps)
		}
		last = percent
	}
	switch {
	case len(steps) > mostSteps:
		return problem.New(problem.Invalid, "steps: %d, at most %d are allowed", len(steps), mostSteps)
	case last != 100:
		return problem.New(problem.Invalid, "steps: the last one must be 100")
	case c.GetBlock() > 0 && len(steps) == 1:
		return problem.New(problem.Invalid, "steps: with blocks of time one must be less than 100: the others are compared")
	}
	return nil
}

// mayBeCanary is an error if a version cannot be the canary of a function now.
func mayBeCanary(f *pb.Function, number int64) error {
	switch {
	case f.GetCanary() != nil:
		return problem.New(problem.Conflict, "version: upload %d of function %q is a canary already: promote it, or end it "+
			"with the version 0", f.GetCanary().GetUpload(), f.GetName())
	case number == f.GetVersion():
		return problem.New(problem.Invalid, "version: %d runs for all: another one can be the canary", number)
	}
	_, err := versionOf(f, number)
	return err
}

// members returns the configs of a function that name no upload, and their queues: those that may get a canary.
func (r *registry) members(ctx context.Context, project, name string) (configs, queues []string, err error) {
	all, err := r.Store.Configs(ctx, project)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if c := all[id]; c.GetFunction() == name && c.GetUpload() == 0 {
			configs = append(configs, id)
			if c.GetQueue() != "" {
				queues = append(queues, c.GetQueue())
			}
		}
	}
	return configs, distinct(queues), nil
}

// checkMembers is an error if configs or queues that a canary names cannot get it, or made too few matches to compare.
func (r *registry) checkMembers(ctx context.Context, project string, f *pb.Function, c *pb.Canary) error {
	configs, queues, err := r.members(ctx, project, f.GetName())
	if err != nil {
		return err
	}
	if len(configs) == 0 {
		return problem.New(problem.Conflict, "name: no config runs function %q without naming an upload: nothing could get "+
			"the canary", f.GetName())
	}
	for _, id := range c.GetConfigs() {
		if !slices.Contains(configs, id) {
			return problem.New(problem.Invalid, "configs: %.80q is no config that runs function %q and names no upload; those "+
				"that do: %s", id, f.GetName(), list(configs))
		}
	}
	for _, queue := range c.GetQueues() {
		if !slices.Contains(queues, queue) {
			return problem.New(problem.Invalid, "queues: no config serves %.80q with function %q without naming an upload; "+
				"queues that are: %s", queue, f.GetName(), list(queues))
		}
	}
	if c.GetBlock() > 0 {
		return nil
	}
	now := r.Store.Now()
	slots, err := r.slots(ctx, project, now.Add(-canaries.Before), now)
	if err != nil {
		return err
	}
	made := int64(0)
	for _, slot := range slots {
		for _, s := range slot.GetSeries() {
			if s.GetFunction() == f.GetName() && s.GetUpload() == f.GetVersion() &&
				(slices.Contains(c.GetConfigs(), s.GetConfig()) || slices.Contains(c.GetQueues(), s.GetQueue())) {
				made += s.GetMatches()
			}
		}
	}
	if made < c.GetLeast() {
		return problem.New(problem.Conflict, "leastMatches: upload %d made %d matches for these configs or queues within an "+
			"hour, %d are needed to compare with them: wait, ask for fewer, or use blocks of time", f.GetVersion(), made,
			c.GetLeast())
	}
	return nil
}

// slots reads a project's report of a time.
func (r *registry) slots(
	ctx context.Context, project string, from, to time.Time,
) (map[int64]*pb.ReportSlot, error) {
	var numbers []int64
	last := reports.SlotOf(to) + 1 // clocks differ
	for slot := max(reports.SlotOf(from), last-reports.Slots); slot <= last; slot++ {
		numbers = append(numbers, slot)
	}
	slots, _, err := r.Store.Report(ctx, project, numbers)
	return slots, err
}

// longestReason is how many bytes the reason has at most why a canary ended.
const longestReason = 1 << 10

// endCanary ends the canary, if there is one.
func endCanary(f *pb.Function, now time.Time, reason string) {
	c := f.GetCanary()
	if c == nil {
		return
	}
	f.Canary = nil
	f.CanaryEnded = &pb.CanaryEnd{
		Upload: c.GetUpload(), Time: now.UnixMilli(), Promoted: c.GetUpload() == f.GetVersion(),
		Reason: clip(reason),
	}
}

// clip cuts a reason.
func clip(reason string) string {
	return strings.ToValidUTF8(reason[:min(len(reason), longestReason)], "")
}

// canaryText says who gets a canary.
func canaryText(c *pb.Canary) string {
	switch {
	case c.GetBlock() > 0:
		return fmt.Sprintf("%d%% of the blocks of %v", canaries.Percent(c), time.Duration(c.GetBlock())*time.Millisecond)
	case len(c.GetQueues()) > 0:
		return "the queues " + list(c.GetQueues())
	}
	return "the configs " + list(c.GetConfigs())
}
