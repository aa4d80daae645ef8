// Command guest is languages.Pair as a module, to be measured beside the others.
package main

import (
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/services/test/languages"
)

var _ = matchfn.Register(languages.Pair, matchfn.Attributes("skill"), matchfn.Properties())

func main() {}
