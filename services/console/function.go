package console

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

func loadFunctions(ctx context.Context, v *view) (any, error) { return v.functions(ctx) }

// maxLines is how many lines of a log a page shows: the latest.
const maxLines = 100

// functionPage is a function with its uploads and its log.
type functionPage struct {
	*client.Function
	Versions []client.FunctionVersion
	Configs  []client.ListedConfig
	Lines    []client.LogLine
	// Upload is of which upload lines are shown; 0 for all.
	Upload int64
}

func loadFunction(ctx context.Context, v *view) (any, error) {
	name := v.QueryParam("name")
	if name == "" {
		return &functionPage{}, nil
	}
	p := &functionPage{}
	p.Upload, _ = strconv.ParseInt(v.QueryParam("upload"), 10, 64) // 0 is all
	var err error
	if p.Function, err = v.API.GetFunction(ctx, name); err != nil {
		return nil, err
	}
	if p.Versions, err = v.API.GetFunctionVersions(ctx, name); err != nil {
		return nil, err
	}
	configs, err := v.configs(ctx)
	if err != nil {
		return nil, err
	}
	p.Configs = slices.DeleteFunc(slices.Clone(configs), func(c client.ListedConfig) bool { return c.Function != name })
	lines, _, err := v.API.GetFunctionLogLines(ctx, name, time.Hour, "")
	if err := v.note("Its log", err); err != nil {
		return nil, err
	}
	lines = slices.DeleteFunc(lines, func(l client.LogLine) bool { return p.Upload > 0 && l.Upload != p.Upload })
	p.Lines = lines[max(0, len(lines)-maxLines):]
	slices.Reverse(p.Lines)
	return p, nil
}

// functionActions are what the page of a function does.
func functionActions() map[string]action {
	named := func(title, text, button string,
		run func(*client.Client, context.Context, string, int64) (*client.Function, error), done string) action {
		return action{
			ask: func(_ context.Context, v *view) (*question, error) {
				version, err := v.versionIn()
				name := v.FormValue("name")
				names := strings.NewReplacer("{name}", name, "{version}", strconv.FormatInt(version, 10))
				return &question{Title: names.Replace(title),
					Text: text, Button: button, Back: v.link("function", "name", name)}, err
			},
			run: func(ctx context.Context, v *view) (string, error) {
				version, err := v.versionIn()
				if err != nil {
					return "", err
				}
				_, err = run(v.API, ctx, v.FormValue("name"), version)
				return v.link("function", "name", v.FormValue("name"), "done", done), err
			},
		}
	}
	return map[string]action{
		"rollback": named("Let {name} run upload {version}?", "It is checked again, and takes over as an upload does. The "+
			"upload before goes on until then.", "Let it run", (*client.Client).RollbackFunction,
			"That upload takes over as soon as it runs."),
		"shadow": named("Let upload {version} of {name} run in the shadow?", "It gets the same runs as far as there is room."+
			" No match is made by it.", "Run it in the shadow", (*client.Client).ShadowFunction, "The shadow has begun."),
		"endshadow": named("End the shadow of {name}?", "What was compared is forgotten.", "End it",
			(*client.Client).ShadowFunction, "The shadow has ended."), // its form has the version 0
		"canary": named("Let upload {version} of {name} be the canary?", "It makes the matches of one in ten blocks of five "+
			"minutes, for 20 hours. It ends by itself if its runs fail that the other upload passes.", "Begin the canary",
			func(c *client.Client, ctx context.Context, name string, version int64) (*client.Function, error) {
				return c.CanaryFunction(ctx, name, client.CanaryRequest{Version: version, BlockSeconds: 300, Percent: 10,
					DeadlineSeconds: 20 * 3600})
			}, "The canary has begun."),
		"endcanary": named("End the canary of {name}?", "The upload that runs for the others runs for all.", "End it",
			func(c *client.Client, ctx context.Context, name string, _ int64) (*client.Function, error) {
				return c.CanaryFunction(ctx, name, client.CanaryRequest{})
			}, "The canary has ended."),
		"promote": named("Let upload {version} of {name} run for all?", "It takes over as an upload does.", "Promote it",
			(*client.Client).PromoteFunction, "That upload takes over as soon as it runs."),
		"delete": {
			ask: func(ctx context.Context, v *view) (*question, error) {
				name := v.FormValue("name")
				configs, err := v.configs(ctx)
				used := 0
				for _, c := range configs {
					if c.Function == name {
						used++
					}
				}
				return &question{Title: "Delete the function " + name + "?", Danger: true, Button: "Delete it",
					Text: fmt.Sprintf("All of its uploads are deleted, and cannot be brought back. %s it.",
						plural(used, "config names", "configs name")), Back: v.link("function", "name", name)}, err
			},
			run: func(ctx context.Context, v *view) (string, error) {
				return v.link("functions", "done", "Deleted."), v.API.DeleteFunction(ctx, v.FormValue("name"))
			},
		},
	}
}
