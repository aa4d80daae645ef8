package backfill

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/settings"
)

const first = "/demo/matchmaking/api/v1/backfill"

const asked = `{"connection":"10.0.0.1:7777","function":{"name":"Duel","version":"1"},"pools":{"all":[{"attribute":"skill","min":0,"max":10}]},"config":{"missing":["a"]}}`

func (r reply) deprecated(t *testing.T) reply {
	t.Helper()
	if since := r.header.Get("Deprecation"); since != "@1767225600" {
		t.Errorf("Deprecation: %q", since)
	}
	for _, link := range []string{`</openapi.json>; rel="deprecation"`, `<../v2/backfill>; rel="successor-version"`} {
		if !strings.Contains(r.header.Get("Link"), link) {
			t.Errorf("Link: %q, want %q in it", r.header.Get("Link"), link)
		}
	}
	return r
}

// play lets a function of the test be what the runners have: it answers each run with what proposes returns, or with an
// error.
func (m *match) play(t *testing.T, name string, proposes func(*pb.RunRequest) ([]*pb.Proposal, string)) {
	t.Helper()
	m.upload(t, name)
	runs, err := m.bus.ServeRuns("runner", "demo", name, func(_ context.Context, r *pb.RunRequest, answer bus.SendPart) {
		proposals, failure := proposes(r)
		for _, p := range proposals { // each is a part of its own
			if err := answer(&pb.RunPart{Proposals: []*pb.Proposal{p}}); err != nil {
				t.Error(err)
			}
		}
		if err := answer(&pb.RunPart{Last: true, Error: failure}); err != nil {
			t.Error(err)
		}
	})
	must(t, err)
	t.Cleanup(func() { <-runs.Stop() })
}

func proposed(score float64, tickets ...string) *pb.Proposal {
	return &pb.Proposal{Score: score, Teams: []*pb.Team{{Tickets: tickets}}}
}

const nobody = `{"assignedTickets":[],"assignmentProperties":null,"error":"No Match Found"}`

func TestFirstGeneration(t *testing.T) {
	m := start(t)
	m.post(t, first, asked).deprecated(t).problem(t, 400, `function.name: the project has no function "duel"`)
	m.tickets(t, "ada", "bob", "cat", "dan", "eve")
	_, err := m.store.DeleteTicket(t.Context(), "demo", "eve", "")
	must(t, err)
	var runs []*pb.RunRequest
	m.play(t, "duel", func(r *pb.RunRequest) ([]*pb.Proposal, string) {
		runs = append(runs, r)
		timeout, fill := proposed(99, "cat"), proposed(98, "dan")
		timeout.Error, fill.Filling = "PoolTimeout", &pb.Filling{Backfill: "b"}
		gone, best := proposed(9, "eve"), proposed(8, "ada", "bob")
		best.MatchProperties, best.Connection = []byte(`{"map":"harbour"}`), "elsewhere:1"
		best.TicketProperties = map[string][]byte{"bob": []byte(`{"key":7}`)}
		return []*pb.Proposal{proposed(7, "cat"), timeout, fill, best, gone}, ""
	})
	h := m.listen(t)
	m.post(t, first, asked).deprecated(t).same(t, 200, `{"error":"","assignmentProperties":{"map":"harbour"},"assignedTickets":[
		{"id":"ada","attributes":{"skill":1200},"properties":{"name":"YWRh"},"created":1900000000000,
			"assignment":{"connection":"10.0.0.1:7777","error":"","properties":null,"matchproperties":{"map":"harbour"}}},
		{"id":"bob","attributes":{"skill":1200},"properties":{"name":"Ym9i"},"created":1900000000000,
			"assignment":{"connection":"10.0.0.1:7777","error":"","properties":{"key":7},"matchproperties":{"map":"harbour"}}}]}`)
	if got := next(t, h.assigned); !slices.Equal(got, []string{"ada", "bob"}) {
		t.Errorf("%v were woken", got)
	}
	if got := m.assigned(t, "bob"); got.GetConnection() != "10.0.0.1:7777" || string(got.GetProperties()) != `{"key":7}` {
		t.Errorf("bob has %v", got)
	}
	if m.assigned(t, "cat") != nil || m.assigned(t, "dan") != nil {
		t.Error("more than one match was filled in")
	}
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	r := runs[0]
	if r.GetProject() != "demo" || r.GetFunction() != "duel" || string(r.GetSettings()) != `{"missing":["a"]}` ||
		r.GetBackfills() ||
		r.GetPools()["all"].GetFilters()[0].GetMax() != 10 || r.GetPosition() < 6 || r.GetNow() != 1_900_000_000_000 ||
		r.GetBudget() != 30_000 {
		t.Errorf("asked for %v", r)
	}
	// Its one function proposes the same tickets again, of which one is left.
	m.post(t, first, asked).deprecated(t).same(t, 200, `{"error":"","assignmentProperties":null,"assignedTickets":[
		{"id":"cat","attributes":{"skill":1200},"properties":{"name":"Y2F0"},"created":1900000000000,
			"assignment":{"connection":"10.0.0.1:7777","error":"","properties":null,"matchproperties":null}}]}`)
	m.post(t, first, asked).deprecated(t).same(t, 200, nobody)
	if r := m.post(t, base, "{}"); r.header.Get("Deprecation") != "" {
		t.Error("the second generation is deprecated as well")
	}
}

