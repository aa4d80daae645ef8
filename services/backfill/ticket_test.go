package backfill

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

func TestLifeOfABackfillTicket(t *testing.T) {
	m := start(t)
	id := m.create(t, base, `{"Connection":"10.0.0.1:7777","attributes":{"skill":1200.5},"properties":{"roster":"AQI="}}`)
	at := base + "/" + id
	first := fmt.Sprintf(`{"Id":%q,"Created":1900000000000,"RecordVersion":1,"Connection":"10.0.0.1:7777","attributes":{"skill":1200.5},"properties":{"roster":"AQI="}}`, id)
	m.millis.Add(5000)
	m.post(t, at+"/approvals", "").same(t, 200, first)
	m.post(t, at+"/approvals", "{}").same(t, 200, first) // a body means nothing

	second := fmt.Sprintf(`{"Id":%q,"Created":1900000000000,"RecordVersion":2,"Connection":null,"attributes":{"open":2},"properties":{}}`, id)
	m.put(t, at, `{"attributes":{"open":2}}`).same(t, 200, second)
	m.post(t, at+"/approvals", "").same(t, 200, second)

	// What it answers may be sent back; what the service keeps is not taken over.
	m.put(t, at, second).same(t, 200, strings.Replace(second, `"RecordVersion":2`, `"RecordVersion":3`, 1))
	odd := strings.NewReplacer(`"RecordVersion":2`, `"RecordVersion":77`, `1900000000000`, `5`).Replace(second)
	m.put(t, at, odd).same(t, 200, strings.Replace(second, `"RecordVersion":2`, `"RecordVersion":4`, 1))

	m.delete(t, at).expect(t, 204)
	m.delete(t, at).expect(t, 204)
	m.post(t, at+"/approvals", "").problem(t, 404, id)
	m.put(t, at, "{}").problem(t, 404, id)
	if another := m.create(t, base, "{}"); another == id {
		t.Error("one id for two")
	}
}

// Tickets that were proposed are assigned by the approval, which tells of exactly these.
func TestApproval(t *testing.T) {
	m := start(t)
	h := m.listen(t)
	id := m.create(t, base, `{"Connection":"10.0.0.1:7777","attributes":{"free":2}}`)
	if at := next(t, h.pokes); at == 0 {
		t.Error("the director is told of no position")
	}
	m.tickets(t, "ada", "bob")
	m.propose(t, id, "ada", "bob")
	_, err := m.store.DeleteTicket(t.Context(), "demo", "bob", "")
	must(t, err)
	ada := `{"id":"ada","attributes":{"skill":1200},"properties":{"name":"YWRh"},"created":1900000000000,
		"players":[{"id":"player-ada"}],
		"assignment":{"connection":"10.0.0.1:7777","error":"","properties":null,"matchproperties":{"map":"harbour"}}}`
	want := fmt.Sprintf(`{"Id":%q,"Created":1900000000000,"RecordVersion":1,"Connection":"10.0.0.1:7777","attributes":{"free":0},"properties":{},"assignedTickets":[%s]}`, id, ada)
	m.post(t, base+"/"+id+"/approvals", "").same(t, 200, want)
	if got := m.assigned(t, "ada").GetConnection(); got != "10.0.0.1:7777" {
		t.Errorf("ada is sent to %q", got)
	}
	if got := next(t, h.assigned); !slices.Equal(got, []string{"ada"}) {
		t.Errorf("%v were woken", got)
	}
	next(t, h.pokes)
	// Should the answer have been lost, the next one has her as well, for a while.
	m.millis.Add(19_000)
	m.post(t, base+"/"+id+"/approvals", "").same(t, 200, want)
	m.millis.Add(1000)
	m.post(t, base+"/"+id+"/approvals", "").same(t, 200, strings.Replace(want, `,"assignedTickets":[`+ada+`]`, "", 1))
	if len(h.assigned) > 0 || len(h.pokes) > 0 {
		t.Error("somebody was told of nothing new")
	}
}

