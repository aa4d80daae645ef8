package recording

import (
	"errors"
	"io"
)

// ErrOther says that a recording is another one than the one that was meant.
var ErrOther = errors.New("it is another recording")

// Erase copies the recording with an id without what is known of the tickets of some players: only that they came is
// left, and what became of them. The copy has the same id. It returns of how many tickets that is.
func Erase(from io.Reader, to io.Writer, id ID, players map[uint64]bool) (erased int, err error) {
	r, err := NewReader(from)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if r.ID() != id {
		return 0, ErrOther
	}
	w, err := newWriter(to, id)
	if err != nil {
		return 0, err
	}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return erased, w.Close()
		}
		if err != nil {
			return 0, err
		}
		if e.Kind == Arrived && e.Arrival.has(players) {
			e.Arrival = &Arrival{}
			erased++
		}
		if err := w.Add(e); err != nil {
			return 0, err
		}
	}
}

// has reports whether a ticket is for one of some players.
func (a *Arrival) has(players map[uint64]bool) bool {
	for i := range a.Players {
		if players[a.Players[i].Number] {
			return true
		}
	}
	return false
}
