package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/catalog"
	installed "matchmaker.dev/services/test/launch"
)

var caddy = flag.String("caddy", "", "binary of the gateway")

// TestGateway runs the contract through the gateway of docker-compose.yml, with the gateway's configuration from
// deploy.
func TestGateway(t *testing.T) {
	if *caddy == "" {
		t.Skip("this is part of make gateway, which builds the gateway's binary")
	}
	made := build(t)
	t.Run("headers", func(t *testing.T) { t.Parallel(); forwardHeaders(t) })
	t.Run("nobody", func(t *testing.T) { t.Parallel(); answerWithoutServices(t) })
	t.Run("begun", func(t *testing.T) { t.Parallel(); finishWhatBegan(t) })
	t.Run("services", func(t *testing.T) {
		t.Parallel()
		s := newServices(t, made, behindCaddy)
		t.Run("live-server", func(t *testing.T) { liveServer(t, s.project(t)) })
		t.Run("patient-get", func(t *testing.T) { patientGet(t, s.project(t)) })
		t.Run("patient-create", func(t *testing.T) { patientCreate(t, s.project(t)) })
		t.Run("stream", func(t *testing.T) { stream(t, s.project(t)) })
		t.Run("open-stream", func(t *testing.T) { openStream(t, s.project(t)) })
		t.Run("party-stream", func(t *testing.T) { followParty(t, s.project(t)) })
		t.Run("refilled", func(t *testing.T) { refillGame(t, s.project(t)) })
		t.Run("contract", func(t *testing.T) { runContract(t, s) })
		t.Run("routes", func(t *testing.T) { checkRoutes(t, s) })
		t.Run("inside", func(t *testing.T) { hideInternals(t, s) })
		t.Run("large", func(t *testing.T) { refuseLargeBodies(t, s.project(t)) })
		t.Run("gateway-restarted", func(t *testing.T) { gatewayRestarted(t, s.project(t)) })
		t.Run("rolling", func(t *testing.T) { rolling(t, s.project(t)) })
		t.Run("all-replicas", func(t *testing.T) { allReplicas(t, s.project(t)) })
	})
}

// upstreams are the services behind the gateway. The variables of its file are their names in upper case.
func upstreams() []string {
	return catalog.With(func(s catalog.Service) bool { return len(s.Routes) > 0 })
}

// behindCaddy starts the gateway as the front of a system, and reserves the addresses of the services behind it.
func behindCaddy(t *testing.T, s *system, _ *slog.Logger) string {
	t.Helper()
	free := reserve(t, 1+2*len(upstreams()))
	s.listen = map[string]string{"gateway": free[0]}
	free = free[1:]
	env := map[string]string{}
	for _, service := range upstreams() {
		s.listen[service+"-1"], s.listen[service+"-2"] = free[0], free[1]
		env[strings.ToUpper(service)] = strings.Join(free[:2], " ")
		free = free[2:]
	}
	// It runs longer than the game servers, which renew their tokens through it.
	s.adopt(gateway(t, s.keys, s.listen["gateway"], env))
	return "http://" + s.listen["gateway"]
}