// A change by the server, and its end, reject what was proposed.
func TestRejection(t *testing.T) {
	t.Parallel()
	for name, reject := range map[string]func(m *match, at string) reply{
		"replaced": func(m *match, at string) reply {
			return m.put(t, at, `{"Connection":"10.0.0.1:7777","attributes":{"free":1}}`)
		},
		"deleted":  func(m *match, at string) reply { return m.delete(t, at) },
		"too late": func(m *match, at string) reply { m.millis.Add(20_001); return m.post(t, at+"/approvals", "") },
	} {
		t.Run(name, func(t *testing.T) {
			m := start(t)
			id := m.create(t, base, `{"Connection":"10.0.0.1:7777","attributes":{"free":2}}`)
			m.tickets(t, "ada", "bob")
			m.propose(t, id, "ada", "bob")
			h := m.listen(t)
			r := reject(m, base+"/"+id)
			if r.status/100 != 2 || strings.Contains(r.body, `"ada"`) {
				t.Fatalf("status %d: %s", r.status, r.body)
			}
			if next(t, h.pokes) == 0 {
				t.Error("the director is told of no position")
			}
			if n, err := m.store.Waiting(t.Context(), "demo"); err != nil || n != 2 {
				t.Errorf("%d wait, %v", n, err)
			}
			if name != "deleted" {
				if r := m.post(t, base+"/"+id+"/approvals", ""); strings.Contains(r.body, "assignedTickets") ||
					strings.Contains(r.body, `"free":0`) {
					t.Errorf("approved afterwards: %s", r.body)
				}
			}
		})
	}
}

// Approving faster than once a second is all right; far above it is not.
func TestApprovalRate(t *testing.T) {
	m := startWith(t, Settings{ApprovalRate: 5, ApprovalBurst: 10})
	at := base + "/" + m.create(t, base, "{}") + "/approvals"
	for range 10 {
		m.post(t, at, "").expect(t, 200)
	}
	r := m.post(t, at, "")
	r.problem(t, 429, "too often")
	if r.header.Get("Retry-After") != "1" || r.header.Get("RateLimit-Policy") == "" {
		t.Errorf("header %v", r.header)
	}
	m.millis.Add(200)
	m.post(t, at, "").expect(t, 200)
	m.post(t, at, "").expect(t, 429)
}

// A server changes backfill tickets only so often, and so do all servers of a project together. A request that is
// refused to a server takes nothing from its project.
func TestChangeRate(t *testing.T) {
	m := startWith(t, Settings{ApprovalRate: 5, ApprovalBurst: 3, ChangeRate: 10, ChangeBurst: 12})
	refused := func(r reply, code, limit string) {
		t.Helper()
		r.problem(t, 429, "too many requests of this kind")
		if !strings.Contains(r.body, `"code":"`+code+`"`) || r.header.Get("Retry-After") == "" ||
			!strings.HasPrefix(r.header.Get("RateLimit"), `"`+limit+`";`) {
			t.Errorf("refused with %v %s, want %s for %s", r.header, r.body, code, limit)
		}
	}
	at := base + "/" + m.create(t, base, "{}") // the first of 12
	for range 3 {
		m.put(t, at, "{}").expect(t, 200)
	}
	refused(m.put(t, at, "{}"), "playerLimited", "server-changes")
	refused(m.delete(t, at), "playerLimited", "server-changes")
	m.post(t, at+"/approvals", "").expect(t, 200)
	own := &match{url: m.url, token: m.allocated(t, "m1", "")}
	for range 3 {
		own.create(t, base, "{}")
	}
	refused(own.post(t, base, "{}"), "playerLimited", "server-changes")
	refused(own.delete(t, base+"/any"), "playerLimited", "server-changes")
	for n := range 5 {
		m.delete(t, fmt.Sprint(base, "/unknown-", n)).expect(t, 204)
	}
	refused(m.delete(t, base+"/unknown"), "projectLimited", "backfill-changes")
	refused(m.post(t, "/api/v2/backfill", "{}"), "projectLimited", "backfill-changes")
	other := &match{url: m.url, token: m.mint(t, issuer.Claims{Kind: auth.Server, Project: "other"})}
	other.create(t, "/api/v2/backfill", "{}")
	m.millis.Add(250) // one of a server, two of the project
	m.put(t, at, "{}").expect(t, 200)
	refused(m.put(t, at, "{}"), "playerLimited", "server-changes")
	own.create(t, base, "{}")
	refused(m.post(t, base, "{}"), "projectLimited", "backfill-changes")
}

