package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/problem"
)

// service is a fake of the service. It stores requests and answers as the contract says. It does not verify tokens, but
// refuses the wrong kind or project. Tests set what becomes of tickets and functions.
type service struct {
	url string

	mu        sync.Mutex
	configs   map[string]string
	changes   map[string][]string // what each config was, the oldest first; "" if it was deleted
	warned    []string            // warnings of configs
	other     bool                // it is of another version than the OpenAPI document
	functions map[string]string   // name → MD5
	current   int                 // version of each function
	owners    map[string]string   // ticket → player
	body      map[string]any      // of the last ticket
	backfills map[string]map[string]any
	players   []any // of tickets
	// acceptance of tickets; nil if their match does not ask
	acceptance map[string]any
	// events is what the stream of a ticket says; there is none when it is empty
	events   string
	settings []string // all that were put
	reads    int      // of tickets and functions
	erased   []string // players
	regions  string   // the answer to a GET of the regions; none when it is empty
	taken    string   // the ticket because of which creates are refused
	query    url.Values
	reports  []url.Values // what was asked for

	untrusted bool // it refuses every token
	// holds says that a create is answered when its ticket has its result.
	holds bool
	// assignment is a ticket's assignment at the n-th read, or nil if it still waits.
	assignment func(n int) map[string]any
	// state is a function's state at the n-th read.
	state func(n int) string
}

