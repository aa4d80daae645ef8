package web_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

// lines is a log that tests read while handlers write it.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// serve runs an instance with a route for every way to fail.
func serve(t *testing.T, level slog.Level, o web.Options) (url string, logged *lines) {
	t.Helper()
	logged = new(lines)
	log := slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: level}))
	e := web.New(log, o)
	e.POST(web.Base+"/tickets", func(c echo.Context) error {
		var body struct {
			Attributes map[string]float64 `json:"attributes"`
			Properties map[string][]byte  `json:"properties"`
		}
		if err := web.Decode(c, &body); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, body)
	})
	e.GET(web.Base+"/tickets", func(c echo.Context) error { return c.JSON(http.StatusOK, map[string]int{"b": 1, "a": 2}) })
	e.PUT(web.Base+"/configs/:id", func(c echo.Context) error { return web.Decode(c, new(struct{})) })
	e.PUT(web.Base+"/configs/:id/history", func(c echo.Context) error { return web.Decode(c, new(struct{})) })
	e.PUT(web.Base+"/functions/:name", func(c echo.Context) error {
		n, err := io.Copy(io.Discard, c.Request().Body)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, n)
	}, web.LimitBody(1<<20))
	for name, err := range failures {
		e.GET("/fail/"+name, func(echo.Context) error { return err })
	}
	e.GET("/fail/panic", func(echo.Context) error { panic("boom of the secret") })
	e.GET("/fail/slow", func(c echo.Context) error {
		<-c.Request().Context().Done()
		return c.Request().Context().Err()
	})
	e.GET("/fail/gone", func(c echo.Context) error {
		<-c.Request().Context().Done()
		return problem.Wrap(problem.Unavailable, c.Request().Context().Err(), "the store did not answer")
	})
	e.GET("/cached", func(c echo.Context) error {
		c.Response().Header().Set("Cache-Control", "public, max-age=60")
		return c.JSON(http.StatusOK, "x")
	})
	e.GET("/long", func(c echo.Context) error { return c.JSON(http.StatusOK, strings.Repeat("x", 100_000)) })
	e.DELETE(web.Base+"/tickets", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.DELETE("/fail/delete", func(echo.Context) error { return failures["notfound"] })
	e.GET("/fail/abort", func(echo.Context) error { panic(http.ErrAbortHandler) })
	e.GET("/fail/encode", func(c echo.Context) error { return c.JSON(http.StatusOK, func() {}) })
	e.GET("/fail/late", func(c echo.Context) error {
		_ = c.JSON(http.StatusOK, "sent")
		return errors.New("too late for a problem")
	})
	server := httptest.NewUnstartedServer(nil)
	server.Config = web.Server(e, log)
	server.Listener = web.Listener(server.Listener)
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, logged
}

var failures = map[string]error{
	"invalid":         problem.New(problem.Invalid, "field: reason"),
	"unauthenticated": problem.New(problem.Unauthenticated, "no token"),
	"forbidden":       problem.New(problem.Forbidden, "not yours"),
	"notfound":        problem.New(problem.NotFound, "no such ticket"),
	"conflict":        problem.New(problem.Conflict, "changed"),
	"limited":         problem.New(problem.Limited, "slow down").After(1500 * time.Millisecond),
	"limited-unknown": problem.New(problem.Limited, "slow down"),
	"unavailable":     problem.New(problem.Unavailable, "redis").After(time.Second),
	"named":           problem.New(problem.Conflict, "player %q is not ready", "hidden-player"),
	"wrapped": fmt.Errorf("while claiming: %w", problem.Wrap(problem.NotFound, errors.New("the cause"),
		"no such ticket")),
	"internal":      problem.New(problem.Internal, "the secret"),
	"foreign":       errors.New("dial tcp: the secret"),
	"echo-internal": echo.NewHTTPError(http.StatusInternalServerError, "the secret"),
}

