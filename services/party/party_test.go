package party_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is two replicas of the service.
type world struct {
	t      *testing.T
	urls   [2]string
	parts  [2]app.Part
	tokens *issuer.Issuer
	store  *state.Store
	next   int
}

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// shown is a party in an answer.
type shown struct {
	ID, Code, Leader string // of a problem, Code is its code
	Revision, Size   int
	Members          []struct {
		ID         string
		Ready      bool
		Attributes map[string]float64
		Properties map[string][]byte
	}
	Search *struct{ Ticket string }
	Detail string
}

func start(t *testing.T, change func(*party.Settings)) *world {
	t.Helper()
	return startAt(t, nil, func(o *party.Options) { change(&o.Settings) })
}

// startAt starts replicas, a store and an issuer that share a clock; nil is the real one.
func startAt(t *testing.T, clock func() time.Time, change func(*party.Options)) *world {
	t.Helper()
	w := &world{t: t, store: embeddedtest.Store(t, state.Options{Clock: clock})}
	if clock == nil {
		clock = time.Now
	}
	talk := embeddedtest.Bus(t, bus.Options{})
	log := slog.New(slog.DiscardHandler)
	var err error
	w.tokens, err = issuer.Open(t.TempDir(), clock)
	must(t, err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{w.tokens.Trust()}, Log: log, Now: clock})
	must(t, err)
	for i := range w.urls {
		o := party.Options{
			Store: w.store, Bus: talk, Verifier: verifier, Log: log, Now: clock, Wait: 20 * time.Second,
			Settings: settings.Default[party.Settings](), Streams: settings.Default[stream.Settings](),
			Fields: fields.Limits{Attributes: 64, Properties: 64, Players: 64, Name: 128},
		}
		change(&o)
		e := web.New(log, web.Options{})
		part := party.New(o)
		part.Routes(e)
		w.parts[i] = part
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- part.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			must(t, <-ended)
		})
		server := httptest.NewServer(openapitest.Handler(t, e))
		t.Cleanup(server.Close)
		w.urls[i] = server.URL + "/demo/matchmaking/api/v1/parties"
	}
	return w
}

func defaults(*party.Settings) {}

// as sends a request with a player's token, to one replica after the other.
func (w *world) as(player, method, path, body string, headers ...string) (status int, p shown) {
	w.t.Helper()
	return w.with(issuer.Claims{Kind: auth.Player, Subject: player}, method, path, body, headers...)
}