// What a config and an MD5 may be.
const (
	duelConfig = `{"matchmaking":{"targetFunction":{"name":"duel"}}}`
	someHash   = "0123456789abcdef0123456789abcdef"
)

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{
		configs: map[string]string{}, changes: map[string][]string{},
		functions: map[string]string{}, owners: map[string]string{},
		backfills:  map[string]map[string]any{},
		assignment: func(int) map[string]any { return nil },
		state:      func(int) string { return "Running" },
	}
	const base = "/demo/matchmaking/api/v1"
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+base+"/tickets", s.require(s.createTicket, "player", "service"))
	mux.HandleFunc("GET "+base+"/tickets", s.require(s.getTicket, "player", "service"))
	mux.HandleFunc("GET "+base+"/tickets/events", s.require(s.followTicket, "player", "service"))
	mux.HandleFunc("GET "+base+"/tickets/{id}/explanation", s.require(s.explainTicket, "developer"))
	mux.HandleFunc("GET "+base+"/tickets/{id}/explanation/capture", s.require(s.captureRun, "developer"))
	mux.HandleFunc("POST "+base+"/tickets/acceptance", s.require(s.answerMatch, "player", "service"))
	mux.HandleFunc("DELETE "+base+"/tickets", s.require(s.deleteTicket, "player", "service"))
	mux.HandleFunc("GET "+base+"/events", s.require(s.getEvents, "developer"))
	mux.HandleFunc("GET "+base+"/tickets/waiting", s.require(s.getWaiting, "developer"))
	mux.HandleFunc("GET "+base+"/matches/report", s.require(s.reportMatches, "developer"))
	mux.HandleFunc("GET "+base+"/matches/{id}", s.require(s.getMatch, "developer"))
	mux.HandleFunc("PUT "+base+"/configs/{id}", s.require(s.putConfig, "developer"))
	mux.HandleFunc("GET "+base+"/configs", s.require(s.listConfigs, "developer"))
	mux.HandleFunc("GET "+base+"/configs/{id}", s.require(s.getConfig, "developer"))
	mux.HandleFunc("DELETE "+base+"/configs/{id}", s.require(s.deleteConfig, "developer"))
	mux.HandleFunc("GET "+base+"/configs/{id}/history", s.require(s.getConfigHistory, "developer"))
	mux.HandleFunc("POST "+base+"/configs/{id}/actions/rollback", s.require(s.rollbackConfig, "developer"))
	mux.HandleFunc("POST "+base+"/configs/actions/check", s.require(s.checkConfig, "developer"))
	mux.HandleFunc("POST "+base+"/simulations", s.require(s.startSimulation, "developer"))
	mux.HandleFunc("GET "+base+"/simulations/{id}", s.require(s.getSimulation, "developer"))
	s.webhooks(mux, base)
	mux.HandleFunc("GET "+base+"/regions", s.require(s.listRegions, "developer", "player"))
	mux.HandleFunc("GET "+base+"/players/{id}", s.require(s.exportPlayer, "developer"))
	mux.HandleFunc("GET "+base+"/players/{id}/ratings", s.require(s.playerRatings, "developer"))
	mux.HandleFunc("GET "+base+"/players/{id}/ratings/history", s.require(s.ratingHistory, "developer"))
	mux.HandleFunc("GET "+base+"/ratings/{id}/leaderboard", s.require(s.leaderboard, "developer"))
	mux.HandleFunc(base+"/players/{id}/standing", s.require(s.standing, "developer"))
	mux.HandleFunc("DELETE "+base+"/players/{id}", s.require(s.erasePlayer, "developer"))
	mux.HandleFunc("PUT "+base+"/settings", s.require(s.putSettings, "developer"))
	mux.HandleFunc("GET "+base+"/settings", s.require(s.getSettings, "developer"))
	mux.HandleFunc("GET "+base+"/settings/history", s.require(s.getSettingsHistory, "developer"))
	mux.HandleFunc("PUT "+base+"/functions/{name}", s.require(s.putFunction, "developer"))
	mux.HandleFunc("GET "+base+"/functions", s.require(s.getFunctions, "developer"))
	mux.HandleFunc("GET "+base+"/functions/{name}", s.require(s.getFunction, "developer"))
	mux.HandleFunc("GET "+base+"/functions/{name}/log", s.require(s.getLog, "developer"))
	mux.HandleFunc("GET "+base+"/functions/{name}/versions", s.require(s.getVersions, "developer"))
	mux.HandleFunc("POST "+base+"/functions/{name}/actions/rollback", s.require(s.rollback, "developer"))
	mux.HandleFunc("DELETE "+base+"/functions/{name}", s.require(s.deleteFunction, "developer"))
	mux.HandleFunc("POST "+base+"/functions/actions/restart", s.require(s.restart, "developer"))
	mux.HandleFunc("POST "+base+"/configs", s.require(s.createConfig, "developer"))
	const backfill = "/demo/matchmaking/api/v2/backfill"
	mux.HandleFunc("GET "+backfill, s.require(s.list(`{"backfillTickets":[{"Id":"b-1","Created":5,"RecordVersion":1,
		"Connection":"1.2.3.4:5","attributes":{},"state":"open","players":["ada"],"age":62.5,"heard":0.5,"joining":1,
		"match":"m-1"}]}`), "developer"))
	mux.HandleFunc("GET "+base+"/queues", s.require(s.list(`{"time":"2026-11-05T10:26:40.123Z","tickets":3,"queues":[
		{"queue":"","configs":[],"tickets":1,"players":1,"oldest":62.5},
		{"queue":"q","configs":["ranked"],"tickets":2,"players":3,"oldest":1}]}`), "developer"))
	mux.HandleFunc("GET "+base+"/matches", s.require(s.list(
		`{"matches":[{"id":"m-1","state":"allocating","config":"ranked","created":"2026-11-05T10:26:40.123Z","age":62.5}],
			"open":1,"joining":0,"ended":1,"returning":2,"next":"0.1.m-1"}`,
		`{"matches":[{"id":"m-2","state":"assigned","config":"ranked","queue":"q","created":"2026-11-05T10:26:40.123Z","age":2,
			"fleet":"f","region":"eu"}],"open":1,"joining":0,"ended":1,"returning":2}`), "developer"))
	mux.HandleFunc("GET "+base+"/changes", s.require(s.list(`{"changes":[{"id":"5-0","time":"2026-11-05T10:26:40.123Z",
		"kind":"function","name":"duel","action":"uploaded","by":"olga","upload":3,"detail":"a note"}]}`), "developer"))
	mux.HandleFunc("POST "+backfill, s.require(s.createBackfill, "server"))
	mux.HandleFunc("PUT "+backfill+"/{id}", s.require(s.putBackfill, "server"))
	mux.HandleFunc("DELETE "+backfill+"/{id}", s.require(s.deleteBackfill, "server"))
	mux.HandleFunc("POST "+backfill+"/{id}/approvals", s.require(s.approve, "server"))
	all := asServices(mux)
	checked := openapitest.Handler(t, all)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.mu.Lock(); s.other {
			s.mu.Unlock()
			all.ServeHTTP(w, r)
			return
		}
		s.mu.Unlock()
		checked.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// asServices gives answers the headers that all services give them.
