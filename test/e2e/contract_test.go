package e2e

import (
	"testing"

	"matchmaker.dev/services/test/contract"
)

// runContract runs the whole contract. Package contract itself runs it on a dev process.
func runContract(t *testing.T, s *system) {
	const project = "promised"
	contract.Run(t, contract.Target{
		URL: s.front(), Project: project, Another: contract.Another, Token: contract.Minted(s.tokens, project),
		Hosting: true, MaxWaiting: contract.FewWaiting, Complete: true,
	})
}
