package block

import (
	"bytes"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Limits of a manifest.
const (
	// MaxManifest bounds a manifest, in bytes.
	MaxManifest = 64 << 10
	// MaxNames bounds the attributes that a function gets, and likewise the properties: the names of its manifest,
	// together with those that settings name.
	MaxNames = 256
)

// Manifest says which columns a function gets, of tickets and of backfill tickets. A nil list is one that it does not
// declare.
type Manifest struct {
	Attributes []string `json:"attributes"`
	// AttributeSettings are the paths of settings. The attributes that their values name travel too: see [Named].
	AttributeSettings []string `json:"attributeSettings,omitempty"`
	Properties        []string `json:"properties"`
	PropertySettings  []string `json:"propertySettings,omitempty"`
	// Changes is set if the function keeps the tickets of a run and works on what changed since: see [Base].
	Changes bool `json:"changes,omitempty"`
	// Columns is set if the function names more columns for the settings of each config: see [Columns].
	Columns bool `json:"columns,omitempty"`
	// Players is what the function reads of the tickets' players; nil if it reads nothing of them.
	Players *PlayerManifest `json:"players,omitempty"`
}

// EveryAttribute reports whether the function does not say which attributes it reads.
func (m *Manifest) EveryAttribute() bool { return m.Attributes == nil && m.AttributeSettings == nil }

// EveryProperty reports whether the function does not say which properties it reads.
func (m *Manifest) EveryProperty() bool { return m.Properties == nil && m.PropertySettings == nil }

// PlayerManifest says what a function reads of players, beside how many each ticket has.
type PlayerManifest struct {
	Attributes        []string `json:"attributes,omitempty"`
	AttributeSettings []string `json:"attributeSettings,omitempty"`
	Properties        []string `json:"properties,omitempty"`
	PropertySettings  []string `json:"propertySettings,omitempty"`
	// IDSettings are the paths of settings. Ids travel too if one of them is there.
	IDSettings []string `json:"idSettings,omitempty"`
	// Handles and IDs are set if it reads the numbers and the names that tell players apart.
	Handles bool `json:"handles,omitempty"`
	IDs     bool `json:"ids,omitempty"`
	// Backfills is set if the function reads the players in running games, with these attributes, too.
	Backfills bool `json:"backfills,omitempty"`
}

type manifestList struct {
	member string
	names  []string
}

func (m *Manifest) lists() []manifestList {
	return []manifestList{
		{"attributes", m.Attributes}, {"attributeSettings", m.AttributeSettings},
		{"properties", m.Properties}, {"propertySettings", m.PropertySettings},
	}
}

func (p *PlayerManifest) lists() []manifestList {
	return []manifestList{
		{"attributes", p.Attributes}, {"attributeSettings", p.AttributeSettings},
		{"properties", p.Properties}, {"propertySettings", p.PropertySettings}, {"idSettings", p.IDSettings},
	}
}

type manifestFlag struct {
	member string
	set    bool
}

// JSON returns the manifest as mm_manifest does.
func (m Manifest) JSON() []byte {
	members := membersOf(m.lists(), manifestFlag{"changes", m.Changes}, manifestFlag{"columns", m.Columns})
	if p := m.Players; p != nil {
		of := membersOf(p.lists(), manifestFlag{"handles", p.Handles}, manifestFlag{"ids", p.IDs},
			manifestFlag{"backfills", p.Backfills})
		members = append(members, append([]byte(`"players":`), joined('{', of, '}')...))
	}
	return joined('{', members, '}')
}

// membersOf returns the lists that are declared, and the flags that are set.
func membersOf(lists []manifestList, flags ...manifestFlag) (members [][]byte) {
	for _, list := range lists {
		if list.names == nil {
			continue
		}
		names := make([][]byte, len(list.names))
		for i, name := range list.names {
			names[i] = document.Quote(nil, name)
		}
		members = append(members, append([]byte(`"`+list.member+`":`), joined('[', names, ']')...))
	}
	for _, flag := range flags {
		if flag.set {
			members = append(members, []byte(`"`+flag.member+`":true`))
		}
	}
	return members
}

func joined(open byte, elements [][]byte, end byte) []byte {
	return slices.Concat([]byte{open}, bytes.Join(elements, []byte{','}), []byte{end})
}

// Named returns the names that settings at some paths name, sorted and each once: a string, or the strings of a list.
// Anything else names nothing. A path is names of members separated by dots, as in package matchfn; * is every member
// or element, and a last @ the names of members. Settings that are nil name nothing.
func Named(settings *document.Node, paths []string) (names []string) {
	eachAt(settings, paths, func(n *document.Node) {
		for _, one := range append([]*document.Node{n}, n.Elements...) {
			if one.Kind == document.String {
				names = append(names, one.Text)
			}
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Has reports whether settings have a value at one of some paths, as Named takes them.
func Has(settings *document.Node, paths []string) (has bool) {
	eachAt(settings, paths, func(*document.Node) { has = true })
	return has
}

func eachAt(settings *document.Node, paths []string, with func(*document.Node)) {
	if settings == nil {
		return
	}
	for _, path := range paths {
		settings.Each(path, with)
	}
}

// Strings returns the different strings of the settings at any depth, names of members included, in their order: at
// most limit. A function that declares nothing may mean any of them as the name of an attribute. Settings that are nil
// have none.
func Strings(settings *document.Node, limit int) (all []string) {
	seen := map[string]bool{}
	add := func(s string) {
		if s != "" && len(s) <= MaxText && !seen[s] && len(all) < limit {
			seen[s] = true
			all = append(all, s)
		}
	}
	var visit func(n *document.Node)
	visit = func(n *document.Node) {
		if n.Kind == document.String {
			add(n.Text)
		}
		for _, m := range n.Members {
			add(m.Name)
			visit(m.Node)
		}
		for _, e := range n.Elements {
			visit(e)
		}
	}
	if settings != nil {
		visit(settings)
	}
	return all
}