// gateway starts a gateway at an address, with a folder of its own. env says where the services are.
func gateway(t *testing.T, dir, address string, env map[string]string) *replica {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"LISTEN=:" + port, "HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	p, err := launch("gateway", *caddy, all, "run", "--config", "../../deploy/Caddyfile", "--adapter", "caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	p.await(t, "listening", func() bool {
		var dialer net.Dialer
		c, err := dialer.DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return p
}

// startGateway starts a gateway that ends with the test.
func startGateway(t *testing.T, address string, env map[string]string) {
	t.Helper()
	p := gateway(t, t.TempDir(), address, env)
	t.Cleanup(p.Kill)
}

// reserve finds free addresses.
func reserve(t *testing.T, n int) (found []string) {
	t.Helper()
	for range n {
		address, err := installed.Vacant(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, address)
	}
	return found
}

// forwardHeaders: the gateway sets the headers about the client, and forwards all others.
func forwardHeaders(t *testing.T) {
	got := make(chan *http.Request, 1)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			got <- r
			w.Header().Set("X-Correlation-Id", r.Header.Get("X-Correlation-Id"))
		}
	}))
	defer service.Close()
	address := reserve(t, 1)[0]
	startGateway(t, address, map[string]string{"TICKET": service.Listener.Addr().String()})
	in, err := http.NewRequestWithContext(within(t), http.MethodGet,
		"http://"+address+"/p/matchmaking/api/v1/tickets?id=a%2Fb+c", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]string{
		"Authorization": "Bearer token", "X-On-Behalf-Of": "ada", "Prefer": "wait=10",
		"X-Correlation-Id": "support-42", "If-Match": `"7"`,
		"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	for name, value := range sent {
		in.Header.Set(name, value)
	}
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded"} {
		in.Header.Set(name, "for=203.0.113.99")
	}
	answer, err := http.DefaultClient.Do(in)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	r := <-got
	for name, value := range sent {
		if r.Header.Get(name) != value {
			t.Errorf("%s: got %q, want %q", name, r.Header.Get(name), value)
		}
	}
	if r.URL.RequestURI() != "/p/matchmaking/api/v1/tickets?id=a%2Fb+c" {
		t.Errorf("the service is asked for %s", r.URL.RequestURI())
	}
	if f := r.Header; f.Get("X-Forwarded-For") != "127.0.0.1" || f.Get("X-Forwarded-Host") != address ||
		f.Get("X-Forwarded-Proto") != "http" || f.Get("Forwarded") != "" {
		t.Errorf("the service gets the headers that the client sent: %v", f)
	}
	if id := answer.Header.Get("X-Correlation-Id"); id != "support-42" {
		t.Errorf("the client gets the correlation id %q", id)
	}
}

