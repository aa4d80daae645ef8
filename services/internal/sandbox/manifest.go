package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"matchmaker.dev/pkg/matchfn/block"
)

// Manifest names the attributes and properties that a function reads. A nil list means that it declares none; a
// function that declares neither names nor settings may read any. See block.Manifest.
type Manifest struct {
	Attributes []string `json:"attributes"` // tickets' numbers, by name
	Properties []string `json:"properties"` // tickets' and players' opaque data, by name
	// The paths of settings whose values name attributes and properties that the function reads.
	AttributeSettings []string `json:"attributeSettings,omitempty"`
	PropertySettings  []string `json:"propertySettings,omitempty"`
	// Changes is whether the function keeps the tickets of a run and works on what changed since.
	Changes bool `json:"changes,omitempty"`
	// Columns is whether the function names more columns for the settings of each config.
	Columns bool `json:"columns,omitempty"`
	// Players says what the function reads of the tickets' players; nil for nothing.
	Players *Players `json:"players,omitempty"`
}

// Players says what a function reads of players, beside their number in each ticket.
type Players struct {
	Attributes        []string `json:"attributes,omitempty"`
	Properties        []string `json:"properties,omitempty"`
	AttributeSettings []string `json:"attributeSettings,omitempty"`
	PropertySettings  []string `json:"propertySettings,omitempty"`
	// Handles and IDs are whether it reads numbers and names that tell players apart.
	Handles bool `json:"handles,omitempty"`
	IDs     bool `json:"ids,omitempty"`
	// IDSettings are settings with which it reads the names.
	IDSettings []string `json:"idSettings,omitempty"`
	// Backfills is whether it reads the players in running games, too.
	Backfills bool `json:"backfills,omitempty"`
}

// EveryAttribute reports whether the function does not say which attributes it reads.
func (m *Manifest) EveryAttribute() bool { return m.Attributes == nil && m.AttributeSettings == nil }

// EveryProperty reports whether the function does not say which properties it reads.
func (m *Manifest) EveryProperty() bool { return m.Properties == nil && m.PropertySettings == nil }

// Check returns why an upload with this manifest is refused.
func (m *Manifest) Check() error {
	for _, list := range m.lists() {
		if n := len(list.names); n > block.MaxNames {
			return fmt.Errorf("mm_manifest: %s has %d names, at most %d are allowed: name only what the function reads",
				list.member, n, block.MaxNames)
		}
		for i, name := range list.names {
			if len(name) > block.MaxText {
				return fmt.Errorf("mm_manifest: %s[%d] has %d bytes, at most %d are allowed", list.member, i, len(name),
					block.MaxText)
			}
		}
	}
	return nil
}

type manifestList struct {
	member string
	names  []string
}

func (m *Manifest) lists() []manifestList {
	lists := []manifestList{
		{"attributes", m.Attributes}, {"attributeSettings", m.AttributeSettings},
		{"properties", m.Properties}, {"propertySettings", m.PropertySettings},
	}
	if p := m.Players; p != nil {
		lists = append(lists, []manifestList{
			{"players.attributes", p.Attributes}, {"players.attributeSettings", p.AttributeSettings},
			{"players.properties", p.Properties}, {"players.propertySettings", p.PropertySettings},
			{"players.idSettings", p.IDSettings},
		}...)
	}
	return lists
}

// maxManifest is the longest manifest in bytes: enough for some thousand names.
const maxManifest = 64 * kib

// ParseManifest reads what mm_manifest returned. It ignores unknown members, which later versions may have.
func ParseManifest(b []byte) (Manifest, error) {
	var m Manifest
	err := json.Unmarshal(b, &m)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return Manifest{}, fmt.Errorf("mm_manifest: a JSON object is expected, got: %s", wrong.Value)
		}
		expected := "a list of names"
		switch wrong.Type.Kind() {
		case reflect.Bool:
			expected = "true or false"
		case reflect.Struct:
			expected = "an object"
		}
		return Manifest{}, fmt.Errorf("mm_manifest: %s: %s is expected, got: %s", wrong.Field, expected, wrong.Value)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("mm_manifest returned no JSON: %w", err)
	}
	for _, list := range m.lists() {
		for i, name := range list.names {
			if name == "" {
				return Manifest{}, fmt.Errorf("mm_manifest: %s[%d] is empty", list.member, i)
			}
		}
	}
	return m, nil
}
