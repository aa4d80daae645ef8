package studio

import (
	"strconv"
	"strings"

	"matchmaker.dev/services/internal/bus"
)

// place is a place in the events of a project: behind so many events of a message, or behind the whole message.
type place struct {
	message uint64
	events  int
	part    bool // events counts
}

// String is the place as clients have it, of whom nobody is to look into it.
func (p place) String() string {
	text := strconv.FormatUint(p.message, 10)
	if p.part {
		text += "." + strconv.Itoa(p.events)
	}
	return text
}

func parsePlace(text string) (p place, ok bool) {
	message, events, part := strings.Cut(text, ".")
	var err error
	if p.message, err = strconv.ParseUint(message, 10, 64); err != nil {
		return place{}, false
	}
	if p.part = part; part {
		n, err := strconv.ParseUint(events, 10, 31)
		if err != nil {
			return place{}, false
		}
		p.events = int(n)
	}
	return p, true
}

// start is where reading begins to go on from the place.
func (p place) start() bus.EventStart { return bus.EventStart{After: p.message, Again: p.part} }

// eventsOf is how many of the first events of a message lie before the place.
func (p place) eventsOf(message uint64) int {
	if p.part && p.message == message {
		return p.events
	}
	return 0
}
