package bus

import "strings"

// Subjects. Projects and functions are single tokens, see token.
const (
	pokes     = "mm.poke."
	runs      = "mm.run."
	partsRoot = "mm.parts."
	matches   = "mm.match."
	assigned  = "mm.assigned."
	runner    = "mm.runner"
	logs      = "mm.log."
	events    = "mm.event."
)

// token makes one token of a subject out of a name of letters, digits, dots, dashes and underscores: a dot would begin
// a new token. No name has a tilde, so this is one to one.
func token(name string) string { return strings.ReplaceAll(name, ".", "~") }

// fromToken is what token was given.
func fromToken(token string) string { return strings.ReplaceAll(token, "~", ".") }
