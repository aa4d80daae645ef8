package suite

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// redirected sends requests of all kinds to another host, which answers them.
func redirected(ctx context.Context, g *game) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.check(r.Header.Get("Authorization") == "", "%s %s took the token to another host", r.Method, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"0192f3c0-7d7a-7c53-a0f4-000000000001","assignment":{"connection":"192.0.2.1:1"}}`)
	}))
	defer other.Close()
	to := func(status int) misstep {
		return answers(status, map[string]string{"Location": other.URL + base + "v1/tickets"}, "")
	}
	g.start(ctx)
	for _, status := range []int{301, 302, 303, 307, 308} {
		g.service.always("create", to(status))
		g.do("search")
		g.expectError("unexpected")
	}
	g.service.always("create", nil)
	g.service.always("events", to(http.StatusTemporaryRedirect))
	g.service.always("read", to(http.StatusTemporaryRedirect))
	g.do("search")
	g.expectError("unexpected")
}

// hostile are answers of a service that means harm.
func hostile() []Row {
	years := func(ctx context.Context, g *game) {
		g.start(ctx)
		for i, value := range []string{"99999999", "Wed, 02 Jan 2999 07:00:08 GMT"} {
			g.service.always("create", unavailable(value))
			g.do("search")
			g.expectError("busy")
			g.check(len(g.service.of("create")) == i+1, "it was repeated")
		}
	}
	rows := []Row{
		{Name: "Retry-After is years: busy, at once", Needs: "player", Scale: 1, play: years},
		{Name: "a stream is to be opened again in years: within two minutes", Needs: "player", Scale: 0.05,
			Lasts: 2 * time.Minute, play: func(ctx context.Context, g *game) {
				g.service.on("events", streams("retry: 99999999\n\n", g.service.message("waiting", nil)))
				g.search(ctx)
				g.within(g.waitForCalls(2, "events", "read"), 1, 2*time.Minute+slack)
				g.match()
			}},
		{Name: "an answer that comes drop by drop is given up after five minutes", Needs: "player", Scale: 0.05,
			Lasts: 5 * time.Minute, play: func(ctx context.Context, g *game) {
				g.service.on("create", g.service.drips(http.StatusCreated))
				g.search(ctx)
				calls := g.waitForCalls(2, "create")
				g.waited(calls, 1, 4*time.Minute)
				g.within(calls, 1, 5*time.Minute+slack)
				g.match()
			}},
		{Name: "a header without end is not read on", Needs: "heads", Scale: 0.01, play: func(ctx context.Context, g *game) {
			g.service.always("create", g.service.header)
			g.search(ctx)
			g.expect("error")
			for _, c := range g.service.of("create") {
				g.check(c.Sent < 24<<20, "%d MiB were read", c.Sent>>20)
			}
		}},
		{Name: "an answer of 700,000 members: refused where values are counted, else taken", Needs: "player",
			play: func(ctx context.Context, g *game) {
				g.service.always("create", g.service.crowded)
				g.search(ctx)
				if slices.Contains(g.can, any("values")) {
					g.expectError("unexpected")
					return
				}
				g.waitForCalls(1, "events", "read")
				g.match()
			}},
		{Name: "a ticket's id of half a character, or 70,000: an end, and the next search", Needs: "player", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.start(ctx)
				for _, id := range []string{`\ud800`, strings.Repeat("x", 70_000)} {
					g.service.always("create", answers(201, jsonHeader, `{"id":"`+id+`"}`))
					for _, kind := range []string{"events", "read", "find"} {
						g.service.always(kind, answers(404, nil, ""))
					}
					g.do("search")
					g.expect("error", "failed")
				}
				for _, kind := range []string{"create", "events", "read", "find"} {
					g.service.always(kind, nil)
				}
				g.do("search")
				g.waitForCalls(len(g.service.of("events", "read"))+1, "events", "read")
				g.match()
			}},
		{Name: "a token that no header can have: an error, and no request", Needs: "player",
			play: func(ctx context.Context, g *game) {
				const lines = "a\r\nX-Evil: 1"
				g.tokens = func(int) map[string]any { return map[string]any{"token": lines} }
				g.search(ctx)
				g.expectError("token")
				g.check(len(g.service.of()) == 0, "%d requests were sent", len(g.service.of()))
			}},
		{Name: "an event's id that no header can have is left out", Needs: "player",
			play: func(ctx context.Context, g *game) {
				evil := "id: \x01\rX-Evil: 1\nevent: unheardOf\ndata: {}\n\n"
				g.service.on("events", streams("retry: 1000\n\n", g.service.message("waiting", nil), evil))
				g.search(ctx)
				got := g.waitForCalls(2, "events")[1].Header
				g.check(got.Get("Last-Event-ID") == "waiting" && got.Get("X-Evil") == "", "the header is %q", got)
				g.match()
			}},
	}
	for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		rows = append(rows, Row{Name: fmt.Sprintf("%d and no stream, drop by drop: given up within five minutes", status),
			Needs: "player", Scale: 0.05, Lasts: 5 * time.Minute, play: func(ctx context.Context, g *game) {
				g.service.on("events", g.service.drips(status))
				g.search(ctx)
				g.within(g.waitForCalls(2, "events", "read"), 1, 5*time.Minute+slack)
				g.match()
			}})
	}
	return rows
}

// slack is what a busy machine may add to a wait, at a twentieth of the time.
const slack = 2 * time.Minute

var jsonHeader = map[string]string{"Content-Type": "application/json"}

// drips answers with a byte every five seconds.
func (s *service) drips(status int) misstep {
	return func(w http.ResponseWriter, c *call) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		each := time.NewTicker(s.game.real(5 * time.Second))
		defer each.Stop()
		for {
			send(w, " ")
			select {
			case <-each.C:
			case <-c.Context().Done():
				return false
			}
		}
	}
}

// crowded answers as usual, with many members more.
func (s *service) crowded(w http.ResponseWriter, c *call) bool {
	kept := &keeper{header: http.Header{}}
	s.answer(kept, c)
	var b strings.Builder
	b.Write(kept.body[:max(0, len(kept.body)-1)])
	for i := range 700_000 {
		fmt.Fprintf(&b, `,"%d":0`, i)
	}
	return answers(kept.status, jsonHeader, b.String()+"}")(w, c)
}

// header answers a header without an end.
func (s *service) header(w http.ResponseWriter, c *call) bool {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	defer func() { _ = connection.Close() }()
	to := bufio.NewWriterSize(connection, 64<<10)
	_, _ = to.WriteString("HTTP/1.1 200 OK\r\n")
	for i := 0; i < 64<<10; i++ {
		n, err := fmt.Fprintf(to, "X-%d: %01000d\r\n", i, i)
		if err != nil {
			return false
		}
		s.change(func() { c.Sent += int64(n) })
	}
	return false
}

// nowhere are regions whose addresses lead to what is no beacon, before those that are open.
func (g *game) nowhere() {
	file := filepath.Join(g.storage, "region")
	if err := os.MkdirAll(file, 0o700); err != nil {
		g.fail("%v", err)
	}
	answer := []byte(`{"echo":"x","rtt":1,"receipt":"AQ"}`)
	if err := os.WriteFile(filepath.Join(file, "probe"), answer, 0o600); err != nil {
		g.fail("%v", err)
	}
	body := map[string]any{}
	g.list(body)
	list, _ := body["regions"].([]any)
	for _, at := range []map[string]any{{"url": "file://" + file}, {"url": "::"}, {"url": ""}, {"udp": "127.0.0.1"},
		{"udp": ""}, {"udp": "127.0.0.1:99999"}, {"udp": ":"}, {"udp": "[::1"}} {
		at["name"], at["protocol"] = "x", "beacon"
		list = append(list, at)
	}
	for range 100 {
		list = append(list, map[string]any{"name": "x", "protocol": "beacon"})
	}
	body["regions"] = list
	text, err := json.Marshal(body)
	if err != nil {
		g.fail("%v", err)
	}
	g.service.always("regions", answers(200, jsonHeader, string(text)))
}