func do(t *testing.T, method, url, contentType string, body io.Reader, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// wantProblem checks an answer against the contract's problem body, member by member.
func wantProblem(t *testing.T, res *http.Response, status int, detail string) {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", res.StatusCode, status, body)
	}
	if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q", got)
	}
	want, _ := json.Marshal(map[string]any{
		"type": fmt.Sprintf("https://httpstatuses.io/%d", status), "title": http.StatusText(status),
		"status": status, "detail": detail, "code": problem.OfStatus(status).String(), "instance": nil,
		"extensions": map[string]any{"correlationId": res.Header.Get(web.HeaderCorrelationID)},
	})
	var got any
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if sorted, _ := json.Marshal(got); !bytes.Equal(sorted, want) {
		t.Errorf("got  %s\nwant %s", sorted, want)
	}
	if res.Header.Get(web.HeaderCorrelationID) == "" {
		t.Error("no correlation id")
	}
}

func TestProblems(t *testing.T) {
	const tickets = "/demo/matchmaking/api/v1/tickets"
	const internal = "internal error; the correlation id helps support to find its cause"
	big := strings.Repeat(" ", 64<<10)
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	for name, tt := range map[string]struct {
		method, path, contentType, body string
		headers                         []string
		status                          int
		detail                          string
		want                            []string // headers of the answer
	}{
		"unknown path":     {method: "GET", path: "/nowhere", status: 404, detail: "this path does not exist"},
		"unknown sub-path": {method: "GET", path: tickets + "/x", status: 404, detail: "this path does not exist"},
		"empty segment": {method: "PUT", path: "/demo/matchmaking/api/v1/configs//history", body: "{}", status: 404,
			detail: "this path does not exist"},
		"no project": {method: "GET", path: "//matchmaking/api/v1/tickets", status: 404, detail: "this path does not exist"},
		"long method": {method: strings.Repeat("A", 5000), path: tickets, status: 405,
			detail: "this path does not take the method " + strings.Repeat("A", 2013) + "…"},
		"method": {method: "PATCH", path: tickets, status: 405,
			detail: "this path does not take the method PATCH", want: []string{"Allow", "OPTIONS, DELETE, GET, HEAD, POST"}},
		"accept": {method: "GET", path: tickets, headers: []string{"Accept", "text/html, application/xml;q=0.9"},
			status: 406, detail: "Accept: answers are application/json, errors application/problem+json"},
		"accept, weight 0": {method: "GET", path: tickets, headers: []string{"Accept", "application/json;q=0"},
			status: 406, detail: "Accept: answers are application/json, errors application/problem+json"},
		"no content type": {method: "POST", path: tickets, body: "{}", status: 415,
			detail: "Content-Type is missing: application/json is expected"},
		"other content type": {method: "POST", path: tickets, contentType: "text/plain", body: "{}", status: 415,
			detail: "Content-Type: application/json is expected"},
		"odd content type": {method: "POST", path: tickets, contentType: "application/json;;", body: "{}", status: 415,
			detail: "Content-Type: application/json is expected"},
		"other charset": {method: "POST", path: tickets, contentType: "application/json; charset=latin1", body: "{}",
			status: 415, detail: "Content-Type: JSON is read as UTF-8 only"},
		"no body": {method: "POST", path: tickets, contentType: "application/json", status: 400,
			detail: "the body is empty: a JSON value is expected"},
		"bad member": {method: "POST", path: tickets, contentType: "application/json",
			body: `{"attributes":{"a":"b"}}`, status: 400, detail: "attributes.a: a number is expected, got a string"},
		"64 KiB": {method: "POST", path: tickets, contentType: "application/json", body: big, status: 413,
			detail: "the body is too large: it must be smaller than 65536 bytes", want: []string{"Connection", "close"}},
		"64 KiB for PUT": {method: "PUT", path: "/demo/matchmaking/api/v1/configs/c", contentType: "application/json",
			body: big, status: 413, detail: "the body is too large: it must be smaller than 65536 bytes"},
		"64 KiB for DELETE": {method: "DELETE", path: tickets, body: big, status: 413,
			detail: "the body is too large: it must be smaller than 65536 bytes"},
		"a route's own limit": {method: "PUT", path: "/demo/matchmaking/api/v1/functions/f", body: strings.Repeat(" ", 1<<20),
			status: 413, detail: "the body is too large: it must be smaller than 1048576 bytes"},
		"invalid":         {method: "GET", path: "/fail/invalid", status: 400, detail: "field: reason"},
		"unauthenticated": {method: "GET", path: "/fail/unauthenticated", status: 401, detail: "no token"},
		"forbidden":       {method: "GET", path: "/fail/forbidden", status: 403, detail: "not yours"},
		"not found":       {method: "GET", path: "/fail/notfound", status: 404, detail: "no such ticket"},
		"conflict":        {method: "GET", path: "/fail/conflict", status: 409, detail: "changed"},
		"limited": {method: "GET", path: "/fail/limited", status: 429, detail: "slow down",
			want: []string{"Retry-After", "2"}},
		"limited, no time": {method: "GET", path: "/fail/limited-unknown", status: 429, detail: "slow down",
			want: []string{"Retry-After", "1"}},
		"unavailable": {method: "GET", path: "/fail/unavailable", status: 503, detail: "redis",
			want: []string{"Retry-After", "1"}},
		"wrapped":         {method: "GET", path: "/fail/wrapped", status: 404, detail: "no such ticket"},
		"internal":        {method: "GET", path: "/fail/internal", status: 500, detail: internal},
		"foreign":         {method: "GET", path: "/fail/foreign", status: 500, detail: internal},
		"echo's internal": {method: "GET", path: "/fail/echo-internal", status: 500, detail: internal},
		"panic":           {method: "GET", path: "/fail/panic", status: 500, detail: internal},
		"answer not JSON": {method: "GET", path: "/fail/encode", status: 500, detail: internal},
	} {
		t.Run(name, func(t *testing.T) {
			var body io.Reader
			if tt.body != "" {
				body = strings.NewReader(tt.body)
			}
			res := do(t, tt.method, url+tt.path, tt.contentType, body, tt.headers...)
			for i := 0; i < len(tt.want); i += 2 {
				got := res.Header.Get(tt.want[i])
				if tt.want[i] == "Connection" && res.Close {
					got = "close" // net/http's client moves it there
				}
				if got != tt.want[i+1] {
					t.Errorf("%s: %q, want %q", tt.want[i], got, tt.want[i+1])
				}
			}
			wantProblem(t, res, tt.status, tt.detail)
		})
	}
}