// with is as for a token of other claims.
func (w *world) with(c issuer.Claims, method, path, body string, headers ...string) (status int, p shown) {
	w.t.Helper()
	c.Project = "demo"
	token, err := w.tokens.Mint(c)
	must(w.t, err)
	w.next++
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.urls[w.next%2]+path, strings.NewReader(body))
	must(w.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer func() { must(w.t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	must(w.t, err)
	if len(text) > 0 {
		must(w.t, json.Unmarshal(text, &p))
	}
	return res.StatusCode, p
}

// do is as for a request that must succeed.
func (w *world) do(player, method, path, body string) shown {
	w.t.Helper()
	status, p := w.as(player, method, path, body)
	if status/100 != 2 {
		w.t.Fatalf("%s: %s %s: %d %s", player, method, path, status, p.Detail)
	}
	return p
}

// party makes a party of players, the first of whom leads.
func (w *world) party(players ...string) shown {
	w.t.Helper()
	p := w.do(players[0], "POST", "", `{"attributes":{"skill":1}}`)
	for _, player := range players[1:] {
		p = w.do(player, "POST", "/members", `{"code":"`+p.Code+`","attributes":{"skill":2}}`)
	}
	return p
}

func (p *shown) players() string {
	var names []string
	for _, m := range p.Members {
		names = append(names, m.ID)
	}
	return strings.Join(names, " ")
}

// Promise 11.
func TestPartyIsMadeJoinedAndLeft(t *testing.T) {
	w := start(t, defaults)
	p := w.do("ada", "POST", "", `{"size":3,"attributes":{"skill":1200},"properties":{"hat":"YQ=="}}`)
	if p.Leader != "ada" || p.players() != "ada" || len(p.Code) != 9 || p.Size != 3 || p.Search != nil {
		t.Fatalf("%+v", p)
	}
	// Codes are read as people type them.
	typed := strings.ToLower(p.Code[:3] + "-" + p.Code[3:6] + " " + p.Code[6:])
	p = w.do("bob", "POST", "/members", `{"code":"`+typed+`","attributes":{"skill":900},"ready":false}`)
	if p.players() != "ada bob" || p.Members[1].Ready || p.Members[1].Attributes["skill"] != 900 ||
		p.Members[0].Attributes != nil || p.Members[0].Properties != nil {
		t.Errorf("bob sees %+v", p)
	}
	if again := w.do("bob", "POST", "/members", `{"code":"`+p.Code+`"}`); again.Revision != p.Revision {
		t.Errorf("joining again changed the party")
	}
	if mine := w.do("ada", "GET", "", ""); mine.ID != p.ID || mine.Members[0].Properties["hat"] == nil ||
		mine.Members[1].Attributes != nil {
		t.Errorf("ada sees %+v", mine)
	}
	// A studio reads it without the code and what members said of themselves, and changes nothing.
	for _, role := range []string{"Owner", "Support"} {
		studio := issuer.Claims{Kind: auth.Developer, Subject: "ada", Role: role}
		status, seen := w.with(studio, "GET", "/"+p.ID, "")
		if status != 200 || seen.players() != "ada bob" || seen.Code != "" || seen.Members[0].Attributes != nil {
			t.Errorf("a studio sees %d %+v", status, seen)
		}
		known := fmt.Sprintf(`"%d"`, seen.Revision)
		status, _ = w.with(studio, "GET", "/"+p.ID, "", "If-None-Match", known, "Prefer", "wait=20")
		if status != 304 {
			t.Errorf("a studio reads what it knows: %d", status)
		}
		for at, want := range map[string]int{"GET /none": 404, "GET ": 403, "DELETE /" + p.ID: 403,
			"GET /" + p.ID + "/events": 403, "PUT /" + p.ID + "/search": 403} {
			method, path, _ := strings.Cut(at, " ")
			if status, _ := w.with(studio, method, path, "{}"); status != want {
				t.Errorf("%s by a studio: %d, want %d", at, status, want)
			}
		}
	}
	// How often it does is limited, as other looks are. Its members are not.
	status, reads := 0, 0
	for ; status != 429 && reads < 200; reads++ {
		status, _ = w.with(issuer.Claims{Kind: auth.Developer, Subject: "ada", Role: "Owner"}, "GET", "/"+p.ID, "")
	}
	if status != 429 || reads < 5 {
		t.Errorf("read %d by a studio: %d", reads, status)
	}
	p = w.do("bob", "PUT", "/"+p.ID+"/members/bob", `{"ready":true}`)
	if !p.Members[1].Ready || len(p.Members[1].Attributes) > 0 {
		t.Errorf("%+v", p.Members[1])
	}
	w.do("eve", "POST", "/members", `{"code":"`+p.Code+`"}`)
	if status, full := w.as("zoe", "POST", "/members", `{"code":"`+p.Code+`"}`); status != 409 {
		t.Errorf("a fourth of three: %d %s", status, full.Detail)
	}
	// The oldest member follows the leader.
	w.do("ada", "DELETE", "/"+p.ID+"/members/ada", "")
	if p = w.do("eve", "GET", "/"+p.ID, ""); p.Leader != "bob" || p.players() != "bob eve" {
		t.Errorf("%+v", p)
	}
	p = w.do("bob", "PUT", "/"+p.ID+"/leader", `{"player":"eve"}`)
	if p.Leader != "eve" {
		t.Errorf("%+v", p)
	}
	// A kicked member stays out, and the code changes.
	before := p.Code
	p = w.do("eve", "DELETE", "/"+p.ID+"/members/bob", "")
	if p.players() != "eve" || p.Code == before {
		t.Errorf("%+v", p)
	}
	for _, code := range []string{before, p.Code} {
		if status, _ := w.as("bob", "POST", "/members", `{"code":"`+code+`"}`); status != 404 {
			t.Errorf("bob joins again with %s: %d", code, status)
		}
	}
	w.do("ada", "POST", "/members", `{"code":"`+p.Code+`"}`)
	w.do("eve", "DELETE", "/"+p.ID, "")
	for _, player := range []string{"ada", "eve"} {
		if status, _ := w.as(player, "GET", "", ""); status != 404 {
			t.Errorf("%s has a party: %d", player, status)
		}
	}
}

// Promise 11.
func TestSearchIsOneTicketOfAllMembers(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob", "eve")
	w.do("bob", "PUT", "/"+p.ID+"/members/bob", `{"ready":false,"attributes":{"skill":7}}`)
	if status, refused := w.as("ada", "PUT", "/"+p.ID+"/search", `{}`); status != 409 ||
		!strings.Contains(refused.Detail, "bob") {
		t.Errorf("bob is not ready: %d %s", status, refused.Detail)
	}
	w.do("bob", "PUT", "/"+p.ID+"/members/bob", `{"attributes":{"skill":7}}`)
	p = w.do("ada", "PUT", "/"+p.ID+"/search", `{"attributes":{"mode":2},"queues":["ranked","casual"]}`)
	ticket := func() string {
		t.Helper()
		if p.Search == nil {
			t.Fatal("the party does not search")
		}
		stored, err := w.store.Ticket(t.Context(), "demo", p.Search.Ticket)
		must(t, err)
		var text []string
		for _, one := range stored.Body.GetPlayers() {
			text = append(text, one.GetId())
		}
		if stored.Body.GetOwner() != "ada" || stored.Body.GetAttributeNames()[0] != "mode" ||
			stored.Body.GetPlayers()[1].GetAttributeValues()[0] != 7 {
			t.Errorf("%v", stored.Body)
		}
		return strings.Join(text, " ")
	}
	if stored, err := w.store.Ticket(t.Context(), "demo", p.Search.Ticket); err != nil ||
		strings.Join(stored.Body.GetQueues(), " ") != "casual ranked" {
		t.Errorf("the ticket waits in %v, %v", stored.Body.GetQueues(), err)
	}
	if got := ticket(); got != "ada bob eve" {
		t.Errorf("the ticket has the players %s", got)
	}
	first := p.Search.Ticket
	if p = w.do("ada", "PUT", "/"+p.ID+"/search", `{"attributes":{"mode":2}}`); p.Search.Ticket != first {
		t.Error("a second start began a second search")
	}
	// A member that leaves ends the search.
	w.do("eve", "DELETE", "/"+p.ID+"/members/eve", "")
	if p = w.do("ada", "GET", "/"+p.ID, ""); p.Search != nil || w.waiting() != 0 {
		t.Errorf("the search goes on without eve: %+v, %d tickets wait", p.Search, w.waiting())
	}
	p = w.do("ada", "PUT", "/"+p.ID+"/search", `{"attributes":{"mode":2}}`)
	if got := ticket(); got != "ada bob" || w.waiting() != 1 {
		t.Errorf("%s, %d tickets wait", got, w.waiting())
	}
	if p = w.do("ada", "DELETE", "/"+p.ID+"/search", ""); p.Search != nil || w.waiting() != 0 {
		t.Errorf("%+v, %d tickets wait", p.Search, w.waiting())
	}
}

// Requests that wait for a member's own ticket learn that the search replaced it.
func TestSearchReplacesTheTicketOfAMember(t *testing.T) {
	var talk *bus.Bus
	w := startAt(t, nil, func(o *party.Options) { talk, _ = o.Bus.(*bus.Bus) })
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{
		Tickets: &pb.TicketRules{PlayerLimit: 1, WhenReached: "replace"},
	}, state.AnyRevision))
	rules, err := w.store.Settings(t.Context(), "demo")
	must(t, err)
	_, err = w.store.Creator(nil).CreateAs(t.Context(), "demo", state.Creation{Settings: rules, Readable: time.Minute,
		Ticket: &pb.Ticket{Id: "alone", Owner: "bob", Created: time.Now().UnixMilli()}})
	must(t, err)
	heard := make(chan string, 8)
	_, err = talk.OnResults(func(_ string, a bus.Assigned) { heard <- fmt.Sprintf("%v %s", a.Tickets(), a.Ended()) })
	must(t, err)
	p := w.party("ada", "bob")
	w.do("ada", "PUT", "/"+p.ID+"/search", `{}`)
	select {
	case got := <-heard:
		if got != "[alone] replaced" || w.waiting() != 1 {
			t.Errorf("told is %s, %d tickets wait", got, w.waiting())
		}
	case <-time.After(20 * time.Second):
		t.Error("nothing is told of the ticket")
	}
}

