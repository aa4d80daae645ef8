package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"

	"matchmaker.dev/services/lab"
)

type configDiff struct {
	ID   string `arg:"" name:"id" completion-predictor:"config" help:"The config's identifier."`
	File string `arg:"" optional:"" completion-predictor:"file" help:"Compare with this JSON file, or - for standard input."`
	From string `placeholder:"ETAG" help:"The change to compare, see \"mm config history\"; default: the one before the last, or the last one with a file."`
	To   string `placeholder:"ETAG" help:"The change to compare with; default: the last one."`
	lab.Translation
}

// Validate is called by kong.
func (c configDiff) Validate() error {
	if c.File != "" && c.To != "" {
		return errors.New("--to: a file is compared already")
	}
	return nil
}

// Run prints the difference.
func (c configDiff) Run(ctx context.Context, s *session, api developerAPI) error {
	var file json.RawMessage
	if c.File != "" {
		var err error
		if file, err = s.readConfig(c.File, c.Translation); err != nil {
			return err
		}
	}
	changes, err := api.ConfigHistory(ctx, c.ID)
	if err != nil {
		return err
	}
	last := 0
	to := file
	if to == nil {
		at, err := c.find(changes, c.To, 0)
		if err != nil {
			return err
		}
		if to, last = changes[at].Config, at+1; last == len(changes) {
			last = at // the only one: nothing differs
		}
	}
	at, err := c.find(changes, c.From, last)
	if err != nil {
		return err
	}
	differences, err := differencesOf(changes[at].Config, to)
	if err != nil {
		return err
	}
	if len(differences) == 0 {
		s.note("nothing differs")
	}
	return s.show(differences, tableOf(differences, "value=path, before, after"))
}

// find returns the place of a change in a history; other if no tag is given.
func (c configDiff) find(changes []client.ConfigChange, tag string, other int) (int, error) {
	if tag == "" && other < len(changes) {
		return other, nil
	}
	tag = quoteETag(tag)
	at := slices.IndexFunc(changes, func(change client.ConfigChange) bool { return change.ETag == tag })
	if at < 0 {
		return 0, fmt.Errorf("config %s has no change %s in its history: see \"mm config history %s\"", c.ID, tag, c.ID)
	}
	return at, nil
}

// difference is a value that differs. Before or After is empty where there is none.
type difference struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// hidden stands for a hosting key.
const hidden = "(hidden)"

// differencesOf returns what differs between two configs, either of which may be nil, in the order of the paths.
func differencesOf(before, after json.RawMessage) ([]difference, error) {
	old, err := valuesOf(before)
	if err != nil {
		return nil, err
	}
	now, err := valuesOf(after)
	if err != nil {
		return nil, err
	}
	all := []difference{}
	for key, value := range old {
		other, still := now[key]
		if still && other.text == value.text || key == secretKey && (value.text == masked || other.text == masked) {
			continue
		}
		all = append(all, difference{value.path, shownValue(key, value.text), shownValue(key, other.text)})
	}
	for key, value := range now {
		if _, was := old[key]; !was {
			all = append(all, difference{value.path, "", shownValue(key, value.text)})
		}
	}
	slices.SortFunc(all, func(a, b difference) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// The hosting keys, as keys of valuesOf, and what the service answers for a secret.
const (
	accessKey = "hosting.access"
	secretKey = "hosting.secret"
	masked    = `"` + client.Masked + `"`
)

func shownValue(key, text string) string {
	if text != "" && (key == accessKey || key == secretKey) {
		return hidden
	}
	return text
}

// configValue is a value that is no object or array, or an empty one, as JSON.
type configValue struct{ path, text string }

// valuesOf returns the values of a config by their paths. The letter case of the contract's names does not count.
func valuesOf(config json.RawMessage) (map[string]configValue, error) {
	values := map[string]configValue{}
	if config == nil {
		return values, nil
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader(config))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("the config cannot be read: %w", err)
	}
	flatten(values, "", "", document)
	return values, nil
}

func flatten(values map[string]configValue, key, path string, value any) {
	below := func(name, folded string, element any) {
		if path != "" && name[0] != '[' {
			name, folded = "."+name, "."+folded
		}
		flatten(values, key+folded, path+name, element)
	}
	switch v := value.(type) {
	case nil: // null means that it is not given
		return
	case map[string]any:
		for name, element := range v {
			shown := name
			if name == "" || strings.ContainsAny(name, ".[ ") {
				shown = strconv.Quote(name)
			}
			folded := shown
			// Names of pools, and names inside of settings, differ by case.
			if key != "pools" && key != "matchmaking.config" && !strings.HasPrefix(key, "matchmaking.config.") {
				folded = strings.ToLower(shown)
			}
			below(shown, folded, element)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, element := range v {
			name := fmt.Sprintf("[%d]", i)
			below(name, name, element)
		}
		if len(v) > 0 {
			return
		}
	}
	if number, ok := value.(json.Number); ok {
		value = shortest(number)
	}
	text, err := json.Marshal(value)
	if err == nil && path != "" {
		values[key] = configValue{path, string(text)}
	}
}

// shortest is a number as a config is answered: 100 for 100.0. Integers that a float64 may not have stay as they are.
func shortest(n json.Number) any {
	const exact = 1 << 53
	if f, err := n.Float64(); err == nil && f > -exact && f < exact {
		return f
	}
	return n
}
