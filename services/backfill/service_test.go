package backfill

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// base is the place of the second generation that most tests use.
const base = "/demo/matchmaking/api/v2/backfill"

// match is the service on a real Redis, spoken to over HTTP as a game server.
type match struct {
	url, token string
	issuer     *issuer.Issuer
	servers    *token.Issuer // of servers that were allocated
	store      *state.Store
	bus        *bus.Bus
	millis     atomic.Int64 // the service's clock
	trace      []byte       // the mark that tickets are created with
}

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

func start(t *testing.T) *match {
	t.Helper()
	s := settings.Default[Settings]()
	s.RequestTime = 30 * time.Second // of a busy machine
	return startWith(t, s)
}

func startWith(t *testing.T, s Settings, change ...func(*Options, *web.Options)) *match {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	m := new(match)
	var err error
	m.millis.Store(1_900_000_000_000)
	m.store, err = state.Open(state.Options{Server: state.Server{URL: embeddedtest.Redis(t)}, Log: log, Clock: m.now})
	must(t, err)
	t.Cleanup(func() { m.store.Close() })
	m.bus = embeddedtest.Bus(t, bus.Options{Name: "test"})
	m.issuer, err = issuer.Open(t.TempDir(), time.Now)
	must(t, err)
	trust := m.issuer.Trust()
	trust.AnyProject = true
	keys := filepath.Join(t.TempDir(), "server-keys.json")
	_, err = keyfile.Rotate(keys, time.Now())
	must(t, err)
	opened, err := keyfile.Open(keys, time.Now, log)
	must(t, err)
	m.servers = token.New(opened, time.Now, time.Hour)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{trust, m.servers.Trust()}, Log: log})
	must(t, err)

	o, edge := Options{
		Store: m.store, Bus: m.bus, Verifier: verifier, Log: log,
		Fields: fields.Limits{Attributes: 2, Properties: 2, Name: 16}, Definitions: settings.Default[definition.Limits](),
		Settings: s, Readable: 10 * time.Minute,
	}, web.Options{}
	for _, f := range change {
		f(&o, &edge)
	}
	part := New(o)
	must(t, part.Ready(t.Context()))
	e := web.New(log, edge)
	part.Routes(e)
	server := httptest.NewServer(openapitest.Handler(t, e))
	t.Cleanup(server.Close)
	m.url = server.URL
	m.token = m.mint(t, issuer.Claims{Kind: auth.Server, Project: "demo"})
	return m
}

func (m *match) now() time.Time { return time.UnixMilli(m.millis.Load()) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *match) mint(t *testing.T, c issuer.Claims) string {
	t.Helper()
	c.Subject = "server-1"
	token, err := m.issuer.Mint(c)
	must(t, err)
	return token
}

