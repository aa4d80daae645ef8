package bus

import "strings"

// Subjects. Projects and functions are single tokens, see token.
const (
	pokes     = "mm.poke."
	functions = "mm.function."
	runs      = "mm.run."
	partsRoot = "mm.parts."
	matches   = "mm.match."
	assigned  = "mm.assigned."
	parties   = "mm.party."
	runner    = "mm.runner"
	tickets   = "mm.ticket"
	logs      = "mm.log."
	events    = "mm.event."
	// A stream that the operator makes takes cloudEvents.
	cloudEvents = "mm.cloudevent."
)

// token turns a name of letters, digits, dots, dashes and underscores into one token of a subject: a dot would begin a
// new token. No name has a tilde, so names stay distinct.
func token(name string) string { return strings.ReplaceAll(name, ".", "~") }
