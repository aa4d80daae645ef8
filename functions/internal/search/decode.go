package search

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// decoder reads what is known of the players of tickets: the source's own players, the list of objects that a ticket
// may have, and the ticket's own values, in this order. Ids that the source knows go before all others. What
// the rules do not name is skipped.
type decoder struct {
	pool   *pool
	source Source
	party  Party // nil if the source has no players
	of     []origins
	ids    Values   // of players; nil if they are not known
	raw    [][]byte // the values in a list: all columns of each player
	text   []byte
	at     int
	large  bool // whether a set or a map of the ticket has more than MaxElements
}

// MaxElements is the bound of rule sets.
const MaxElements = rules.MaxElements

// origins is where the values of a column are from.
type origins struct {
	numbers, own []float64 // of tickets, of players
	values, mine Values    // of tickets, of players
	ids          bool
	hidden       bool // whether it is not read
}

func newDecoder(p *pool, source Source) *decoder {
	d := &decoder{pool: p, source: source, of: make([]origins, len(p.columns))}
	if d.party, _ = source.(Party); d.party != nil {
		d.ids = d.party.PlayerIDs()
	}
	for i, c := range p.columns {
		o := &d.of[i]
		if c.value.Kind == rules.Number && slices.Contains(p.rules.Numbers, c.value.From) {
			o.numbers = source.Number(c.value.From)
		}
		if d.party == nil {
			continue
		}
		if c.value.Kind == rules.Number {
			o.own = d.party.PlayerNumber(c.value.From)
		}
		o.mine, o.values = d.party.PlayerValue(c.value.From), d.party.TicketValue(c.value.From)
		o.ids = c.value.From == id && c.value.Kind == rules.String && d.ids != nil
	}
	return d
}

// id is the name of the value that is the id of a player if nothing else is.
const id = "id"

// ticket appends the players of a ticket to the columns. A ticket is no good whose list is none, or has another number
// of players than the ticket has.
func (d *decoder) ticket(t int) (players uint32, good bool) {
	first, own := uint32(0), uint32(1)
	if d.party != nil {
		var end uint32
		first, end = d.party.PlayersOf(t)
		own = end - first
	}
	d.large = false
	text, listed := d.source.Players(t)
	players, good = d.byColumn(t, text, listed, first, own)
	if d.ids != nil && own == 1 && players > own {
		d.owned(first)
	}
	for p := range players {
		name := uint32(0)
		if d.ids != nil && players == own {
			if text, ok := d.ids(first + p); ok && len(text) > 0 {
				name = d.pool.names.number(text)
			}
		}
		d.pool.ids = append(d.pool.ids, name)
	}
	return players, good
}

// owned notes whose ticket it is that says of one player that they are several. He may not be among them.
func (d *decoder) owned(player uint32) {
	text, ok := d.ids(player)
	if !ok || len(text) == 0 {
		return
	}
	p := d.pool
	if p.owners == nil {
		p.owners = map[uint32]uint32{}
	}
	p.owners[uint32(p.tickets())] = p.names.number(text)
}

// byColumn appends the players of a ticket whose list, if it has one, is read before.
func (d *decoder) byColumn(t int, text []byte, listed bool, first, own uint32) (players uint32, good bool) {
	d.raw = d.raw[:0]
	players, good = own, true
	if listed {
		if players, good = d.list(text, d.player); own > 1 && players != own {
			good = false
		}
	}
	if !good || players == 0 || players > rules.MaxPlayers {
		for i := range d.pool.columns { // of which nothing is known
			d.pool.columns[i].absent()
		}
		return 1, false
	}
	for i := range d.pool.columns {
		c, o := &d.pool.columns[i], &d.of[i]
		for p := range players {
			c.absent()
			if o.hidden {
				continue
			}
			if o.ids && players == own {
				if name, ok := d.ids(first + p); ok && len(name) > 0 {
					c.texts[len(c.texts)-1] = d.pool.names.number(name)
					continue
				}
			}
			if players == own && d.party != nil && d.readSource(c, o, first+p) {
				continue
			}
			if listed {
				if raw := d.raw[int(p)*len(d.of)+i]; raw != nil && d.decode(c, raw) {
					continue
				}
			}
			d.ofTicket(c, o, t)
		}
	}
	return players, true
}

