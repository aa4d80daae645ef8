package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Each file of testdata is a rule set. What Write writes is the same one.
func TestWrittenRulesAreReadAsTheSame(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, err := rules.Parse(text)
		if err != nil {
			t.Fatal(file, err)
		}
		written := rules.Write(first)
		second, err := rules.Parse(written)
		if err != nil {
			t.Fatal(file, err, string(written))
		}
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s is another rule set after it was written:\n%s\n%+v\n%+v", file, written, first, second)
		}
		for _, line := range strings.Split(string(written), "\n") {
			if len(line) > 160 {
				t.Errorf("%s is written with a line of %d bytes", file, len(line))
			}
		}
	}
}

// The rules of a game of five against five, with roles and regions, are short.
func TestFiveAgainstFiveIsShort(t *testing.T) {
	text, err := os.ReadFile("testdata/five.json")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(strings.TrimSpace(string(text)), "\n") + 1; n > 20 {
		t.Errorf("it has %d lines", n)
	}
}

// Rule sets that readers copy name their regions, so that no client invents one.
func TestExamplesNameTheirRegions(t *testing.T) {
	found := 0
	for _, pattern := range []string{"../../../*.md", "../../../docs/*.md", "../../../functions/*/*.md", "testdata/*"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for block := range strings.SplitSeq(string(text), "```") {
				if !strings.Contains(block, `"teams"`) || !strings.Contains(block, `"regions": {`) {
					continue
				}
				if found++; !strings.Contains(block, `"names"`) {
					t.Errorf("%s has a rule set whose regions have no names:\n%s", page, block)
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("%d rule sets with regions were found", found)
	}
}

// A bound that grows every tenth of a second has grown three times after three of them.
func TestBoundsGrowOnTime(t *testing.T) {
	b := rules.Bound{Linear: &rules.Linear{Delta: 1, Every: 0.1, Limit: 1000}}
	for tenths := range 1000 {
		if n, _ := b.At(float64(tenths) / 10); n != float64(tenths) {
			t.Errorf("after %d tenths it is %v", tenths, n)
		}
	}
}

// What a value is for a player without it cannot be less than nothing.
func TestDefaultsThatCannotBeAreRefused(t *testing.T) {
	const of = `"values": {"v": {"type": %q, "default": %s}}, "teams": [{"name": "a", "copies": 2, "size": 1}]`
	for rest, kind := range map[string]string{
		`"regions": {"from": "v"}`: "map",
		`"regions": {"from": "l"}, "rules": [{"any": [{"not": {"latency": "v", "max": 1}}]}]`: "map",
		`"regions": {"from": "l"}, "prefer": [{"low": {"max": {"latency": "v"}}}]`:            "map",
		`"roles": {"from": "v"}`:                "map",
		`"roles": {"from": "r", "weight": "v"}`: "number",
		`"numbers": ["s"], "prefer": [{"low": {"favorite": "s", "deviation": "v", "beta": 4}}]`: "number",
	} {
		for value, good := range map[string]bool{"1": true, "-1": false} {
			if kind == "map" {
				value = `{"x": 2, "y": ` + value + `}`
			}
			_, err := rules.Parse([]byte("{" + fmt.Sprintf(of, kind, value) + ", " + rest + "}"))
			if good != (err == nil) || !good && !strings.Contains(err.Error(), "values.v.default: must not be negative") {
				t.Errorf("%s with %s: %v", rest, value, err)
			}
		}
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	const teams = `"teams": [{"name": "red", "size": 2}]`
	const near = teams + `, "numbers": ["a"], "rules": [{"spread": "a", "max": 9}]`
	for text, want := range map[string]string{
		``:                         `line 1, column 1: the text ends where a value is expected`,
		"\v":                       `line 1, column 1: JSON is expected, and the text begins with "\v"`,
		strings.Repeat("a", 99):    `the text begins with "` + strings.Repeat("a", 40) + `"`,
		"{\n  \"teams\": [}":       `line 2, column 13: teams[0]: '}' is found where a value is expected`,
		`[]`:                       `must be an object, not a list`,
		`{}`:                       `has no teams`,
		`{"teams": []}`:            `teams: a match needs a team`,
		`{"teams": [{"size": 2}]}`: `teams[0]: a team needs a name`,
		`{"teams": [{"name": "a", "size": 2, "name": "b"}]}`:                                                                  `teams[0]: there are two members "name"`,
		`{"teams": [{"name": "a", "size": 2, "color": 1}]}`:                                                                   `teams[0].color: there is no such member here, only name,`,
		`{"teams": [{"name": "a", "size": {"min": 3, "max": 2}}]}`:                                                            `teams[0].size: min is greater than max`,
		`{"teams": [{"name": "a", "size": 2.5}]}`:                                                                             `teams[0].size: must be a whole number`,
		`{"teams": [{"name": "a", "size": 2, "roles": {"tank": 3}}]}`:                                                         `teams[0].roles: need 3 players`,
		`{"teams": [{"name": "a", "size": 2, "roles": {"tank": {"max": 1}}}]}`:                                                `take at most 1 players`,
		`{"teams": [{"name": "a", "size": 2}], "players": 3}`:                                                                 `players: the teams have 2 to 2 players`,
		`{"teams": [{"name": "a", "copies": 2, "size": 1}, {"name": "a_1", "size": 1}]}`:                                      `teams[1].name: a match may have two teams "a_1", of "a" and of "a_1"`,
		`{"teams": [{"name": "a_1", "size": 1}, {"name": "a", "copies": {"min": 0, "max": 2}, "size": 1}]}`:                   `teams[1].name: a match may have two teams "a_1", of "a_1" and of "a"`,
		`{` + teams + `, "rules": [{"spread": "skill", "max": 10}]}`:                                                          `rules[0].spread: there is no value "skill"`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"spread": "a"}]}`:                                                       `rules[0]: has no max`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"same": "a", "max": 1}]}`:                                               `rules[0].max: there is no such member`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"share": "a"}]}`:                                                        `rules[0].share: the value "a" must be a set here`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"spread": "a", "max": {"start": 1, "steps": [[9, 2], [3, 4]]}}]}`:       `max.steps[1]: must be after`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"spread": "a", "max": {"start": 1, "grow": 1}}]}`:                       `grows without an end`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"gap": "a", "max": {"start": 1, "clock": "each"}}]}`:                    `max.clock: must be one of oldest,`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [{"avg": "a"}, "~", 1]}]}`:                                   `compare[1]: must be one of <`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [{"avg": "b"}, "<", 1]}]}`:                                   `rules[0].compare[0]: there is no value "b"`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [{"favorite": "a"}, "<", 1]}]}`:                              `rules[0].compare[0]: has no beta`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [{"favorite": "a", "beta": null}, "<", 1]}]}`:                `rules[0].compare[0]: has no beta`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [{"favorite": "a", "beta": 0}, "<", 1]}]}`:                   `rules[0].compare[0].beta: must be greater than 0`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [1, ">", {"quality": "a", "beta": -4}]}]}`:                   `rules[0].compare[2].beta: must be greater than 0`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [{"quality": "a", "beta": 1e101}, ">", 0]}]}`:                `rules[0].compare[0].beta: must be greater than 0, from 1e-100 to 1e100`,
		`{` + teams + `, "numbers": ["a"], "prefer": [{"high": {"quality": "a", "beta": "4"}}]}`:                              `prefer[0].high.beta: must be a number, not a string`,
		`{` + teams + `, "numbers": ["a"], "prefer": [{"low": {"favorite": "a", "quality": "a", "beta": 4}}]}`:                `prefer[0].low.quality: there is no such member`,
		`{` + teams + `, "numbers": ["a"], "prefer": [{"low": {"favorite": "a", "in": "team", "beta": 4}}]}`:                  `prefer[0].low.in: there is no such member`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [{"favorite": "b", "beta": 4}, "<", 1]}]}`:                   `rules[0].compare[0].favorite: there is no value "b"`,
		`{` + teams + `, "values": {"a": "set"}, "rules": [{"compare": [{"favorite": "a", "beta": 4}, "<", 1]}]}`:             `rules[0].compare[0].favorite: the value "a" must be a number`,
		`{` + teams + `, "numbers": ["a"], "rules": [{"compare": [{"favorite": "a", "deviation": "s", "beta": 4}, "<", 1]}]}`: `rules[0].compare[0].deviation: there is no value "s"`,
		`{` + teams + `, "backfill": {"first": "last"}}`:                                                                      `backfill.first: must be one of full, games, matches`,
		`{` + teams + `, "backfill": {"open": -1}}`:                                                                           `backfill.open: max is negative`,
		`{` + teams + `, "backfill": {"open": {"start": 1, "steps": [[5, -1]]}}}`:                                             `backfill.open: must not be negative`,
		`{` + teams + `, "backfill": {"open": 0.5}}`:                                                                          `backfill.open: must be a whole number`,
		`{` + teams + `, "backfill": {"active": {"start": true, "clock": "oldest"}}}`:                                         `backfill.active.clock: there is none here`,
		`{` + teams + `, "backfill": {"active": 3}}`:                                                                          `backfill.active: must be true or false, or that`,
		`{` + teams + `, "backfill": {"active": {"start": 0, "grow": 1, "until": 1}}}`:                                        `backfill.active: must be true or false`,
		`{` + teams + `, "backfill": {"active": {"start": true, "steps": [[9, 2]]}}}`:                                         `backfill.active: must be true or false`,
		`{` + teams + `, "backfill": {"active": "no"}}`:                                                                       `backfill.active: must be a number or an object`,
		`{` + teams + `, "backfill": {"create": true}}`:                                                                       `backfill.create: must be a string`,
		`{` + teams + `, "backfill": {"create": "some"}}`:                                                                     `backfill.create: must be one of none, short, all`,
		`{` + teams + `, "backfill": []}`:                                                                                     `backfill: must be an object, not a list`,
		`{` + teams + `, "patience": 5}`:                                                                                      `patience: must be an object`,
		`{` + teams + `, "patience": {}}`:                                                                                     `patience: has no until`,
		`{` + teams + `, "patience": {"until": 5, "for": 1}}`:                                                                 `patience.for: there is no such member`,
		`{` + near + `, "patience": {"until": 0}}`:                                                                            `patience.until: must be more than 0`,
		`{` + near + `, "patience": {"until": 1e9}}`:                                                                          `patience.until: must be more than 0 seconds and at most 86400`,
		`{` + near + `, "patience": {"until": 5, "worth": -1}}`:                                                               `patience.worth: must be more than 0`,
		`{` + near + `, "patience": {"until": 5, "enough": 1}}`:                                                               `patience.enough: must be a part of the bounds`,
		`{` + teams + `, "patience": {"until": 5}}`:                                                                           `patience: no rule bounds a spread, a gap`,
		`{` + teams + `, "rules": [{"holders": "r", "of": "x"}]}`:                                                             `rules[0]: has no count`,
		`{` + teams + `, "rules": [{"latency": "p", "max": 5}]}`:                                                              `only if the rules have regions`,
		`{` + teams + `, "regions": {"names": []}}`:                                                                           `regions.names: must have 1 to 64 names`,
		`{` + teams + `, "regions": {"names": ["a", "a"]}}`:                                                                   `regions.names[1]: "a" is there twice`,
		`{` + teams + `, "regions": {"names": [""]}}`:                                                                         `regions.names[0]: must have 1 to 256 bytes`,
		`{` + teams + `, "regions": {"names": ["e\nu"]}}`:                                                                     `regions.names: the name "e\nu" must have 1 to 256 bytes, and no control characters`,
		`{"teams": [{"name": "red\u0085", "size": 2}]}`:                                                                       `teams[0].name: the name "red\u0085" must have`,
		`{"teams": [{"name": "` + strings.Repeat("a", 255) + `", "copies": 2, "size": 2}]}`:                                   `teams[0].name: the name "aaa`,
		`{` + teams + `, "regions": {"names": "eu"}}`:                                                                         `regions.names: must be a list`,
		`{` + teams + `, "regions": {"names": [` + strings.Repeat(`"a",`, 64) + `"b"]}}`:                                      `regions.names: must have 1 to 64 names`,
		`{` + teams + `, "roles": {"from": "role", "most": 1}}`:                                                               `roles.most: there is no such member here, only from, max, weight`,
		`{` + teams + `, "roles": {"from": "role", "max": {"start": 1, "clock": "oldest"}}}`:                                  `roles.max.clock: the number goes by the age of each ticket`,
		`{` + teams + `, "roles": {"from": "role", "max": -1}}`:                                                               `roles.max: must not be negative`,
		`{` + teams + `, "roles": {"from": "role", "weight": "often"}}`:                                                       `roles.weight: there is no value "often"`,
		`{` + teams + `, "roles": {"max": 1}, "values": {"roles": "set"}}`:                                                    `roles.from: the value "roles" must be a map here, not a set`,
		`{` + teams + `, "roles": 5}`:                                                                                         `roles: must be a string`,
		`{` + teams + `, "roles": "r", "prefer": [{"low": {"reluctance": "players"}}]}`:                                       `the value "r" must be a map here`,
		`{` + teams + `, "roles": {"from": "r"}, "prefer": [{"low": {"reluctance": "r"}}]}`:                                   `low.reluctance: must be one of players`,
		`{` + teams + `, "roles": {"from": "r"}, "rules": [{"compare": [{"reluctance": "players"}, "<", 1]}]}`:                `reluctance is for low and high in prefer`,
	} {
		_, err := rules.Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, and should have %s", text, err, want)
		}
	}
}
