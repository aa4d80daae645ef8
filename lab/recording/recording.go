// Package recording reads and writes recordings: what a day of tickets was. A recording names no player: tickets,
// players and matches have numbers.
//
// A file is the text mmrecord, the version 2, the 16 bytes of the recording's ID, blocks, and the end. All numbers are
// varints as in Protocol Buffers; numbers that may be negative are in zigzag form. Files of version 1 have no ID and no
// properties.
//
// A block is three numbers, its events, its bytes and its compressed bytes, and the compressed bytes (Zstandard). No
// block refers to another one. A block without events is the end: the number of all events in the file follows. Without
// it, the file is incomplete. A block has 17 columns, each a number of bytes and as many bytes; see columns.
package recording

import (
	"errors"
	"fmt"
)

// Kind is what happened.
type Kind uint8

// The kinds of events. Files of later versions may have others: readers skip them.
const (
	Arrived   Kind = 1  // a ticket came
	Cancelled Kind = 2  // its player deleted it
	Ended     Kind = 3  // it ended without a match: it waited for too long, or a player missed the match
	Claimed   Kind = 4  // a match has the tickets
	Allocates Kind = 5  // its server is asked for
	Assigned  Kind = 6  // the tickets have their connection
	Failed    Kind = 7  // the tickets got an error
	Released  Kind = 8  // the tickets wait again
	Gap       Kind = 10 // events may be missing before this one
)

// Event is something that happened.
type Event struct {
	// Time is in Unix milliseconds. It never decreases by more than the clocks of a system differ.
	Time int64
	Kind Kind
	// Tickets are their numbers, from 1 in the order of their arrival. An arrival has one.
	Tickets []uint64
	// Match is the number of the match, from 1; 0 if there is none. Config made it.
	Match  uint64
	Config string
	// Arrival is what came; nil for other kinds.
	Arrival *Arrival
}

// Arrival is a ticket that came.
type Arrival struct {
	// Known is false if the ticket was gone before its attributes were read: then there is nothing but that it came.
	Known      bool
	Queues     []string
	Attributes Attributes
	Properties Properties
	// Players are the players of the ticket, at least one. Players without attributes of their own have the ticket's.
	Players []Player
}

// Player is a player of a ticket.
type Player struct {
	// Number tells apart players, from 1.
	Number     uint64
	Attributes Attributes
	Properties Properties
}

// Attributes are names, in ascending order, and their values.
type Attributes struct {
	Names  []string
	Values []float64
}

// Properties are names, in ascending order, and their values. Most recordings have none.
type Properties struct {
	Names  []string
	Values [][]byte
}

// ID identifies a recording. What is kept beside a recording names its ID.
type ID [16]byte

// Limits of a file. A reader refuses what exceeds them before it makes room for it.
const (
	maxRaw     = 16 << 20 // bytes of a block, before it is compressed
	maxEvents  = 16 << 10 // of a block
	maxTexts   = 4096     // names of attributes, queues and configs in a block
	maxText    = 255      // bytes of each
	maxLists   = 4096     // lists of names of attributes, and of queues, in a block
	maxNames   = 256      // names in a list
	maxTickets = 4096     // of an event
	maxPlayers = 4096     // of a ticket
	maxValues  = 1 << 20  // bytes of the values of a ticket's properties
)

const (
	magic   = "mmrecord"
	version = 2
	// bare is the version before it: files without an id and properties.
	bare = 1
)

// ErrIncomplete says that a file ends before its end: whatever wrote it was stopped.
var ErrIncomplete = errors.New("the recording is incomplete: its end is missing")

// corrupt is an error that says what is wrong with a file.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("this is no recording, or it is damaged: "+format, args...)
}

// columns are the columns of a block, in their order in the file.
type columns struct {
	// The tables of texts, each its length and its bytes, and of lists of texts, each how many texts and their numbers.
	// Both are numbered from 1; 0 is the empty text or list.
	texts, lists []byte

	// Of each event.
	kinds   []byte // a byte, see Kind; readers skip unknown kinds
	times   []byte // Unix milliseconds, as the difference to the event before, from 0
	counts  []byte // how many tickets it has
	tickets []byte // their numbers, as the difference to the ticket before, from 0
	matches []byte // the number of the match, 0 for none, as the difference to the event before
	configs []byte // the text of the config that made the match

	// Of each arrival.
	known      []byte // a byte: 1 if it is known what arrived
	queues     []byte // the list of its queues
	attributes []byte // the list of the names of its attributes, ascending
	players    []byte // how many players it has
	numbers    []byte // their numbers, as the difference to the player before, from 0
	shapes     []byte // for each player the list of the names of the player's own attributes

	// The values of attributes, first the ticket's, then its players': an integer below 2⁴⁰ as twice its zigzag form,
	// any other number as a 1 and its eight bytes as IEEE 754, the lowest first.
	values []byte
	// For the arrival, and then for each of its players, the list of the names of its properties, ascending.
	properties []byte
	// The values of these properties in the same order, each its length and its bytes.
	contents []byte
}

func (c *columns) all() []*[]byte {
	return []*[]byte{&c.texts, &c.lists, &c.kinds, &c.times, &c.counts, &c.tickets, &c.matches, &c.configs, &c.known,
		&c.queues, &c.attributes, &c.players, &c.numbers, &c.shapes, &c.values, &c.properties, &c.contents}
}

func (c *columns) size() (n int) {
	for _, column := range c.all() {
		n += len(*column)
	}
	return n
}
