package ticket_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/insight"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// explained is the answer to a caller that asks why a ticket waits.
func explained(t *testing.T, r *replicas, token, id string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.urls[0]+"/"+id+"/explanation", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, string(text)
}

func TestExplanationSaysWhichFiltersHold(t *testing.T) {
	r := start(t)
	studio, err := r.tokens.Mint(issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "demo", Role: "Manager"})
	must(t, err)
	put := func(id, queue string, pools map[string]*pb.Pool) {
		_, _, err := r.store.PutConfig(t.Context(), "demo", &pb.Config{Id: id, Function: "f", Queue: queue, Pools: pools,
			Hosting: &pb.Hosting{Fleet: "hidden"}}, state.AnyRevision)
		must(t, err)
	}
	between := func(name string, least, most float64) *pb.Filter {
		return &pb.Filter{Attribute: name, Min: &least, Max: &most}
	}
	put("a", "", map[string]*pb.Pool{
		"low": {Filters: []*pb.Filter{between("skill", 0, 1000), {Count: "players", Max: new(float64(3))}}},
		"new": {Filters: []*pb.Filter{{Attribute: "level"}}}, "high": {Filters: []*pb.Filter{between("skill", 1300, 2000)}},
	})
	put("b", "", nil)
	put("q", "ranked", nil)
	must(t, r.store.Creator(nil).Create(t.Context(), "demo", &pb.Ticket{Id: "t", Owner: "ada", Created: 1,
		AttributeNames: []string{"skill"}, AttributeValues: []float64{1200}}))
	status, body := explained(t, r, studio, "t")
	if status != http.StatusOK || strings.Contains(body, "hidden") {
		t.Fatal(status, body)
	}
	var got struct {
		State   string
		Configs []struct {
			Config         string
			Serves, InPool bool
			Pools          []struct {
				Pool    string
				Holds   bool
				Filters []struct {
					Value, By *float64
					Holds     bool
				}
			}
			Run *struct{ Error string }
		}
	}
	must(t, json.Unmarshal([]byte(body), &got))
	text := func(n *float64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	var lines []string
	for _, c := range got.Configs {
		run := "none"
		if c.Run != nil {
			run = c.Run.Error
		}
		lines = append(lines, fmt.Sprint(c.Config, " ", c.Serves, " ", c.InPool, " ", run))
		for _, p := range c.Pools {
			line := fmt.Sprint(" ", p.Pool, " ", p.Holds)
			for _, f := range p.Filters {
				line += fmt.Sprint(" ", f.Holds, " ", text(f.Value), " ", text(f.By))
			}
			lines = append(lines, line)
		}
	}
	want := []string{ // those that get the ticket, those that serve it, the others
		"b true true no runner has an instance of this function", "a true false none", " high false false 1200 100",
		" low false false 1200 200 true 1 -", " new false false - -", "q false true none",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") || got.State != "waiting" {
		t.Errorf("%s: got\n%s\nwant\n%s", got.State, strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// TestExplanationOfTicketsThatNobodyMatches: one in a queue that is misspelt, and one that is gone.
func TestExplanationOfTicketsThatNobodyMatches(t *testing.T) {
	r := startWith(t, state.Options{}, func(o *ticket.Options) {
		o.History = insight.New(insight.Options{Store: o.Store, Bus: o.Bus.(*bus.Bus), Verifier: o.Verifier, Log: o.Log,
			Now: o.Now, Settings: settings.Default[insight.Settings](), Streams: settings.Default[stream.Settings]()}).History
	})
	embeddedtest.Prepare(t, r.bus)
	token := r.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "s", Role: "Support"})
	r.serve(t, "one", "quick")
	id := r.createIn(t, `["qick","quick"]`)
	if status, body := explained(t, r, token, id); status != http.StatusOK ||
		!strings.Contains(body, `"queues":["qick","quick"],"unservedQueues":["qick"]`) {
		t.Error(status, body)
	}
	_, err := r.store.DeleteTicket(t.Context(), "demo", id, "")
	must(t, err)
	if status, body := explained(t, r, token, id); status != http.StatusNotFound {
		t.Error("before the event:", status, body)
	}
	r.happens(t, &pb.Event{Kind: pb.Event_KIND_EXPIRED, Time: r.store.Now().UnixMilli(), Reason: "silent",
		Tickets: []string{id}})
	if status, body := explained(t, r, token, id); status != http.StatusOK ||
		!strings.Contains(body, `"state":"ended"`) || !strings.Contains(body, `"ended":{"reason":"silent"`) {
		t.Error("after the event:", status, body)
	}
}

func TestExplanationSaysWhichMatchesFailed(t *testing.T) {
	r := startWith(t, state.Options{}, func(o *ticket.Options) {
		o.History = insight.New(insight.Options{Store: o.Store, Bus: o.Bus.(*bus.Bus), Verifier: o.Verifier, Log: o.Log,
			Now: o.Now, Settings: settings.Default[insight.Settings](), Streams: settings.Default[stream.Settings]()}).History
	})
	embeddedtest.Prepare(t, r.bus)
	token, err := r.tokens.Mint(issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "demo", Role: "Support"})
	must(t, err)
	now := r.store.Now().UnixMilli()
	must(t, r.store.Creator(nil).Create(t.Context(), "demo", &pb.Ticket{Id: "t", Owner: "ada", Created: now}))
	_, _, err = r.bus.PublishEvents(t.Context(), &pb.Events{Project: "demo", Events: []*pb.Event{
		{Kind: pb.Event_KIND_CLAIMED, Time: now, Match: "m", Config: "a", Tickets: []string{"t"}, Function: "f", Score: 2},
		{Kind: pb.Event_KIND_RELEASED, Time: now, Match: "m", Config: "a", Tickets: []string{"t"}, Reason: "allocation"},
	}}, bus.EventTail{})
	must(t, err)
	status, body := explained(t, r, token, "t")
	var got struct {
		History struct {
			Matches []struct {
				Match, State, Reason, Config string
				Score                        float64
				Failed                       bool
			}
			Complete bool
		}
	}
	must(t, json.Unmarshal([]byte(body), &got))
	if want := "{[{m released allocation a 2 true}] true}"; status != http.StatusOK || fmt.Sprint(got.History) != want {
		t.Errorf("%d, got %v, want %s: %s", status, got.History, want, body)
	}
}