// 10,000 servers that change their backfill tickets at the same moment, every 5 seconds, meet no limit of one process.
func TestFleetIsNotLimited(t *testing.T) {
	s := settings.Default[Settings]()
	now := time.Unix(1_900_000_000, 0)
	clock := func() time.Time { return now }
	own, changes := ratelimit.NewLocal("own", s.approvals(), clock), ratelimit.NewLocal("all", s.changes(), clock)
	for range 12 {
		for server := range 10_000 {
			if err := own.AllowWithin(changes, "demo", fmt.Sprint(server)); err != nil {
				t.Fatalf("server %d: %v", server, err)
			}
		}
		now = now.Add(5 * time.Second)
	}
}

// The contract does not say where the second generation lives, nor in which casing: each of the three places knows what
// was made at the others, and any casing will do.
func TestPlacesAndCasings(t *testing.T) {
	m := start(t)
	places := []string{base, "/demo/matchmaking/api/v1/api/v2/backfill", "/api/v2/backfill"}
	bodies := map[string]string{
		places[0]: `{"Connection":"a:1","attributes":{"Skill":1},"properties":{"P":"AQ=="}}`,
		places[1]: `{"connection":"a:1","Attributes":{"Skill":1},"Properties":{"P":"AQ=="}}`,
		places[2]: `{"CONNECTION":"a:1","ATTRIBUTES":{"Skill":1},"PROPERTIES":{"P":"AQ=="}}`,
	}
	for _, made := range slices.Sorted(maps.Keys(bodies)) {
		id := m.create(t, made, bodies[made])
		version := 1
		state := func() string {
			return fmt.Sprintf(`{"Id":%q,"Created":1900000000000,"RecordVersion":%d,"Connection":"a:1","attributes":{"Skill":1},"properties":{"P":"AQ=="}}`, id, version)
		}
		for _, place := range places {
			m.post(t, place+"/"+id+"/approvals", "").same(t, 200, state())
			version++
			m.put(t, place+"/"+id, fmt.Sprintf(`{"id":%q,"recordVersion":1,%s`, id, bodies[made][1:])).same(t, 200, state())
		}
		m.delete(t, made+"/"+id).expect(t, 204)
		m.post(t, base+"/"+id+"/approvals", "").problem(t, 404, id)
	}
	// The attribute's name is the server's own.
	id := m.create(t, base, `{"attributes":{"Skill":1,"skill":2}}`)
	if r := m.post(t, base+"/"+id+"/approvals", ""); !strings.Contains(r.body, `"Skill":1`) ||
		!strings.Contains(r.body, `"skill":2`) {
		t.Errorf("answer %s", r.body)
	}
}

func TestRefusals(t *testing.T) {
	m := start(t)
	at := base + "/" + m.create(t, base, "{}")
	for body, words := range map[string]string{
		`[]`:               "an object is expected",
		`null`:             "null",
		`{"Connection":7}`: "Connection: a string is expected, got a number",
		`{"Connection":"` + strings.Repeat("a", 257) + `"}`: "Connection: more than 256 bytes",
		`{"Connection":"a b"}`:                              "Connection: spaces and control characters",
		`{"Connection":"a:1\u0000"}`:                        "Connection: spaces and control characters",
		`{"attributes":{"a":"1"}}`:                          "attributes.a: a number is expected",
		`{"attributes":{"a":1e999}}`:                        "attributes.a",
		`{"attributes":{"a":NaN}}`:                          "not JSON",
		`{"attributes":{"created":1}}`:                      "attributes.created: the service sets this attribute itself",
		`{"attributes":{"":1}}`:                             "attributes: a name is empty",
		`{"attributes":{"a":1,"b":1,"c":1}}`:                "attributes: 3 of them, at most 2",
		`{"attributes":{"abcdefghijklmnopq":1}}`:            "at most 16",
		`{"properties":{"a":"?"}}`:                          "properties.a: not Base64",
		`{"properties":{"a":null}}`:                         "properties.a",
		`{"properties":{"a":"AQ==","b":"","c":""}}`:         "properties: 3 of them",
		`{"connection":"a:1","Connection":"b:1"}`:           "given twice",
		`{"region":"eu"}`:                                   "region: unknown member",
		`{} {}`:                                             "not JSON",
	} {
		m.post(t, base, body).problem(t, 400, words)
		m.put(t, at, body).problem(t, 400, words)
	}
	// What only the service keeps is not for a create.
	for _, member := range []string{`"Id":"a"`, `"Created":1`, `"RecordVersion":1`} {
		m.post(t, base, "{"+member+"}").problem(t, 400, "unknown member")
	}
	m.put(t, at, `{"Id":"another"}`).problem(t, 400, "is not the backfill ticket in the path")
	m.put(t, at, `{"RecordVersion":"1"}`).problem(t, 400, "RecordVersion: an integer is expected")
	m.put(t, at, `{"Created":1.5}`).problem(t, 400, "Created")
	m.post(t, base, "").problem(t, 415, "Content-Type")
	m.put(t, at, "").problem(t, 415, "Content-Type")
	huge := strings.Repeat(" ", 64<<10)
	m.post(t, base, huge).problem(t, 413, "smaller than 65536 bytes")
	m.put(t, at, huge).problem(t, 413, "smaller than 65536 bytes")
	m.do(t, http.MethodGet, at, "").problem(t, 405, "")
	if r := m.post(t, at+"/approvals", ""); !strings.Contains(r.body, `"RecordVersion":1`) {
		t.Errorf("refused requests counted: %s", r.body)
	}
}

