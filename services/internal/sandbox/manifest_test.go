package sandbox_test

import (
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/services/internal/sandbox"
)

func TestManifestSaysWhatIsReadOfPlayers(t *testing.T) {
	m, err := sandbox.ParseManifest([]byte(`{"players":{"attributes":["role"],"properties":["name"],` +
		`"attributeSettings":["by"],"propertySettings":["p"],"handles":true,"ids":true,"later":[1]}}`))
	if p := m.Players; err != nil || p == nil || p.Attributes[0] != "role" || p.Properties[0] != "name" ||
		p.AttributeSettings[0] != "by" || p.PropertySettings[0] != "p" || !p.Handles || !p.IDs {
		t.Errorf("%+v, %v", m.Players, err)
	}
	if m, err := sandbox.ParseManifest([]byte(`{"players":{}}`)); err != nil || m.Players == nil || m.Players.IDs {
		t.Errorf("%+v, %v", m.Players, err)
	}
	for _, text := range []string{`{}`, `{"players":null}`} {
		if m, err := sandbox.ParseManifest([]byte(text)); err != nil || m.Players != nil {
			t.Errorf("%s: %+v, %v", text, m.Players, err)
		}
	}
	for text, want := range map[string]string{
		`{"players":{"attributes":"x"}}`:            "mm_manifest: players.attributes: a list of names is expected, got: string",
		`{"players":{"properties":["a",1]}}`:        "mm_manifest: players.properties: a list of names is expected, got: number",
		`{"players":{"attributeSettings":["",""]}}`: "mm_manifest: players.attributeSettings[0] is empty",
		`{"players":[1]}`:                           "mm_manifest: players: an object is expected, got: array",
		`{"changes":1}`:                             "mm_manifest: changes: true or false is expected, got: number",
	} {
		if _, err := sandbox.ParseManifest([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	many := sandbox.Manifest{Players: &sandbox.Players{Properties: make([]string, block.MaxNames+1)}}
	long := sandbox.Manifest{Players: &sandbox.Players{Attributes: []string{strings.Repeat("x", block.MaxText+1)}}}
	for want, m := range map[string]*sandbox.Manifest{
		"mm_manifest: players.properties has 257 names, at most 256 are allowed: name only what the function reads": &many,
		"mm_manifest: players.attributes[0] has 257 bytes, at most 256 are allowed":                                 &long,
	} {
		if err := m.Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
