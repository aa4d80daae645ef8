package dialects_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/dialects/playfab"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// write writes a document as JSON. change writes a value in its place where it returns true.
func write(n *document.Node, change func(*document.Node) (string, bool)) string {
	if text, ok := change(n); ok {
		return text
	}
	var parts []string
	switch n.Kind {
	case document.Object:
		for _, m := range n.Members {
			parts = append(parts, quoted(m.Name)+":"+write(m.Node, change))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case document.List:
		for _, e := range n.Elements {
			parts = append(parts, write(e, change))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case document.String:
		return quoted(n.Text)
	case document.Number:
		return n.Text
	case document.Bool:
		return fmt.Sprint(n.True)
	}
	return "null"
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// In each place of each example, a list of one may be its element, and a number or a truth a text. Unity alone compares
// numbers and texts, and they are not the same.
func TestSingleValuesAndTextsInEveryPlace(t *testing.T) {
	asIs := func(*document.Node) (string, bool) { return "", false }
	lists, texts := 0, 0
	for path, language := range examples(t) {
		parse := lenient.Parse
		if language == dialects.PlayFab {
			parse = playfab.ParseMember
		}
		n, err := parse(read(t, path))
		if err != nil {
			t.Fatal(err)
		}
		try := func(change func(*document.Node) (string, bool)) string {
			result, err := dialects.Import(language, []byte(write(n, change)), "")
			if err != nil {
				return err.Error()
			}
			return string(rules.Write(result.Rules))
		}
		want := try(asIs)
		var walk func(*document.Node)
		walk = func(at *document.Node) {
			change := ""
			switch {
			case at.Kind == document.List && len(at.Elements) == 1:
				change = write(at.Elements[0], asIs)
				lists++
			case at.Kind == document.Number || at.Kind == document.Bool:
				change = quoted(write(at, asIs))
				texts++
			}
			if change != "" {
				got := try(func(n *document.Node) (string, bool) { return change, n == at })
				if got != want && at.Path != "defaultPool.matchLogic.matchDefinition.matchRules[1].reference" {
					t.Errorf("%s: %s as %s: %.200s", path, at.Path, change, got)
				}
			}
			for _, m := range at.Members {
				walk(m.Node)
			}
			for _, e := range slices.Clone(at.Elements) {
				walk(e)
			}
		}
		walk(n)
	}
	if lists < 100 || texts < 500 {
		t.Errorf("only %d lists of one and %d numbers", lists, texts)
	}
}