// allocated is the token of a server that was allocated for a match, and maybe a backfill ticket with it.
func (m *match) allocated(t *testing.T, id, backfill string) string {
	t.Helper()
	text, _, err := m.servers.Mint(token.Server{Project: "demo", Allocation: "allocation-of-" + id, Match: id,
		Backfill: backfill})
	must(t, err)
	return text
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

func (m *match) do(t *testing.T, method, path, body string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, m.url+path, strings.NewReader(body))
	must(t, err)
	if m.token != "" {
		req.Header.Set("Authorization", "Bearer "+m.token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	must(t, err)
	return reply{res.StatusCode, res.Header, string(all)}
}

func (m *match) post(t *testing.T, path, body string) reply {
	t.Helper()
	return m.do(t, http.MethodPost, path, body)
}

func (m *match) put(t *testing.T, path, body string) reply {
	t.Helper()
	return m.do(t, http.MethodPut, path, body)
}

func (m *match) delete(t *testing.T, path string) reply {
	t.Helper()
	return m.do(t, http.MethodDelete, path, "")
}

// create makes a backfill ticket and returns its id.
func (m *match) create(t *testing.T, path, body string) string {
	t.Helper()
	r := m.post(t, path, body)
	r.expect(t, 201)
	var created map[string]string
	must(t, json.Unmarshal([]byte(r.body), &created))
	if len(created) != 1 || created["Id"] == "" {
		t.Fatalf("created %s", r.body)
	}
	return created["Id"]
}

func (r reply) expect(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
}

// problem checks that the reply is a problem body whose detail has some words.
func (r reply) problem(t *testing.T, status int, words string) {
	t.Helper()
	r.expect(t, status)
	var p struct {
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}
	must(t, json.Unmarshal([]byte(r.body), &p))
	if r.header.Get("Content-Type") != "application/problem+json" || p.Status != status ||
		!strings.Contains(p.Detail, words) {
		t.Errorf("%s %s, want a problem of status %d with %q", r.header.Get("Content-Type"), r.body, status, words)
	}
}

// same checks the status and compares the JSON, but for the order of members.
func (r reply) same(t *testing.T, status int, want string) {
	t.Helper()
	r.expect(t, status)
	var g, w any
	must(t, json.Unmarshal([]byte(r.body), &g))
	must(t, json.Unmarshal([]byte(want), &w))
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}

// upload makes a function known to the project.
func (m *match) upload(t *testing.T, name string) {
	t.Helper()
	must(t, m.store.ChangeFunction(t.Context(), "demo", name, func(*pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: name}, nil
	}))
}

// tickets creates tickets that wait.
func (m *match) tickets(t *testing.T, ids ...string) {
	t.Helper()
	c := m.store.Creator(nil)
	for _, id := range ids {
		must(t, c.Create(t.Context(), "demo", &pb.Ticket{
			Id: id, Owner: "player-" + id, Created: m.millis.Load(), Trace: m.trace,
			AttributeNames: []string{"skill"}, AttributeValues: []float64{1200},
			Properties: map[string][]byte{"name": []byte(id)},
		}))
	}
}

// propose proposes tickets to a backfill ticket that is as it was created, as the director does after a run.
func (m *match) propose(t *testing.T, backfill string, tickets ...string) {
	t.Helper()
	revision, _, err := m.store.PutConfig(t.Context(), "demo", &pb.Config{Id: "c"}, state.AnyRevision)
	must(t, err)
	epoch, err := m.store.AcquireLease(t.Context(), "demo", "director", time.Second)
	must(t, err)
	var created int64 // its first generation, too
	must(t, m.store.ListBackfill(t.Context(), "demo", backfill, func(b *state.ListedBackfill) bool {
		created = b.GetCreated()
		return true
	}))
	claim := &state.Claim{
		Match: &pb.Match{Id: "joins", Config: "c", Revision: revision, Place: state.PlaceGame + backfill,
			Proposal: &pb.Proposal{Teams: []*pb.Team{{Tickets: tickets}}, MatchProperties: []byte(`{"map":"harbour"}`),
				Filling: &pb.Filling{
					Backfill: backfill, Generation: created, Contents: &pb.Backfill{AttributeNames: []string{"free"},
						AttributeValues: []float64{0}},
				}}},
		Tickets: tickets,
	}
	_, err = m.store.Claim(t.Context(), "demo", state.ClaimOptions{Epoch: epoch,
		Approval: 20 * time.Second}, []*state.Claim{claim})
	must(t, err)
	if claim.Refusal != "" {
		t.Fatalf("the proposal was refused: %s", claim.Refusal)
	}
}

// assigned is a ticket's assignment, nil while it waits.
func (m *match) assigned(t *testing.T, id string) *pb.Assignment {
	t.Helper()
	got, err := m.store.Ticket(t.Context(), "demo", id)
	must(t, err)
	return got.Assignment
}

// heard collects what is said on the bus of a project.
type heard struct {
	pokes    chan uint64
	assigned chan []string
}

func (m *match) listen(t *testing.T) heard {
	t.Helper()
	h := heard{make(chan uint64, 100), make(chan []string, 100)}
	pokes, err := m.bus.OnPoke(func(_ string, p *pb.Poke) { h.pokes <- p.GetPosition() })
	must(t, err)
	assigned, err := m.bus.OnResults(func(_ string, a bus.Assigned) { h.assigned <- a.Tickets() })
	must(t, err)
	t.Cleanup(func() { <-pokes.Stop(); <-assigned.Stop() })
	return h
}

// next is the next thing that was said.
func next[T any](t *testing.T, from chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was said")
		panic("unreachable")
	}
}
