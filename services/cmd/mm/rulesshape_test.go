package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/schema"
)

// meaning are the errors of the language that no schema can find: they follow from names, from comparisons of numbers,
// and from what all of a rule set needs.
var meaning = regexp.MustCompile(`there is no value "|must be a \w+ here, not a|there is no team "|there are two teams "` +
	`|may have two teams "|nothing can match|is never true|no rule bounds a spread` +
	`|must be after more seconds than the step before|never gets from start to until` +
	`|reluctance is for low and high|a match has a region only if|no value says which roles|has \d+ values, and at most` +
	`|a match may have .* teams, and|a match needs .* players, and|must be by a number, or by a map` +
	`|nested more than|there are .* conditions`)

// mutator changes documents as people do: it drops, renames and adds members, and takes other values.
type mutator struct {
	*rand.Rand
	names  []string // of members, anywhere
	values []any    // anywhere
}

// learn remembers the names and the values of a document.
func (m *mutator) learn(v any) {
	m.values = append(m.values, v)
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			m.names = append(m.names, name)
			m.learn(v[name])
		}
	case []any:
		for _, e := range v {
			m.learn(e)
		}
	}
}

// change returns the value with a change somewhere in it.
func (m *mutator) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || m.IntN(3) == 0 {
			return m.members(v)
		}
		name := m.one(v)
		v[name] = m.change(v[name])
		return v
	case []any:
		if len(v) == 0 || m.IntN(6) == 0 {
			return m.elements(v)
		}
		i := m.IntN(len(v))
		v[i] = m.change(v[i])
		return v
	}
	return m.value()
}

func (m *mutator) one(v map[string]any) string {
	names := slices.Sorted(maps.Keys(v))
	return names[m.IntN(len(names))]
}

func (m *mutator) name() string { return m.names[m.IntN(len(m.names))] }

func (m *mutator) members(v map[string]any) any {
	switch action := m.IntN(5); {
	case action == 0:
		return m.value()
	case action == 1 || len(v) == 0:
		v[m.name()] = m.value()
	case action == 2:
		delete(v, m.one(v))
	case action == 3:
		name := m.one(v)
		value := v[name]
		delete(v, name)
		v[m.name()] = value
	default:
		name := m.one(v)
		value := v[name]
		delete(v, name)
		v[name+"s"] = value
	}
	return v
}

func (m *mutator) elements(v []any) any {
	switch action := m.IntN(3); {
	case action == 0:
		return m.value()
	case action == 1 || len(v) == 0:
		return append(v, m.value())
	}
	i := m.IntN(len(v))
	return slices.Delete(v, i, i+1)
}

// value is one of those that a document has somewhere, or an odd one.
func (m *mutator) value() any {
	odd := []any{0, 1, 2.5, -3, 1001, 1e6, true, false, "", "text", "team", "players", []any{}, map[string]any{},
		map[string]any{"start": true}, map[string]any{"start": 2.5, "grow": 1, "until": 8, "clock": "each"}}
	if m.IntN(2) == 0 {
		return odd[m.IntN(len(odd))]
	}
	return clone(m.values[m.IntN(len(m.values))])
}

func clone(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var c any
	_ = json.Unmarshal(text, &c) // it was marshaled
	return c
}

// few keeps some of the rules, preferences and other sections, so that a change is where the rest is valid.
func (m *mutator) few(document map[string]any) {
	for _, name := range []string{"rules", "prefer", "order"} {
		if all, ok := document[name].([]any); ok {
			m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			document[name] = all[:min(len(all), 1+m.IntN(2))]
		}
	}
	for _, name := range []string{"rules", "prefer", "order", "patience", "backfill", "players", "priority"} {
		if m.IntN(2) == 0 {
			delete(document, name)
		}
	}
}

// nulls reports whether a member is null where that counts as absent. The roles of a team, start and steps have nulls
// of their own.
func nulls(v any, within string) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			absent := name != "start" && (within != "roles" || name == "from" || name == "max" || name == "weight")
			if value == nil && absent || nulls(value, name) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return nulls(e, within) })
	}
	return false
}

// However a rule set is changed, the schema accepts what the language accepts, but for what has no meaning.
func TestSchemaAcceptsWhatTheLanguageAccepts(t *testing.T) {
	const count = 5_000
	valid := validator(t, schema.Rules())
	seed := uint64(time.Now().UnixNano())
	m := &mutator{Rand: rand.New(rand.NewPCG(seed, 0))}
	files, err := filepath.Glob("../../../pkg/matchfn/rules/testdata/*.json")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	var bases []any
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		var base any
		if err := json.Unmarshal(text, &base); err != nil {
			t.Fatal(err)
		}
		bases = append(bases, base)
		m.learn(base)
	}
	accepted, refused, meant := 0, 0, 0
	for range count {
		document, _ := clone(bases[m.IntN(len(bases))]).(map[string]any)
		m.few(document)
		var changed any = document
		for range 1 + m.IntN(2) {
			changed = m.change(changed)
		}
		if nulls(changed, "") {
			continue
		}
		text, err := json.Marshal(changed)
		if err != nil {
			t.Fatal(err)
		}
		_, wrong := rules.Parse(text)
		marked := valid(text)
		switch {
		case wrong == nil && marked == nil:
			accepted++
		case wrong != nil && marked != nil:
			refused++
		case wrong != nil && meaning.MatchString(wrong.Error()):
			meant++
		default:
			t.Fatalf("seed %d: the language says %v, the schema %v, of\n%s", seed, wrong, marked, text)
		}
	}
	t.Logf("seed %d: both accept %d, both refuse %d, %d have no meaning", seed, accepted, refused, meant)
	if accepted < count/40 || refused < count/40 {
		t.Errorf("seed %d: both accept only %d and both refuse %d of %d", seed, accepted, refused, count)
	}
}
