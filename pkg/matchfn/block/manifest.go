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
	// MaxNames bounds the attributes that a function gets, and likewise the properties: the names of its manifest,
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
	// Columns is set if the function names more columns for the settings of each config: see [Columns].
	Columns bool
	// Players is what the function reads of the tickets' players; nil if it reads nothing of them.
	Players *PlayerManifest
}

// PlayerManifest says what a function reads of players, beside how many each ticket has.
type PlayerManifest struct {
	Attributes        []string
	AttributeSettings []string
	Properties        []string
	PropertySettings  []string
	Handles, IDs      bool
	// IDSettings are the paths of settings. Ids travel too if one of them is there.
	IDSettings []string
	// Backfills is set if the function reads the players in running games, with these attributes, too.
	Backfills bool
}

// ParseManifest reads the result of a module's mm_manifest. An empty text, for a module without that export, means all
// columns. Unknown members are ignored: they are for later versions.
func ParseManifest(json []byte) (Manifest, error) {
	if len(json) == 0 {
		return Manifest{EveryAttribute: true, EveryProperty: true}, nil
	}
	if len(json) > MaxManifest {
		return Manifest{}, message.Errorf("manifest: %d bytes are more than %d", len(json), MaxManifest)
	}
	return parseManifest(json)
}

func parseManifest(json []byte) (Manifest, error) {
	m := Manifest{EveryAttribute: true, EveryProperty: true}
	if err := scan.Object(json); err != nil {
		return Manifest{}, message.Errorf("manifest: %s", err)
	}
	var err error
	scan.Members(json, func(member string, raw []byte) bool {
		if member == "players" {
			m.Players, err = parsePlayers(raw)
			return err == nil
		}
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
		case "columns":
			m.Columns = string(raw) == "true"
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

// parsePlayers reads what a manifest says about players. Anything but an object says nothing.
func parsePlayers(json []byte) (*PlayerManifest, error) {
	if scan.KindOf(json) != scan.KindObject {
		return nil, nil
	}
	p := &PlayerManifest{}
	var err error
	scan.Members(json, func(member string, raw []byte) bool {
		for _, list := range p.lists() {
			if list.member != member {
				continue
			}
			if *list.names, err = manifestNames(raw); err != nil {
				err = message.Errorf("manifest: players.%s %s", member, err)
				return false
			}
		}
		switch member {
		case "handles":
			p.Handles = string(raw) == "true"
		case "ids":
			p.IDs = string(raw) == "true"
		case "backfills":
			p.Backfills = string(raw) == "true"
		}
		return true
	})
	return p, err
}

// Check returns an error if the manifest has more names than a service accepts.
func (m Manifest) Check() error {
	lists := []manifestList{
		{"attributes", "attributes", &m.Attributes}, {"attributeSettings", "settings", &m.AttributeSettings},
		{"properties", "properties", &m.Properties}, {"propertySettings", "settings", &m.PropertySettings},
	}
	if err := checkLists("", lists); err != nil || m.Players == nil {
		return err
	}
	return checkLists("players.", m.Players.lists())
}

type manifestList struct {
	member, kind string
	names        *[]string
}

func (p *PlayerManifest) lists() []manifestList {
	return []manifestList{
		{"attributes", "attributes", &p.Attributes}, {"attributeSettings", "settings", &p.AttributeSettings},
		{"properties", "properties", &p.Properties}, {"propertySettings", "settings", &p.PropertySettings},
		{"idSettings", "settings", &p.IDSettings},
	}
}

func checkLists(of string, lists []manifestList) error {
	for _, list := range lists {
		if n := len(*list.names); n > MaxNames {
			return message.Errorf("manifest: %s%s names %d %s, at most %d are allowed: name those that the function reads",
				of, list.member, n, list.kind, MaxNames)
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
	var o object
	if !m.EveryAttribute {
		o.list("attributes", m.Attributes, true)
		o.list("attributeSettings", m.AttributeSettings, false)
	}
	if !m.EveryProperty {
		o.list("properties", m.Properties, true)
		o.list("propertySettings", m.PropertySettings, false)
	}
	o.flag("changes", m.Changes)
	o.flag("columns", m.Columns)
	if p := m.Players; p != nil {
		var players object
		for _, list := range p.lists() {
			players.list(list.member, *list.names, false)
		}
		players.flag("handles", p.Handles)
		players.flag("ids", p.IDs)
		players.flag("backfills", p.Backfills)
		o.member("players")
		o.text = append(o.text, players.end()...)
	}
	return o.end()
}

// object writes a JSON object.
type object struct{ text []byte }

func (o *object) member(name string) {
	if len(o.text) == 0 {
		o.text = append(o.text, '{')
	} else {
		o.text = append(o.text, ',')
	}
	o.text = append(scan.AppendString(o.text, name), ':')
}

// list writes a list of names, one without names only if always is set.
func (o *object) list(member string, names []string, always bool) {
	if len(names) == 0 && !always {
		return
	}
	o.member(member)
	o.text = append(o.text, '[')
	for i, name := range names {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.text = scan.AppendString(o.text, name)
	}
	o.text = append(o.text, ']')
}

func (o *object) flag(member string, set bool) {
	if set {
		o.member(member)
		o.text = append(o.text, "true"...)
	}
}

func (o *object) end() []byte {
	if len(o.text) == 0 {
		return []byte("{}")
	}
	return append(o.text, '}')
}

// Named returns the names that settings at some paths name, sorted and each once: a string, or the strings of a list.
// Anything else names nothing. A path is names of members separated by dots, as in package matchfn; * is every member
// or element, and a last @ the names of members.
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
		scan.Each(settings, path, func(raw []byte) {
			add(raw)
			if scan.KindOf(raw) == scan.KindArray {
				scan.Elements(raw, add)
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Has reports whether settings have a value at one of some paths, as Named takes them.
func Has(settings []byte, paths []string) (has bool) {
	if len(paths) == 0 || scan.Object(settings) != nil {
		return false
	}
	for _, path := range paths {
		scan.Each(settings, path, func([]byte) { has = true })
	}
	return has
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
