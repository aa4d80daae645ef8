package block

import (
	"errors"
	"slices"

	"matchmaker.dev/pkg/matchfn/internal/message"
	"matchmaker.dev/pkg/matchfn/internal/scan"
)

// MaxManifest bounds a manifest, in bytes.
const MaxManifest = 64 << 10

// Manifest says which columns a function gets, of tickets and of backfill tickets.
type Manifest struct {
	// EveryAttribute is set if the module names no attributes; Attributes is then nil.
	EveryAttribute bool
	Attributes     []string
	// EveryProperty is set if the module names no properties; Properties is then nil.
	EveryProperty bool
	Properties    []string
}

// ParseManifest reads the result of a module's mm_manifest. An empty text, for a module without that export, means all
// columns. Unknown members are ignored: they are for later versions.
func ParseManifest(json []byte) (Manifest, error) {
	m := Manifest{EveryAttribute: true, EveryProperty: true}
	if len(json) == 0 {
		return m, nil
	}
	if len(json) > MaxManifest {
		return Manifest{}, message.Errorf("manifest: %d bytes are more than %d", len(json), MaxManifest)
	}
	if err := scan.Object(json); err != nil {
		return Manifest{}, message.Errorf("manifest: %s", err)
	}
	var err error
	scan.Members(json, func(member string, raw []byte) bool {
		var names []string
		switch member {
		case "attributes", "properties":
			if names, err = manifestNames(raw); err != nil {
				err = message.Errorf("manifest: %s %s", member, err)
				return false
			}
		}
		switch member {
		case "attributes":
			m.EveryAttribute, m.Attributes = false, names
		case "properties":
			m.EveryProperty, m.Properties = false, names
		}
		return true
	})
	if err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// manifestNames returns the names in a list, sorted and without duplicates, never nil.
func manifestNames(raw []byte) ([]string, error) {
	if scan.KindOf(raw) != scan.KindArray {
		return nil, errors.New("is not a list")
	}
	names, strings := []string{}, true
	scan.Elements(raw, func(raw []byte) bool {
		if strings = scan.KindOf(raw) == scan.KindString; strings {
			names = append(names, scan.Unquote(raw))
		}
		return strings
	})
	if !strings {
		return nil, errors.New("holds something that is not a string")
	}
	for _, name := range names {
		if name == "" || len(name) > MaxText {
			return nil, message.Errorf("holds a name that is not 1 to %d bytes long", MaxText)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// JSON returns the manifest as mm_manifest does.
func (m Manifest) JSON() []byte {
	out := []byte{'{'}
	list := func(member string, names []string) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(scan.AppendString(out, member), ':', '[')
		for i, name := range names {
			if i > 0 {
				out = append(out, ',')
			}
			out = scan.AppendString(out, name)
		}
		out = append(out, ']')
	}
	if !m.EveryAttribute {
		list("attributes", m.Attributes)
	}
	if !m.EveryProperty {
		list("properties", m.Properties)
	}
	return append(out, '}')
}