func TestAnswers(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	tickets := url + "/demo/matchmaking/api/v1/tickets"
	for _, accept := range []string{"", "*/*", "application/json", "application/*;q=0.1", "application/problem+json",
		"text/html, */*;q=0.8", "odd/;;, application/json"} {
		res := do(t, "GET", tickets, "", nil, "Accept", accept)
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusOK || string(body) != `{"a":2,"b":1}` {
			t.Errorf("Accept %q: %d %s", accept, res.StatusCode, body)
		}
	}
	for _, contentType := range []string{"application/json", "Application/JSON; charset=UTF-8", "application/json;x=y",
		"application/json; charset=utf8", `application/json;charset="UTF8"`} {
		res := do(t, "POST", tickets, contentType, strings.NewReader(`{"Attributes":{"A":1}}`))
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusCreated || string(body) != `{"attributes":{"A":1},"properties":{}}` {
			t.Errorf("%s: %d %s", contentType, res.StatusCode, body)
		}
	}
	longest := strings.Repeat(" ", 64<<10-3) + "{}"
	if res := do(t, "POST", tickets, "application/json",
		strings.NewReader(longest)); res.StatusCode != http.StatusCreated {
		t.Errorf("65,535 bytes: %d", res.StatusCode)
	}
	if res := do(t, "POST", tickets, "application/json",
		io.MultiReader(strings.NewReader(longest))); res.StatusCode != http.StatusCreated {
		t.Errorf("65,535 bytes in chunks: %d", res.StatusCode)
	}
	upload := strings.NewReader(strings.Repeat(" ", 1<<20-1))
	if res := do(t, "PUT", url+"/demo/matchmaking/api/v1/functions/f", "", upload); res.StatusCode != http.StatusOK {
		t.Errorf("upload below its own limit: %d", res.StatusCode)
	}
	if res := do(t, "HEAD", url+"/nowhere", "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("HEAD: %d", res.StatusCode)
	}
}

