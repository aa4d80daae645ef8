package block

import (
	"errors"
	"slices"

	"matchmaker.dev/pkg/matchfn/internal/message"
	"matchmaker.dev/pkg/matchfn/internal/scan"
)

// Limits of a manifest.
const (
	// MaxManifest bounds a manifest, in bytes.
	MaxManifest = 64 << 10
	// MaxNames bounds the attributes that a function gets, and likewise the properties: those that its manifest names,
	// together with those that settings name.
	MaxNames = 256
)

// Manifest says which columns a function gets, of tickets and of backfill tickets.
type Manifest struct {
	// EveryAttribute is set if the module names neither attributes nor settings that name some; both lists are then nil.
	EveryAttribute bool
	Attributes     []string
	// AttributeSettings are the paths of settings. The attributes that their values name travel too: see [Named].
	AttributeSettings []string
	// EveryProperty and the lists after it are the same for properties.
	EveryProperty    bool
	Properties       []string
	PropertySettings []string
	// Changes is set if the function keeps the tickets of a run and works on what changed since: see [Base].
	Changes bool
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
		var list *[]string
		switch member {
		case "attributes":
			list, m.EveryAttribute = &m.Attributes, false
		case "attributeSettings":
			list, m.EveryAttribute = &m.AttributeSettings, false
		case "properties":
			list, m.EveryProperty = &m.Properties, false
		case "propertySettings":
			list, m.EveryProperty = &m.PropertySettings, false
		case "changes":
			m.Changes = string(raw) == "true"
			return true
		default:
			return true
		}
		if *list, err = manifestNames(raw); err != nil {
			err = message.Errorf("manifest: %s %s", member, err)
		}
		return err == nil
	})
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// Check returns an error if the manifest has more names than a service accepts.
func (m Manifest) Check() error {
	for _, list := range []struct {
		member, kind string
		names        int
	}{
		{"attributes", "attributes", len(m.Attributes)}, {"attributeSettings", "settings", len(m.AttributeSettings)},
		{"properties", "properties", len(m.Properties)}, {"propertySettings", "settings", len(m.PropertySettings)},
	} {
		if list.names > MaxNames {
			return message.Errorf("manifest: %s names %d %s, at most %d are allowed: name those that the function reads",
				list.member, list.names, list.kind, MaxNames)
		}
	}
	return nil
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
		if len(m.AttributeSettings) > 0 {
			list("attributeSettings", m.AttributeSettings)
		}
	}
	if !m.EveryProperty {
		list("properties", m.Properties)
		if len(m.PropertySettings) > 0 {
			list("propertySettings", m.PropertySettings)
		}
	}
	if m.Changes {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, `"changes":true`...)
	}
	return append(out, '}')
}

// Named returns the names that settings at some paths name, sorted and each once: a string, or the strings of a list.
// Anything else names nothing. A path is names of members separated by dots, as in package matchfn.
func Named(settings []byte, paths []string) []string {
	if len(paths) == 0 || scan.Object(settings) != nil {
		return nil
	}
	var names []string
	add := func(raw []byte) bool {
		if scan.KindOf(raw) == scan.KindString {
			names = append(names, scan.Unquote(raw))
		}
		return true
	}
	for _, path := range paths {
		raw := scan.Find(settings, path)
		add(raw)
		if scan.KindOf(raw) == scan.KindArray {
			scan.Elements(raw, add)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Strings returns the different strings of the settings at any depth, names of members included, in their order: at
// most limit. A function that declares nothing may mean any of them as the name of an attribute.
func Strings(settings []byte, limit int) []string {
	if scan.Object(settings) != nil {
		return nil
	}
	var all []string
	seen := map[string]bool{}
	add := func(s string) bool {
		if s != "" && len(s) <= MaxText && !seen[s] && len(all) < limit {
			seen[s] = true
			all = append(all, s)
		}
		return len(all) < limit
	}
	var visit func(raw []byte) bool
	visit = func(raw []byte) bool {
		switch scan.KindOf(raw) {
		case scan.KindString:
			return add(scan.Unquote(raw))
		case scan.KindObject:
			scan.Members(raw, func(name string, raw []byte) bool { return add(name) && visit(raw) })
		case scan.KindArray:
			scan.Elements(raw, visit)
		}
		return len(all) < limit
	}
	visit(settings)
	return all
}
