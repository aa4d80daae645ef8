package config

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/problem"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/state"
)

// The result codes of what a config is warned of. README.md explains them to studios.
const (
	unknownFunction   = "unknownFunction"
	ignoredVersion    = "ignoredVersion"
	uncheckedSettings = "uncheckedSettings"
	failingFunction   = "failingFunction"
	unknownAttribute  = "unknownAttribute"
)

// What it may take to ask a function about a config.
const (
	// judgeTime is how long a request waits for it, unless the options say otherwise.
	judgeTime = 2 * time.Second
	// judgeWork is the name of the budget of these runs in the state, which all replicas share.
	judgeWork = "configwork"
	// maxJudgeCharge is the most that a run is charged.
	maxJudgeCharge = 5 * time.Second
	// judgeAttributes is how many attributes are looked for among the tickets that wait.
	judgeAttributes = 32
)

// settingsError is how errors of settings begin that functions return.
const settingsError = "settings:"

// everyTicket is the pool that has all tickets of the queue. No attribute has an empty name.
const everyTicket = ""

// judge looks at what a config refers to, and asks its function whether it accepts the settings. What it finds are
// warnings; the error is a *definition.FieldErrors when the function refuses the settings. Where it cannot ask, that is
// a warning too: configs can be put while functions are away.
func (s *service) judge(ctx context.Context, project string, c *pb.Config) (*definition.FieldErrors, error) {
	found := new(definition.FieldErrors)
	target := definition.Path("matchmaking").Member("targetFunction")
	if v := c.GetFunctionVersion(); v != "" && v != "1" {
		found.Add(ignoredVersion, target.Member("version"), "it is ignored: the upload that runs is the one of the last "+
			"upload or rollback of the function, or the one that the member upload names")
	}
	f, err := s.Store.Function(ctx, project, c.GetFunction())
	switch {
	case c.GetUpload() != 0 && (err == nil || problem.KindOf(err) == problem.NotFound) &&
		uploads.Of(f, c.GetUpload()) == nil:
		refusal := new(definition.FieldErrors)
		refusal.Add(definition.BadTargetFunction, target.Member("upload"), "upload %d of function %q is not kept; those "+
			"that are: %s", c.GetUpload(), c.GetFunction(), numbersOf(f))
		return nil, refusal
	case problem.KindOf(err) == problem.NotFound:
		found.Add(unknownFunction, target.Member("name"), "no function %q is uploaded: the config makes no match until one "+
			"is, and its settings are not checked", c.GetFunction())
		return found, nil
	case err != nil:
		return nil, err
	}
	settings := definition.Path("matchmaking").Member("config")
	budget := adhoc.Budget{Name: judgeWork, Budget: state.Budget{Amount: 6 * time.Second, Window: time.Minute},
		Most: maxJudgeCharge, Store: s.Store, Log: s.Log}
	again, err := budget.Again(ctx, project)
	if err != nil {
		return nil, err
	}
	if again > 0 {
		found.Add(uncheckedSettings, settings, "not checked: the checks of this project took more processor time "+
			"than they may, try again in a minute")
		return found, nil
	}
	waiting, cancel := context.WithTimeout(ctx, s.JudgeTime)
	defer cancel()
	answer := s.adhoc.Run(waiting, &pb.RunRequest{
		Project: project, Config: c.GetId(), Function: c.GetFunction(), Settings: c.GetSettings(), Pools: c.GetPools(),
		Queue: c.GetQueue(), Census: attributePools(c), Check: true, Now: s.Store.Now().UnixMilli(),
		Budget: s.JudgeTime.Milliseconds(), Upload: c.GetUpload(), Serving: servingOf(f, c),
	})
	budget.Charge(ctx, project, answer.Cost)
	switch reason, refused := strings.CutPrefix(answer.Failure, settingsError); {
	case refused:
		refusal := new(definition.FieldErrors)
		refusal.Add(definition.BadSettings, settings, "function %q refuses it: %s", c.GetFunction(),
			strings.TrimSpace(reason))
		return nil, refusal
	case answer.Failure == bus.OtherUpload:
		found.Add(uncheckedSettings, settings, "not checked: upload %d of function %q did not run within %v of "+
			"the request", f.GetVersion(), c.GetFunction(), s.JudgeTime)
	case waiting.Err() != nil || answer.Failure == bus.NoRunner:
		found.Add(uncheckedSettings, settings, "not checked: function %q did not answer within %v",
			c.GetFunction(), s.JudgeTime)
	case strings.HasPrefix(answer.Failure, bus.Busy):
		found.Add(uncheckedSettings, settings, "not checked: %s", answer.Failure)
	case answer.Failure != "":
		found.Add(failingFunction, settings, "function %q fails when it is given no ticket: %s", c.GetFunction(),
			answer.Failure)
	default:
		findAttributes(c, answer.Population, found)
	}
	return found, nil
}

// servingOf is the upload that is to judge a config that names none: a runner may not have heard of a rollback yet.
func servingOf(f *pb.Function, c *pb.Config) int64 {
	if c.GetUpload() != 0 {
		return 0
	}
	return f.GetVersion()
}

// numbersOf lists the uploads of a function that are kept.
func numbersOf(f *pb.Function) string {
	numbers := make([]string, 0, len(f.GetVersions()))
	for _, v := range f.GetVersions() {
		numbers = append(numbers, strconv.FormatInt(v.GetVersion(), 10))
	}
	if len(numbers) == 0 {
		return "none"
	}
	return strings.Join(numbers, ", ")
}

// eachAttribute calls f with the attributes of a config's filters and their paths, by the names of the pools, and with
// the attributes of its report.
func eachAttribute(c *pb.Config, f func(name string, at definition.Path)) {
	for _, name := range slices.Sorted(maps.Keys(c.GetPools())) {
		for i, filter := range c.GetPools()[name].GetFilters() {
			if attribute := filter.GetAttribute(); attribute != "" && attribute != pool.Created {
				f(attribute, definition.Path("pools").Member(name).Index(i).Member("attribute"))
			}
		}
	}
	for i, attribute := range c.GetReport().GetAttributes() {
		f(attribute, definition.Path("report").Member("attributes").Index(i))
	}
}

// attributePools has a pool for each attribute, of the tickets that have it. They are counted without the function.
func attributePools(c *pb.Config) map[string]*pb.Pool {
	pools := map[string]*pb.Pool{everyTicket: {}}
	eachAttribute(c, func(name string, _ definition.Path) {
		if len(pools) <= judgeAttributes {
			pools[name] = &pb.Pool{Filters: []*pb.Filter{{Attribute: name}}}
		}
	})
	return pools
}

// findAttributes warns of attributes that no ticket has. While no ticket waits it is not known.
func findAttributes(c *pb.Config, population map[string]int64, found *definition.FieldErrors) {
	if population[everyTicket] == 0 {
		return
	}
	eachAttribute(c, func(name string, at definition.Path) {
		if n, counted := population[name]; counted && n == 0 {
			found.Add(unknownAttribute, at, "none of the %d tickets that wait in the config's queue has an attribute %q",
				population[everyTicket], name)
		}
	})
}
