package ticket

import (
	"slices"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket/seat"
)

// remindEvery is how often it is logged that results have no seat passes.
const remindEvery = 10 * time.Minute

// reminder is when it is logged again, in Unix nanoseconds.
type reminder struct{ next atomic.Int64 }

// due reports whether it is time, once for all callers.
func (r *reminder) due(now time.Time) bool {
	next := r.next.Load()
	return now.UnixNano() >= next && r.next.CompareAndSwap(next, now.Add(remindEvery).UnixNano())
}

// addSeats adds the seat passes that the viewer may have to a ticket with a result.
func (s *service) addSeats(project string, by viewer, t *state.Ticket) (err error) {
	if t.Assignment.GetMatch() != "" {
		t.Seats, err = s.seatsOf(project, by.seated(t), t)
	}
	return err
}

// seatsOf makes the seat passes of players of a ticket with a result, anew for every reader. They are stored nowhere.
func (s *service) seatsOf(project string, players []string, t *state.Ticket) (map[string]string, error) {
	a := t.Assignment
	if a.GetMatch() == "" || len(players) == 0 {
		return nil, nil
	}
	if s.Seats == nil {
		if s.reminder.due(s.Now()) {
			s.Log.Warn("results have no seat passes, which their config wants: this process has no --seat-keys",
				"project", project, "match", a.GetMatch())
		}
		return nil, nil
	}
	seats := make(map[string]string, len(players))
	for _, player := range players {
		// mistake seat: player = t.Body.GetOwner()
		pass, err := s.Seats.Sign(seat.Seat{
			Player: player, Project: project, Ticket: t.Body.GetId(), Match: a.GetMatch(), Backfill: a.GetBackfill(),
			Connection: a.GetConnection(),
		})
		if err != nil {
			return nil, err
		}
		seats[player] = pass
	}
	return seats, nil
}

// seated are the players of a ticket whose seat passes the asker may have: a player the player's own, a game service
// all of them. The owner of a ticket need not be one of its players.
func (a viewer) seated(t *state.Ticket) []string {
	ids := state.PlayersOf(t.Body)
	if a.anyone {
		return ids
	}
	if !slices.Contains(ids, a.player) {
		return nil
	}
	return []string{a.player}
}
