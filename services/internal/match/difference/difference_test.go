package difference_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/match/difference"
)

func TestOf(t *testing.T) {
	keys := func(secret string) string { return `{"hosting":{"Access":"me","FleetId":"eu"` + secret + `}}` }
	const masked, other = `,"Secret":"********"`, `,"secret":"new"`
	for _, tt := range []struct {
		name, before, after string
		change              bool
		want                string
	}{
		{"the same, in another case", `{"Pools":{"a":[]}}`, `{"pools":{"a":[]}}`, true, ""},
		{"pools by case", `{"pools":{"a":[]}}`, `{"pools":{"A":[]}}`, true, `pools.A: > []; pools.a: [] >`},
		{"nothing before", "", `{"queue":"q"}`, true, `queue: > "q"`},
		{"nothing after", `{"queue":"q"}`, "", true, `queue: "q" >`},
		{"a mask", keys(masked), keys(masked), true, ""},
		{"a secret is taken away", keys(masked), keys(""), true, "hosting.Secret: (hidden) >"},
		{"a file has none", keys(masked), keys(""), false, ""},
		{"a new secret", keys(masked), keys(other), true, "hosting.Secret: (hidden) > (hidden)"},
		{"a file has one", keys(masked), keys(other), false, ""},
		{"the first secret", keys(""), keys(other), false, "hosting.secret: > (hidden)"},
		{"null is not given", `{}`, `{"queue":null,"hosting":{"Secret":null}}`, true, ""},
		{"null of settings", `{"matchmaking":{"config":{}}}`, `{"matchmaking":{"config":{"mode":null}}}`, true,
			"matchmaking.config: {} >; matchmaking.config.mode: > null"},
		{"null deep in settings", `{"matchmaking":{"config":{"a":[{"b":null}]}}}`, `{"matchmaking":{"config":{"a":[{"b":0}]}}}`,
			false, "matchmaking.config.a[0].b: null > 0"},
		{"null settings", `{"matchmaking":{"name":"x"}}`, `{"matchmaking":{"name":"x","config":null}}`, true, ""},
		{"a longer array", `{"report":{"attributes":["a"]}}`, `{"report":{"attributes":["a","b"]}}`, true,
			`report.attributes[1]: > "b"`},
		{"an array empties", `{"a":[1]}`, `{"a":[]}`, true, "a: > []; a[0]: 1 >"},
		{"numbers", `{"a":100,"b":9007199254740993}`, `{"a":1e2,"b":9007199254740992}`, true,
			"b: 9007199254740993 > 9007199254740992"},
		{"names with dots", `{"matchmaking":{"config":{"a.b":1}}}`, `{"matchmaking":{"config":{"a":{"b":1}}}}`, true,
			`matchmaking.config."a.b": 1 >; matchmaking.config.a.b: > 1`},
	} {
		all, err := difference.Of(raw(tt.before), raw(tt.after), tt.change)
		var got []string
		for _, d := range all {
			got = append(got, strings.Join(strings.Fields(fmt.Sprintf("%s: %s > %s", d.Path, d.Before, d.After)), " "))
		}
		if strings.Join(got, "; ") != tt.want || err != nil {
			t.Errorf("%s: %q, want %q (%v)", tt.name, got, tt.want, err)
		}
	}
	if _, err := difference.Of(raw(`{"a":1`), nil, true); err == nil {
		t.Error("half a config is read")
	}
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