// Searches are charged to their project. One whose searches took too much is refused for a while, and no run starts.
func TestSearchesOfTheFirstGenerationAreCharged(t *testing.T) {
	m := start(t)
	m.upload(t, "duel")
	runs := 0
	served, err := m.bus.ServeRuns("runner", "demo", "duel",
		func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
			runs++
			if err := answer(&pb.RunPart{Last: true, Stats: &pb.RunStats{Charge: 4_000_000}}); err != nil {
				t.Error(err)
			}
		})
	must(t, err)
	t.Cleanup(func() { <-served.Stop() })
	for range 2 { // five seconds may be used at once
		m.post(t, first, asked).deprecated(t).same(t, 200, nobody)
	}
	r := m.post(t, first, asked)
	r.problem(t, 429, "took more processor time than they may (0.5 seconds a second)")
	if r.header.Get("Retry-After") == "" || runs != 2 {
		t.Errorf("Retry-After %q, %d runs", r.header.Get("Retry-After"), runs)
	}
}

// The older form of shared data is what the server gets when a function knows no other.
func TestFirstGenerationWithAssignmentProperties(t *testing.T) {
	m := start(t)
	m.tickets(t, "ada")
	m.play(t, "duel", func(*pb.RunRequest) ([]*pb.Proposal, string) {
		p := proposed(1, "ada")
		p.AssignmentProperties = []byte(`{"map":"old harbour"}`)
		return []*pb.Proposal{p}, ""
	})
	r := m.post(t, first, asked)
	if r.status != 200 || !strings.Contains(r.body, `"assignmentProperties":{"map":"old harbour"}`) ||
		!strings.Contains(r.body, `"properties":{"map":"old harbour"}`) {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

// Every segment of the pools is a run, and the best match of all of them counts.
func TestFirstGenerationRunsOverSegments(t *testing.T) {
	m := start(t)
	m.tickets(t, "ada", "bob", "cat", "dan")
	m.play(t, "duel", func(r *pb.RunRequest) ([]*pb.Proposal, string) {
		low := r.GetPools()["all"].GetFilters()[0].GetMin()
		return []*pb.Proposal{proposed(low, map[float64]string{0: "ada", 25: "bob", 50: "cat", 75: "dan"}[low])}, ""
	})
	segmented := strings.Replace(asked, `"max":10`,
		`"max":100,"segmentation":{"distributionType":"Uniform","segmentBehaviorType":"BucketCount","Value":4}`, 1)
	if r := m.post(t, first, segmented); r.status != 200 || !strings.Contains(r.body, `"id":"dan"`) ||
		strings.Contains(r.body, `"id":"cat"`) {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

// Whatever goes wrong with the search is one error for the server.
func TestFirstGenerationWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := settings.Default[Settings]()
	s.RequestTime = 50 * time.Millisecond // and the second for the way
	m := startWith(t, s)
	m.tickets(t, "ada")
	m.upload(t, "duel") // which no runner has
	m.post(t, first, asked).deprecated(t).same(t, 200, nobody)
	m.play(t, "bad", func(*pb.RunRequest) ([]*pb.Proposal, string) {
		return []*pb.Proposal{proposed(1, "nobody")}, "it broke"
	})
	m.post(t, first, strings.Replace(asked, "Duel", "bad", 1)).deprecated(t).same(t, 200, nobody)
	runs, err := m.bus.ServeRuns("runner", "demo", "silent", func(context.Context, *pb.RunRequest, bus.SendPart) {})
	must(t, err)
	t.Cleanup(func() { <-runs.Stop() })
	m.upload(t, "silent")
	m.post(t, first, strings.Replace(asked, "Duel", "silent", 1)).deprecated(t).same(t, 200, nobody)
	if m.assigned(t, "ada") != nil {
		t.Error("ada is assigned")
	}
}

// The end of the first generation is announced once it is known.
func TestSunset(t *testing.T) {
	s := settings.Default[Settings]()
	if sunset := startWith(t, s).post(t, first, asked).header.Values("Sunset"); len(sunset) > 0 {
		t.Errorf("Sunset: %q", sunset)
	}
	s.Sunset = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	if sunset := startWith(t, s).post(t, first, asked).header.Get("Sunset"); sunset != "Fri, 01 Jan 2027 00:00:00 GMT" {
		t.Errorf("Sunset: %q", sunset)
	}
}

func TestFirstGenerationIsLimited(t *testing.T) {
	s := settings.Default[Settings]()
	s.RequestRate, s.RequestBurst = 1, 1
	m := startWith(t, s)
	m.post(t, first, asked).deprecated(t).expect(t, 400)
	m.post(t, first, asked).deprecated(t).problem(t, 429, "too many requests")
}

func TestFirstGenerationRefuses(t *testing.T) {
	m := start(t)
	m.upload(t, "duel")
	for body, words := range map[string]string{
		`{}`:   "connection: required, ip:port of the server; function: required",
		`null`: "an object is expected, got null",
		`{"connection":"","function":{"name":"duel"}}`:    "connection: empty",
		`{"connection":"a b","function":{"name":"duel"}}`: "connection: spaces",
		`{"connection":5,"function":{"name":""},"x":1}`:   "connection: a string is expected, got a number; function.name: required, the name of an uploaded function; x: unknown member",
		`{"connection":"a:1","function":"duel"}`:          "function: an object is expected",
		`{"connection":"a:1","function":{"name":"?"}}`:    `function.name: "?" is no function name`,
		strings.Replace(asked, `"max":10`, `"max":-1`,
			1): "pools.all[0]: max -1 is below min 0",
		strings.Replace(asked, `"missing"`, `"a":1,"a"`, 1):                                 "config.a: given twice",
		strings.Replace(asked, `"config"`, `"Connection":"b:1","config"`, 1):                "connection: given twice",
		strings.Replace(asked, `["a"]`, strings.Repeat("[", 33)+strings.Repeat("]", 33), 1): "nest deeper than 32",
		`{"connection":`: "not JSON",
	} {
		m.post(t, first, body).deprecated(t).problem(t, 400, words)
	}
	m.post(t, first, "").deprecated(t).problem(t, 415, "Content-Type")
}

func TestFirstGenerationIsForServers(t *testing.T) {
	m := start(t)
	player := &match{url: m.url, token: m.mint(t, issuer.Claims{Kind: auth.Player, Project: "demo"})}
	player.post(t, first, asked).deprecated(t).problem(t, 403, "player")
	elsewhere := &match{url: m.url, token: m.mint(t, issuer.Claims{Kind: auth.Server, Project: "other"})}
	elsewhere.post(t, first, asked).deprecated(t).problem(t, 403, "project")
	stranger := &match{url: m.url}
	stranger.post(t, first, asked).deprecated(t).problem(t, 401, "token")
}
