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

func (completionCommand) Help() string {
	return `Your shell's start file, such as ~/.bashrc, reads what it prints. Commands, flags and their values are
completed, the names of contexts, and what the service has: configs, functions and their versions, queues, tickets that
wait and their players, matches of the last hour, members of a party.

Examples:

    source <(mm completion bash)
    source <(mm completion zsh)
    mm completion fish | source`
}

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

func configNames(ctx context.Context, api *client.Client, _ []string) (names []string, err error) {
	configs, err := api.ListConfigs(ctx)
	for _, one := range configs {
		names = append(names, one.ID)
	}
	return names, err
}

func functionNames(ctx context.Context, api *client.Client, _ []string) (names []string, err error) {
	functions, err := api.ListFunctions(ctx)
	for _, one := range functions {
		names = append(names, one.Name)
	}
	return names, err
}

// versionNumbers are the uploads of the function that the words name.
func versionNumbers(ctx context.Context, api *client.Client, words []string) (numbers []string, err error) {
	functions, err := functionNames(ctx, api, words)
	for _, name := range functions {
		if !slices.Contains(words, name) {
			continue
		}
		versions, err := api.GetFunctionVersions(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, one := range versions {
			numbers = append(numbers, strconv.FormatInt(one.Version, 10))
		}
	}
	return numbers, err
}

func webhookNames(ctx context.Context, api *client.Client, _ []string) (names []string, err error) {
	webhooks, err := api.ListWebhooks(ctx)
	for _, one := range webhooks {
		names = append(names, one.Name)
	}
	return names, err
}

// deadLetterIDs are the dead letters of the webhook that the words name.
func deadLetterIDs(ctx context.Context, api *client.Client, words []string) (ids []string, err error) {
	names, err := webhookNames(ctx, api, words)
	for _, name := range names {
		if !slices.Contains(words, name) {
			continue
		}
		letters, err := api.ListDeadLetters(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, one := range letters {
			ids = append(ids, one.ID)
		}
	}
	return ids, err
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
	kongcompletion.Register(parser,
		kongcompletion.WithExitFunc(func(status int) { code, done = status, true }),
		kongcompletion.WithPredictors(map[string]complete.Predictor{
			"context": complete.PredictFunc(func(complete.Args) []string { return c.contextNames() }),
			"config":  c.names(ctx, configNames), "function": c.names(ctx, functionNames),
			"ticket":  c.names(ctx, waiting(func(t client.WaitingTicket) []string { return []string{t.ID} })),
			"player":  c.names(ctx, waiting(func(t client.WaitingTicket) []string { return append(t.Players, t.Owner) })),
			"version": c.names(ctx, versionNumbers), "queue": c.names(ctx, queueNames),
			"webhook": c.names(ctx, webhookNames), "letter": c.names(ctx, deadLetterIDs),
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
