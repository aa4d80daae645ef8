// Package search finds the matches that a rule set allows among many tickets.
//
// It goes from anchor to anchor, the oldest first, and tries the tickets that are nearest to it, one after the other,
// in each team. Rules that are closed under removal say at once that a ticket does not fit; all others are looked at in
// complete matches, whose teams are balanced by exchange. Where few tickets are left, it tries everything.
package search

import (
	"maps"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Source is where tickets come from.
type Source interface {
	// Ages are the seconds that each ticket has waited.
	Ages() []float64
	// Number is a number of each ticket, NaN for those without.
	Number(name string) []float64
	// Players is what a ticket says of its players, as docs/rules.md describes it, and whether it says anything.
	Players(ticket int) ([]byte, bool)
}

// Party is a Source whose tickets have players that do not depend on what the ticket says of them. Columns are nil
// where no player or no ticket has any.
type Party interface {
	Source
	// PlayersOf returns the players of a ticket: from first to before end, at least one.
	PlayersOf(ticket int) (first, end uint32)
	// PlayerNumber is a number of each player, NaN for those without.
	PlayerNumber(name string) []float64
	// PlayerValue and TicketValue are values as JSON.
	PlayerValue(name string) Values
	TicketValue(name string) Values
	// PlayerIDs are the ids of players, nil where they are not known.
	PlayerIDs() Values
}

// Values is a column of values.
type Values func(number uint32) ([]byte, bool)

// pool is the tickets in columns. Values are those after parties are merged.
type pool struct {
	rules *rules.Rules
	// created is when each ticket was created, in milliseconds, and age its seconds since then.
	created, age []float64
	first        []uint32 // player of each ticket; the players of ticket t are first[t] to first[t+1]-1
	// columns are the columns of rules.Values. original are the same before merging and defaults; nil if these change
	// nothing.
	columns  []column
	original []*column
	ids      []uint32 // names, of each player; 0 for unknown ones
	// owners are the names of the players of tickets of one that say that they are several.
	owners map[uint32]uint32
	names  interner
	// regions are names, by number of region. seen are all that a player had, ascending.
	regions, seen []uint32
	known         []bool // of each name: whether it is seen
	sought        int    // how many items of latencies were looked at for that
	votes         votes  // for regions, if there are too many
	refused       []bool
	unread        []unread // refused since what they say of their players cannot be read
	// gone are the tickets that wait no more.
	gone []bool
	// waiting is how many tickets wait or are gone. Those after them stand for the players in running games.
	waiting int
}

// unread says why a ticket cannot be read.
type unread uint8

const (
	isRead unread = iota
	noList        // its list of players is none
	large         // a set or a map has more than MaxElements
)

// column is a value of all players. Its kind says which fields it has.
type column struct {
	value   *rules.Value
	must    bool      // whether a ticket without is in no match
	natural bool      // whether negative numbers count as missing
	only    []string  // the names of a map that count; nil for all
	numbers []float64 // NaN for missing
	texts   []uint32  // 0 for missing
	// lists are ends in items, for sets and maps: the list of player p begins at starts[p]. It is in ascending order.
	starts  []uint32
	items   []uint32
	amounts []float64 // of maps
	has     []bool
}

func (p *pool) tickets() int { return len(p.first) - 1 }

func (p *pool) size(t uint32) int { return int(p.first[t+1] - p.first[t]) }

// set returns the elements of a player, a string as a set of one.
func (c *column) set(player uint32) ([]uint32, bool) {
	if c.texts != nil {
		if c.texts[player] == 0 {
			return nil, false
		}
		return c.texts[player : player+1], true
	}
	return c.items[c.starts[player]:c.starts[player+1]], c.has[player]
}

// amount returns a number of a player's map, or NaN.
func (c *column) amount(player, name uint32) float64 {
	for i := c.starts[player]; i < c.starts[player+1]; i++ {
		if c.items[i] == name {
			return c.amounts[i]
		}
	}
	return math.NaN()
}

// allows reports whether a number counts as one.
func (c *column) allows(n float64) bool { return n == n && !(c.natural && n < 0) }

// counts reports whether a player's value counts, whose ticket has this first player.
func (c *column) counts(player, first uint32) bool { return !c.value.Once || player == first }

// missing reports whether a player has no value.
func (c *column) missing(player uint32) bool {
	switch c.value.Kind {
	case rules.Number:
		return c.numbers[player] != c.numbers[player]
	case rules.String:
		return c.texts[player] == 0
	}
	return !c.has[player]
}

// interner gives texts numbers from 1.
type interner struct {
	numbers map[string]uint32
	texts   []string
}

// number returns the number of a text, which it gives to a new one.
func (n *interner) number(text []byte) uint32 {
	if number, ok := n.numbers[string(text)]; ok {
		return number
	}
	if n.numbers == nil {
		n.numbers, n.texts = map[string]uint32{}, []string{""}
	}
	number := uint32(len(n.texts))
	n.texts = append(n.texts, string(text))
	n.numbers[n.texts[number]] = number
	return number
}

// text returns the text of a number, nothing for 0.
func (n *interner) text(number uint32) string {
	if number == 0 {
		return ""
	}
	return n.texts[number]
}

// read reads all tickets. Each ticket that the rules can never take is refused.
func read(r *rules.Rules, source Source) *pool {
	p := newPool(r)
	ages := source.Ages()
	created := make([]float64, len(ages))
	for t, age := range ages {
		created[t] = -math.Round(1000 * age)
	}
	p.enter(source, created)
	p.age = ages
	return p
}

// enter adds tickets that wait. Members of running games are not added here.
func (p *pool) enter(source Source, created []float64) {
	p.add(source, len(created), false)
	p.created = append(p.created, created...)
	p.waiting = len(p.created)
}

// hides reports whether a value is not known of players in running games: the roles that they take, and latencies.
func (p *pool) hides(value string) bool {
	return value == p.rules.RoleValue || value == p.rules.RegionValue
}

// addMembers adds the players in running games, until cut. They have no age.
func (p *pool) addMembers(games *Games) {
	p.add(games.Roster, len(games.Roster.Ages()), true)
	p.age = slices.Clip(p.age)
	for len(p.created) < p.tickets() {
		p.created, p.age = append(p.created, math.Inf(-1)), append(p.age, math.Inf(1))
	}
}

// cut takes the tickets from one on away.
func (p *pool) cut(tickets int) {
	players := p.first[tickets]
	maps.DeleteFunc(p.owners, func(t, _ uint32) bool { return int(t) >= tickets })
	p.created, p.first = p.created[:tickets], p.first[:tickets+1]
	p.age, p.ids = p.age[:tickets], p.ids[:players]
	p.refused, p.unread, p.gone = p.refused[:tickets], p.unread[:tickets], p.gone[:tickets]
	for i := range p.columns {
		p.columns[i].cut(players)
		if p.original[i] != nil {
			p.original[i].cut(players)
		}
	}
}

func newPool(r *rules.Rules) *pool {
	p := &pool{
		rules: r, first: make([]uint32, 1), columns: make([]column, len(r.Values)), original: make([]*column, len(r.Values)),
	}
	used, natural := rules.Used(r), rules.Natural(r)
	for i := range r.Values {
		v := &r.Values[i]
		p.columns[i] = newColumn(v)
		if v.Name == r.RegionValue {
			p.columns[i].only = r.RegionNames
		}
		p.columns[i].must = used[v.Name] && v.Missing == rules.Reject
		p.columns[i].natural = natural[v.Name]
		if v.Party != rules.Each || v.Missing == rules.UseDefault {
			told := newColumn(v)
			told.only = p.columns[i].only
			p.original[i] = &told
		}
	}
	return p
}

func newColumn(v *rules.Value) column {
	c := column{value: v}
	switch v.Kind {
	case rules.String:
		c.texts = []uint32{}
	case rules.Number:
		c.numbers = []float64{}
	default:
		c.starts = make([]uint32, 1)
	}
	return c
}

// originalColumn returns a column as tickets say it.
func (p *pool) originalColumn(i int) *column {
	if told := p.original[i]; told != nil {
		return told
	}
	return &p.columns[i]
}

// add appends the tickets of a source. Of members of games it is not known which roles and latencies they have.
func (p *pool) add(source Source, tickets int, members bool) {
	d := newDecoder(p, source)
	for i := range d.of {
		d.of[i].hidden = members && p.hides(p.columns[i].value.Name)
	}
	p.first, p.refused = slices.Grow(p.first, tickets), slices.Grow(p.refused, tickets)
	p.unread, p.gone, p.ids = slices.Grow(p.unread, tickets), slices.Grow(p.gone, tickets), slices.Grow(p.ids, tickets)
	for i := range p.columns {
		p.columns[i].grow(tickets)
	}
	for t := range tickets {
		from := p.first[len(p.first)-1]
		players, good := d.ticket(t)
		to := from + players
		p.first = append(p.first, to)
		why := isRead
		if !good {
			why = noList
		} else if d.large {
			why = large
		}
		lacks := false
		for i := range p.columns {
			c := &p.columns[i]
			if p.original[i] != nil {
				p.original[i].copyFrom(c, from, to)
			}
			if d.of[i].hidden {
				continue
			}
			for player := from; c.must && player < to; player++ { // before a party hides the player without it
				lacks = lacks || c.missing(player)
			}
			if !c.complete(from, to, &p.names) && why == isRead {
				why = large
			}
		}
		p.unread, p.gone = append(p.unread, why), append(p.gone, false)
		p.refused = append(p.refused, lacks || why != isRead)
	}
}

// copyFrom appends players of another column.
func (c *column) copyFrom(o *column, from, to uint32) {
	switch c.value.Kind {
	case rules.Number:
		c.numbers = append(c.numbers, o.numbers[from:to]...)
	case rules.String:
		c.texts = append(c.texts, o.texts[from:to]...)
	default:
		for p := from; p < to; p++ {
			c.items, c.amounts = append(c.items, o.items[o.starts[p]:o.starts[p+1]]...), append(c.amounts, o.part(p)...)
			c.starts, c.has = append(c.starts, uint32(len(c.items))), append(c.has, o.has[p])
		}
	}
}

// cut takes the players from one on away.
func (c *column) cut(players uint32) {
	switch c.value.Kind {
	case rules.Number:
		c.numbers = c.numbers[:players]
	case rules.String:
		c.texts = c.texts[:players]
	default:
		c.starts, c.has = c.starts[:players+1], c.has[:players]
		c.items = c.items[:c.starts[players]]
		if c.amounts != nil {
			c.amounts = c.amounts[:c.starts[players]]
		}
	}
}

// grow makes room for as many players.
func (c *column) grow(n int) {
	switch c.value.Kind {
	case rules.Number:
		c.numbers = slices.Grow(c.numbers, n)
	case rules.String:
		c.texts = slices.Grow(c.texts, n)
	default:
		c.starts, c.has, c.items = slices.Grow(c.starts, n), slices.Grow(c.has, n), slices.Grow(c.items, n)
	}
}

// complete gives players without a value the default, and merges the values of a party. It returns false if the merged
// value is too large.
func (c *column) complete(from, to uint32, names *interner) bool {
	v := c.value
	if v.Missing == rules.UseDefault {
		c.defaults(from, to, names)
	}
	return v.Party == rules.Each || to-from <= 1 || c.merge(from, to)
}

func (c *column) defaults(from, to uint32, names *interner) {
	any := false
	for p := from; p < to; p++ {
		if !c.missing(p) {
			continue
		}
		any = true
		switch c.value.Kind {
		case rules.Number:
			c.numbers[p] = c.value.Default.Number
		case rules.String:
			c.texts[p] = names.number([]byte(c.value.Default.String))
		}
	}
	if !any || c.starts == nil {
		return
	}
	c.rewrite(from, to, func(p uint32) ([]uint32, []float64, bool) {
		if c.has[p] {
			return c.items[c.starts[p]:c.starts[p+1]], c.part(p), true
		}
		var items []uint32
		var amounts []float64
		for _, s := range c.value.Default.Set {
			items = append(items, names.number([]byte(s)))
		}
		slices.Sort(items)
		if c.value.Kind == rules.Map {
			for name := range c.value.Default.Map {
				if c.takes([]byte(name)) {
					items = append(items, names.number([]byte(name)))
				}
			}
			slices.Sort(items)
			for _, item := range items {
				amounts = append(amounts, c.value.Default.Map[names.texts[item]])
			}
		}
		return items, amounts, true
	})
}

// part is the numbers of a player's map.
func (c *column) part(p uint32) []float64 {
	if c.amounts == nil {
		return nil
	}
	return c.amounts[c.starts[p]:c.starts[p+1]]
}

// rewrite replaces the lists of the last players.
func (c *column) rewrite(from, to uint32, of func(p uint32) ([]uint32, []float64, bool)) {
	var items []uint32
	var amounts []float64
	ends := make([]uint32, 0, to-from)
	has := make([]bool, 0, to-from)
	for p := from; p < to; p++ {
		one, numbers, some := of(p)
		items, amounts = append(items, one...), append(amounts, numbers...)
		ends, has = append(ends, c.starts[from]+uint32(len(items))), append(has, some)
	}
	c.items = append(c.items[:c.starts[from]], items...)
	if c.value.Kind == rules.Map {
		c.amounts = append(c.amounts[:c.starts[from]], amounts...)
	}
	copy(c.starts[from+1:], ends)
	copy(c.has[from:], has)
}