// waiting is how many tickets wait.
func (w *world) waiting() int64 {
	w.t.Helper()
	n, err := w.store.Waiting(w.t.Context(), "demo")
	must(w.t, err)
	return n
}

func TestPartiesRefuse(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob")
	other := w.party("eve")
	for _, c := range []struct {
		player, method, path, body, want string
		status                           int
	}{
		{"ada", "POST", "", `{}`, p.ID, 409},
		{"ada", "POST", "/members", `{"code":"` + other.Code + `"}`, "leave it first", 409},
		{"zoe", "POST", "", `{"size":1}`, "size", 400},
		{"zoe", "POST", "", `{"size":17}`, "size", 400},
		{"zoe", "POST", "", `{"attributes":{"created":1}}`, "attributes.created", 400},
		{"zoe", "POST", "", `{"members":[]}`, "members", 400},
		{"zoe", "POST", "/members", `{"code":"123"}`, "code", 400},
		{"zoe", "POST", "/members", `{"code":"` + strings.Repeat("-", 100) + `"}`, "code", 400},
		{"zoe", "POST", "/members", `{"code":"000000000"}`, "code", 404},
		{"zoe", "GET", "/" + p.ID, "", "not found", 404},
		{"zoe", "GET", "", "", "no party", 404},
		{"zoe", "DELETE", "/" + p.ID, "", "not found", 404},
		{"zoe", "PUT", "/" + p.ID + "/search", `{}`, "not found", 404},
		{"zoe", "DELETE", "/" + p.ID + "/members/ada", "", "not found", 404},
		{"bob", "DELETE", "/" + p.ID, "", "leader", 403},
		{"bob", "DELETE", "/" + p.ID + "/members/ada", "", "leader", 403},
		{"bob", "PUT", "/" + p.ID + "/leader", `{"player":"bob"}`, "leader", 403},
		{"bob", "POST", "/" + p.ID + "/code", "", "leader", 403},
		{"bob", "PUT", "/" + p.ID + "/search", `{}`, "leader", 403},
		{"bob", "DELETE", "/" + p.ID + "/search", "", "leader", 403},
		{"bob", "PUT", "/" + p.ID + "/members/ada", `{}`, "own", 403},
		{"ada", "PUT", "/" + p.ID + "/leader", `{"player":"eve"}`, "eve", 404},
		{"ada", "DELETE", "/" + p.ID + "/members/eve", "", "eve", 404},
		{"ada", "PUT", "/" + p.ID + "/search", `{"attributes":{"x":"1"}}`, "attributes.x", 400},
		{"ada", "PUT", "/" + p.ID + "/search", `{"queues":["a","a"]}`, "queues.1", 400},
		{"ada", "PUT", "/" + p.ID + "/search", `{"players":[]}`, "players", 400},
	} {
		status, refused := w.as(c.player, c.method, c.path, c.body)
		if status != c.status || !strings.Contains(refused.Detail, c.want) {
			t.Errorf("%s: %s %s %.60s: %d %q, want %d and %q", c.player, c.method, c.path, c.body, status, refused.Detail,
				c.status, c.want)
		}
	}
	if now := w.do("ada", "GET", "", ""); now.Revision != p.Revision || now.players() != "ada bob" {
		t.Errorf("what was refused changed the party: %+v", now)
	}
}

