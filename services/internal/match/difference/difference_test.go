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
	const answer, put, file = difference.Answer, difference.Put, difference.File
	const masked, other = `,"Secret":"********"`, `,"secret":"new"`
	for _, tt := range []struct {
		name, before, after string
		kind                difference.Kind
		want                string
	}{
		{"the same, in another case", `{"Pools":{"a":[]}}`, `{"pools":{"a":[]}}`, put, ""},
		{"pools by case", `{"pools":{"a":[]}}`, `{"pools":{"A":[]}}`, put, `pools.A: > []; pools.a: [] >`},
		{"nothing before", "", `{"queue":"q"}`, put, `queue: > "q"`},
		{"nothing after", `{"queue":"q"}`, "", put, `queue: "q" >`},
		{"a mask", keys(masked), keys(masked), put, ""},
		{"a secret was taken away", keys(masked), keys(""), answer, "hosting.Secret: (hidden) >"},
		{"a secret that is not given stays", keys(masked), keys(""), put, ""},
		{"an empty secret takes it away", keys(masked), keys(`,"Secret":""`), put, "hosting.Secret: (hidden) >"},
		{"a file takes it away", keys(masked), keys(`,"Secret":""`), file, "hosting.Secret: (hidden) >"},
		{"a secret of another access key goes", keys(masked), `{"hosting":{"access":"you","FleetId":"eu"}}`, put,
			"hosting.Access: (hidden) > (hidden); hosting.Secret: (hidden) >"},
		{"a secret goes with hosting", keys(masked), `{}`, file,
			`hosting.Access: (hidden) >; hosting.FleetId: "eu" >; hosting.Secret: (hidden) >`},
		{"no key is an empty one", `{"hosting":{"FleetId":"eu"}}`, `{"hosting":{"Access":"","Secret":"","FleetId":"eu"}}`, put, ""},
		{"a file has none", keys(masked), keys(""), file, ""},
		{"a new secret", keys(masked), keys(other), put, "hosting.Secret: (hidden) > (hidden)"},
		{"a file has one", keys(masked), keys(other), file, ""},
		{"the first secret", keys(""), keys(other), file, "hosting.secret: > (hidden)"},
		{"secrets in an array", keys(masked), keys(`,"Secret":["s3"]`), put, "hosting.Secret: (hidden) > (hidden)"},
		{"a secret in an object", keys(""), keys(`,"Secret":{"s3":{"s4":5}}`), put, "hosting.Secret: > (hidden)"},
		{"keys of an array", keys(""), `{"hosting":[{"Access":5,"Secret":true}]}`, file, `hosting.Access: (hidden) >; ` +
			`hosting.FleetId: "eu" >; hosting[0].Access: > (hidden); hosting[0].Secret: > (hidden)`},
		{"a long s", keys(masked), `{"hoſting":{"acceſs":"you","ſecret":"s3","FleetId":"eu"}}`, put,
			"hosting.Access: (hidden) > (hidden); hosting.Secret: (hidden) > (hidden)"},
		{"null is not given", `{}`, `{"queue":null,"hosting":{"Secret":null}}`, put, ""},
		{"null of settings", `{"matchmaking":{"config":{}}}`, `{"matchmaking":{"config":{"mode":null}}}`, put,
			"matchmaking.config: {} >; matchmaking.config.mode: > null"},
		{"null deep in settings", `{"matchmaking":{"config":{"a":[{"b":null}]}}}`, `{"matchmaking":{"config":{"a":[{"b":0}]}}}`,
			file, "matchmaking.config.a[0].b: null > 0"},
		{"null settings", `{"matchmaking":{"name":"x"}}`, `{"matchmaking":{"name":"x","config":null}}`, put, ""},
		{"a longer array", `{"report":{"attributes":["a"]}}`, `{"report":{"attributes":["a","b"]}}`, put,
			`report.attributes[1]: > "b"`},
		{"an array empties", `{"a":[1]}`, `{"a":[]}`, put, "a: > []; a[0]: 1 >"},
		{"numbers", `{"a":100,"b":9007199254740993}`, `{"a":1e2,"b":9007199254740992}`, put,
			"b: 9007199254740993 > 9007199254740992"},
		{"names with dots", `{"matchmaking":{"config":{"a.b":1}}}`, `{"matchmaking":{"config":{"a":{"b":1}}}}`, put,
			`matchmaking.config."a.b": 1 >; matchmaking.config.a.b: > 1`},
	} {
		all, err := difference.Of(raw(tt.before), raw(tt.after), tt.kind)
		var got []string
		for _, d := range all {
			got = append(got, strings.Join(strings.Fields(fmt.Sprintf("%s: %s > %s", d.Path, d.Before, d.After)), " "))
		}
		if strings.Join(got, "; ") != tt.want || err != nil {
			t.Errorf("%s: %q, want %q (%v)", tt.name, got, tt.want, err)
		}
	}
	if _, err := difference.Of(raw(`{"a":1`), nil, difference.Put); err == nil {
		t.Error("half a config is read")
	}
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
