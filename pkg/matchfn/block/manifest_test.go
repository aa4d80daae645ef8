package block_test

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

var manifests = []struct {
	json string
	want block.Manifest
	err  string
}{
	{json: `{}`, want: block.Manifest{}},
	{json: `{"attributes":null,"later":{"x":1}}`, want: block.Manifest{}},
	{json: `{"attributes":[]}`, want: block.Manifest{Attributes: []string{}}},
	{
		json: `{"attributes":["skill","a"],"properties":["é\u0000"],"changes":true,"columns":true}`,
		want: block.Manifest{
			Attributes: []string{"skill", "a"}, Properties: []string{"é\x00"}, Changes: true, Columns: true,
		},
	},
	{
		json: `{"attributes":[],"attributeSettings":["teams.by","attribute"],"propertySettings":["map"]}`,
		want: block.Manifest{Attributes: []string{}, AttributeSettings: []string{"teams.by", "attribute"},
			PropertySettings: []string{"map"}},
	},
	{json: `{"attributeSettings":[]}`, want: block.Manifest{AttributeSettings: []string{}}},
	{json: `{"players":null}`, want: block.Manifest{}},
	{
		json: `{"players":{"attributes":["role"],"attributeSettings":["by"],"properties":["name"],"propertySettings":["p"],` +
			`"idSettings":["refill"],"handles":true,"ids":true,"backfills":true,"later":[1]}}`,
		want: block.Manifest{Players: &block.PlayerManifest{
			Attributes: []string{"role"}, AttributeSettings: []string{"by"}, Properties: []string{"name"},
			PropertySettings: []string{"p"}, IDSettings: []string{"refill"}, Handles: true, IDs: true, Backfills: true,
		}},
	},
	{json: `["skill"]`, err: "a JSON object is expected, got: array"},
	{json: `skill`, err: "it is no JSON: invalid character 's' looking for beginning of value"},
	{json: `{"attributeSettings":{"a":1}}`, err: "attributeSettings: a list of names is expected, got: object"},
	{json: `{"attributes":"skill"}`, err: "attributes: a list of names is expected, got: string"},
	{json: `{"properties":["a",1]}`, err: "properties: a list of names is expected, got: number"},
	{json: `{"properties":[""]}`, err: "properties[0] is empty"},
	{json: `{"players":{"attributeSettings":["",""]}}`, err: "players.attributeSettings[0] is empty"},
	{json: `{"players":[1]}`, err: "players: an object is expected, got: array"},
	{json: `{"players":{"attributes":"x"}}`, err: "players.attributes: a list of names is expected, got: string"},
	{json: `{"changes":1}`, err: "changes: true or false is expected, got: number"},
}

func TestManifestIsParsedAndWritten(t *testing.T) {
	for _, c := range manifests {
		got, err := block.ParseManifest([]byte(c.json))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != c.err {
			t.Errorf("%s: error %q, want %q", c.json, text, c.err)
		}
		if c.err != "" {
			continue
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.json, got, c.want)
		}
		if again, err := block.ParseManifest(got.JSON()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: %s is read as %+v, %v", c.json, got.JSON(), again, err)
		}
	}
}

func TestManifestOfTooManyNamesIsRefused(t *testing.T) {
	names := make([]string, block.MaxNames+1)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	long := []string{strings.Repeat("x", block.MaxText+1)}
	const many = " has 257 names, at most 256 are allowed: name only what the function reads"
	for want, m := range map[string]block.Manifest{
		"attributes" + many: {Attributes: names}, "attributeSettings" + many: {AttributeSettings: names},
		"properties" + many: {Properties: names}, "propertySettings" + many: {PropertySettings: names},
		"players.properties" + many: {Players: &block.PlayerManifest{Properties: names}},
		"players.attributes[0] has 257 bytes, at most 256 are allowed": {
			Players: &block.PlayerManifest{Attributes: long}},
	} {
		if err := m.Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := (&block.Manifest{Attributes: names[:256], Properties: names[:256]}).Check(); err != nil {
		t.Error(err)
	}
}

// parsed is settings as Named takes them; nil for what cannot be parsed.
func parsed(settings string) *document.Node {
	n, _ := document.Parse([]byte(settings))
	return n
}

func TestNamedFindsTheNamesThatSettingsHave(t *testing.T) {
	for _, c := range []struct {
		settings, path string
		want           []string
	}{
		{`{"attribute":"skill"}`, "attribute", []string{"skill"}},
		{`{"teams":{"by":["b","a","b",7,null]}}`, "teams.by", []string{"a", "b"}},
		{`{"teams":[{"by":"a"},{"by":"c"}]}`, "teams.1.by", []string{"c"}},
		{`{"attribute":7}`, "attribute", nil},
		{`{"attribute":{"a":"b"}}`, "attribute", nil},
		{`{"attribute":["a",["b"]]}`, "attribute", []string{"a"}},
		{`{"values":{"mode":"string","best":{"from":"skill"}}}`, "values.@", []string{"best", "mode"}},
		{`{"values":{"mode":"string","best":{"from":"skill"}}}`, "values.*.from", []string{"skill"}},
		{`{"values":[{"name":"a"},[],{"name":["b","c"]},{"name":null}]}`, "values.*.name", []string{"a", "b", "c"}},
		{`{"values":["a"],"@":"b"}`, "values.@", nil},
		{`{"values":"a"}`, "values.*", nil},
		{`{"a":{"b":{"c":"d"}},"e":{"b":{"c":"f"}}}`, "*.*.c", []string{"d", "f"}},
		{`{}`, "attribute", nil},
		{``, "attribute", nil},
		{`{"attribute":"a"`, "attribute", nil},
	} {
		if got := block.Named(parsed(c.settings), []string{c.path}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s names %q, want %q", c.settings, c.path, got, c.want)
		}
	}
}

func TestHasFindsASetting(t *testing.T) {
	for settings, want := range map[string]bool{
		`{"values":{"id":"string"}}`: true, `{"values":{"name":"string"}}`: false, `{"values":{"id":null}}`: false, ``: false,
	} {
		if got := block.Has(parsed(settings), []string{"avoid", "values.id"}); got != want {
			t.Errorf("%s: %v", settings, got)
		}
	}
}

func TestStringsFindsEveryStringOnce(t *testing.T) {
	settings := parsed(`{"by":"skill","teams":[{"by":"level","n":[1,"x"]}],"":"` + strings.Repeat("y", 257) + `"}`)
	want := []string{"by", "skill", "teams", "level", "n", "x"}
	if got := block.Strings(settings, 100); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := block.Strings(settings, 3); !slices.Equal(got, want[:3]) {
		t.Errorf("got %q, want %q", got, want[:3])
	}
	if got := block.Strings(parsed(`["a"`), 3); got != nil {
		t.Errorf("%q", got)
	}
}
