package dialects_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/rules"
)

// compounds is a rule set with a comparison c0, and compound rules c1, c2, … with these statements.
func compounds(statements ...string) string {
	text := `{"ruleLanguageVersion": "1.0", "playerAttributes": [{"name": "skill", "type": "number"}],
"teams": [{"name": "a", "minPlayers": 1, "maxPlayers": 4}],
"rules": [{"name": "c0", "type": "comparison", "operation": ">", "referenceValue": 1,
  "measurements": ["avg(teams[a].players.attributes[skill])"]}`
	for i, s := range statements {
		text += fmt.Sprintf(",\n"+`{"name": "c%d", "type": "compound", "statement": %q}`, i+1, s)
	}
	return text + "]}"
}

// refusal is why a rule set of FlexMatch is refused.
func refusal(text []byte) error {
	got, err := dialects.Import(dialects.FlexMatch, text, "")
	if err == nil {
		err = got.Refused()
	}
	return err
}

// Compound rules that name compound rules are refused before they become more than our rules may have.
func TestCompoundRulesDoNotMultiply(t *testing.T) {
	named := func(format string, n int) (all []string) {
		for i := range n {
			all = append(all, strings.ReplaceAll(format, "#", fmt.Sprintf("c%d", i)))
		}
		return all
	}
	hundred := "or(" + strings.Repeat("c0, ", 99) + "c0)"
	wide := "or(" + strings.Repeat(hundred+", ", 3) + hundred + ")"
	many := make([]string, 110)
	for i := range many {
		many[i] = "or(c0, c0, c0, c0, c0, c0)"
	}
	for name, c := range map[string]struct{ text, want string }{
		"tripled": {compounds(named("or(#, #, #)", 7)...), "line 11, rules[7] \"c7\": refused: its part \"c0\": " +
			"it has more than 2000 conditions, with those of the rules that it names"},
		"doubled": {compounds(named("or(#, #)", 99)...), "refused: its part \"c90\": it is nested too deep"},
		"deep": {compounds(named("not(#)", 99)...),
			"line 103, rules[99] \"c99\": refused: its part \"c90\": it is nested too deep, with the rules that it names"},
		"wide": {compounds(hundred, "or(c1, c1, c1, c1, c1, c1, c1)"), "conditions and expressions, and at most 2000 are"},
		"many": {compounds(many...), "conditions and expressions, and at most 2000 are allowed"},
	} {
		var err error
		took := time.Hour
		for tries := 3; tries > 0 && took > 5*time.Second; tries-- { // the machine may stand still
			start := time.Now()
			err = refusal([]byte(c.text))
			took = time.Since(start)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	for _, text := range []string{
		compounds(named("or(#, #)", 6)...), compounds(named("not(#)", 8)...), compounds(wide),
	} {
		got, err := dialects.Import(dialects.FlexMatch, []byte(text), "")
		try(t, got, err)
		if err != nil {
			t.Errorf("%.400s: %v", text, err)
		}
	}
}

// Rules that are made otherwise than from a text have a bound, too.
func TestCheckBoundsConditions(t *testing.T) {
	r, err := dialects.Read([]byte(`{"numbers": ["skill"], "teams": [{"name": "a", "size": 2}],
		"rules": [{"spread": "skill", "max": 1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	all := &rules.All{}
	for range rules.MaxConditions {
		all.Of = append(all.Of, r.Rules[0].Need)
	}
	r.Rules[0].Need = all
	if got := rules.Check(r); len(got) != 1 || !strings.Contains(got[0].String(), "at most 2000 are allowed") {
		t.Errorf("got %v", got)
	}
}
