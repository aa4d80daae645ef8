package block_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

var manifests = []struct {
	json string
	want block.Manifest
	err  string
}{
	{json: ``, want: block.Manifest{EveryAttribute: true, EveryProperty: true}},
	{json: `{}`, want: block.Manifest{EveryAttribute: true, EveryProperty: true}},
	{json: `{"attributes":[]}`, want: block.Manifest{EveryProperty: true}},
	{
		json: `{"attributes":["skill","a","skill"],"properties":["é\u0000"]}`,
		want: block.Manifest{Attributes: []string{"a", "skill"}, Properties: []string{"é\x00"}},
	},
	{
		json: `{"attributes":[],"attributeSettings":["teams.by","attribute"],"propertySettings":["map"]}`,
		want: block.Manifest{AttributeSettings: []string{"attribute", "teams.by"}, PropertySettings: []string{"map"}},
	},
	{json: `{"attributeSettings":[]}`, want: block.Manifest{EveryProperty: true}},
	{json: `{"attributeSettings":{"a":1}}`, err: "manifest: attributeSettings is not a list"},
	{json: `{"propertySettings":[""]}`, err: "manifest: propertySettings holds a name that is not 1 to 256 bytes long"},
	{json: `{"later":{"x":1},"properties":[]}`, want: block.Manifest{EveryAttribute: true}},
	{json: `[]`, err: "manifest: is not an object"},
	{json: `{"attributes":"skill"}`, err: "manifest: attributes is not a list"},
	{json: `{"attributes":null}`, err: "manifest: attributes is not a list"},
	{json: `{"properties":["a",1]}`, err: "manifest: properties holds something that is not a string"},
	{json: `{"properties":[""]}`, err: "manifest: properties holds a name that is not 1 to 256 bytes long"},
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
		if got.EveryAttribute != c.want.EveryAttribute || got.EveryProperty != c.want.EveryProperty ||
			!slices.Equal(got.Attributes, c.want.Attributes) || !slices.Equal(got.Properties, c.want.Properties) ||
			!slices.Equal(got.AttributeSettings, c.want.AttributeSettings) ||
			!slices.Equal(got.PropertySettings, c.want.PropertySettings) {
			t.Errorf("%s: %+v, want %+v", c.json, got, c.want)
		}
		again, err := block.ParseManifest(got.JSON())
		if c.err == "" && (err != nil || !bytes.Equal(again.JSON(), got.JSON())) {
			t.Errorf("%s: %s is read as %+v, %v", c.json, got.JSON(), again, err)
		}
	}
	if _, err := block.ParseManifest(make([]byte, block.MaxManifest+1)); err == nil ||
		err.Error() != "manifest: 65537 bytes are more than 65536" {
		t.Error(err)
	}
}

func TestManifestOfTooManyNamesIsRefused(t *testing.T) {
	names := make([]string, 9_000)
	for i := range names {
		names[i] = strconv.FormatInt(int64(i), 36)
	}
	for member, m := range map[string]block.Manifest{
		"attributes names 9000 attributes":      {Attributes: names, EveryProperty: true},
		"attributeSettings names 9000 settings": {AttributeSettings: names, EveryProperty: true},
		"properties names 9000 properties":      {EveryAttribute: true, Properties: names},
		"propertySettings names 9000 settings":  {EveryAttribute: true, PropertySettings: names},
	} {
		_, err := block.ParseManifest(m.JSON())
		if err == nil || err.Error() != "manifest: "+member+", at most 256 are allowed: name those that the function reads" {
			t.Error(err)
		}
	}
	if _, err := block.ParseManifest(block.Manifest{Attributes: names[:256], Properties: names[:256]}.JSON()); err != nil {
		t.Error(err)
	}
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
		{`{"values":{"mode":"string","best":{"from":"skill"},"mode":7}}`, "values.@", []string{"best", "mode"}},
		{`{"values":{"mode":"string","best":{"from":"skill"}}}`, "values.*.from", []string{"skill"}},
		{`{"values":[{"name":"a"},[],{"name":["b","c"]},{"name":null}]}`, "values.*.name", []string{"a", "b", "c"}},
		{`{"values":["a"],"@":"b"}`, "values.@", nil},
		{`{"values":"a"}`, "values.*", nil},
		{`{"a":{"b":{"c":"d"}},"e":{"b":{"c":"f"}}}`, "*.*.c", []string{"d", "f"}},
		{`{}`, "attribute", nil},
		{``, "attribute", nil},
		{`{"attribute":"a"`, "attribute", nil},
	} {
		if got := block.Named([]byte(c.settings), []string{c.path}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s names %q, want %q", c.settings, c.path, got, c.want)
		}
	}
}

func TestHasFindsASetting(t *testing.T) {
	for settings, want := range map[string]bool{
		`{"values":{"id":"string"}}`: true, `{"values":{"name":"string"}}`: false, `{"values":{"id":null}}`: false, ``: false,
	} {
		if got := block.Has([]byte(settings), []string{"avoid", "values.id"}); got != want {
			t.Errorf("%s: %v", settings, got)
		}
	}
}

func TestStringsFindsEveryStringOnce(t *testing.T) {
	settings := []byte(`{"by":"skill","teams":[{"by":"level","n":[1,"x"]}],"":"` + strings.Repeat("y", 257) + `"}`)
	want := []string{"by", "skill", "teams", "level", "n", "x"}
	if got := block.Strings(settings, 100); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := block.Strings(settings, 3); !slices.Equal(got, want[:3]) {
		t.Errorf("got %q, want %q", got, want[:3])
	}
	if got := block.Strings([]byte(`["a"`), 3); got != nil {
		t.Errorf("%q", got)
	}
}
