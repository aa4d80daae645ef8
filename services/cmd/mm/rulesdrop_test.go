package main

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/schema"
)

// objects calls a function with each object of a value.
func objects(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			objects(v[name], visit)
		}
	case []any:
		for _, e := range v {
			objects(e, visit)
		}
	}
}

// Without any one of its members, the schema and the language agree on a rule set, whichever rule it has.
func TestSchemaWithoutEachMember(t *testing.T) {
	valid := validator(t, schema.Rules())
	text, err := os.ReadFile("../../../pkg/matchfn/rules/testdata/everything.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "patience") // it needs a rule of some kinds
	refused := 0
	look := func(document map[string]any) {
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		_, wrong := rules.Parse(text)
		marked := valid(text)
		if marked != nil {
			refused++
		}
		if (wrong == nil) != (marked == nil) && (wrong == nil || !meaning.MatchString(wrong.Error())) {
			t.Errorf("the language says %v, the schema %v, of\n%s", wrong, marked, text)
		}
	}
	for _, section := range []string{"rules", "prefer", "order"} {
		elements, _ := all[section].([]any)
		for _, element := range elements {
			document := maps.Clone(all)
			for _, name := range []string{"rules", "prefer", "order"} {
				delete(document, name)
			}
			document[section] = []any{element}
			look(document)
			objects(document, func(o map[string]any) {
				for _, name := range slices.Sorted(maps.Keys(o)) {
					value := o[name]
					delete(o, name)
					look(document)
					o[name] = value
				}
			})
		}
	}
	if refused < 100 {
		t.Errorf("only %d are refused", refused)
	}
}
