package e2e

import (
	"encoding/json"
	"math"
	"net/http"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// measures: a studio wants to know how good its matches are. Its config names an attribute, and its function measures.
// A developer with the role Support reads of a match what was measured, and of the last hour how matches were, and the
// studio what a change of its config has changed.
func measures(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	put := func(settings string) {
		t.Helper()
		if _, err := p.developer(t).PutConfig(within(t), "ranked", client.Config{Queue: "q", Matchmaking: client.Matchmaking{
			TargetFunction: client.FunctionTarget{Name: "duel", Version: "1"}, Config: []byte(settings)},
			Hosting: &client.Hosting{Profile: "profile", FleetID: "fleet"},
			Report:  &client.ReportRule{Attributes: []string{"skill", "nobody's"}}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	match := func(first, second float64) string {
		t.Helper()
		var last *ticket
		for player, skill := range map[string]float64{"ada": first, "bob": second} {
			last = &ticket{p: p, player: player}
			var err error
			last.id, err = last.api(t).CreateTicket(within(t), client.TicketRequest{Queues: []string{"q"},
				Attributes: attributes{"skill": skill}})
			if err != nil {
				t.Fatal(err)
			}
		}
		last.connection(t)
		return last.id
	}
	put(`{"window":100,"widen":0,"measure":true}`)
	id := match(1200, 1240)

	support, token, err := p.client(issuer.Claims{Kind: auth.Developer, Subject: "helpdesk", Role: "Support"})
	if err != nil {
		t.Fatal(err)
	}
	var made client.Event
	eventually(t, "the match has an event", func() bool {
		query := client.EventQuery{Ticket: id, Kinds: []string{"assigned", "claimed"}}
		if told := events(t, support, query); len(told) > 0 {
			made = told[0]
		}
		return made.Match != ""
	})
	m, err := support.GetMatch(within(t), made.Match)
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]map[string]client.Difference{"event": made.Attributes, "match": m.Attributes} {
		if skill, is := got["skill"]; !is || skill.Spread != 40 || skill.Gap != nil || len(got) != 1 {
			t.Errorf("the attributes of the %s: %+v", what, got)
		}
	}
	if made.Measures["gap"] != 40 || m.Measures["gap"] != 40 || made.Queue != "q" || m.Queue != "q" {
		t.Errorf("measured of the event %+v, of the match %+v", made, m)
	}

	find := func(r *client.MatchReport, kind, name string) (found client.Measure) {
		for _, row := range r.Rows {
			for _, one := range row.Measures {
				if one.Kind == kind && one.Name == name && row.Queue == "q" && row.Party == 1 {
					found = one
				}
			}
		}
		return found
	}
	var report *client.MatchReport
	eventually(t, "the report has the match", func() bool {
		report, err = support.ReportMatches(within(t), client.MatchReportQuery{By: []string{"queue", "party"}})
		if err != nil {
			t.Fatal(err)
		}
		return len(report.Rows) > 0
	})
	wait, spread, gap := find(report, "wait", ""), find(report, "spread", "skill"), find(report, "measure", "gap")
	if wait.Count != 2 || wait.Mean <= 0 || wait.Mean > patience.Seconds() || spread.Count != 1 || spread.Mean != 40 ||
		math.Abs(spread.P50-40) > 4 || gap.Mean != 40 || report.LeftOut != 0 {
		t.Errorf("the report: %+v", report)
	}
	player := (&ticket{p: p, player: "ada"}).api(t)
	if _, err := player.ReportMatches(within(t), client.MatchReportQuery{}); client.Status(err) != http.StatusForbidden {
		t.Errorf("a player asks for a report: %v", err)
	}

	put(`{"window":10,"widen":0,"measure":true}`)
	match(1500, 1505)
	var shown struct {
		Tables []struct{ Rows, Before []client.MatchReportRow }
	}
	eventually(t, "mm shows what the change has changed", func() bool {
		mm := p.mm(t, "nobody", "report", "--since-change", "ranked", "--by", "queue")
		mm.Env = append(mm.Env, "MM_TOKEN="+token)
		text, err := mm.Output()
		if err == nil {
			err = json.Unmarshal(text, &shown)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return len(shown.Tables[0].Rows) > 0
	})
	all := shown.Tables[0]
	if len(shown.Tables) != 2 || len(all.Before) != 1 {
		t.Fatalf("mm shows %+v", shown)
	}
	mean := func(row client.MatchReportRow) float64 {
		return find(&client.MatchReport{Rows: []client.MatchReportRow{{Queue: "q", Party: 1, Measures: row.Measures}}},
			"spread", "skill").Mean
	}
	if mean(all.Rows[0]) != 5 || mean(all.Before[0]) != 40 || all.Rows[0].Matches != 1 || all.Before[0].Matches != 1 {
		t.Errorf("mm shows %+v", all)
	}
}
