package main

import (
	"cmp"
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/match/rating"
	reports "matchmaker.dev/services/internal/observe/report"
)

type completionCommand struct{ kongcompletion.Completion }

// AfterApply is called by the parser. The library prints what to do by default, which no shell can read.
func (c *completionCommand) AfterApply() error { //nolint:unparam // the parser wants it
	c.Code = true
	return nil
}

// completionTime is how long a shell waits for names.
const completionTime = 2 * time.Second

// lister looks up names for a command line, of which it gets the words so far.
type lister func(ctx context.Context, api *client.Client, words []string) ([]string, error)

// names predicts what a service has.
func (c console) names(ctx context.Context, list lister) complete.Predictor {
	return c.namesAs(ctx, asDeveloper(), list)
}

// namesAs looks them up as a command would that has the flags so far, with a token of claims.
func (c console) namesAs(ctx context.Context, claims issuer.Claims, list lister) complete.Predictor {
	return complete.PredictFunc(func(a complete.Args) []string {
		flags := commonFlags{Output: "table", Timeout: completionTime}
		for name, to := range map[string]*string{"url": &flags.URL, "project": &flags.Project, "data": &flags.Data,
			"token": &flags.Bearer, "context": &flags.Context} {
			*to = cmp.Or(valueOf(name, a.Completed), os.Getenv("MM_"+strings.ToUpper(name)))
		}
		s, err := newSession(flags, c)
		if err != nil {
			return nil
		}
		s.err = io.Discard // the shell shows names alone
		api, err := s.connect(claims)
		if err != nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		names, _ := list(ctx, api, a.Completed) // none where it fails
		return names
	})
}

// valueOf is what a flag has among the words of a command line; the last one counts.
func valueOf(flag string, words []string) (value string) {
	for i, word := range words {
		if of, is := strings.CutPrefix(word, "--"+flag+"="); is {
			value = of
		} else if word == "--"+flag && i+1 < len(words) {
			value = words[i+1]
		}
	}
	return value
}

// namesOf lists what the API lists.
func namesOf[E any](
	list func(*client.Client, context.Context) ([]E, error), name func(E) string,
) lister {
	return func(ctx context.Context, api *client.Client, _ []string) (names []string, err error) {
		all, err := list(api, ctx)
		for _, one := range all {
			names = append(names, name(one))
		}
		return names, err
	}
}

// partsOf lists what belongs to the one that the words name.
func partsOf[E any](
	owners lister, list func(*client.Client, context.Context, string) ([]E, error), name func(E) string,
) lister {
	return func(ctx context.Context, api *client.Client, words []string) ([]string, error) {
		all, err := owners(ctx, api, words)
		for _, word := range slices.Backward(words) { // the last one may be of an option before it
			if slices.Contains(all, word) {
				return namesOf(func(api *client.Client, ctx context.Context) ([]E, error) { return list(api, ctx, word) }, name)(
					ctx, api, words)
			}
		}
		return nil, err
	}
}

// waiting predicts by tickets that wait.
func waiting(of func(client.WaitingTicket) []string) lister {
	return func(ctx context.Context, api *client.Client, _ []string) (all []string, err error) {
		page, err := api.GetWaitingTickets(ctx, client.WaitingQuery{Limit: 200})
		if err != nil {
			return nil, err
		}
		for _, one := range page.Tickets {
			all = append(all, of(one)...)
		}
		return all, nil
	}
}

// queueNames are the names of queues that configs serve, or that tickets wait in.
func queueNames(ctx context.Context, api *client.Client, words []string) ([]string, error) {
	all, _ := waiting(func(t client.WaitingTicket) []string { return t.Queues })(ctx, api, words)
	configs, err := api.ListConfigs(ctx)
	for _, one := range configs {
		if one.Queue != "" {
			all = append(all, one.Queue)
		}
	}
	return all, err
}

// events predicts by the matches of the last hour.
func events(of func(client.Event) string) lister {
	return func(ctx context.Context, api *client.Client, _ []string) (ids []string, err error) {
		query := client.EventQuery{
			Kinds: []string{"claimed", "assigned"}, Since: time.Now().Add(-time.Hour), Limit: 1000,
		}
		for more := true; more && ctx.Err() == nil; {
			page, err := api.GetEvents(ctx, query)
			if err != nil {
				return nil, err
			}
			for _, one := range page.Events {
				ids = append(ids, of(one))
			}
			query.After, more = page.Next, page.More
		}
		slices.Sort(ids)
		return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" }), nil
	}
}

// eventKinds are the event kinds that the API has.
func eventKinds() (names []string) {
	for number, name := range pb.Event_Kind_name {
		if number != 0 {
			names = append(names, strings.ToLower(strings.TrimPrefix(name, "KIND_")))
		}
	}
	return names
}

// memberNames are the members of the party of the --player so far.
func (c console) memberNames(ctx context.Context, a complete.Args) (names []string) {
	player := valueOf("player", a.Completed)
	party := func(ctx context.Context, api *client.Client, _ []string) ([]string, error) {
		mine, err := api.MyParty(ctx, player)
		if err != nil {
			return nil, err
		}
		for _, one := range mine.Members {
			names = append(names, one.ID)
		}
		return names, nil
	}
	return c.namesAs(ctx, asPlayer(player), party).Predict(a)
}

// complete answers a shell that completes a command line, which asks by environment variables. It is done if one asks.
func (c console) complete(ctx context.Context, parser *kong.Kong) (code int, done bool) {
	type api = client.Client
	functions := namesOf((*api).ListFunctions, func(f client.Function) string { return f.Name })
	webhooks := namesOf((*api).ListWebhooks, func(w client.WebhookStatus) string { return w.Name })
	versions := partsOf(functions, (*api).GetFunctionVersions,
		func(v client.FunctionVersion) string { return strconv.FormatInt(v.Version, 10) })
	letters := partsOf(webhooks, (*api).ListDeadLetters, func(l client.DeadLetter) string { return l.ID })
	kongcompletion.Register(parser,
		kongcompletion.WithExitFunc(func(status int) { code, done = status, true }),
		kongcompletion.WithPredictors(map[string]complete.Predictor{
			"context":  complete.PredictFunc(func(complete.Args) []string { return c.contextNames() }),
			"config":   c.names(ctx, namesOf((*api).ListConfigs, func(c client.ListedConfig) string { return c.ID })),
			"function": c.names(ctx, functions), "version": c.names(ctx, versions),
			"webhook": c.names(ctx, webhooks), "letter": c.names(ctx, letters),
			"ticket":    c.names(ctx, waiting(func(t client.WaitingTicket) []string { return []string{t.ID} })),
			"player":    c.names(ctx, waiting(func(t client.WaitingTicket) []string { return append(t.Players, t.Owner) })),
			"queue":     c.names(ctx, queueNames),
			"match":     c.names(ctx, events(func(e client.Event) string { return e.Match })),
			"backfill":  c.names(ctx, events(func(e client.Event) string { return e.Backfill })),
			"kind":      complete.PredictSet(eventKinds()...),
			"member":    complete.PredictFunc(func(a complete.Args) []string { return c.memberNames(ctx, a) }),
			"model":     complete.PredictSet(rating.Models()...),
			"dimension": complete.PredictSet(reports.Dimensions()...),
			"file":      complete.PredictFiles("*"),
			"folder":    complete.PredictDirs("*"),
		}),
	)
	return code, done
}

// contextNames are the names of the contexts; none if they cannot be read.
func (c console) contextNames() []string {
	kept, err := c.readContexts()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(kept.Contexts))
}
