package search

import (
	"strconv"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Seat is what the property players of a backfill ticket says of a player in its game.
type Seat struct {
	ID, Team, Role string
	// Version is the record version that the backfill ticket had when the player was sent to the game.
	Version int64
	// Values is a JSON object with his values, nil without any.
	Values []byte
}

// ReadSeats reads the property, which is false if it cannot be read.
func ReadSeats(text []byte) (seats []Seat, good bool) {
	d := &decoder{}
	if _, good = d.list(text, func() bool {
		seats = append(seats, Seat{})
		return d.seat(&seats[len(seats)-1])
	}); !good {
		return nil, false
	}
	return seats, true
}

func (d *decoder) seat(s *Seat) bool {
	return d.members(func(name []byte) (ok bool) {
		start := d.at
		switch string(name) {
		case id:
			s.ID, ok = d.word()
		case "team":
			s.Team, ok = d.word()
		case "role":
			s.Role, ok = d.word()
		case "version":
			var n float64
			n, ok = d.number()
			s.Version = int64(n)
		case "values":
			ok = d.at < len(d.text) && d.text[d.at] == '{' && d.other(0)
			s.Values = d.text[start:d.at]
		default:
			ok = d.other(0)
		}
		return ok
	})
}

func (d *decoder) word() (string, bool) {
	text, ok := d.quoted()
	return string(text), ok
}

// AppendSeats appends the property to a text.
func AppendSeats(text []byte, seats []Seat) []byte {
	text = append(text, '[')
	for i, s := range seats {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '{')
		for _, m := range [...]struct{ name, value string }{{id, s.ID}, {"team", s.Team}, {"role", s.Role}} {
			if m.value != "" {
				text = append(document.Quote(append(document.Quote(text, m.name), ':'), m.value), ',')
			}
		}
		text = strconv.AppendInt(append(text, `"version":`...), s.Version, 10)
		if s.Values != nil {
			text = append(append(text, `,"values":`...), s.Values...)
		}
		text = append(text, '}')
	}
	return append(text, ']')
}
