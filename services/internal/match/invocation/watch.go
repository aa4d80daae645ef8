package invocation

import "matchmaker.dev/services/internal/match/pool"

// Watch is the tickets that the function had in a run, to compare runs. It is valid until the invoker does another run.
type Watch struct {
	// Ran is set when an instance was given the run. What failed before is not the function's fault.
	Ran bool
	// Version of the index: runs with the same pools and the same version have the same tickets.
	Version uint64

	tickets pool.Selection
}

func (w *Watch) note(tickets *pool.Selection, version uint64) {
	if w != nil {
		w.Ran, w.Version, w.tickets = true, version, *tickets
	}
}

// Tickets is the ids of the tickets, nil if there are more than most.
func (w *Watch) Tickets(most int) []string { return w.tickets.IDs(most) }