// TestCodesOfRefusals: programs tell the refusals of one status from each other.
func TestCodesOfRefusals(t *testing.T) {
	w := start(t, func(s *party.Settings) { s.Parties = 3 })
	p := w.do("ada", "POST", "", `{"size":2}`)
	w.do("bob", "POST", "/members", `{"code":"`+p.Code+`","ready":false}`)
	other := w.party("eve")
	for _, c := range []struct {
		player, method, path, body, code string
		status                           int
	}{
		{"ada", "POST", "", `{}`, "alreadyInParty", 409},
		{"ada", "POST", "/members", `{"code":"` + other.Code + `"}`, "alreadyInParty", 409},
		{"zoe", "POST", "/members", `{"code":"` + p.Code + `"}`, "partyFull", 409},
		{"zoe", "POST", "/members", `{"code":"000000000"}`, "partyCodeUnknown", 404},
		{"zoe", "GET", "", "", "partyNotFound", 404},
		{"zoe", "GET", "/" + p.ID, "", "partyNotFound", 404},
		{"bob", "DELETE", "/" + p.ID, "", "notLeader", 403},
		{"bob", "PUT", "/" + p.ID + "/members/ada", `{}`, "forbidden", 403},
		{"ada", "DELETE", "/" + p.ID + "/members/eve", "", "memberNotFound", 404},
		{"ada", "PUT", "/" + p.ID + "/leader", `{"player":"eve"}`, "memberNotFound", 404},
		{"ada", "PUT", "/" + p.ID + "/search", `{}`, "memberNotReady", 409},
	} {
		if status, refused := w.as(c.player, c.method, c.path, c.body); status != c.status || refused.Code != c.code {
			t.Errorf("%s: %s %s %s: %d %s, want %d %s", c.player, c.method, c.path, c.body, status, refused.Code, c.status,
				c.code)
		}
	}
	w.party("max")
	if status, refused := w.as("zoe", "POST", "", `{}`); status != 429 || refused.Code != "tooManyParties" {
		t.Errorf("one party more: %d %s", status, refused.Code)
	}
}