// ofTicket gives the last player what his ticket says of all of its players.
func (d *decoder) ofTicket(c *column, o *origins, t int) {
	if o.numbers != nil && c.allows(o.numbers[t]) {
		c.numbers[len(c.numbers)-1] = o.numbers[t]
		return
	}
	if o.values != nil {
		if raw, ok := o.values(uint32(t)); ok {
			d.decode(c, raw)
		}
	}
}

// readSource reads what the source knows of the last player.
func (d *decoder) readSource(c *column, o *origins, player uint32) bool {
	if o.own != nil && c.allows(o.own[player]) {
		c.numbers[len(c.numbers)-1] = o.own[player]
		return true
	}
	if o.mine != nil {
		if raw, ok := o.mine(player); ok {
			return d.decode(c, raw)
		}
	}
	return false
}

// decode reads a value of the last player. One that is not of the column's kind counts as missing.
func (d *decoder) decode(c *column, raw []byte) bool {
	d.text, d.at = raw, 0
	d.space()
	if !d.value(c) || !d.end() {
		c.empty()
		return false
	}
	return true
}

// list reads a list of players.
func (d *decoder) list(text []byte, player func() bool) (players uint32, good bool) {
	d.text, d.at = text, 0
	good = d.items('[', ']', func() bool {
		if !player() {
			return false
		}
		players++
		return players <= rules.MaxPlayers
	})
	return players, good && d.end()
}

// items reads a list or an object. One reads an element or a member.
func (d *decoder) items(open, end byte, one func() bool) bool {
	if !d.skip(open) {
		return false
	}
	if d.skip(end) {
		return true
	}
	for one() {
		if !d.skip(',') {
			return d.skip(end)
		}
		d.space()
	}
	return false
}

func (d *decoder) end() bool {
	d.space()
	return d.at == len(d.text)
}

func (d *decoder) space() {
	for d.at < len(d.text) {
		if c := d.text[d.at]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return
		}
		d.at++
	}
}