func asServices(next *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = typed{w}
		w.Header().Set("X-Correlation-Id", "c-1")
		switch _, route := next.Handler(r); {
		case route != "":
			next.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/another/"):
			writeProblem(w, problem.Forbidden, "the token is not for this project")
		case strings.HasSuffix(r.URL.Path, "/parties"):
			writeProblem(w, problem.PartyNotFound, "the player is in no party")
		default:
			writeProblem(w, problem.NotFound, "there is nothing here")
		}
	})
}

// typed says that a body is JSON unless it says what it is.
type typed struct{ http.ResponseWriter }

func (w typed) Write(text []byte) (int, error) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	return w.ResponseWriter.Write(text)
}

func (w typed) WriteHeader(status int) {
	if w.Header().Get("Content-Type") == "" && status != http.StatusNoContent {
		w.Header().Set("Content-Type", "application/json")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a service flush.
func (w typed) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (s *service) explainTicket(w http.ResponseWriter, r *http.Request) {
	switch r.PathValue("id") {
	case "t-1":
	case "t-3":
		_, _ = io.WriteString(w, `{"id":"t-3","state":"ended","waited":42.5,"players":0,"configs":[],"history":{"matches":[],
			"since":"2030-01-01T00:00:00Z","complete":true,"ended":{"reason":"silent","time":"2030-01-01T00:01:00Z"}}}`)
		return
	case "t-4":
		_, _ = io.WriteString(w, `{"id":"t-4","state":"waiting","waited":1,"players":1,"queues":["qick"],
			"unservedQueues":["qick"],"configs":[{"config":"far","function":"duel","queue":"quick","serves":false,"inPool":true,
			"pools":[]}],"history":{"matches":[],"since":"2030-01-01T00:00:00Z","complete":true}}`)
		return
	default:
		writeProblem(w, problem.TicketNotFound, "there is no ticket "+r.PathValue("id"))
		return
	}
	_, _ = io.WriteString(w, `{"id":"t-1","state":"waiting","waited":42.5,"players":2,"queues":["a","b"],"configs":[
		{"config":"casual","function":"duel","serves":true,"inPool":false,"pools":[
			{"pool":"high","holds":false,"filters":[{"attribute":"skill","min":1300,"value":1200,"holds":false,"by":100}]},
			{"pool":"low","holds":false,"filters":[{"attribute":"skill","max":1000,"value":1200,"holds":false,"by":200},
				{"attribute":"level","holds":false},{"count":"players","min":1,"value":2,"holds":true}]},
			{"pool":"edge","holds":false,"filters":[{"count":"players","min":0,"max":2,"value":2,"holds":false,"by":0}]}]},
		{"config":"far","function":"duel","queue":"c","serves":false,"inPool":true,"pools":[]},
		{"config":"failing","function":"bad","serves":true,"inPool":true,"pools":[],
			"run":{"error":"deadline","tickets":0,"proposals":0,"proposed":false,"reasons":[]}},
		{"config":"mute","function":"duel","serves":true,"inPool":true,"pools":[],
			"run":{"tickets":9,"proposals":3,"proposed":false,"reasons":[]}},
		{"config":"rules","function":"rules","serves":true,"inPool":true,"pools":[],"run":{"tickets":9,"proposals":3,
			"proposed":false,"reasons":[{"reason":"near: without it there is a match","candidates":4},{"reason":"\u001b[2J"}]}},
		{"config":"soon","function":"duel","serves":true,"inPool":true,"pools":[],
			"run":{"tickets":9,"proposals":3,"proposed":true,"reasons":[]}},
		{"config":"outbid","function":"duel","serves":true,"inPool":true,"pools":[],
			"run":{"tickets":9,"proposals":3,"proposed":true,"reasons":[],"place":2,
				"best":{"score":1.5,"tickets":2,"losesTo":{"config":"rules","score":4,"by":2.5}}}},
		{"config":"unasked","function":"duel","serves":true,"inPool":true,"pools":[]}],
		"history":{"since":"2030-01-01T00:00:00Z","complete":true,"matches":[
			{"match":"m-2","state":"released","config":"rules","score":1.5,"created":"2030-01-01T00:01:00.000Z",
				"ended":"2030-01-01T00:01:05.000Z","failed":true,"reason":"allocation","detail":"fleet is full"}]}}`)
}

// happened are events, as the service tells them.
var happened = []string{
	`{"id":"7.1","time":"2030-01-01T00:00:00.000Z","kind":"created","tickets":["a","b"],"position":3}`,
	`{"id":"7.2","time":"2030-01-01T00:00:00.123Z","kind":"assigned","match":"m","config":"ranked","revision":7,` +
		`"tickets":["a"],"function":"duel","upload":2,"score":1.5,"teams":[{"tickets":1}],"position":5}`,
}

// getEvents answers one event in each page, and all in a stream, which goes on until the client leaves.
func (s *service) getEvents(w http.ResponseWriter, r *http.Request) {
	s.query = r.URL.Query()
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range happened {
			_, _ = fmt.Fprintf(w, "id: x\nevent: x\ndata: %s\n\n", e)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	}
	n := 0
	if s.query.Get("ticket") == "none" {
		n = len(happened)
	} else if after := s.query.Get("after"); after != "" {
		_, _ = fmt.Sscan(after, &n)
	}
	if n == len(happened) {
		_, _ = fmt.Fprintf(w, `{"events":[],"next":"%d","more":false}`, n)
		return
	}
	_, _ = fmt.Fprintf(w, `{"events":[%s],"next":"%d","more":%v}`, happened[n], n+1, n+1 < len(happened))
}

func (s *service) getWaiting(w http.ResponseWriter, r *http.Request) {
	s.query = r.URL.Query()
	if s.query.Get("player") == "nobody" {
		_, _ = io.WriteString(w, `{"tickets":[],"total":0}`)
		return
	}
	if s.query.Get("after") == "" {
		_, _ = io.WriteString(w, `{"tickets":[{"id":"t-1","created":5,"waited":62.5,"owner":"ada","players":["ada","bob"],
			"queues":["quick"],"region":"eu","attributes":{"skill":1200,"level":3}}],"total":3,"next":"5.t-1"}`)
		return
	}
	_, _ = io.WriteString(w, `{"tickets":[{"id":"t-2","created":6,"waited":2,"owner":"cyd","players":["cyd"],
		"attributes":{}}],"total":3}`)
}

// list answers a page, and another one to a query that goes on behind it.
func (s *service) list(pages ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.query = r.URL.Query()
		page := pages[0]
		if s.query.Get("after") != "" {
			page = pages[1]
		}
		_, _ = io.WriteString(w, page)
	}
}

// reportMatches answers what was asked for, too: the queries are in s.reports.
func (s *service) reportMatches(w http.ResponseWriter, r *http.Request) {
	s.query = r.URL.Query()
	s.reports = append(s.reports, s.query)
	var rows string
	switch s.query.Get("by") {
	case "queue":
		rows = `{"queue":"q","matches":2,"tickets":4,"players":4,"measures":[
			{"kind":"wait","count":4,"mean":4.125,"p10":1,"p50":2.5,"p90":9}]}`
	case "party":
		rows = `{"matches":1,"tickets":2,"players":3,"measures":[]},{"party":6,"matches":1,"tickets":2,"players":9,"measures":[]}`
	case "region":
		rows = `{"matches":2,"tickets":4,"players":12,"measures":[]}`
	default:
		rows = `{"matches":2,"tickets":4,"players":12,"measures":[
			{"kind":"wait","count":4,"mean":4.125,"p10":1,"p50":2.5,"p90":9},
			{"kind":"gap","name":"skill","count":2,"mean":3,"p10":1,"p50":3,"p90":5},
			{"kind":"measure","name":"fun\u001b","count":2,"mean":0.5,"p10":0.5,"p50":0.5,"p90":0.5}],
			"outcomes":{"results":3,"players":8,"left":0.125,"odds":[{"rating":"skill","pairs":3,"logLoss":0.61,"brier":0.21,
				"calibration":[{"from":0.75,"pairs":3,"predicted":0.77,"won":0.6667}]}]}}`
	}
	if s.query.Get("since") < "2030-01-02T03" { // less was measured at first
		rows = `{"matches":1,"tickets":2,"players":2,"measures":[{"kind":"wait","count":2,"mean":1,"p10":1,"p50":1,"p90":1}]}`
	}
	_, _ = fmt.Fprintf(w, `{"since":%q,"until":%q,"slotSeconds":300,"rows":[%s],"leftOut":3}`,
		s.query.Get("since"), s.query.Get("until"), rows)
}

func (s *service) getMatch(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != "m" {
		writeProblem(w, problem.NotFound, "match was not found")
		return
	}
	_, _ = io.WriteString(w, `{"id":"m","state":"assigned","config":"ranked","revision":7,"function":"duel","upload":2,
		"score":1.5,"created":"2030-01-01T00:00:00.123Z","ended":"2030-01-01T00:00:01.000Z","players":3,
		"teams":[{"name":"red","tickets":[{"id":"a","waited":2.5,"players":["ada","bob"]}]},
			{"tickets":[{"id":"b","waited":0.25}]}],"server":{"connection":"10.0.0.1:7000","fleet":"eu"}}`)
}

func (s *service) listConfigs(w http.ResponseWriter, _ *http.Request) {
	list := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(s.configs)) {
		list = append(list, map[string]any{"id": id, "etag": `"1"`, "function": "duel", "pools": 2, "hosted": id == "ranked"})
	}
	answer(w, map[string]any{"configs": list})
}

