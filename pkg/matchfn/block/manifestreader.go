//go:build !wasip1

package block

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// ParseManifest reads the result of a module's mm_manifest. It ignores unknown members, which later versions may have.
func ParseManifest(text []byte) (Manifest, error) {
	var m Manifest
	err := json.Unmarshal(text, &m)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return Manifest{}, fmt.Errorf("a JSON object is expected, got: %s", wrong.Value)
		}
		expected := "a list of names"
		switch wrong.Type.Kind() {
		case reflect.Bool:
			expected = "true or false"
		case reflect.Struct:
			expected = "an object"
		}
		return Manifest{}, fmt.Errorf("%s: %s is expected, got: %s", wrong.Field, expected, wrong.Value)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("it is no JSON: %w", err)
	}
	return m, m.each(func(list manifestList) error {
		for i, name := range list.names {
			if name == "" {
				return fmt.Errorf("%s[%d] is empty", list.member, i)
			}
		}
		return nil
	})
}

// Check returns why a service refuses the manifest.
func (m *Manifest) Check() error {
	return m.each(func(list manifestList) error {
		if n := len(list.names); n > MaxNames {
			return fmt.Errorf("%s has %d names, at most %d are allowed: name only what the function reads", list.member, n,
				MaxNames)
		}
		for i, name := range list.names {
			if len(name) > MaxText {
				return fmt.Errorf("%s[%d] has %d bytes, at most %d are allowed", list.member, i, len(name), MaxText)
			}
		}
		return nil
	})
}

// each calls look with all lists until it returns an error.
func (m *Manifest) each(look func(manifestList) error) error {
	lists := m.lists()
	if m.Players != nil {
		for _, list := range m.Players.lists() {
			lists = append(lists, manifestList{"players." + list.member, list.names})
		}
	}
	for _, list := range lists {
		if err := look(list); err != nil {
			return err
		}
	}
	return nil
}

// Columns returns the columns that an answer names.
func (a *Answer) Columns() (c Columns, err error) {
	if len(a.columns) == 0 {
		return Columns{}, nil
	}
	if n := len(a.columns); n > MaxColumns {
		return Columns{}, fmt.Errorf("answer: columns: %d bytes are more than %d", n, MaxColumns)
	}
	m, err := ParseManifest(a.columns)
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return Columns{}, fmt.Errorf("answer: columns: %w", err)
	}
	c = Columns{Attributes: m.Attributes, Properties: m.Properties}
	if p := m.Players; p != nil {
		c.PlayerAttributes, c.PlayerProperties, c.PlayerIDs = p.Attributes, p.Properties, p.IDs
	}
	return c, nil
}
