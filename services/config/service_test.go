package config

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/state"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// impatient gives functions a tenth of a second to judge settings.
func impatient(o *Options) { o.JudgeTime = 100 * time.Millisecond }

// studio is the service on real servers, spoken to over HTTP as a developer.
type studio struct {
	url, token string
	issuer     *issuer.Issuer
	store      *state.Store
	bus        *bus.Bus
	pokes      chan *pb.Poke
	keys       string // the file that hosting keys are encrypted with
	ring       *keyring.Ring
}

func start(t *testing.T, change ...func(*Options)) *studio {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s := &studio{store: embeddedtest.Store(t, state.Options{}), pokes: make(chan *pb.Poke, 100)}
	b := embeddedtest.Bus(t, bus.Options{Name: "test"})
	s.bus = b
	embeddedtest.Prepare(t, b)
	sub, err := b.OnPoke(func(_ string, p *pb.Poke) { s.pokes <- p })
	must(t, err)
	t.Cleanup(func() { sub.Stop() })
	s.issuer, err = issuer.Open(t.TempDir(), time.Now)
	must(t, err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{s.issuer.Trust()}, Log: log})
	must(t, err)

	s.keys = filepath.Join(t.TempDir(), "keys")
	_, err = keyring.Add(s.keys, time.Now())
	must(t, err)
	s.ring, err = keyring.Open(s.keys, time.Now)
	must(t, err)
	o := Options{
		Store: s.store, Bus: b, Verifier: verifier, Log: log, Keys: s.ring, Limits: limits,
		CheckHosting: func(project string, h *pb.Hosting) error {
			if project == "demo" && h.GetFleet() == "theirs" {
				return errors.New("the project may not use fleet theirs")
			}
			return nil
		},
		JudgeTime: time.Minute,
	}
	for _, with := range change {
		with(&o)
	}
	s.store = o.Store
	part := New(o)
	must(t, part.Ready(t.Context()))
	e := web.New(log, web.Options{})
	part.Routes(e)
	server := httptest.NewServer(openapitest.Handler(t, e))
	t.Cleanup(server.Close)
	s.url = server.URL
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: "demo", Role: "Manager"})
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *studio) mint(t *testing.T, c issuer.Claims) string {
	t.Helper()
	token, err := s.issuer.Mint(c)
	must(t, err)
	return token
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

func (s *studio) do(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+"/demo/matchmaking/api/v1"+path,
		strings.NewReader(body))
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header[header[i]] = append(req.Header[header[i]], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	must(t, err)
	return reply{res.StatusCode, res.Header, string(all)}
}

func (s *studio) put(t *testing.T, id, body string, header ...string) reply {
	t.Helper()
	return s.do(t, http.MethodPut, "/configs/"+id, body, header...)
}

func (s *studio) get(t *testing.T, id string, header ...string) reply {
	t.Helper()
	return s.do(t, http.MethodGet, "/configs/"+id, "", header...)
}

func (s *studio) delete(t *testing.T, id string, header ...string) reply {
	t.Helper()
	return s.do(t, http.MethodDelete, "/configs/"+id, "", header...)
}

// expect checks the status, and returns the ETag.
func (r reply) expect(t *testing.T, status int) string {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	return r.header.Get("ETag")
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

// same compares JSON but for the order of members.
func same(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	must(t, json.Unmarshal([]byte(got), &g))
	must(t, json.Unmarshal([]byte(want), &w))
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}

const ranked = `{"matchmaking":{"name":"Ranked","targetFunction":{"name":"duel","version":"1"},
		"config":{"teamSize":2,"seed":12345678901234567890}},
	"pools":{"all":[{"attribute":"skill","min":0,"max":2500.5,
		"segmentation":{"DistributionType":"Normal","SegmentBehaviorType":"BucketCount","Value":4,"Stddev":350}}],"any":[]},
	"hosting":{"Profile":"p","Access":"a","Secret":"hunter2","FleetId":"f"}}`

// shown is ranked as the API returns it: without its secret.
var shown = strings.Replace(ranked, "hunter2", "********", 1)

func TestLifeOfAConfig(t *testing.T) {
	s := start(t)
	s.get(t, "ranked").problem(t, 404, `"ranked" was not found`)
	created := s.put(t, "ranked", ranked)
	first := created.expect(t, 200)
	same(t, created.body, shown)
	if !strings.Contains(created.body, "12345678901234567890") {
		t.Errorf("a number is another: %s", created.body)
	}
	got := s.get(t, "ranked")
	if tag := got.expect(t, 200); tag != first || got.body != created.body ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("GET answers %v %s, PUT answered %s %s", got.header, got.body, first, created.body)
	}
	again := s.put(t, "ranked", got.body)
	if second := again.expect(t, 200); second == first || again.body != got.body {
		t.Errorf("ETag %s after %s: %s", second, first, again.body)
	}
	s.put(t, "ranked", with("")).expect(t, 200)
	same(t, s.get(t, "ranked").body, with(""))
	s.delete(t, "ranked").expect(t, 204)
	s.delete(t, "ranked").expect(t, 204)
	s.get(t, "ranked").problem(t, 404, "not found")
	if third := s.put(t, "ranked", with("")).expect(t, 200); third == first {
		t.Error("made again, it has the ETag that it had at first")
	}
}

func TestCreate(t *testing.T) {
	s := start(t)
	guid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	var ids []string
	for range 2 {
		r := s.do(t, http.MethodPost, "/configs", ranked)
		r.expect(t, 200)
		var created struct{ ID string }
		must(t, json.Unmarshal([]byte(r.body), &created))
		if !guid.MatchString(created.ID) {
			t.Errorf("no GUID: %s", r.body)
		}
		same(t, s.get(t, created.ID).body, shown)
		ids = append(ids, created.ID)
	}
	if ids[0] == ids[1] {
		t.Error("one id for two configs")
	}
}

// From the answer on, the state has the config, and the director was told.
func TestDirectorIsTold(t *testing.T) {
	s := start(t)
	told := func(deleted string) {
		t.Helper()
		select {
		case p := <-s.pokes:
			if !p.GetConfigs() || p.GetDeleted() != deleted {
				t.Errorf("poke %v", p)
			}
		case <-time.After(time.Minute):
			t.Fatal("no poke came")
		}
	}
	s.put(t, "ranked", ranked).expect(t, 200)
	told("")
	if c, err := s.store.Config(t.Context(), "demo", "ranked"); err != nil || c.GetFunction() != "duel" {
		t.Errorf("%v, %v", c, err)
	}
	s.delete(t, "ranked").expect(t, 204)
	told("ranked")
	if _, err := s.store.Config(t.Context(), "demo", "ranked"); problem.KindOf(err) != problem.NotFound {
		t.Errorf("after its deletion: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	s := start(t)
	bad := `{"pools":{"main":[{"attribute":"a","min":2,"max":1}]},"odd":1}`
	want := `[{"ResultCode":"badFilterRange","Message":"pools.main[0]: max 1 is below min 2"},
		{"ResultCode":"unknownMember",
			"Message":"odd: unknown member; known are matchmaking, pools, queue, acceptance, seats, result, report, hosting"},
		{"ResultCode":"missingMatchmaking","Message":"matchmaking: required, an object that names the function to run"}]`
	for _, r := range []reply{s.put(t, "ranked", bad), s.do(t, http.MethodPost, "/configs", bad)} {
		r.expect(t, 400)
		same(t, r.body, want)
		if media := r.header.Get("Content-Type"); media != "application/json" {
			t.Errorf("Content-Type %s", media)
		}
	}
	r := s.put(t, "a%2Fb", with(""))
	r.expect(t, 400)
	same(t, r.body, `[{"ResultCode":"badConfigId","Message":"configId: none of / \\ : * ? \" < > | is allowed"}]`)
	s.get(t, "ranked").problem(t, 404, "")

	s.put(t, "ranked", "").problem(t, 415, "Content-Type")
	s.put(t, "ranked", " ").problem(t, 400, "the body is empty")
	s.put(t, "ranked", `{"matchmaking":`).problem(t, 400, "ends too early")
	s.put(t, "ranked", "{\"\xff\":1}").problem(t, 400, "UTF-8")
	s.put(t, "ranked", strings.Repeat("[", 41)+strings.Repeat("]", 41)).problem(t, 400, "deeper than 40")
	s.put(t, "ranked", with("")+strings.Repeat(" ", 64<<10)).problem(t, 413, "smaller than 65536 bytes")
	s.do(t, http.MethodPost, "/configs", strings.Repeat(" ", 64<<10)).problem(t, 413, "smaller than 65536 bytes")
}

func TestPathsAreUnescaped(t *testing.T) {
	s := start(t)
	s.put(t, "r%61nked%2E1%20%28EU%29", ranked).expect(t, 200)
	s.get(t, "ranked.1%20(EU)").expect(t, 200)
	s.delete(t, "%72anked.1%20(EU)").expect(t, 204)
	s.get(t, "ranked.1%20(EU)").problem(t, 404, `"ranked.1 (EU)"`)
}

func TestConditions(t *testing.T) {
	s := start(t)
	const match, none = "If-Match", "If-None-Match"
	s.put(t, "a", ranked, match, "*").problem(t, 409, `there is no config "a"`)
	s.put(t, "a", ranked, match, `"1"`).problem(t, 409, "")
	first := s.put(t, "a", ranked, none, "*").expect(t, 200)
	s.put(t, "a", ranked, none, "*").problem(t, 409, first)
	s.put(t, "A", ranked).problem(t, 409, `exists as "a"`)
	s.put(t, "A", ranked, none, "*").problem(t, 409, `exists as "a"`)
	second := s.put(t, "a", ranked, match, first).expect(t, 200)
	s.put(t, "a", ranked, match, first).problem(t, 409, second)
	s.put(t, "a", ranked, match, "W/"+second).problem(t, 409, second)
	third := s.put(t, "a", ranked, match, `"x" ,`+first, match, ","+second).expect(t, 200)
	fourth := s.put(t, "a", ranked, match, "*", none, second).expect(t, 200)
	s.put(t, "a", ranked, none, "W/"+fourth).problem(t, 409, fourth)
	s.put(t, "a", ranked, match, fourth, none, fourth).problem(t, 409, fourth)
	for _, odd := range []string{"5", `"5`, `5"`, `"5" "6"`, `"a b"`, `w/"5"`, "", `*, "5"`} {
		s.put(t, "a", ranked, match, odd).problem(t, 400, "header If-Match")
		s.get(t, "a", none, odd).problem(t, 400, "header If-None-Match")
	}
	// What is wrong with the config comes first.
	s.put(t, "a", `{}`, match, third).expect(t, 400)

	s.get(t, "a", match, third).problem(t, 409, fourth)
	s.get(t, "a", match, fourth).expect(t, 200)
	s.get(t, "a", none, third).expect(t, 200)
	for _, tag := range []string{fourth, "W/" + fourth, third + ", " + fourth, "*"} {
		if r := s.get(t, "a", none, tag); r.expect(t, 304) != fourth || r.body != "" {
			t.Errorf("not modified: %v %q", r.header, r.body)
		}
	}

	s.delete(t, "a", match, third).problem(t, 409, fourth)
	s.delete(t, "a", none, "*").problem(t, 409, fourth)
	s.get(t, "a").expect(t, 200)
	s.delete(t, "a", match, fourth).expect(t, 204)
	s.delete(t, "a", match, fourth).problem(t, 409, "there is no config")
	s.put(t, "A", ranked, none, "*").expect(t, 200)
}

func TestWhoMay(t *testing.T) {
	s := start(t)
	s.put(t, "ranked", ranked).expect(t, 200)
	for name, test := range map[string]struct {
		claims issuer.Claims
		status int
	}{
		"owner":     {issuer.Claims{Kind: auth.Developer, Project: "demo", Role: "Owner"}, 200},
		"no role":   {issuer.Claims{Kind: auth.Developer, Project: "demo"}, 403},
		"a user":    {issuer.Claims{Kind: auth.Developer, Project: "demo", Role: "User"}, 403},
		"elsewhere": {issuer.Claims{Kind: auth.Developer, Project: "other", Role: "Owner"}, 403},
		"player":    {issuer.Claims{Kind: auth.Player, Project: "demo", Role: "Owner"}, 403},
		"server":    {issuer.Claims{Kind: auth.Server, Project: "demo", Role: "Owner"}, 403},
		"service":   {issuer.Claims{Kind: auth.Service, Project: "demo", Scope: "matchmaking"}, 403},
		"expired":   {issuer.Claims{Kind: auth.Developer, Project: "demo", Role: "Owner", TTL: -time.Hour}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			test.claims.Subject = "someone"
			s := *s
			s.token = s.mint(t, test.claims)
			replies := []reply{s.get(t, "ranked"), s.put(t, "ranked", ranked), s.do(t, http.MethodPost, "/configs", ranked),
				s.delete(t, "other")}
			for i, r := range replies {
				if want := test.status; r.status != want && (want != 200 || i != 3 || r.status != 204) {
					t.Errorf("request %d: status %d, want %d", i, r.status, want)
				}
			}
		})
	}
}

// Of many requests that create one config, one does; of many that replace whatever is there, all do.
func TestConditionsHoldWhenManyAsk(t *testing.T) {
	s := start(t)
	race := func(header ...string) (done int) {
		const many = 16
		replies := make(chan reply, many)
		for range many {
			go func() { replies <- s.put(t, "a", ranked, header...) }()
		}
		for range many {
			switch r := <-replies; r.status {
			case 200:
				done++
			case 409:
			default:
				t.Errorf("status %d: %s", r.status, r.body)
			}
		}
		return done
	}
	if n := race("If-None-Match", "*"); n != 1 {
		t.Errorf("%d created it", n)
	}
	if n := race("If-Match", "*"); n != 16 {
		t.Errorf("%d of 16 replaced it", n)
	}
	tag := s.get(t, "a").expect(t, 200)
	if n := race("If-Match", tag); n != 1 {
		t.Errorf("%d replaced one revision", n)
	}
	// The revision that a deletion has seen may be replaced before it reaches the state.
	old, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
	must(t, err)
	if _, err := s.store.DeleteConfig(t.Context(), "demo", "a", old, ""); problem.KindOf(err) != problem.Conflict {
		t.Errorf("deletion of another revision: %v", err)
	}
	s.get(t, "a").expect(t, 200)
}

func TestFleetOfAnotherProjectIsRefused(t *testing.T) {
	s := start(t)
	const theirs = `{"matchmaking":{"targetFunction":{"name":"duel","version":"1"}},"hosting":{"FleetId":"theirs"}}`
	s.put(t, "a", theirs).refuses(t, "badHosting", "hosting: the project may not use fleet theirs")
	s.do(t, http.MethodPost, "/configs", theirs).refuses(t, "badHosting", "hosting: the project may not use fleet theirs")
	if got := s.put(t, "a", strings.ReplaceAll(theirs, "theirs", "ours")); got.status != http.StatusOK {
		t.Errorf("its own fleet: %+v", got)
	}
}
