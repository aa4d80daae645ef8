package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"
)

type configsPage struct {
	Configs   []client.ListedConfig
	Functions map[string]client.Function
}

func loadConfigs(ctx context.Context, v *view) (any, error) {
	p := &configsPage{Functions: map[string]client.Function{}}
	var err error
	if p.Configs, err = v.configs(ctx); err != nil {
		return nil, err
	}
	functions, err := v.functions(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range functions {
		p.Functions[f.Name] = f
	}
	return p, nil
}

// configPage is a config with its history. Of two changes it shows what differs.
type configPage struct {
	ID       string
	New      bool
	Deleted  bool
	Config   *client.Config
	ETag     string
	Text     string
	Changes  []changeRow
	From, To string
	Diff     []difference
	Edit     bool
}

type changeRow struct {
	client.ConfigChange
	Diff string
	// Kept: one may go back to it.
	Kept bool
}

// firstConfig is what a new config begins with.
const firstConfig = `{
  "matchmaking": {
    "name": "Ranked duels",
    "targetFunction": { "name": "duel", "version": "1" },
    "config": { "attribute": "skill", "window": 100, "widen": 10 }
  },
  "queue": "ranked",
  "pools": {
    "everyone": [ { "attribute": "skill", "min": 0, "max": 5000 } ]
  }
}`

func loadConfig(ctx context.Context, v *view) (any, error) {
	p := &configPage{ID: v.QueryParam("id"), Edit: v.QueryParam("edit") != "" || v.QueryParam("new") != ""}
	var tried *client.Simulation
	if id := v.QueryParam("try"); id != "" { // one that was tried is edited further
		var err error
		if tried, err = v.API.GetSimulation(ctx, id); err != nil {
			v.Problems = append(v.Problems, "What was tried is not known: "+reasonOf(err))
		}
	}
	if p.New = v.QueryParam("new") != ""; p.New {
		if p.Text = firstConfig; tried != nil {
			p.Text = indented(tried.Tried)
		}
		return p, nil
	}
	if _, err := v.id(); err != nil {
		return nil, err
	}
	changes, err := v.API.ConfigHistory(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	stored, err := v.API.GetConfig(ctx, p.ID)
	switch {
	case client.IsNotFound(err):
		p.Deleted = true
	case err != nil:
		return nil, err
	default:
		p.Config, p.ETag, p.Text = &stored.Config, stored.ETag, indented(stored.JSON)
		if tried != nil {
			p.Text, p.ETag = indented(tried.Tried), cmp.Or(v.QueryParam("etag"), stored.ETag)
		}
	}
	for i, c := range changes {
		row := changeRow{ConfigChange: c, Kept: !c.Current && !c.Deleted && c.Config != nil}
		if i+1 < len(changes) {
			row.Diff = v.link("config", "id", p.ID, "from", changes[i+1].ETag, "to", c.ETag)
		}
		p.Changes = append(p.Changes, row)
	}
	p.From, p.To = v.QueryParam("from"), v.QueryParam("to")
	if p.To == "" && len(changes) > 1 && !p.Edit {
		p.To = changes[0].ETag
	}
	if at := slices.IndexFunc(changes, func(c client.ConfigChange) bool { return c.ETag == p.To }); p.From == "" &&
		at >= 0 && at+1 < len(changes) {
		p.From = changes[at+1].ETag
	}
	before, after := find(changes, p.From), find(changes, p.To)
	if before != nil && after != nil {
		p.Diff, err = differencesOf(before.Config, after.Config)
	}
	return p, err
}

func find(changes []client.ConfigChange, etag string) *client.ConfigChange {
	i := slices.IndexFunc(changes, func(c client.ConfigChange) bool { return c.ETag == etag })
	if i < 0 {
		return nil
	}
	return &changes[i]
}

func indented(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// difference is a value that differs between two configs. Before or After is empty where there is none.
type difference struct{ Path, Before, After string }

// differencesOf lists what differs between two documents, by path. A mask stands for the key of hosting that is stored.
func differencesOf(before, after json.RawMessage) ([]difference, error) {
	values := [2]map[string]string{{}, {}}
	for i, text := range []json.RawMessage{before, after} {
		if len(text) == 0 {
			continue
		}
		var all any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&all); err != nil {
			return nil, viewerError("This is no JSON: " + err.Error())
		}
		flatten(values[i], "", all)
	}
	var differences []difference
	all := maps.Clone(values[0])
	maps.Copy(all, values[1])
	for _, path := range slices.Sorted(maps.Keys(all)) {
		d := difference{path, values[0][path], values[1][path]}
		key := strings.EqualFold(path, "hosting.Secret") || strings.EqualFold(path, "hosting.Access")
		if d.Before == d.After || key && d.Before != "" && d.After == strconv.Quote(client.Masked) {
			continue
		}
		if key {
			d.Before, d.After = hidden(d.Before), hidden(d.After)
		}
		differences = append(differences, d)
	}
	return differences, nil
}

// hidden stands for a key of hosting.
func hidden(value string) string {
	if value == "" {
		return ""
	}
	return "(hidden)"
}

// flatten adds the values of a document by their paths.
func flatten(into map[string]string, path string, value any) {
	join := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch x := value.(type) {
	case map[string]any:
		for name, one := range x {
			flatten(into, join(name), one)
		}
		if len(x) == 0 {
			into[path] = "{}"
		}
	case []any:
		for i, one := range x {
			flatten(into, path+"["+strconv.Itoa(i)+"]", one)
		}
		if len(x) == 0 {
			into[path] = "[]"
		}
	default:
		text, _ := json.Marshal(x) // it was JSON
		into[path] = string(text)
	}
}

// configActions are what the page of a config does.
func configActions() map[string]action {
	return map[string]action{
		"put":      {askPut, runPut},
		"try":      {nil, runTry},
		"rollback": {askRollback, runRollback},
		"delete":   {askDelete, runDelete},
	}
}

// askPut checks the config as the service would, and shows what it changes.
func askPut(ctx context.Context, v *view) (*question, error) {
	id, text := v.FormValue("id"), json.RawMessage(v.FormValue("text"))
	if id == "" {
		return nil, viewerError("id: an identifier of the config is expected.")
	}
	checked, err := v.API.CheckConfig(ctx, id, text, v.FormValue("etag"))
	if err != nil {
		return nil, err
	}
	var before json.RawMessage
	if !checked.Creates {
		stored, err := v.API.GetConfig(ctx, id)
		if err != nil {
			return nil, err
		}
		before = stored.JSON
	}
	differences, err := differencesOf(before, text)
	if err != nil {
		return nil, err
	}
	q := &question{Title: "Change the config " + id + "?", Button: "Put it", Differences: differences,
		Warnings: checked.Warnings, Back: v.link("config", "id", id, "edit", "true"),
		Text: "The next cycle uses it. It was checked: the service would take it."}
	if checked.Creates {
		q.Title, q.Back = "Create the config "+id+"?", v.link("configs")
	} else if len(differences) == 0 {
		q.Text = "Nothing differs from what is stored."
	}
	return q, nil
}

func runPut(ctx context.Context, v *view) (string, error) {
	id := v.FormValue("id")
	saved, err := v.API.SaveConfig(ctx, id, json.RawMessage(v.FormValue("text")), v.FormValue("etag"))
	if err != nil {
		return "", err
	}
	return v.link("config", "id", id, "done", "Stored as "+saved.ETag+". The next cycle uses it."), nil
}

func askRollback(ctx context.Context, v *view) (*question, error) {
	id, to := v.FormValue("id"), v.FormValue("to")
	changes, err := v.API.ConfigHistory(ctx, id)
	if err != nil {
		return nil, err
	}
	then := find(changes, to)
	if then == nil {
		return nil, viewerError("That change is not kept any more.")
	}
	var now json.RawMessage
	if i := slices.IndexFunc(changes, func(c client.ConfigChange) bool { return c.Current }); i >= 0 {
		now = changes[i].Config
	}
	differences, err := differencesOf(now, then.Config)
	return &question{Title: fmt.Sprintf("Go back to %s of the config %s?", to, id), Button: "Go back",
		Text:        "The config is made what it was after that change, with the hosting keys of that time.",
		Differences: differences, Back: v.link("config", "id", id)}, err
}

func runRollback(ctx context.Context, v *view) (string, error) {
	id, etag := v.FormValue("id"), v.FormValue("etag")
	if etag == "" {
		etag = client.Absent
	}
	saved, err := v.API.RollbackConfig(ctx, id, v.FormValue("to"), etag)
	return v.link("config", "id", id, "done", "Went back. The config is now "+saved.ETag+"."), err
}

func askDelete(_ context.Context, v *view) (*question, error) {
	id := v.FormValue("id")
	return &question{Title: "Delete the config " + id + "?", Danger: true, Button: "Delete it",
		Text: "No more matches are made for it. Tickets that only it serves wait on. Its history stays: a rollback brings " +
			"it back.", Back: v.link("config", "id", id)}, nil
}

func runDelete(ctx context.Context, v *view) (string, error) {
	id := v.FormValue("id")
	return v.link("config", "id", id, "done", "Deleted."), v.API.DeleteConfig(ctx, id)
}
