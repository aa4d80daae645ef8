// Package lane says which configs the tickets of chaos and simulation are for.
package lane

// Lane is the kind of a player's ticket. A config's tickets have its id.
type Lane string

// The lanes. Tickets of Both are in the pools of two configs. Tickets of Games join running games. The players of Asked
// are asked whether they accept their match. Tickets of Queued are like Free's, in a queue. No config matches
// Prey, which is for the function that misbehaves.
const (
	Hosted Lane = "hosted"
	Free   Lane = "free"
	Both   Lane = "both"
	Games  Lane = "games"
	Asked  Lane = "asked"
	Queued Lane = "queued"
	Prey   Lane = "prey"
)

// FunctionOf is the function of a config.
func FunctionOf(config string) string { return config + "-function" }

// Attributes are the attributes of a player's ticket.
func (l Lane) Attributes(number int64) map[string]float64 {
	a := map[string]float64{"number": float64(number)}
	switch l {
	case Both:
		a[string(Hosted)], a[string(Free)] = 1, 1
	case Queued:
		a[string(Queued)], a[string(Free)] = 1, 1
	default:
		a[string(l)] = 1
	}
	return a
}

// Of is the lane of a ticket with these attributes.
func Of(attributes map[string]float64) Lane {
	has := func(l Lane) bool { return attributes[string(l)] > 0 }
	if has(Hosted) && has(Free) {
		return Both
	}
	for _, l := range []Lane{Hosted, Queued, Free, Games, Asked} {
		if has(l) {
			return l
		}
	}
	return Prey
}

// Queues are the queues in which its tickets wait.
func (l Lane) Queues() []string {
	if l != Queued {
		return nil
	}
	return []string{string(Queued)}
}

// Pairs are the configs that match a ticket with any other of theirs.
func (l Lane) Pairs() []string {
	switch l {
	case Hosted, Free, Queued:
		return []string{string(l)}
	case Both:
		return []string{string(Hosted), string(Free)}
	default:
		return nil
	}
}
