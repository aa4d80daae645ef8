// Rules is a match function that does what a rule set says. README.md describes its settings.
package main

import (
	"runtime"
	"runtime/debug"

	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.RegisterMatcher(begin, function.Options()...)

const (
	// softLimit is the linear memory, in bytes, from which on memory is collected as often as it takes. A run over
	// 100,000 tickets uses about half of it, and leaves as much behind for the next one to collect.
	softLimit = 128 << 20
	// muchLeft is how much earlier runs may leave behind before a run that gets all tickets anew. Memory is collected
	// while a run goes on, too, but the run may be faster, and the memory of a module never shrinks.
	muchLeft = softLimit / 4
)

var _ = debug.SetMemoryLimit(softLimit)

func main() {}

// begin returns a matcher without tickets. It frees what earlier runs left.
func begin(s *matchfn.Settings) (matchfn.Matcher, error) {
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > muchLeft {
		runtime.GC()
	}
	return function.Begin(s)
}