func (s *service) putSettings(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if match := r.Header.Get("If-Match"); match != "" && match != fmt.Sprintf("\"%d\"", len(s.settings)) {
		writeProblem(w, problem.EtagMismatch, "the settings have changed")
		return
	}
	s.settings = append(s.settings, string(body))
	s.getSettings(w, r)
}

func (s *service) getSettings(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("ETag", fmt.Sprintf("\"%d\"", len(s.settings)))
	_, _ = io.WriteString(w, append([]string{"{}"}, s.settings...)[len(s.settings)])
}

func (s *service) getSettingsHistory(w http.ResponseWriter, _ *http.Request) {
	var changes []string
	for n, settings := range s.settings {
		changes = append(changes, fmt.Sprintf(`{"etag":"\"%d\"","changed":"2030-01-02T03:04:05.006Z","by":"olga","settings":%s}`,
			n+1, settings))
	}
	slices.Reverse(changes)
	_, _ = io.WriteString(w, `{"changes":[`+strings.Join(changes, ",")+`]}`)
}

// claims returns a token's claims without verifying it.
func claims(token string) map[string]any {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var c map[string]any
	if json.Unmarshal(body, &c) != nil {
		return nil
	}
	return c
}

func (s *service) require(handle http.HandlerFunc, kinds ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		token := claims(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		kind, _ := token["kind"].(string)
		expires, _ := token["exp"].(float64)
		// A token must outlive its command, which may take a minute by default.
		if kind == "" || s.untrusted || int64(expires) < time.Now().Add(time.Minute).Unix() {
			writeProblem(w, problem.Unauthenticated, "the token is not from a trusted issuer")
			return
		}
		if token["project"] == "demo" && slices.Contains(kinds, kind) {
			handle(w, r)
			return
		}
		writeProblem(w, problem.Forbidden, fmt.Sprintf("a token of kind %s is not for this", kind))
	}
}