// finishWhatBegan: an answer that began as soon as the request had come reaches the client whole, each time.
func finishWhatBegan(t *testing.T) {
	const times, workers = 3000, 8
	begun := make([]chan struct{}, workers)
	for i := range begun {
		begun[i] = make(chan struct{}, 1)
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		worker, err := strconv.Atoi(r.URL.Query().Get("worker"))
		if err != nil {
			return // a probe
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-begun[worker]:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "whole")
	}))
	defer service.Close()
	address := reserve(t, 1)[0]
	startGateway(t, address, map[string]string{"TICKET": service.Listener.Addr().String()})
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for range times / workers {
				in, err := http.NewRequestWithContext(within(t), http.MethodPost,
					fmt.Sprintf("http://%s/p/matchmaking/api/v1/tickets?worker=%d", address, worker), strings.NewReader("{}"))
				if err != nil {
					t.Error(err)
					return
				}
				out, err := http.DefaultClient.Do(in)
				if err != nil {
					t.Error(err)
					return
				}
				begun[worker] <- struct{}{}
				text, err := io.ReadAll(out.Body)
				_ = out.Body.Close()
				if err != nil || string(text) != "whole" {
					t.Errorf("an answer that began ended as %q, %v", text, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// answerWithoutServices: when no service is there, the gateway answers with a problem.
func answerWithoutServices(t *testing.T) {
	free := reserve(t, 2)
	startGateway(t, free[0], map[string]string{"TICKET": free[1]})
	for request, want := range map[string]struct {
		status int
		code   string
	}{
		"GET /p/matchmaking/api/v1/tickets":  {5, "unavailable"},
		"POST /p/matchmaking/api/v1/tickets": {5, "unavailable"},
		"GET /readyz":                        {4, "notFound"},
	} {
		status, header, body := raw(t, free[0],
			request+" HTTP/1.1\r\nHost: mm\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		if p := problemOf(header, body); status/100 != want.status || p.Status != status || p.Code != want.code {
			t.Errorf("%s: got %d %v %s, want the problem %s", request, status, header, body, want.code)
		}
	}
}

// raw sends the text of a request, and reads the answer.
func raw(t *testing.T, address, request string) (int, http.Header, []byte) {
	t.Helper()
	var dialer net.Dialer
	c, err := dialer.DialContext(within(t), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stop := context.AfterFunc(within(t), func() { _ = c.Close() })
	defer stop()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return answer.StatusCode, answer.Header, body
}

// problem is the body of an error.
type problem struct {
	Type, Title, Detail, Code string
	Status                    int
	Extensions                struct{ CorrelationID string }
}

// problemOf is the problem in an answer; zero when there is none.
func problemOf(header http.Header, body []byte) (p problem) {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || kind != "application/problem+json" || json.Unmarshal(body, &p) != nil ||
		p.Title == "" || p.Detail == "" || p.Code == "" || p.Extensions.CorrelationID == "" ||
		p.Extensions.CorrelationID != header.Get("X-Correlation-Id") {
		return problem{}
	}
	return p
}

// checkRoutes: each path of the API reaches its service and no other, as their logs show.
func checkRoutes(t *testing.T, s *system) {
	base := "/routed/matchmaking/api/v1"
	for i, c := range []struct {
		method, path, service string
		want                  int
	}{
		{"POST", base + "/tickets", "ticket", 401},
		{"GET", base + "/tickets?id=1", "ticket", 401},
		{"DELETE", base + "/tickets?id=1", "ticket", 401},
		{"GET", base + "/tickets/waiting", "ticket", 401},
		{"GET", base + "/events", "ticket", 401},
		{"GET", base + "/queues", "ticket", 401},
		{"GET", base + "/regions", "ticket", 401},
		{"GET", base + "/matches/1", "ticket", 401},
		{"GET", base + "/matches", "ticket", 401},
		{"GET", base + "/changes", "config", 401},
		{"POST", base + "/simulations", "config", 401},
		{"GET", base + "/simulations/1", "config", 401},
		{"GET", base + "/api/v2/backfill", "backfill", 401},
		{"POST", base + "/configs", "config", 401},
		{"GET", base + "/configs/ranked", "config", 401},
		{"PUT", base + "/configs/ranked", "config", 401},
		{"DELETE", base + "/configs/ranked", "config", 401},
		{"GET", base + "/configs/ranked/history", "config", 401},
		{"POST", base + "/configs/ranked/actions/rollback", "config", 401},
		{"POST", base + "/configs/actions/check", "config", 401},
		{"GET", base + "/settings", "config", 401},
		{"PUT", base + "/settings", "config", 401},
		{"GET", base + "/settings/history", "config", 401},
		{"GET", base + "/webhooks", "config", 401},
		{"POST", base + "/webhooks/w/deadletters/1/actions/send", "config", 401},
		{"GET", base + "/configs/tickets", "config", 401},
		{"POST", base + "/matches/1/result", "ticket", 401},
		{"GET", base + "/players/ada/match", "ticket", 401},
		{"GET", base + "/players/ada/ratings/history", "ticket", 401},
		{"GET", base + "/ratings/skill/leaderboard", "ticket", 401},
		{"PUT", base + "/players/ada/standing", "ticket", 401},
		{"GET", base + "/players/ada", "party", 401},
		{"DELETE", base + "/players/ada", "party", 401},
		{"GET", base + "/functions", "registry", 401},
		{"PUT", base + "/functions/duel?implementation=duel", "registry", 401},
		{"GET", base + "/functions/duel", "registry", 401},
		{"GET", base + "/functions/duel/log?seconds=60", "registry", 401},
		{"DELETE", base + "/functions/duel", "registry", 401},
		{"POST", base + "/functions/actions/restart", "registry", 401},
		{"POST", "/routed/matchmaking/api/v2/backfill", "backfill", 401},
		{"POST", "/routed/matchmaking/api/v2/backfill/1/approvals", "backfill", 401},
		{"POST", base + "/api/v2/backfill", "backfill", 401},
		{"POST", "/api/v2/backfill", "backfill", 401},
		{"POST", "/api/v2/backfill/1/approvals", "backfill", 401},
		{"PUT", base + "/api/v2/backfill/1", "backfill", 401},
		{"DELETE", "/routed/matchmaking/api/v2/backfill/1", "backfill", 401},
		{"POST", base + "/backfill", "backfill", 401},
		{"POST", base + "/servers/token", "allocator", 401},
		{"GET", "/.well-known/server-keys.json", "allocator", 200},
		{"GET", "/.well-known/seat-keys.json", "ticket", 200},
		{"GET", "/openapi.json", "ticket", 200},
		{"GET", base + "/nothing", "ticket", 404},
		{"GET", base + "/ticketsandmore", "ticket", 404},
		{"GET", base + "/eventsandmore", "ticket", 404},
		{"GET", base + "/configsandmore", "ticket", 404},
		{"GET", "/", "ticket", 404},
	} {
		id := fmt.Sprintf("routed-%d.", i)
		status, header, body := raw(t, s.listen["gateway"], fmt.Sprintf(
			"%s %s HTTP/1.1\r\nHost: mm\r\nContent-Length: 0\r\n"+
				"Content-Type: application/json\r\nX-Correlation-Id: %s\r\nConnection: close\r\n\r\n", c.method, c.path, id))
		if status != c.want || header.Get("X-Correlation-Id") != id {
			t.Errorf("%s %s: got %d %v %s, want %d", c.method, c.path, status, header, body, c.want)
			continue
		}
		if status >= 400 && problemOf(header, body).Status != status {
			t.Errorf("%s %s: %v %s, want a problem", c.method, c.path, header, body)
		}
		eventually(t, fmt.Sprintf("%s %s is in the log of %s", c.method, c.path, c.service), func() bool {
			return slices.ContainsFunc(s.all(), func(p *replica) bool {
				return strings.HasPrefix(p.name, c.service+"-") &&
					p.log.contains(id)
			})
		})
		for _, p := range s.all() {
			if p.name != "gateway" && !strings.HasPrefix(p.name, c.service+"-") && p.log.contains(id) {
				t.Errorf("%s %s went to %s", c.method, c.path, p.name)
			}
		}
	}
}

// hideInternals: paths for operators do not exist behind the gateway, in any spelling.
func hideInternals(t *testing.T, s *system) {
	for _, target := range []string{
		"/healthz", "/readyz", "/metrics", "/debug/pprof/", "/healthz?verbose", "/healthz/", "//healthz", "/HEALTHZ",
		"/%68ealthz", "/./readyz", "/p/../readyz",
		"/p/%2e%2e/readyz", "/p/matchmaking/api/v1/configs/../../../../../readyz",
		"/p/matchmaking/api/v1/functions/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/readyz",
		"/p/matchmaking/api/v2/backfill/../../../../../metrics",
		"http://" + s.address("ticket-1") + "/readyz", "/metrics/", "/config/", "/load", "/stop",
	} {
		status, header, body := raw(t, s.listen["gateway"],
			"GET "+target+" HTTP/1.1\r\nHost: "+s.address("ticket-1")+"\r\nConnection: close\r\n\r\n")
		if p := problemOf(header, body); p.Status != status || status/100 != 4 || strings.Contains(p.Detail, "ready") {
			t.Errorf("%s: got %d %v %s, want 4xx", target, status, header, body)
		}
	}
}

// refuseLargeBodies: the service refuses a body that is too large before all of it was sent.
func refuseLargeBodies(t *testing.T, p *project) {
	const most = 40 << 20
	defer p.s.http.CloseIdleConnections() // the gateway closes them too, maybe while the next request is sent
	for _, c := range []struct {
		method, path, kind string
		who                issuer.Claims
		want               int
	}{
		{http.MethodPost, "v1/tickets", "application/json", issuer.Claims{Kind: auth.Player, Subject: "ada"},
			http.StatusRequestEntityTooLarge},
		{http.MethodPut, "v1/functions/large", "application/zip", issuer.Claims{Kind: auth.Developer, Subject: "developer",
			Role: "Owner"}, http.StatusBadRequest},
	} {
		_, token, err := p.client(c.who)
		if err != nil {
			t.Fatal(err)
		}
		body := io.MultiReader(strings.NewReader("PK\x03\x04"), bytes.NewReader(make([]byte, most)))
		in, err := http.NewRequestWithContext(within(t), c.method, p.s.front()+"/"+p.name+"/matchmaking/api/"+c.path, body)
		if err != nil {
			t.Fatal(err)
		}
		in.Header.Set("Content-Type", c.kind)
		in.Header.Set("Authorization", "Bearer "+token)
		out, err := p.s.http.Do(in)
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the answer was lost: %v", c.path, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(out.Body)
		_ = out.Body.Close()
		if err != nil || out.StatusCode != c.want || problemOf(out.Header, text).Status != c.want {
			t.Errorf("%s: got %d %v %s, %v, want %d", c.path, out.StatusCode, out.Header, text, err, c.want)
		}
	}
}

// openStream: the gateway passes on each event of a stream when it comes, the heartbeats too, and the stream's end.
func openStream(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ada, lonely := p.ticket(t, "ada", attributes{"skill": 1200}), p.ticket(t, "lonely", attributes{"skill": 9000})
	toAda, toLonely := ada.openStream(t), lonely.openStream(t)
	for _, lines := range []*bufio.Scanner{toAda, toLonely} {
		awaitLine(t, lines, "event: waiting")
		awaitLine(t, lines, ":") // nothing has happened since
	}
	bob := p.ticket(t, "bob", attributes{"skill": 1210})
	awaitLine(t, toAda, "event: assigned")
	if data := awaitLine(t, toAda, "data: "); !strings.Contains(data, bob.connection(t)) {
		t.Errorf("the stream says %s, bob plays at %s", data, bob.connection(t))
	}
	lonely.delete(t)
	awaitLine(t, toLonely, "event: ended")
	awaitEnd(t, toAda, toLonely)
}

// awaitEnd reads streams to their end, before which there is no further event.
func awaitEnd(t *testing.T, streams ...*bufio.Scanner) {
	t.Helper()
	for _, lines := range streams {
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "event:") {
				t.Errorf("after its last event a stream sends %q", lines.Text())
			}
		}
		if err := lines.Err(); err != nil {
			t.Errorf("a stream breaks at its end: %v", err)
		}
	}
}

// openStream returns the lines of a stream of the ticket's events.
func (k *ticket) openStream(t *testing.T) *bufio.Scanner {
	t.Helper()
	return k.p.openStream(t, k.player, "v1/tickets/events?id="+k.id)
}

// openStream returns the lines of a stream that a player opens.
func (p *project) openStream(t *testing.T, player, path string) *bufio.Scanner {
	t.Helper()
	_, token, err := p.client(issuer.Claims{Kind: auth.Player, Subject: player})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.begin(within(t), request{method: http.MethodGet, path: path, token: token,
		header: map[string]string{"Accept": "text/event-stream"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Body.Close() })
	if kind := out.Header.Get("Content-Type"); out.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%s: a stream gets %d %s", player, out.StatusCode, kind)
	}
	return bufio.NewScanner(out.Body)
}

// awaitLine reads a stream up to a line that begins so; ":" is a heartbeat.
func awaitLine(t *testing.T, lines *bufio.Scanner, start string) string {
	t.Helper()
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), start) {
			return lines.Text()
		}
	}
	t.Fatalf("a stream ends before %q: %v", start, lines.Err())
	return ""
}

