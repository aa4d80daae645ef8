package invocation

import (
	"fmt"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/internal/match/pool"
)

// PlayerIDs reports whether the function reads the ids of players, with any settings.
func (n *Needs) PlayerIDs() bool {
	return n.players != nil && (n.players.IDs || len(n.players.IDSettings) > 0)
}

// players are the columns of the players of a run's tickets.
type players struct {
	needs                  *block.PlayerManifest // nil if none are read
	ids                    bool
	are                    pool.Players
	attributes, properties []string
	places                 map[string]int // of properties, from 1 on
	lengths                []int          // of the values of each property in all, in bytes
}

// name says what a run names of players, beside what the function does, with what the function names for its settings.
// More than it may have is an error.
func (p *players) name(n *block.PlayerManifest, settings *document.Node, c block.Columns) error {
	*p = players{needs: n}
	if n == nil {
		return nil
	}
	p.ids = n.IDs || c.PlayerIDs && len(n.IDSettings) > 0 || block.Has(settings, n.IDSettings)
	p.attributes = withNamed(n.Attributes, settings, n.AttributeSettings, c.PlayerAttributes)
	p.properties = withNamed(n.Properties, settings, n.PropertySettings, c.PlayerProperties)
	for _, list := range []struct {
		names []string
		what  string
	}{{p.attributes, "attributes"}, {p.properties, "properties"}} {
		if len(list.names) > block.MaxNames {
			return FunctionError{fmt.Errorf("the function declares %d %s of players together with those that its settings "+
				"name, at most %d are allowed", len(list.names), list.what, block.MaxNames)}
		}
	}
	p.places = make(map[string]int, len(p.properties))
	for i, name := range p.properties {
		p.places[name] = i + 1
	}
	return nil
}

// measure counts the players of a selection, and how long what they have is.
func (p *players) measure(v pool.View, s *pool.Selection, w *pool.Work) {
	if p.needs == nil {
		return
	}
	p.are = v.Players(s)
	p.lengths = append(p.lengths[:0], make([]int, len(p.properties))...)
	if !p.are.Named {
		return
	}
	p.eachProperty(s, w, func(_, column int, value string) { p.lengths[column] += len(value) })
}

func (p *players) eachProperty(s *pool.Selection, w *pool.Work, f func(player, column int, value string)) {
	if len(p.properties) == 0 {
		return
	}
	s.EachPlayerProperty(w, func(player int, one pool.Property) {
		if column := p.places[one.Name]; column > 0 {
			f(player, column-1, one.Value)
		}
	})
}

// add adds what write and writeRest write for n tickets.
func (p *players) add(size *block.RequestSize, n int) {
	if p.needs == nil {
		return
	}
	if p.are.Several {
		size.Numbers("", n+1)
	}
	if p.needs.Handles {
		size.Column("", p.are.N, 0)
	}
	if p.ids {
		size.Column("", p.are.N, p.are.IDs)
	}
	if !p.are.Named {
		return // no player has attributes or properties
	}
	for _, name := range p.attributes {
		size.Column(name, p.are.N, 0)
	}
	for i, name := range p.properties {
		size.Column(name, p.are.N, p.lengths[i])
	}
}

// write writes the columns of a fixed length.
func (p *players) write(v pool.View, s *pool.Selection, w *pool.Work, b *block.RequestBuilder) {
	if p.needs == nil {
		return
	}
	if p.are.Several {
		s.Starts(w, b.Players(p.are.N))
	}
	if p.needs.Handles {
		v.Handles(s, b.Handles(block.KindPlayerHandle))
	}
}

// writeRest writes what needs no view.
func (p *players) writeRest(s *pool.Selection, w *pool.Work, b *block.RequestBuilder) {
	if p.needs == nil || w.Late() {
		return
	}
	if p.ids {
		ids := b.Texts(block.KindPlayerID, p.are.IDs)
		s.EachPlayer(w, func(player int, id string) { ids.Set(player, id) })
	}
	if !p.are.Named || w.Late() {
		return
	}
	if len(p.attributes) > 0 {
		s.PlayerColumns(w, p.attributes, b.PlayerAttributes(p.attributes))
	}
	w.Count(p.are.N * len(p.properties))
	values := propertyColumns(w, b, block.KindPlayerProperty, p.properties, p.lengths)
	if len(values) < len(p.properties) {
		return
	}
	p.eachProperty(s, w, func(player, column int, value string) { values[column].Set(player, value) })
}