// endless is a client that never stops sending; sent counts what it got rid of.
type endless struct{ sent int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.sent += int64(len(p))
	return len(p), nil
}

// The server must answer such a client, and must not read on: the connection ends, so that the client's sending ends
// too, after what fits into buffers.
func TestEndlessBodies(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	for name, path := range map[string]string{
		"ticket":   "POST /demo/matchmaking/api/v1/tickets",
		"function": "PUT /demo/matchmaking/api/v1/functions/f",
	} {
		for _, header := range []string{"Transfer-Encoding: chunked", "Content-Length: 1000000000000"} {
			t.Run(name+" "+header, func(t *testing.T) {
				conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n\r\n", path, header)
				stopped := make(chan int64)
				go func() {
					var body io.Writer = conn
					if strings.HasPrefix(header, "Transfer") {
						body = chunks{conn}
					}
					client := new(endless)
					_, _ = io.CopyBuffer(body, struct{ io.Reader }{client}, make([]byte, 16<<10))
					stopped <- client.sent
				}()
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				if res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close {
					t.Errorf("status %d, close %v", res.StatusCode, res.Close)
				}
				if sent := <-stopped; sent > 64<<20 {
					t.Errorf("the client could send %d bytes", sent)
				}
			})
		}
	}
}

type chunks struct{ io.Writer }

func (c chunks) Write(p []byte) (int, error) {
	if _, err := fmt.Fprintf(c.Writer, "%x\r\n%s\r\n", len(p), p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A client that still sends
// its body reads the answer, instead of finding the connection reset.
func TestRefusalIsRead(t *testing.T) {
	url, _ := serve(t, slog.LevelError, web.Options{})
	for range 10 {
		for method, path := range map[string]string{
			http.MethodPost: "/demo/matchmaking/api/v1/tickets",
			http.MethodPut:  "/demo/matchmaking/api/v1/configs/c",
		} {
			req, err := http.NewRequestWithContext(t.Context(), method, url+path,
				io.MultiReader(strings.NewReader(strings.Repeat(" ", 4<<20))))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge || len(text) == 0 {
				t.Fatalf("%s: got %d, %q, %v", method, res.StatusCode, text, err)
			}
		}
	}
}

// A handler that drops the connection on purpose gets no answer written for it.
func TestAbort(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/fail/abort", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
		t.Errorf("answered with %d", res.StatusCode)
	}
}

func TestCorrelation(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	for given, kept := range map[string]bool{
		"abc-123_X.y:z": true, strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false, "a b": false, "é": false, `"><script>`: false, "a\tb": false,
	} {
		res := do(t, "GET", url+"/fail/notfound", "", nil, web.HeaderCorrelationID, given)
		if got := res.Header.Get(web.HeaderCorrelationID); (got == given) != kept || got == "" {
			t.Errorf("%q came back as %q", given, got)
		}
		wantProblem(t, res, 404, "no such ticket")
	}
	a, b := do(t, "GET", url+"/", "", nil), do(t, "GET", url+"/", "", nil)
	if a.Header.Get(web.HeaderCorrelationID) == b.Header.Get(web.HeaderCorrelationID) {
		t.Error("two requests share a generated id")
	}
}
