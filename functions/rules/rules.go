// Rules is a match function that does what a rule set says. README.md describes its settings.
package main

import (
	"runtime/debug"

	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.RegisterMatcher(function.Begin, function.Options()...)

// softLimit is the linear memory, in bytes, from which on memory is collected as often as it takes. A run over 100,000
// tickets uses about half of it, and leaves as much behind for the next one to collect.
const softLimit = 128 << 20

var _ = debug.SetMemoryLimit(softLimit)

func main() {}