// skip skips a character if it is next.
func (d *decoder) skip(c byte) bool {
	d.space()
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

// absent appends a player without a value.
func (c *column) absent() {
	switch c.value.Kind {
	case rules.Number:
		c.numbers = append(c.numbers, math.NaN())
	case rules.String:
		c.texts = append(c.texts, 0)
	default:
		c.starts, c.has = append(c.starts, uint32(len(c.items))), append(c.has, false)
	}
}

// empty takes the last player's value away.
func (c *column) empty() {
	switch c.value.Kind {
	case rules.Number:
		c.numbers[len(c.numbers)-1] = math.NaN()
	case rules.String:
		c.texts[len(c.texts)-1] = 0
	default:
		p := len(c.has) - 1
		c.begin()
		c.starts[p+1], c.has[p] = c.starts[p], false
	}
}

// player finds the values of a player in a list.
func (d *decoder) player() bool {
	columns := d.pool.columns
	first := len(d.raw)
	for range columns {
		d.raw = append(d.raw, nil)
	}
	return d.members(func(name []byte) bool {
		start := d.at
		if !d.other(0) {
			return false
		}
		for i := range columns {
			if columns[i].value.From == string(name) {
				d.raw[first+i] = d.text[start:d.at]
			}
		}
		return true
	})
}

// members reads an object. Value reads the value of a member, whose name is a part of the text.
func (d *decoder) members(value func(name []byte) bool) bool {
	return d.items('{', '}', func() bool {
		name, ok := d.quoted()
		if !ok || !d.skip(':') {
			return false
		}
		d.space()
		return value(name)
	})
}

// value reads a value of the last player, if it is of the column's kind.
func (d *decoder) value(c *column) bool {
	if d.at >= len(d.text) {
		return false
	}
	next := d.text[d.at]
	switch {
	case c.value.Kind == rules.Number && (next == '-' || next >= '0' && next <= '9'):
		n, ok := d.number()
		c.numbers[len(c.numbers)-1] = n
		return ok && c.allows(n)
	case c.value.Kind == rules.String && next == '"':
		text, ok := d.quoted()
		if ok {
			c.texts[len(c.texts)-1] = d.pool.names.number(text)
		}
		return ok
	case c.value.Kind == rules.Set && next == '[':
		return d.set(c)
	case c.value.Kind == rules.Map && next == '{':
		return d.numbers(c)
	}
	return false
}

// begin empties the list of the last player: a text may say the same twice.
func (c *column) begin() (start int) {
	p := len(c.has) - 1
	c.items = c.items[:c.starts[p]]
	if c.amounts != nil {
		c.amounts = c.amounts[:c.starts[p]]
	}
	c.has[p] = true
	return int(c.starts[p])
}

func (d *decoder) set(c *column) bool {
	start := c.begin()
	if !d.items('[', ']', func() bool {
		text, ok := d.quoted()
		if !ok || d.full(len(c.items)-start) {
			return false
		}
		c.items = append(c.items, d.pool.names.number(text))
		return true
	}) {
		return false
	}
	slices.Sort(c.items[start:])
	c.items = c.items[:start+len(slices.Compact(c.items[start:]))]
	c.starts[len(c.starts)-1] = uint32(len(c.items))
	return true
}

// full reports whether a set or a map takes no more elements.
func (d *decoder) full(elements int) bool {
	d.large = d.large || elements == MaxElements
	return elements == MaxElements
}

func (d *decoder) numbers(c *column) bool {
	start, elements := c.begin(), 0
	good := d.members(func(text []byte) bool {
		number, ok := d.number()
		if !ok || d.full(elements) {
			return false
		}
		elements++
		if c.takes(text) && c.allows(number) {
			c.insert(start, d.pool.names.number(text), number)
		}
		return true
	})
	if good {
		c.starts[len(c.starts)-1] = uint32(len(c.items))
	}
	return good
}

// insert puts a name and its number at its place. The last of the same name counts.
func (c *column) insert(start int, name uint32, number float64) {
	if n := len(c.items); n == start || c.items[n-1] < name { // as most are
		c.items, c.amounts = append(c.items, name), append(c.amounts, number)
		return
	}
	place, found := slices.BinarySearch(c.items[start:], name)
	if place += start; found {
		c.amounts[place] = number
		return
	}
	c.items = slices.Insert(c.items, place, name)
	c.amounts = slices.Insert(c.amounts, place, number)
}

// number reads a finite number.
func (d *decoder) number() (float64, bool) {
	start, point := d.at, -1
	whole, digits, plain := 0.0, 0, true
	for d.at < len(d.text) {
		c := d.text[d.at]
		if c >= '0' && c <= '9' {
			whole, digits = whole*10+float64(c-'0'), digits+1
		} else if c == '.' && point < 0 && digits > 0 {
			point = digits
		} else if c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E' {
			plain = false
		} else {
			break
		}
		d.at++
	}
	if plain && digits > 0 && digits < 15 {
		switch {
		case point < 0:
			return whole, true
		case point < digits: // both are exact, so their quotient is rounded once
			return whole / tens[digits-point], true
		}
	}
	n, err := strconv.ParseFloat(string(d.text[start:d.at]), 64)
	return n, err == nil && !math.IsInf(n, 0)
}

// tens are powers of ten.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// quoted reads a string. One without escapes is a part of the text.
func (d *decoder) quoted() ([]byte, bool) {
	if d.at >= len(d.text) || d.text[d.at] != '"' {
		return nil, false
	}
	plain := true // ASCII
	for i := d.at + 1; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '"':
			text := d.text[d.at+1 : i]
			d.at = i + 1
			return text, plain || utf8.Valid(text)
		case c >= utf8.RuneSelf:
			plain = false
		case c == '\\':
			return d.escaped()
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// escaped reads a string with escapes.
func (d *decoder) escaped() ([]byte, bool) {
	for i := d.at + 1; i < len(d.text); i++ {
		switch d.text[i] {
		case '\\':
			i++
		case '"':
			n, err := document.Parse(d.text[d.at : i+1])
			if err != nil {
				return nil, false
			}
			d.at = i + 1
			return []byte(n.Text), true
		}
	}
	return nil, false
}

// other skips a value.
func (d *decoder) other(depth int) bool {
	if depth > document.MaxDepth || d.at >= len(d.text) {
		return false
	}
	switch d.text[d.at] {
	case '"':
		_, ok := d.quoted()
		return ok
	case '[':
		return d.items('[', ']', func() bool { return d.other(depth + 1) })
	case '{':
		return d.members(func([]byte) bool { return d.other(depth + 1) })
	}
	start := d.at
	for d.at < len(d.text) && (d.text[d.at] >= 'a' && d.text[d.at] <= 'z' || d.text[d.at] >= '0' && d.text[d.at] <= '9' ||
		d.text[d.at] == '-' || d.text[d.at] == '+' || d.text[d.at] == '.' || d.text[d.at] == 'E') {
		d.at++
	}
	return d.at > start
}
