package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	canaries "matchmaker.dev/services/internal/match/canary"
	reports "matchmaker.dev/services/internal/observe/report"
)

// The defaults of a canary, and its limits. Reports are kept for a day, and a canary needs the reports of the hour
// before it until it ends.
const (
	canaryTime, longestCanary = 12 * time.Hour, 22 * time.Hour
	longestBlock              = time.Hour
	canaryPercent             = 10
	mostNames                 = 100
)

// canaryRequest is the body of a request for a canary. Absent members have a default.
type canaryRequest struct {
	Version *int64 `json:"version"`
	// One of Configs, Queues and BlockSeconds says which runs get it. Percent is the part of the blocks.
	Configs         []string `json:"configs"`
	Queues          []string `json:"queues"`
	BlockSeconds    int64    `json:"blockSeconds"`
	Percent         *int32   `json:"percent"`
	DeadlineSeconds int64    `json:"deadlineSeconds"`
}

// canary answers POST /functions/{name}/actions/canary: a version that is kept runs for some configs or queues, or in
// some blocks of time. For the version that is the canary already it changes its share, and for 0 it ends the canary.
func (r *registry) canary(c echo.Context, name string) error {
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
	outcome := ""
	err = r.changeFunction(c, name, func(f *pb.Function) (string, error) {
		if err := mayBeCanary(f, *of.Version); err != nil {
			return "", err
		}
		now := r.Store.Now()
		next := proto.CloneOf(asked)
		next.Upload, next.Changed, next.Until = *of.Version, now.UnixMilli(), now.Add(of.deadline()).UnixMilli()
		next.Began, next.Generation, outcome = next.GetChanged(), nextGeneration(f, now), "begun"
		if was := f.GetCanary(); was != nil {
			next.Began, next.Generation, outcome = was.GetBegan(), was.GetGeneration(), "changed"
		}
		f.Canary, f.CanaryEnded = next, nil
		if f.GetShadow() == *of.Version {
			f.Shadow = 0
		}
		return canaryReason, nil
	})
	if err == nil {
		r.metrics.canaryChanged(ctx, project, outcome)
	}
	return err
}

func (q *canaryRequest) deadline() time.Duration {
	return cmp.Or(time.Duration(q.DeadlineSeconds)*time.Second, canaryTime)
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
	case q.Percent != nil && q.BlockSeconds == 0:
		return invalid("percent: it is which part of the blocks of time: give blockSeconds too")
	case q.Percent != nil && (*q.Percent < 1 || *q.Percent > 99):
		return invalid("percent: %d, must be from 1 to 99: the other blocks are compared", *q.Percent)
	case len(q.Configs)+len(q.Queues) > mostNames:
		return invalid("configs, queues: %d names, at most %d are allowed", len(q.Configs)+len(q.Queues), mostNames)
	case slices.Contains(q.Queues, ""):
		return invalid("queues: a name is empty: name the configs for the tickets that wait in no queue")
	case q.DeadlineSeconds < 0 || q.DeadlineSeconds > int64(longestCanary/time.Second):
		return invalid("deadlineSeconds: %d, must be from 1 to %d: reports are kept for a day", q.DeadlineSeconds,
			int64(longestCanary/time.Second))
	}
	c := &pb.Canary{Configs: distinct(q.Configs), Queues: distinct(q.Queues), Block: q.BlockSeconds * 1000}
	switch {
	case q.Percent != nil:
		c.Percent = *q.Percent
	case c.GetBlock() > 0:
		c.Percent = canaryPercent
	}
	return c, nil
}

func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// mayBeCanary returns an error if a version cannot be the canary of a function now.
func mayBeCanary(f *pb.Function, number int64) error {
	switch now := f.GetCanary().GetUpload(); {
	case now != 0 && now != number:
		return problem.New(problem.Conflict, "version: upload %d of function %q is a canary already: promote it, or end it "+
			"with the version 0", now, f.GetName())
	case number == f.GetVersion():
		return problem.New(problem.Invalid, "version: %d runs for all: another one can be the canary", number)
	}
	_, err := versionOf(f, number)
	return err
}

// members returns the configs of a function that may get a canary, which name no upload, and their queues.
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

// checkMembers returns an error if configs or queues that a canary names cannot get it.
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
	return nil
}

// longestReason is the most bytes of the reason why a canary ended.
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
		Reason: strings.ToValidUTF8(reason[:min(len(reason), longestReason)], ""),
	}
}

// canaryText says which runs get a canary.
func canaryText(c *pb.Canary) string {
	switch {
	case c.GetBlock() > 0:
		return fmt.Sprintf("%d%% of the blocks of %v", c.GetPercent(), time.Duration(c.GetBlock())*time.Millisecond)
	case len(c.GetQueues()) > 0:
		return "the queues " + list(c.GetQueues())
	}
	return "the configs " + list(c.GetConfigs())
}

// canaryOf describes the canary, nil when there is none.
func (r *registry) canaryOf(project string, f *pb.Function) *response.FunctionCanary {
	c := f.GetCanary()
	if c == nil {
		return nil
	}
	runs := r.runners.canaryRuns(project, f)
	return &response.FunctionCanary{
		Version: c.GetUpload(), Configs: c.GetConfigs(), Queues: c.GetQueues(), BlockSeconds: c.GetBlock() / 1000,
		Percent: int(c.GetPercent()), Began: iso8601(c.GetBegan()), Changed: iso8601(c.GetChanged()),
		Until: iso8601(c.GetUntil()), Runs: runs.GetAllRuns(), Failed: runs.GetAllFailed(), Health: healthOf(runs),
	}
}

// compare reads the project's report, and compares the canary of a function with the other upload.
func (r *registry) compare(ctx context.Context, project string, f *pb.Function) ([]response.CanaryQuantity, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	now := r.Store.Now()
	comparison := canaries.Compare(f, now)
	last := reports.SlotOf(now) + 1 // clocks differ
	first := max(comparison.First(), last-reports.Slots)
	switch err := reports.Read(ctx, r.Store, r.pace, project, "", first, last, comparison.Add); {
	case errors.Is(err, reports.ErrNoTime):
		return nil, problem.New(problem.Unavailable, "the canary was not compared in time: the project reads too much, try "+
			"again later").After(time.Second)
	case err != nil:
		return nil, err
	}
	own, other := r.runners.canaryRuns(project, f), r.runners.uploadOf(project, f.GetName(), f.GetVersion())
	var list []response.CanaryQuantity
	for _, q := range comparison.Report(canaries.Runs{All: own.GetAllRuns(), Failed: own.GetAllFailed()},
		canaries.Runs{All: other.GetAllRuns(), Failed: other.GetAllFailed()}) {
		one := response.CanaryQuantity{Name: q.Name, Canary: q.Canary.Mean, Current: q.Other.Mean, CanaryOf: q.Canary.Of,
			CurrentOf: q.Other.Of}
		if d := q.Difference; d != nil {
			one.Difference = &response.CanaryDifference{Value: d.Value, Low: d.Low, High: d.High}
		}
		list = append(list, one)
	}
	return list, nil
}