// Every change counts, none counts twice.
func TestVersionsCount(t *testing.T) {
	m := start(t)
	at := base + "/" + m.create(t, base, "{}")
	const many = 20
	var all sync.WaitGroup
	for range many {
		all.Go(func() { m.put(t, at, `{"attributes":{"a":1}}`) })
	}
	all.Wait()
	if r := m.post(t, at+"/approvals", ""); !strings.Contains(r.body, fmt.Sprintf(`"RecordVersion":%d,`, many+1)) {
		t.Errorf("after %d changes: %s", many, r.body)
	}
}

func TestWhoMay(t *testing.T) {
	m := start(t)
	id := m.create(t, base, "{}")
	for name, test := range map[string]struct {
		claims issuer.Claims
		status int
	}{
		"another server": {issuer.Claims{Kind: auth.Server, Project: "demo"}, 200},
		"elsewhere":      {issuer.Claims{Kind: auth.Server, Project: "other"}, 403},
		"developer":      {issuer.Claims{Kind: auth.Developer, Project: "demo", Role: "Owner"}, 403},
		"player":         {issuer.Claims{Kind: auth.Player, Project: "demo"}, 403},
		"service":        {issuer.Claims{Kind: auth.Service, Project: "demo", Scope: "matchmaking"}, 403},
		"expired":        {issuer.Claims{Kind: auth.Server, Project: "demo", TTL: -time.Hour}, 401},
	} {
		m := &match{url: m.url, token: m.mint(t, test.claims)}
		for _, place := range []string{base, "/demo/matchmaking/api/v1/api/v2/backfill"} {
			if r := m.post(t, place+"/"+id+"/approvals", ""); r.status != test.status {
				t.Errorf("%s at %s: status %d, want %d", name, place, r.status, test.status)
			}
		}
		if test.status == 200 {
			continue
		}
		m.post(t, base, "{}").problem(t, test.status, "")
		m.put(t, base+"/"+id, "{}").problem(t, test.status, "")
		m.delete(t, base+"/"+id).problem(t, test.status, "")
	}
	m.post(t, base+"/"+id+"/approvals", "").expect(t, 200)
}

// A server that was allocated touches the backfill ticket of its match, and those that it made. To it others do not
// exist.
func TestServersOwnBackfillTickets(t *testing.T) {
	m := start(t)
	studio := m.create(t, base, "{}")
	own := &match{url: m.url, token: m.allocated(t, "m1", "")}
	twin := &match{url: m.url, token: m.allocated(t, "m1", "")}
	other := &match{url: m.url, token: m.allocated(t, "m2", "")}
	named := &match{url: m.url, token: m.allocated(t, "m2", studio)}
	id := own.create(t, base, "{}")
	for name, test := range map[string]struct {
		as   *match
		id   string
		good bool
	}{
		"its own": {own, id, true}, "that of its match": {twin, id, true}, "one that was made with its match": {named, studio,
			true},
		"another's": {other, id, false}, "the studio's": {own, studio, false}, "any, for the studio": {m, id, true},
	} {
		at := base + "/" + test.id
		if test.good {
			test.as.post(t, at+"/approvals", "").expect(t, 200)
			test.as.put(t, at, "{}").expect(t, 200)
			continue
		}
		test.as.post(t, at+"/approvals", "").problem(t, 404, test.id)
		test.as.put(t, at, "{}").problem(t, 404, test.id)
		test.as.delete(t, at).expect(t, 204) // as of one that is not there
		if r := m.post(t, at+"/approvals", ""); r.status != 200 {
			t.Errorf("%s was deleted", name)
		}
	}
	own.delete(t, base+"/"+id).expect(t, 204)
	m.post(t, base+"/"+id+"/approvals", "").expect(t, 404)
}

