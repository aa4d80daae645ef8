package insight

import (
	"strconv"
	"strings"
)

// cursor is a position in the events of a project: behind so many events of a message, or behind the whole message.
type cursor struct {
	message uint64
	events  int
	partial bool // events counts
}

// String is the cursor as clients have it. It is opaque to them.
func (p cursor) String() string {
	text := strconv.FormatUint(p.message, 10)
	if p.partial {
		text += "." + strconv.Itoa(p.events)
	}
	return text
}

func parseCursor(text string) (p cursor, ok bool) {
	message, events, partial := strings.Cut(text, ".")
	var err error
	if p.message, err = strconv.ParseUint(message, 10, 64); err != nil {
		return cursor{}, false
	}
	if p.partial = partial; partial {
		n, err := strconv.ParseUint(events, 10, 31)
		if err != nil {
			return cursor{}, false
		}
		p.events = int(n)
	}
	return p, true
}

// eventsOf is how many of the first events of a message lie before the place.
func (p cursor) eventsOf(message uint64) int {
	if p.partial && p.message == message {
		return p.events
	}
	return 0
}
