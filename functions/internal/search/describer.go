package search

import (
	"math"
	"slices"
	"strconv"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Describer says what is known of the players of single tickets.
type Describer struct {
	pool    *pool
	values  []describedValue
	numbers []string
}

// describedValue is the columns that are from one name, and that with a number, -1 for none.
type describedValue struct {
	from    string
	columns []int
	number  int
}

// Description is what is known of a player.
type Description struct {
	// Values is a JSON object, as a ticket has it in its list of players. What goes for members of games in any case is
	// not in it: roles and latencies.
	Values []byte
	// Numbers are the values of Describer.Numbers, NaN for missing ones.
	Numbers []float64
}

// newDescriber returns a describer of the tickets of a pool.
func newDescriber(p *pool) *Describer {
	t := &Describer{pool: p}
	for i := range p.columns {
		v := p.columns[i].value
		if v.Name == p.rules.RoleValue || v.Name == p.rules.RegionValue {
			continue
		}
		at := slices.IndexFunc(t.values, func(of describedValue) bool { return of.from == v.From })
		if at < 0 {
			at = len(t.values)
			t.values = append(t.values, describedValue{from: v.From, number: -1})
		}
		of := &t.values[at]
		of.columns = append(of.columns, i)
		if v.Kind == rules.Number && of.number < 0 {
			of.number = i
		}
	}
	for _, of := range t.values {
		if of.number >= 0 {
			t.numbers = append(t.numbers, of.from)
		}
	}
	return t
}

// Numbers are the names of the values that are numbers.
func (t *Describer) Numbers() []string { return t.numbers }

// Players tells of the players of a ticket, in their order.
func (t *Describer) Players(ticket uint32) []Description {
	first := t.pool.first[ticket]
	all := make([]Description, t.pool.size(ticket))
	for i := range all {
		p := first + uint32(i)
		text := []byte{'{'}
		for _, of := range t.values {
			if of.number >= 0 {
				all[i].Numbers = append(all[i].Numbers, t.pool.originalColumn(of.number).numbers[p])
			}
			for _, i := range of.columns {
				c := t.pool.originalColumn(i)
				if c.missing(p) {
					continue
				}
				if len(text) > 1 {
					text = append(text, ',')
				}
				text = t.appendValue(append(document.Quote(text, of.from), ':'), c, p)
				break
			}
		}
		all[i].Values = append(text, '}')
	}
	return all
}

// appendValue appends the JSON of a value that a player has.
func (t *Describer) appendValue(text []byte, c *column, p uint32) []byte {
	switch c.value.Kind {
	case rules.Number:
		return strconv.AppendFloat(text, c.numbers[p], 'g', -1, 64)
	case rules.String:
		return document.Quote(text, t.pool.names.texts[c.texts[p]])
	}
	open, end := byte('['), byte(']')
	if c.value.Kind == rules.Map {
		open, end = '{', '}'
	}
	text = append(text, open)
	var order []uint32
	for i := c.starts[p]; i < c.starts[p+1]; i++ {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return t.pool.byName(c.items[a], c.items[b]) })
	for at, i := range order {
		if at > 0 {
			text = append(text, ',')
		}
		text = document.Quote(text, t.pool.names.texts[c.items[i]])
		if c.value.Kind == rules.Map {
			text = strconv.AppendFloat(append(text, ':'), c.amounts[i], 'g', -1, 64)
		}
	}
	return append(text, end)
}

// Means returns the mean of each of the describer's numbers, NaN for one that no player has.
func (t *Describer) Means(all []Description) []float64 {
	means := make([]float64, len(t.numbers))
	for i := range means {
		var numbers []float64
		for _, told := range all {
			numbers = append(numbers, told.Numbers[i])
		}
		means[i] = mergeNumbers(rules.Average, numbers)
	}
	return means
}

// Place is places of a team that are open in a match, for a role if the team has roles.
type Place struct {
	Team  int
	Role  string
	Count int
}

// places finds how many more players a match takes, and which of its places are open: at most so many of each.
func (b *builder) places(m *Match) {
	for i, of := range m.Teams {
		team := &b.rules.Teams[of.Shape]
		most, on := b.at(team.Size.Max)
		open := int(math.Floor(most)) - b.players[i]
		if !on {
			open = rules.MaxPlayers - b.total
		}
		if open <= 0 {
			continue
		}
		m.More.Room += open
		if len(team.Roles) == 0 {
			m.More.Open = append(m.More.Open, Place{Team: i, Count: open})
		}
		for _, role := range team.Roles {
			count := open
			if most, on := b.at(role.Count.Max); on {
				has := len(slices.DeleteFunc(slices.Clone(of.Roles), func(name string) bool { return name != role.Name }))
				count = min(open, int(math.Floor(most))-has)
			}
			if count > 0 {
				m.More.Open = append(m.More.Open, Place{Team: i, Role: role.Name, Count: count})
			}
		}
	}
	if most, on := b.at(b.rules.Players.Max); on {
		m.More.Room = max(0, min(m.More.Room, int(math.Floor(most))-b.total))
	}
	if m.More.Room == 0 {
		m.More.Open = nil
	}
}
