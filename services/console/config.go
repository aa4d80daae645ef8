package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/match/difference"
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
	Diff     []difference.Value
	Edit     bool
}

type changeRow struct {
	client.ConfigChange
	Diff string
	// Kept: one may go back to it.
	Kept bool
}

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
		first, err := files.ReadFile("asset/config.json")
		if p.Text = string(first); tried != nil {
			p.Text = indented(tried.Tried)
		}
		return p, err
	}
	if p.ID == "" {
		return nil, noID
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
	to := find(changes, p.To)
	if p.From == "" && to >= 0 && to+1 < len(changes) {
		p.From = changes[to+1].ETag
	}
	if from := find(changes, p.From); from >= 0 && to >= 0 {
		p.Diff, err = differencesOf(changes[from].Config, changes[to].Config, difference.Answer)
	}
	return p, err
}

// find is the place of a change; -1 if it is not kept.
func find(changes []client.ConfigChange, etag string) int {
	return slices.IndexFunc(changes, func(c client.ConfigChange) bool { return c.ETag == etag })
}

func indented(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// differencesOf lists what differs between two configs.
func differencesOf(before, after json.RawMessage, kind difference.Kind) ([]difference.Value, error) {
	all, err := difference.Of(before, after, kind)
	if err != nil {
		err = viewerError(err.Error())
	}
	return all, err
}

// changedBy lists what a PUT of a text would change, and reports whether there is the config.
func (v *view) changedBy(ctx context.Context, id string, text json.RawMessage) ([]difference.Value, bool, error) {
	stored, err := v.API.GetConfig(ctx, id)
	none := client.IsNotFound(err)
	switch {
	case none:
		stored = &client.StoredConfig{}
	case err != nil:
		return nil, false, err
	}
	all, err := differencesOf(stored.JSON, text, difference.Put)
	return all, !none, err
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
	differences, _, err := v.changedBy(ctx, id, text)
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
	if then < 0 {
		return nil, viewerError("That change is not kept any more.")
	}
	var now json.RawMessage
	if i := slices.IndexFunc(changes, func(c client.ConfigChange) bool { return c.Current }); i >= 0 {
		now = changes[i].Config
	}
	differences, err := differencesOf(now, changes[then].Config, difference.Answer)
	return &question{Title: fmt.Sprintf("Go back to %s of the config %s?", to, id), Button: "Go back",
		Text:        "The config is made what it was after that change, with the hosting keys of that time.",
		Differences: differences, Back: v.link("config", "id", id)}, err
}

func runRollback(ctx context.Context, v *view) (string, error) {
	id, etag := v.FormValue("id"), cmp.Or(v.FormValue("etag"), client.Absent)
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