func writeProblem(w http.ResponseWriter, code problem.Code, detail string) {
	status := code.Status()
	w.Header().Set("Content-Type", "application/problem+json")
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="matchmaking"`)
	}
	w.WriteHeader(status)
	answer(w, map[string]any{"type": fmt.Sprint("https://httpstatuses.io/", status),
		"title": http.StatusText(status), "status": status, "detail": detail,
		"code": code.String(), "instance": nil, "extensions": map[string]any{"correlationId": "c-1"}})
}

func answer(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func (s *service) createTicket(w http.ResponseWriter, r *http.Request) {
	_ = json.NewDecoder(r.Body).Decode(&s.body)
	if s.taken != "" {
		writeProblem(w, problem.PlayerHasTicket, "a player of this ticket has ticket "+s.taken)
		return
	}
	s.owners["t-1"] = r.Header.Get("X-On-Behalf-Of")
	if s.holds && r.Header.Get("Prefer") != "" {
		w.Header().Set("Location", "tickets?id=t-1")
		w.WriteHeader(http.StatusCreated)
		held := s.ticket("t-1")
		held["status"] = nil
		answer(w, held)
		return
	}
	w.WriteHeader(http.StatusCreated)
	answer(w, map[string]any{"id": "t-1", "status": nil})
}

func (s *service) getTicket(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("player") == "nobody" {
		answer(w, map[string]any{"tickets": []any{}})
		return
	}
	if r.URL.Query().Has("player") {
		_, _ = io.WriteString(w, `{"tickets":[{"id":"t-2","created":1000000000000,"attributes":{},"properties":{},"assignment":null},`+
			`{"id":"t-1","created":1000000000000,"attributes":{},"properties":{},"assignment":{"connection":"10.0.0.1:7000","error":"","properties":null,"matchproperties":null}}]}`)
		return
	}
	id := r.URL.Query().Get("id")
	if _, ok := s.owners[id]; !ok {
		writeProblem(w, problem.TicketNotFound, "there is no ticket "+id)
		return
	}
	answer(w, s.ticket(id))
}

func (s *service) ticket(id string) map[string]any {
	s.reads++
	t := map[string]any{"id": id, "attributes": map[string]any{"skill": 1200}, "properties": map[string]any{"k": "aGk="},
		"created": 1893456000000, "assignment": nil}
	if assigned := s.assignment(s.reads); assigned != nil {
		all := map[string]any{"connection": "", "error": "", "properties": nil, "matchproperties": nil}
		maps.Copy(all, assigned)
		t["assignment"] = all
	}
	if s.players != nil {
		t["players"] = s.players
	}
	if s.acceptance != nil {
		t["acceptance"] = s.acceptance
	}
	return t
}

func (s *service) followTicket(w http.ResponseWriter, _ *http.Request) {
	if s.events == "" {
		writeProblem(w, problem.NotFound, "this path does not exist")
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, s.events)
}

func (s *service) answerMatch(w http.ResponseWriter, r *http.Request) {
	s.body = map[string]any{}
	_ = json.NewDecoder(r.Body).Decode(&s.body)
	s.body["by"] = r.Header.Get("X-On-Behalf-Of")
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) deleteTicket(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	if owner, ok := s.owners[id]; !ok || owner != r.Header.Get("X-On-Behalf-Of") {
		writeProblem(w, problem.TicketNotFound, "there is no ticket "+id)
		return
	}
	delete(s.owners, id)
}

func (s *service) putConfig(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if bytes.Contains(body, []byte("bad")) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		answer(
			w,
			[]map[string]string{
				{"ResultCode": "badFilterRange", "Message": "pools.a[0]"},
				{"ResultCode": "badQueue", "Message": "x"},
			},
		)
		return
	}
	if match := r.Header.Get("If-Match"); match != "" && match != `"1"` {
		writeProblem(w, problem.EtagMismatch, "the config has changed")
		return
	}
	id := r.PathValue("id")
	body = completed(body, s.configs[id])
	s.configs[id], s.changes[id] = string(body), append(s.changes[id], string(body))
	for _, warning := range s.warned {
		w.Header().Add("X-Config-Warning", warning)
	}
	w.Header().Set("ETag", `"1"`)
	_, _ = w.Write(body)
}

// completed is a config with its hosting keys as the service answers them: a secret that is not given stays with its
// access key, an empty one goes, and another one is masked.
func completed(body []byte, stored string) []byte {
	var sent, kept map[string]any
	_, _ = json.Unmarshal(body, &sent), json.Unmarshal([]byte(stored), &kept)
	keys, is := sent["hosting"].(map[string]any)
	was, _ := kept["hosting"].(map[string]any)
	secret, given := keys["Secret"]
	switch {
	case given && secret == "":
		delete(keys, "Secret")
	case given && secret != client.Masked:
		keys["Secret"] = client.Masked
	case is && !given && was["Secret"] != nil && keys["Access"] == was["Access"]:
		keys["Secret"] = was["Secret"]
	default:
		return body
	}
	body, _ = json.Marshal(sent)
	return body
}

func (s *service) getConfigHistory(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if len(s.changes[id]) == 0 {
		writeProblem(w, problem.ConfigNotFound, "nothing is kept of config "+id)
		return
	}
	var changes []string
	for n, config := range s.changes[id] {
		what := `"config":` + config
		if config == "" {
			what = `"deleted":true`
		}
		if _, exists := s.configs[id]; exists && n == len(s.changes[id])-1 {
			what += `,"current":true`
		}
		changes = append(changes, fmt.Sprintf(`{"etag":"\"%d\"","changed":"2030-01-02T03:04:05.006Z","by":"olga",%s}`, n+1, what))
	}
	slices.Reverse(changes)
	_, _ = io.WriteString(w, `{"changes":[`+strings.Join(changes, ",")+`]}`)
}

func (s *service) rollbackConfig(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	_, exists := s.configs[id]
	latest := fmt.Sprintf("\"%d\"", len(s.changes[id]))
	if match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match"); exists && match != latest ||
		!exists && none != "*" {
		writeProblem(w, problem.EtagMismatch, fmt.Sprintf("not the state %q %q", match, none))
		return
	}
	var to struct{ ETag string }
	_ = json.NewDecoder(r.Body).Decode(&to)
	for n, config := range s.changes[id] {
		if to.ETag == fmt.Sprintf("\"%d\"", n+1) {
			s.configs[id], s.changes[id] = config, append(s.changes[id], config)
			w.Header().Set("ETag", fmt.Sprintf("\"%d\"", len(s.changes[id])))
			_, _ = io.WriteString(w, config)
			return
		}
	}
	writeProblem(w, problem.NotFound, "the change "+to.ETag+" is not kept")
}

func (s *service) checkConfig(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if bytes.Contains(body, []byte("bad")) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		answer(w, []map[string]string{{"ResultCode": "badSettings", "Message": "matchmaking.config: odd"}})
		return
	}
	_, exists := s.configs[r.URL.Query().Get("id")]
	warnings := []map[string]string{}
	for _, one := range s.warned {
		code, message, _ := strings.Cut(one, ": ")
		warnings = append(warnings, map[string]string{"ResultCode": code, "Message": message})
	}
	answer(w, map[string]any{"creates": !exists, "warnings": warnings})
}

func (s *service) createConfig(w http.ResponseWriter, r *http.Request) {
	r.SetPathValue("id", "6c4de9ba-0f1e-4d2c-8b3a-5a6978876543")
	refused := httptest.NewRecorder()
	if s.putConfig(refused, r); refused.Code != http.StatusOK {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(refused.Code)
		_, _ = w.Write(refused.Body.Bytes())
		return
	}
	for _, warning := range refused.Header()["X-Config-Warning"] {
		w.Header().Add("X-Config-Warning", warning)
	}
	answer(w, map[string]any{"id": "6c4de9ba-0f1e-4d2c-8b3a-5a6978876543"})
}

func (s *service) getConfig(w http.ResponseWriter, r *http.Request) {
	config, ok := s.configs[r.PathValue("id")]
	if !ok {
		writeProblem(w, problem.ConfigNotFound, "there is no config "+r.PathValue("id"))
		return
	}
	w.Header().Set("ETag", `"1"`)
	_, _ = io.WriteString(w, config)
}

func (s *service) deleteConfig(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if _, exists := s.configs[id]; exists {
		s.changes[id] = append(s.changes[id], "")
	}
	delete(s.configs, id)
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) putFunction(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	sum := md5.Sum(body)
	s.functions[r.PathValue("name")] = hex.EncodeToString(sum[:])
	answer(w, s.inState(r.PathValue("name"), "Pending"))
}

func (s *service) function(name string) map[string]any {
	s.reads++
	return s.inState(name, s.state(s.reads))
}

func (s *service) inState(name, state string) map[string]any {
	return map[string]any{"name": name, "md5Hash": s.functions[name],
		"created": "2030-01-01T00:00:00Z", "updated": "2030-01-01T00:00:00Z",
		"status": map[string]any{"state": state, "instances": []any{map[string]any{"name": name + "-0", "state": "Waiting"}}}}
}

func (s *service) getFunctions(w http.ResponseWriter, _ *http.Request) {
	list := []any{}
	for name := range s.functions {
		list = append(list, s.function(name))
	}
	answer(w, map[string]any{"functions": list})
}

func (s *service) getFunction(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.functions[r.PathValue("name")]; !ok {
		writeProblem(w, problem.FunctionNotFound, "there is no function "+r.PathValue("name"))
		return
	}
	answer(w, s.function(r.PathValue("name")))
}

// getVersions answers that each function has three versions.
func (s *service) getVersions(w http.ResponseWriter, r *http.Request) {
	list := []any{}
	for version := 3; version > 0 && s.functions[r.PathValue("name")] != ""; version-- {
		list = append(
			list,
			map[string]any{"version": version, "current": version == s.current, "md5Hash": fmt.Sprintf("%032x", version),
				"size": 2_400_000, "uploaded": fmt.Sprintf("2030-01-0%dT00:00:00Z", version)},
		)
	}
	answer(w, map[string]any{"versions": list})
}

func (s *service) rollback(w http.ResponseWriter, r *http.Request) {
	var to struct{ Version int }
	_ = json.NewDecoder(r.Body).Decode(&to)
	if to.Version > 3 {
		writeProblem(w, problem.NotFound, fmt.Sprintf("version: %d is not kept", to.Version))
		return
	}
	s.current, s.functions[r.PathValue("name")] = to.Version, fmt.Sprintf("%032x", to.Version)
	answer(w, s.function(r.PathValue("name")))
}

func (s *service) deleteFunction(w http.ResponseWriter, r *http.Request) {
	delete(s.functions, r.PathValue("name"))
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) restart(w http.ResponseWriter, r *http.Request) {
	var body struct{ Functions []string }
	_ = json.NewDecoder(r.Body).Decode(&body)
	result := []any{}
	for _, name := range body.Functions {
		if _, ok := s.functions[name]; !ok {
			writeProblem(w, problem.FunctionNotFound, "functions: not found: "+name+"; nothing was restarted")
			return
		}
		result = append(result, map[string]any{"name": name, "state": s.state(1)})
	}
	answer(w, map[string]any{"functions": result})
}

func (s *service) createBackfill(w http.ResponseWriter, r *http.Request) {
	s.backfills["b-1"] = map[string]any{"RecordVersion": 0}
	r.SetPathValue("id", "b-1")
	s.putBackfill(httptest.NewRecorder(), r)
	w.WriteHeader(http.StatusCreated)
	answer(w, map[string]any{"Id": "b-1"})
}

func (s *service) putBackfill(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	old, ok := s.backfills[id]
	if !ok {
		writeProblem(w, problem.BackfillNotFound, "there is no backfill ticket "+id)
		return
	}
	var b map[string]any
	_ = json.NewDecoder(r.Body).Decode(&b)
	version, _ := old["RecordVersion"].(int)
	if b["properties"] == nil && b["Properties"] == nil {
		b["properties"] = map[string]any{}
	}
	b["Id"], b["Created"], b["RecordVersion"] = id, 1893456000000, version+1
	s.backfills[id] = b
	answer(w, b)
}

func (s *service) approve(w http.ResponseWriter, r *http.Request) {
	b, ok := s.backfills[r.PathValue("id")]
	if !ok {
		writeProblem(w, problem.BackfillNotFound, "there is no backfill ticket "+r.PathValue("id"))
		return
	}
	answer(w, b)
}

func (s *service) deleteBackfill(w http.ResponseWriter, r *http.Request) {
	if s.backfills[r.PathValue("id")] == nil {
		w.Header().Set("X-Deleted", "false")
	}
	delete(s.backfills, r.PathValue("id"))
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) getLog(w http.ResponseWriter, r *http.Request) {
	answer(w, map[string]any{"logs": map[string]any{
		"duel-0": "line of " + r.URL.Query().Get("seconds") + "\x1b[31m\ntrap: unreachable\n", "duel-1": "",
	}})
}

// result is the result of a command.
type result struct {
	t        *testing.T
	code     int
	out, err string
}

// shell runs mm with a development service's data folder and a clock that advances only while mm sleeps.
type shell struct {
	t    *testing.T
	data string
	// config is the folder for what mm keeps.
	config string
	now    time.Time
	in     string
	width  int
	// binary is executed by sandboxes, path is mm's.
	binary, path string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, data: t.TempDir(), config: filepath.Join(t.TempDir(), "matchmaker"), now: time.Now()}
	if _, err := issuer.Open(s.data, time.Now); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shell) run(args ...string) result { return s.runContext(s.t.Context(), args...) }

func (s *shell) runContext(ctx context.Context, args ...string) result {
	var out, err bytes.Buffer
	code := run(ctx, args, console{
		in: strings.NewReader(s.in), out: &out, err: &err, width: s.width, binary: s.binary, path: s.path,
		configDir: s.config,
		now:       func() time.Time { return s.now },
		sleep: func(ctx context.Context, d time.Duration) error {
			s.now = s.now.Add(d)
			return ctx.Err()
		},
	})
	return result{s.t, code, out.String(), err.String()}
}

// on runs a command against the service, with the data folder.
func (s *shell) on(service *service, args ...string) result {
	return s.onContext(s.t.Context(), service, args...)
}

func (s *shell) onContext(ctx context.Context, service *service, args ...string) result {
	return s.runContext(ctx, append(args, "--url", service.url, "--data", s.data)...)
}
