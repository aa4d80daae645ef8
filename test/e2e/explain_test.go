package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// explain: a studio asks why a player waits. One config's function says which rule is in the way, another's pool does
// not have the ticket, and a third serves a queue. The question makes no match.
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
		TargetFunction: client.FunctionTarget{Name: "rules", Version: "1"},
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
		run := got.Configs[0].Run
		return run != nil && len(run.Reasons) > 0 && run.Seen != nil // the runner may be one that had no run yet
	})
	if got.State != "waiting" || got.Players != 1 || got.Waited <= 0 || len(got.Configs) != 3 {
		t.Fatalf("%+v", got)
	}
	ranked, sides, queue := got.Configs[0], got.Configs[1], got.Configs[2] // the nearest first
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
	if seen := ranked.Run.Seen; seen == nil || seen.Runs < 1 || time.Since(seen.Since) > time.Minute {
		t.Errorf("runs that had it: %+v", seen)
	}
	// Of tickets that came within a millisecond, which is what their ids begin with, either is the older one.
	if place := ranked.Run.Place; place != 1 && (place != 2 || ada.id[:13] != bob.id[:13]) || ranked.Run.Best != nil {
		t.Errorf("the oldest of those that wait: %+v", ranked.Run)
	}
	repeatRun(t, p, ada)
	ada.mustWait(t)
	bob.mustWait(t)
}

// repeatRun: the studio repeats the run at its desk, and the function answers the same. Support does not get what
// tickets carry.
func repeatRun(t *testing.T, p *project, ada *ticket) {
	t.Helper()
	var file []byte
	eventually(t, "the run is captured", func() (done bool) {
		var err error
		file, err = p.developer(t).CaptureRun(within(t), ada.id, "ranked")
		// Status 503: the runner has no time for it now.
		if s := client.Status(err); err != nil && s != http.StatusTooManyRequests && s != http.StatusServiceUnavailable {
			t.Fatal(err)
		}
		return err == nil
	})
	path := filepath.Join(t.TempDir(), "run.capture")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Config       string
		Tickets      int
		Same         bool
		Explanations []struct {
			Ticket  string
			Reasons []client.Reason
		}
	}
	p.run(t, &got, "nobody", "function", "test", p.s.made.rules, "--capture", path)
	if got.Config != "ranked" || got.Tickets != 2 || !got.Same || len(got.Explanations) != 1 ||
		got.Explanations[0].Ticket != ada.id || got.Explanations[0].Reasons[0].Reason != "near: without it there is a match" {
		t.Errorf("the run at the desk: %+v", got)
	}
	support := p.as(t, issuer.Claims{Kind: auth.Developer, Subject: "helpdesk", Role: "Support"})
	if _, err := support.CaptureRun(within(t), ada.id, "ranked"); client.Status(err) != http.StatusForbidden {
		t.Errorf("support captures a run: %v", err)
	}
	shown := client.ProjectSettings{Support: &client.SupportRules{Properties: true}}
	if _, err := p.developer(t).PutSettings(within(t), shown, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "support captures a run of a project that shows it properties", func() bool {
		file, err := support.CaptureRun(within(t), ada.id, "ranked")
		if err != nil && client.Status(err) != http.StatusTooManyRequests {
			t.Fatal(err)
		}
		return len(file) > 0
	})
	if _, err := p.developer(t).CaptureRun(within(t), ada.id, "sides"); client.Status(err) != http.StatusConflict &&
		client.Status(err) != http.StatusTooManyRequests {
		t.Errorf("a config that does not get the ticket: %v", err)
	}
}