func TestCodesCannotBeGuessedQuickly(t *testing.T) {
	w := start(t, func(s *party.Settings) { s.JoinRate, s.JoinBurst = 0.001, 3 })
	limited := 0
	for range 10 {
		status, refused := w.as("eve", "POST", "/members", `{"code":"000000000"}`)
		if status == 429 && refused.Code == "playerLimited" {
			limited++
		}
	}
	if limited != 4 { // 3 by each replica
		t.Errorf("%d of 10 guesses were refused", limited)
	}
}

func TestMembersHearOfChanges(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob/with a slash")
	type answer struct {
		status int
		p      shown
	}
	heard := make(chan answer, 1)
	tag := func(p shown) string { return fmt.Sprintf(`"%d"`, p.Revision) }
	go func() {
		status, p := w.as("ada", "GET", "/"+p.ID, "", "If-None-Match", tag(p), "Prefer", "wait=20")
		heard <- answer{status, p}
	}()
	bob := "bob/with a slash"
	token := "/" + p.ID + "/members/" + url.PathEscape(bob)
	other := &world{t: t, urls: w.urls, tokens: w.tokens, store: w.store}
	changed := other.do(bob, "PUT", token, `{"ready":false}`)
	select {
	case a := <-heard:
		if a.status != 200 || a.p.Revision != changed.Revision || a.p.Revision <= p.Revision || a.p.Members[1].Ready {
			t.Errorf("%+v", a)
		}
	case <-time.After(15 * time.Second):
		t.Error("ada does not hear that bob is not ready")
	}
	if status, _ := other.as("ada", "GET", "/"+p.ID, "", "If-None-Match", tag(changed)); status != 304 {
		t.Errorf("a party that has not changed: %d", status)
	}
}

// TestSilentMembersLeave has a silent leader. Promise 11.
func TestSilentMembersLeave(t *testing.T) {
	t.Parallel()
	w := start(t, func(s *party.Settings) { s.Silence = 3 * time.Second })
	p := w.party("ada", "bob")
	p = w.do("ada", "PUT", "/"+p.ID+"/search", `{}`)
	for deadline := time.Now().Add(time.Minute); p.Leader != "bob"; {
		if time.Now().After(deadline) {
			t.Fatalf("ada still leads: %+v", p)
		}
		known, err := json.Marshal(p.Revision)
		must(t, err)
		if status, now := w.as("bob", "GET", "/"+p.ID, "", "If-None-Match", `"`+string(known)+`"`, "Prefer",
			"wait=1"); status == 200 {
			p = now
		}
	}
	if p.players() != "bob" || p.Search != nil || w.waiting() != 0 {
		t.Errorf("%+v, %d tickets wait", p, w.waiting())
	}
}

// TestMembersSetWhatIsTheirs has settings that let only game services say the skill.
func TestMembersSetWhatIsTheirs(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob")
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{
		Attributes: []*pb.SetterRule{{Name: "skill", SetBy: definition.ByService}},
	}, state.AnyRevision))
	for _, c := range []struct {
		method, path, body, want string
		status                   int
	}{
		{"PUT", "/" + p.ID + "/search", `{}`, `player \"ada\" must say its attributes and properties again`, 409},
		{"PUT", "/" + p.ID + "/members/ada", `{"attributes":{"skill":9999}}`, "attributes.skill", 403},
		{"PUT", "/" + p.ID + "/members/ada", `{"attributes":{"role":1}}`, "", 200},
		{"PUT", "/" + p.ID + "/search", `{}`, `player \"bob\" must say its attributes and properties again`, 409},
	} {
		status, answer := w.as("ada", c.method, c.path, c.body)
		if want := strings.ReplaceAll(c.want, `\"`, `"`); status != c.status || !strings.Contains(answer.Detail, want) {
			t.Errorf("%s %s: %d %q, want %d %q", c.method, c.body, status, answer.Detail, c.status, want)
		}
	}
	w.do("bob", "PUT", "/"+p.ID+"/members/bob", `{}`)
	if status, answer := w.as("ada", "PUT", "/"+p.ID+"/search", `{"attributes":{"skill":1}}`); status != 403 {
		t.Errorf("the leader says the skill of the ticket: %d %s", status, answer.Detail)
	}
	if p = w.do("ada", "PUT", "/"+p.ID+"/search", `{}`); p.Search == nil {
		t.Error("the search does not begin")
	}
}
