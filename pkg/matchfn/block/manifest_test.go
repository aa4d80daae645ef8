package block_test

import (
	"slices"
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
			!slices.Equal(got.Attributes, c.want.Attributes) || !slices.Equal(got.Properties, c.want.Properties) {
			t.Errorf("%s: %+v, want %+v", c.json, got, c.want)
		}
	}
	if _, err := block.ParseManifest(make([]byte, block.MaxManifest+1)); err == nil ||
		err.Error() != "manifest: 65537 bytes are more than 65536" {
		t.Error(err)
	}
}
