package e2e

import (
	"net/http"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
)

// waitForNearer: two players could play together, and wait for nearer opponents, as the studio is told. One comes for
// ada; bob waits on.
func waitForNearer(t *testing.T, p *project) {
	p.upload(t, "rules", p.s.made.rules)
	p.put(t, "calm", rules{function: "rules", hosting: true, settings: map[string]any{
		"numbers": []string{"skill"}, "teams": []any{map[string]any{"name": "side", "copies": 2, "size": 1}},
		"rules":    []any{map[string]any{"name": "near", "spread": "skill", "max": 1000}},
		"patience": map[string]any{"until": 600},
	}})
	ada, bob := p.ticket(t, "ada", attributes{"skill": 1200}), p.ticket(t, "bob", attributes{"skill": 1900})
	studio := p.developer(t)
	var reasons []client.Reason
	eventually(t, "the function says why", func() bool {
		now, err := studio.ExplainTicket(within(t), bob.id)
		switch {
		case client.Status(err) == http.StatusTooManyRequests:
			return false // it may ask once a second
		case err != nil:
			t.Fatal(err)
		}
		run := now.Configs[0].Run
		if run == nil || run.Tickets < 2 {
			return false
		}
		reasons = run.Reasons
		return true
	})
	const waits = "patience: there is a match, and a nearer one is expected"
	if len(reasons) != 1 || !strings.HasPrefix(reasons[0].Reason, waits) {
		t.Fatalf("%+v", reasons)
	}
	together(t, ada, p.ticket(t, "eve", attributes{"skill": 1210}))
	bob.mustWait(t)
}
