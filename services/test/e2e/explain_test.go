package e2e

import (
	"net/http"
	"testing"

	"matchmaker.dev/pkg/client"
)

// explain: a studio asks why a player waits. One config's function says which rule is in the way, another's pool does
// not have the ticket, and a third serves a queue. Nobody is matched by the question.
func explain(t *testing.T, p *project) {
	p.upload(t, "rules", p.s.made.rules)
	settings := map[string]any{
		"numbers": []string{"skill"}, "teams": []any{map[string]any{"name": "side", "copies": 2, "size": 1}},
		"rules": []any{map[string]any{"name": "near", "spread": "skill", "max": 50}},
	}
	p.put(t, "ranked", rules{function: "rules", settings: settings})
	p.put(t, "sides", rules{function: "rules", settings: settings, side: 2})
	studio := p.developer(t)
	if _, err := studio.PutConfig(within(t), "queue", client.Config{Queue: "casual", Matchmaking: client.Matchmaking{
		TargetFunction: &client.FunctionTarget{Name: "rules", Version: "1"},
		Config:         []byte(`{"teams":[{"name":"side","copies":2,"size":1}]}`)}}, ""); err != nil {
		t.Fatal(err)
	}
	enter := func(player string, skill float64) *ticket {
		k := &ticket{p: p, player: player}
		var err error
		k.id, err = k.api(t).CreateTicket(within(t), client.TicketRequest{Attributes: attributes{"skill": skill, "side": 1}})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	ada, bob := enter("ada", 1200), enter("bob", 1900)
	var got *client.TicketExplanation
	eventually(t, "the function says why", func() bool {
		now, err := studio.ExplainTicket(within(t), ada.id)
		switch {
		case client.Status(err) == http.StatusTooManyRequests:
			return false // it may ask once a second
		case err != nil:
			t.Fatal(err)
		}
		got = now
		run := got.Configs[1].Run
		return run != nil && len(run.Reasons) > 0
	})
	if got.State != "waiting" || got.Players != 1 || got.Waited <= 0 || len(got.Configs) != 3 {
		t.Fatalf("%+v", got)
	}
	queue, ranked, sides := got.Configs[0], got.Configs[1], got.Configs[2]
	if queue.Config != "queue" || queue.Serves || queue.Queue != "casual" || queue.Run != nil {
		t.Errorf("a config of a queue in which it does not wait: %+v", queue)
	}
	reason := ranked.Run.Reasons[0]
	if !ranked.Serves || !ranked.InPool || ranked.Run.Proposed || ranked.Run.Error != "" || ranked.Run.Tickets != 2 ||
		reason.Reason != "near: without it there is a match" || reason.Candidates == nil || *reason.Candidates != 1 {
		t.Errorf("a config whose rule is in the way: %+v, %+v", ranked, ranked.Run)
	}
	filter := sides.Pools[0].Filters[0]
	if sides.InPool || sides.Run != nil || filter.Holds || filter.Value == nil || *filter.Value != 1 || filter.By == nil ||
		*filter.By != 1 {
		t.Errorf("a config whose pool does not have it: %+v, %+v", sides, filter)
	}
	if _, err := ada.api(t).ExplainTicket(within(t), ada.id); client.Status(err) != http.StatusForbidden {
		t.Errorf("a player asks: %v", err)
	}
	ada.mustWait(t)
	bob.mustWait(t)
}
