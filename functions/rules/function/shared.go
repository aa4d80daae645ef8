package function

import (
	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

const (
	// maxShared is the most bytes that a match says of what its players have in common. What is beyond is left out.
	maxShared = 8 << 10
	// maxAllShared is the most bytes that a run says of that: so much, and sharedOfTicket for each ticket that waits. What
	// is beyond waits for another run.
	maxAllShared   = 8 << 20
	leastShared    = 512 << 10
	sharedOfTicket = 256
)

// shared makes the member that says what the players of a match have in common, of each value with which rules have
// same or share: {"shared":{"maps":["arena"]}. It is empty if that is nothing.
func (o *proposer) shared(m *search.Match) []byte {
	if m.More == nil {
		return nil
	}
	text := o.common[:0]
	for i, elements := range m.More.Common {
		before, some := len(text), false
		if before == 0 {
			text = append(text, `{"shared":{`...)
		} else {
			text = append(text, ',')
		}
		text = append(document.Quote(text, o.sharing[i]), ':', '[')
		for _, element := range elements {
			end := len(text)
			if some {
				text = append(text, ',')
			}
			if text = document.Quote(text, element); len(text)+len("]},") > maxShared {
				text = text[:end]
				continue
			}
			some = true
		}
		if text = append(text, ']'); !some {
			text = text[:before]
		}
	}
	if len(text) > 0 {
		text = append(text, '}')
	}
	o.common = text
	return text
}

// begin begins match properties, with what the players have in common. The next member follows.
func begin(shared []byte) []byte {
	if len(shared) == 0 {
		return []byte{'{'}
	}
	return append(append(make([]byte, 0, len(shared)+128), shared...), ',')
}
