// Rules is a match function that does what a rule set says. README.md describes its settings.
package main

import (
	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.RegisterMatcher(function.Begin, function.Options()...)

func main() {}