func TestWhoMayAskWhyATicketWaits(t *testing.T) {
	r := start(t)
	must(t, r.store.Creator(nil).Create(t.Context(), "demo", &pb.Ticket{Id: "t", Owner: "ada", Created: 1}))
	studio := func(project, role string) issuer.Claims {
		return issuer.Claims{Kind: auth.Developer, Subject: "s", Project: project, Role: role}
	}
	for name, test := range map[string]struct {
		claims issuer.Claims
		id     string
		want   int
	}{
		"a player":           {issuer.Claims{Kind: auth.Player, Subject: "ada", Project: "demo"}, "t", http.StatusForbidden},
		"a game service":     {issuer.Claims{Kind: auth.Service, Subject: "s", Project: "demo"}, "t", http.StatusForbidden},
		"another project":    {studio("else", "Owner"), "t", http.StatusForbidden},
		"a guest":            {studio("demo", "Guest"), "t", http.StatusForbidden},
		"a manager":          {studio("demo", "Manager"), "t", http.StatusOK},
		"support":            {studio("demo", "Support"), "t", http.StatusOK},
		"about nobody":       {studio("demo", "Owner"), "x", http.StatusNotFound},
		"about an odd thing": {studio("demo", "Owner"), "%7B%00", http.StatusNotFound},
	} {
		token, err := r.tokens.Mint(test.claims)
		must(t, err)
		if status, body := explained(t, r, token, test.id); status != test.want {
			t.Errorf("%s: %d, want %d: %s", name, status, test.want, body)
		}
	}
	token, err := r.tokens.Mint(studio("demo", "Owner"))
	must(t, err)
	limited := false
	for range 40 {
		status, body := explained(t, r, token, "t")
		if limited = status == http.StatusTooManyRequests; limited {
			break
		}
		if status != http.StatusOK {
			t.Fatal(status, body)
		}
	}
	if !limited {
		t.Error("a project may ask as often as it likes")
	}
}