// gatewayRestarted: a gateway that stops finishes its requests. Another one can be started.
func gatewayRestarted(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ada := p.ticket(t, "ada", attributes{"skill": 1200})
	held, _ := ada.holdGet(t)
	before := p.s.replica("gateway")
	stopped := make(chan error, 1)
	go func() { stopped <- before.Stop(patience) }()
	p.s.http.CloseIdleConnections()
	refused := func() bool {
		var dialer net.Dialer
		c, err := dialer.DialContext(t.Context(), "tcp", p.s.listen["gateway"])
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}
	eventually(t, "the gateway refuses connections", refused)
	beside := &project{s: &system{tokens: p.s.tokens, http: p.s.http,
		front: func() string { return "http://" + p.s.address("ticket-1") }}, name: p.name}
	bob := beside.ticket(t, "bob", attributes{"skill": 1200})
	if got := <-held; got.status != http.StatusOK || got.ticket(t).Assignment == nil {
		t.Errorf("a GET that was held got %v, want 200 and an assignment", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("the gateway did not stop in good order: %v", err)
	}
	env := map[string]string{}
	for _, service := range upstreams() {
		env[strings.ToUpper(service)] = p.s.listen[service+"-1"] + " " + p.s.listen[service+"-2"]
	}
	p.s.adopt(gateway(t, p.s.keys, p.s.listen["gateway"], env))
	bob.p = p
	together(t, ada, bob)
}

// allReplicas: requests wait while all replicas of a service are away, and do not fail.
func allReplicas(t *testing.T, p *project) {
	p.actor(t)
	names := []string{"ticket-1", "ticket-2"}
	p.s.stop(t, names...)
	p.crowd(t, 2, map[int]func(){1: func() { p.s.start(t, names...) }}).paired(t)
}