// Where the path names no project, the token does.
func TestProjectOfTheToken(t *testing.T) {
	m := start(t)
	id := m.create(t, base, "{}")
	other := &match{url: m.url, token: m.mint(t, issuer.Claims{Kind: auth.Server, Project: "other"})}
	other.post(t, "/api/v2/backfill/"+id+"/approvals", "").problem(t, 404, id)
	other.delete(t, "/api/v2/backfill/"+id).expect(t, 204)
	m.post(t, "/api/v2/backfill/"+id+"/approvals", "").expect(t, 200)
	every := &match{url: m.url, token: m.mint(t, issuer.Claims{Kind: auth.Server, Project: "*"})}
	every.post(t, base+"/"+id+"/approvals", "").expect(t, 200)
	for _, r := range []reply{
		every.post(t, "/api/v2/backfill", "{}"),
		every.post(t, "/api/v2/backfill/"+id+"/approvals", ""),
		every.put(t, "/api/v2/backfill/"+id, "{}"),
		every.delete(t, "/api/v2/backfill/"+id),
	} {
		r.problem(t, 400, "the token names no single project")
	}
}

// The players of a game are answered as they were sent, stay until a PUT names others, and include players that join.
func TestPlayersOfABackfillTicket(t *testing.T) {
	m := start(t)
	const sent = `"players":[{"id":"ada","team":"red","role":"tank","attributes":{"skill":1200.5}},{"id":"bob"}]`
	id := m.create(t, base, `{"Connection":"10.0.0.1:7777",`+sent+`}`)
	at := base + "/" + id
	expect := func(r reply, players string) {
		t.Helper()
		r.expect(t, 200)
		if has := strings.Contains(r.body, players); !has || players == "" && strings.Contains(r.body, "players") {
			t.Fatalf("got %s, want %s", r.body, players)
		}
	}
	m.tickets(t, "eve")
	m.propose(t, id, "eve")
	expect(m.post(t, at+"/approvals", ""), strings.TrimSuffix(sent, "]")+`,{"id":"player-eve"}]`)
	for _, step := range [][2]string{
		{`{}`, strings.TrimSuffix(sent, "]") + `,{"id":"player-eve"}]`},
		{`{` + sent + `}`, sent}, {`{"attributes":{"open":1}}`, sent}, {`{"players":null}`, sent},
		{`{"players":[]}`, `"players":[]`}, {`{}`, `"players":[]`},
	} {
		expect(m.put(t, at, step[0]), step[1])
		expect(m.post(t, at+"/approvals", ""), step[1])
	}
	long := strings.Repeat("x", 257)
	many := `[{"id":"p0"}` + strings.Repeat(`,{"id":"p"}`, 1000) + `]`
	for players, words := range map[string]string{
		`[{}]`:                                              "players.0.id: up to 256 bytes",
		`[{"id":"a"},{"id":""}]`:                            "players.1.id: up to 256 bytes",
		`[{"id":"a\nb"}]`:                                   "players.0.id: up to 256 bytes",
		`[{"id":"` + long + `"}]`:                           "players.0.id: up to 256 bytes",
		`[{"id":"a"},{"id":"a"}]`:                           "players.1.id: the same player as players.0",
		`[{"id":"a","team":"` + long + `"}]`:                "players.0.team: 257 bytes, at most 256",
		`[{"id":"a","role":"` + long + `"}]`:                "players.0.role: 257 bytes, at most 256",
		`[{"id":"a","role":1}]`:                             "role",
		`[{"id":"a","properties":{}}]`:                      "properties",
		`[{"id":"a","attributes":{"a":1,"b":2,"c":3}}]`:     "players.0.attributes: 3 of them, at most 2",
		`[{"id":"a","attributes":{"created":1}}]`:           "players.0.attributes.created: the service sets",
		`[{"id":"a","attributes":{"12345678901234567":1}}]`: "players.0.attributes.12345678901234567…: the name has 17 bytes",
		`{}`: "players", `"ada"`: "players", many: "players: 1001 of them, at most 1000",
	} {
		m.put(t, at, `{"players":`+players+`}`).problem(t, 400, words)
		m.post(t, base, `{"players":`+players+`}`).problem(t, 400, words)
	}
}

