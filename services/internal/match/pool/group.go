package pool

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"unsafe"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// group is the players of a ticket. It does not change, so that a selection may read it without a lock. Tickets that
// name no players have none: their owner is the only player.
type group struct {
	members []member
	// implied is set for the owner of a ticket that names no players, where the index keeps the ids of owners.
	implied bool
}

// member is one player of a ticket.
type member struct {
	handle     uint64
	id         string
	names      *nameList // of values
	values     []float64
	properties []Property
}

// nameList is the names of some players' attributes. Players share lists: most have the same attributes as others.
type nameList struct {
	names []string
	uses  int // players of the index; only for changes
}

// bytes is about how many bytes a list takes.
func (l *nameList) bytes() int {
	n := listOverhead
	for _, name := range l.names {
		n += propertyOverhead/2 + roundUp(len(name))
	}
	return n
}

// count counts the lists of names of a group: n is 1 for one that came, and -1 for one that goes.
func (g *group) count(ix *Index, n int) {
	for i := range g.members {
		l := g.members[i].names
		if l == nil {
			continue
		}
		l.uses += n
		switch {
		case n > 0 && l.uses == 1:
			ix.ticketBytes += l.bytes()
		case n < 0 && l.uses == 0:
			ix.ticketBytes -= l.bytes()
		}
	}
}

// newGroup makes the group of players.
func (n *interner) newGroup(seed maphash.Seed, players []*pb.Player) *group {
	g := &group{members: make([]member, len(players))}
	for i, p := range players {
		g.members[i] = member{
			handle: maphash.String(seed, p.GetId()), id: p.GetId(), names: n.nameList(p.GetAttributeNames()),
			values: p.GetAttributeValues(), properties: n.properties(p.GetProperties()),
		}
	}
	return g
}

// nameList returns the list of these names, nil if there is none.
func (n *interner) nameList(names []string) *nameList {
	if len(names) == 0 {
		return nil
	}
	if l := n.latest; l != nil && slices.Equal(l.names, names) {
		return l
	}
	n.key = n.key[:0]
	for _, name := range names {
		n.key = append(binary.AppendUvarint(n.key, uint64(len(name))), name...)
	}
	l := n.lists[string(n.key)]
	if l == nil {
		if len(n.lists) >= maxLists || len(n.key) > maxListKey || n.lists == nil {
			n.lists = map[string]*nameList{}
		}
		l = &nameList{}
		for _, name := range names {
			l.names = append(l.names, n.intern(name))
		}
		n.lists[string(n.key)] = l
	}
	n.latest = l
	return l
}

// maxLists is how many lists of names are known to be shared, and maxListKey how long their names are together. When
// players invent more of them it begins anew.
const (
	maxLists   = 256
	maxListKey = 4096
)

// About how many bytes a group, a player and a list of names take for things besides their contents.
const (
	groupOverhead  = int(unsafe.Sizeof(group{}))
	memberOverhead = int(unsafe.Sizeof(member{})) + playerEntry
	playerEntry    = 24 // in the map of players, with its spare room
)

// bytes is about how many bytes a group takes, without the names of attributes, which players share.
func (g *group) bytes() int {
	if g == nil {
		return 0
	}
	n := groupOverhead
	for i := range g.members {
		m := &g.members[i]
		n += memberOverhead + roundUp(len(m.id)) + roundUp(8*len(m.values))
		for _, p := range m.properties {
			n += propertyOverhead + roundUp(len(p.Value))
		}
	}
	return n
}

// Players says which players the tickets of a selection have.
type Players struct {
	// N is how many there are. They are numbered from 0, in the order of their tickets.
	N int
	// Several is set if a ticket has more than one, and Named if a ticket names its players.
	Several, Named bool
	// IDs is how many bytes their ids have in all.
	IDs int
}

