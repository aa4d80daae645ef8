// Command pair is the match function whose cost in the sandbox is measured, as a module. It asks for all attributes, so
// that those that it does not read travel as well.
package main

import (
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/services/test/languages"
)

var _ = matchfn.Register(languages.Pair, matchfn.Properties())

func main() {}