// A PUT of a server that knows no queues leaves the one that its function, or another server, named.
func TestQueueOfABackfillTicket(t *testing.T) {
	m := start(t)
	id := m.create(t, base, `{"Connection":"10.0.0.1:7777","queue":"ranked"}`)
	at := base + "/" + id
	expect := func(r reply, queue string) {
		t.Helper()
		r.expect(t, 200)
		if has := strings.Contains(r.body, `"queue":"`+queue+`"`); has != (queue != "") || !has &&
			strings.Contains(r.body, "queue") {
			t.Fatalf("got %s, want the queue %q", r.body, queue)
		}
	}
	expect(m.post(t, at+"/approvals", ""), "ranked")
	for _, step := range [][2]string{
		{`{}`, "ranked"}, {`{"queue":null}`, "ranked"}, {`{"queue":"casual"}`, "casual"}, {`{"attributes":{"open":1}}`, "casual"},
		{`{"queue":""}`, ""}, {`{}`, ""}, {`{"queue":"ranked"}`, "ranked"},
	} {
		expect(m.put(t, at, step[0]), step[1])
		expect(m.post(t, at+"/approvals", ""), step[1])
	}
	for queue, words := range map[string]string{
		`"two words"`: "queue: spaces", `"` + strings.Repeat("q", 65) + `"`: "queue: the name of a queue has 65 bytes", `1`: "queue",
	} {
		m.put(t, at, `{"queue":`+queue+`}`).problem(t, 400, words)
		m.post(t, base, `{"queue":`+queue+`}`).problem(t, 400, words)
	}
}

// What a function notes for itself stays, hidden, when a server replaces its backfill ticket, until the server names
// the game's players.
func TestNotesOfFunctionsStay(t *testing.T) {
	m := start(t)
	most := strings.Repeat("A", 21_824) // 16,368 bytes: beside others there would be too many
	id := m.create(t, base, `{"properties":{"map":"AQ==","matchfn:inside":"em9l"}}`)
	for _, step := range []struct {
		put, properties string
		want            map[string][]byte
	}{
		{"", `{"map":"AQ=="}`, map[string][]byte{"map": {1}, "matchfn:inside": []byte("zoe")}},
		{`{}`, `{}`, map[string][]byte{"matchfn:inside": []byte("zoe")}},
		{`{"properties":{"map":"Ag==","matchfn:b":"Aw=="}}`, `{"map":"Ag=="}`,
			map[string][]byte{"map": {2}, "matchfn:inside": []byte("zoe"), "matchfn:b": {3}}},
		{`{"properties":{"matchfn":"AQ=="}}`, `{"matchfn":"AQ=="}`,
			map[string][]byte{"matchfn": {1}, "matchfn:inside": []byte("zoe"), "matchfn:b": {3}}},
		{`{"players":[]}`, `{}`, nil},
		{`{"properties":{"matchfn:inside":"` + most + `"}}`, `{}`, map[string][]byte{"matchfn:inside": make([]byte, 16_368)}},
		{`{"properties":{"b":"` + most + `"}}`, `{"b":"` + most + `"}`,
			map[string][]byte{"b": make([]byte, 16_368), "matchfn:inside": make([]byte, 16_368)}},
		{`{"properties":{"matchfn:b":"` + most + `"}}`, `{}`, map[string][]byte{"matchfn:b": make([]byte, 16_368)}},
	} {
		replies := []reply{m.post(t, base+"/"+id+"/approvals", "")}
		if step.put != "" {
			replies = []reply{m.put(t, base+"/"+id, step.put), m.post(t, base+"/"+id+"/approvals", "")}
		}
		for _, r := range replies {
			if r.expect(t, 200); !strings.Contains(r.body, `"properties":`+step.properties) {
				t.Errorf("after %.80s the answer is %.200s", step.put, r.body)
			}
		}
		a, err := m.store.ApproveBackfill(t.Context(), "demo", id, state.ApprovalOptions{})
		must(t, err)
		if got := a.Backfill.GetProperties(); !maps.EqualFunc(got, step.want, bytes.Equal) {
			t.Errorf("after %.80s the properties are %.80q, want %.80q", step.put, got, step.want)
		}
	}
}