// Players counts the players of a selection's tickets.
func (v View) Players(s *Selection) (p Players) {
	p.N = s.N()
	if v.ix.groups == 0 {
		return p
	}
	for i, t := range s.tickets {
		if i%lateStep == 0 && v.work.Late() {
			return p
		}
		g := t.group
		if g == nil {
			continue
		}
		p.N += len(g.members) - 1
		p.Several = p.Several || len(g.members) > 1
		p.Named = p.Named || !g.implied
		for k := range g.members {
			p.IDs += len(g.members[k].id)
		}
	}
	v.work.Count(len(s.tickets))
	return p
}

// Starts writes the number of each ticket's first player, and then how many players there are.
func (s *Selection) Starts(w *Work, dst []uint32) {
	w.Count(len(s.tickets))
	next := uint32(0)
	for i, t := range s.tickets {
		if i%lateStep == 0 && w.Late() {
			return
		}
		dst[i] = next
		if t.group == nil {
			next++
		} else {
			next += uint32(len(t.group.members))
		}
	}
	dst[len(s.tickets)] = next
}

// Handles writes the handles of the players. In an index, until it is reset, a player always has the same handle, and
// no two have the same, but for a chance of one in billions.
func (v View) Handles(s *Selection, dst []uint64) {
	v.work.Count(len(dst))
	at := 0
	for i, t := range s.tickets {
		switch {
		case i%lateStep == 0 && v.work.Late():
			return
		case t.group != nil:
			for k := range t.group.members {
				dst[at] = t.group.members[k].handle
				at++
			}
			continue
		case t.player != 0:
			dst[at] = t.player
		default: // without owner
			dst[at] = maphash.String(v.ix.players.seed, t.id)
		}
		at++
	}
}

// Handle is the handle of a player with this id.
func (v View) Handle(id string) uint64 { return maphash.String(v.ix.players.seed, id) }

// EachPlayer calls f with the number and the id of every player whose id the index keeps.
func (s *Selection) EachPlayer(w *Work, f func(player int, id string)) {
	s.eachMember(w, func(player int, m *member) { f(player, m.id) })
}

func (s *Selection) eachMember(w *Work, f func(player int, m *member)) {
	at := 0
	for i, t := range s.tickets {
		if i%lateStep == 0 && w.Late() {
			return
		}
		if t.group == nil {
			at++
			continue
		}
		w.Count(len(t.group.members))
		for k := range t.group.members {
			f(at, &t.group.members[k])
			at++
		}
	}
}

// EachPlayerProperty calls f with each property of every player.
func (s *Selection) EachPlayerProperty(w *Work, f func(player int, p Property)) {
	s.eachMember(w, func(player int, m *member) {
		for _, p := range m.properties {
			f(player, p)
		}
	})
}

// PlayerColumns writes the values of attributes of players: NaN for players without one. The columns are as long as
// there are players. It takes time in proportion to the attributes that players have.
func (s *Selection) PlayerColumns(w *Work, names []string, columns [][]float64) {
	nan, column := math.NaN(), make(map[string]int, len(names))
	for c, name := range names {
		if w.Late() {
			return
		}
		w.Count(len(columns[c]))
		for i := range columns[c] {
			columns[c][i] = nan
		}
		column[name] = c + 1
	}
	var latest *nameList
	var places []int // of the latest list's names in columns, from 1 on
	s.eachMember(w, func(player int, m *member) {
		if m.names == nil {
			return
		}
		if m.names != latest {
			latest, places = m.names, places[:0]
			for _, name := range latest.names {
				places = append(places, column[name])
			}
		}
		for i, v := range m.values {
			if at := places[i]; at > 0 && v == v {
				columns[at-1][player] = v
			}
		}
	})
}

// KeepOwners makes the index keep the ids of owners: the players of tickets that name none. It returns false if
// it keeps them already. It does not have the owners of earlier tickets: reset it, and put them again.
func (ix *Index) KeepOwners() (changed bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	changed = !ix.owners
	ix.owners = true
	return changed
}
