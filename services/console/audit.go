package console

import (
	"context"
	"fmt"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
)

// change is a change by a developer, or by the service.
type change struct {
	Time           time.Time
	Kind, Name, By string
	What           string
	Href           string
}

type audit struct {
	Kinds   []choice
	Authors []choice
	Changes []change
}

// maxHistories bounds the configs and functions whose histories a page reads.
const maxHistories = 50

// changes are the latest changes of configs, settings and functions, the newest first.
func (v *view) changes(ctx context.Context) ([]change, error) {
	return remember(ctx, v, "changes", 5*time.Second,
		func(ctx context.Context, api *client.Client) (all []change, err error) {
			configs, err := api.ListConfigs(ctx)
			if err != nil {
				return nil, err
			}
			for _, c := range configs[:min(len(configs), maxHistories)] {
				history, err := api.ConfigHistory(ctx, c.ID)
				if err != nil && !client.IsNotFound(err) {
					return nil, err
				}
				all = append(all, v.ofConfig(c.ID, history)...)
			}
			settings, err := api.SettingsHistory(ctx)
			if err != nil {
				return nil, err
			}
			for _, s := range settings {
				all = append(all, change{s.Changed, "settings", "", s.By, "put " + s.ETag, ""})
			}
			functions, err := api.ListFunctions(ctx)
			if err != nil {
				return nil, err
			}
			for _, f := range functions[:min(len(functions), maxHistories)] {
				versions, err := api.GetFunctionVersions(ctx, f.Name)
				if err != nil && !client.IsNotFound(err) {
					return nil, err
				}
				for _, u := range versions {
					what := fmt.Sprintf("uploaded %d", u.Version)
					if u.Note != "" {
						what += ": " + u.Note
					}
					all = append(all, change{u.Uploaded, "function", f.Name, u.By, what, v.link("function", "name", f.Name)})
				}
			}
			slices.SortStableFunc(all, func(a, b change) int { return b.Time.Compare(a.Time) })
			return all, nil
		})
}

// ofConfig are the changes of a config.
func (v *view) ofConfig(id string, history []client.ConfigChange) (all []change) {
	for i, c := range history {
		one := change{c.Changed, "config", id, c.By, "put " + c.ETag, v.link("config", "id", id)}
		if c.Deleted {
			one.What = "deleted"
		}
		if i+1 < len(history) {
			one.Href = v.link("config", "id", id, "from", history[i+1].ETag, "to", c.ETag)
		}
		all = append(all, one)
	}
	return all
}

func loadAudit(ctx context.Context, v *view) (any, error) {
	all, err := v.changes(ctx)
	if err != nil {
		return nil, err
	}
	kind, by := v.chosen("kind", "all", "config", "function", "settings"), v.QueryParam("by")
	a := &audit{Kinds: v.choices("audit", "kind", kind, "all", "config", "function", "settings")}
	authors := []string{""}
	for _, c := range all {
		if !slices.Contains(authors, c.By) && len(authors) < 12 {
			authors = append(authors, c.By)
		}
		if (kind == "all" || c.Kind == kind) && (by == "" || c.By == by) {
			a.Changes = append(a.Changes, c)
		}
	}
	a.Authors = v.choices("audit", "by", by, authors...)
	a.Authors[0].Name = "everybody"
	a.Changes = a.Changes[:min(len(a.Changes), 200)]
	return a, nil
}
