package web_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/web"
)

// say sends raw bytes and reads the answer to the last request in them.
func say(t *testing.T, url, text string) *http.Response {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() { _, _ = io.WriteString(conn, text) }() // the server may end the connection in the middle of it
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.60q: %v", text, err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// What net/http refuses by itself has a problem body too, and ends the connection.
func TestRefusalsBeforeHandlers(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	const host, malformed = "Host: x\r\n", "the request is malformed HTTP/1.1"
	for name, tt := range map[string]struct {
		text, detail string
		status       int
	}{
		"no HTTP":    {"hello\r\n\r\n", malformed, 400},
		"no path":    {"GET\r\n\r\n", malformed, 400},
		"bad escape": {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", malformed, 400},
		"no host": {"GET / HTTP/1.1\r\n\r\n",
			malformed + ": missing required Host header", 400},
		"two hosts": {"GET / HTTP/1.1\r\n" + host + host + "\r\n", malformed, 400},
		"bad host": {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
			malformed + ": malformed Host header", 400},
		"header's name": {"GET / HTTP/1.1\r\n" + host + "a b: c\r\n\r\n",
			malformed + ": invalid header name", 400},
		"header's value": {"GET / HTTP/1.1\r\n" + host + "A: b\x00c\r\n\r\n",
			malformed, 400},
		"two lengths": {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
			malformed, 400},
		"no length": {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n",
			malformed, 400},
		"version": {"GET / HTTP/3.7\r\n" + host + "\r\n",
			malformed + ": unsupported protocol version", 505},
		"encoding": {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n",
			"Transfer-Encoding: only chunked is understood", 501},
		"expectation": {"POST / HTTP/1.1\r\n" + host + "Expect: a-miracle\r\n\r\n",
			"Expect: only 100-continue is understood", 417},
		"huge header": {"GET / HTTP/1.1\r\n" + host + "Authorization: Bearer " + strings.Repeat("a", 1<<20) + "\r\n\r\n",
			"the headers are too large: they must be smaller than 32768 bytes", 431},
		"many headers": {"GET / HTTP/1.1\r\n" + host + strings.Repeat("A: b\r\n", 20_000) + "\r\n",
			"the headers are too large: they must be smaller than 32768 bytes", 431},
		"huge line": {"GET /" + strings.Repeat("a", 1<<20) + " HTTP/1.1\r\n" + host + "\r\n",
			"the headers are too large: they must be smaller than 32768 bytes", 431},
	} {
		t.Run(name, func(t *testing.T) {
			res := say(t, url, tt.text)
			wantProblem(t, res, tt.status, tt.detail)
			if !res.Close || res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("Date") == "" {
				t.Errorf("close %v, headers %v", res.Close, res.Header)
			}
		})
	}
	for name, tt := range map[string]struct {
		text   string
		status int
	}{
		"OPTIONS *":      {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n", 404},
		"HTTP/2 preface": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404},
		"CONNECT":        {"CONNECT x:80 HTTP/1.1\r\n" + host + "\r\n", 404},
		"TRACE":          {"TRACE /long HTTP/1.1\r\n" + host + "\r\n", 405},
		"odd method":     {"A!#$B /long HTTP/1.1\r\n" + host + "\r\n", 405},
		"absolute form":  {"GET http://x/nowhere HTTP/1.1\r\n" + host + "\r\n", 404},
		"HTTP/1.0":       {"GET /nowhere HTTP/1.0\r\n\r\n", 404},
		"bad chunk": {"POST /demo/matchmaking/api/v1/tickets HTTP/1.1\r\n" + host +
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
		"cut body": {"POST /demo/matchmaking/api/v1/tickets HTTP/1.1\r\n" + host +
			"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			res := say(t, url, tt.text)
			if res.StatusCode != tt.status || res.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%d %v, want %d and a problem", res.StatusCode, res.Header, tt.status)
			}
		})
	}
}

// Requests in one piece are answered in their order.
func TestPipelining(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const tickets = "/demo/matchmaking/api/v1/tickets HTTP/1.1\r\nHost: x\r\n"
	_, _ = io.WriteString(conn, "GET "+tickets+"\r\nPOST "+tickets+"Content-Type: application/json\r\n"+
		"Content-Length: 2\r\n\r\n{}HEAD "+tickets+"\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n")
	answers := bufio.NewReader(conn)
	for i, want := range []int{200, 201, 200, 404, 400} {
		var r *http.Request
		if i == 2 {
			r = &http.Request{Method: http.MethodHead}
		}
		res, err := http.ReadResponse(answers, r)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("answer %d: %d, want %d", i, res.StatusCode, want)
		}
	}
}

// HEAD is answered as GET is, but for the body.
func TestHead(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	for _, path := range []string{"/demo/matchmaking/api/v1/tickets", "/cached", "/long", "/fail/notfound", "/fail/panic",
		"/nowhere"} {
		get, head := do(t, "GET", url+path, "", nil), do(t, "HEAD", url+path, "", nil)
		if body, _ := io.ReadAll(head.Body); len(body) > 0 || head.StatusCode != get.StatusCode {
			t.Errorf("%s: %d %s, want %d", path, head.StatusCode, body, get.StatusCode)
		}
		for name := range get.Header {
			if name != "Date" && name != web.HeaderCorrelationID && head.Header.Get(name) != get.Header.Get(name) {
				t.Errorf("%s: %s is %q, want %q", path, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
	}
	res := do(t, "HEAD", url+"/demo/matchmaking/api/v1/configs/c", "", nil)
	if res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a path without GET: %d", res.StatusCode)
	}
}

func TestCaching(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	for path, want := range map[string]string{
		"/demo/matchmaking/api/v1/tickets": "no-store", "/nowhere": "no-store", "/fail/panic": "no-store",
		"/cached": "public, max-age=60",
	} {
		if got := do(t, "GET", url+path, "", nil).Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A DELETE has no body in its answer, so any Accept will do; its errors are problems all the same.
func TestDeleteAcceptsAnything(t *testing.T) {
	url, _ := serve(t, slog.LevelError+1, web.Options{})
	res := do(t, "DELETE", url+"/demo/matchmaking/api/v1/tickets", "", nil, "Accept", "text/plain")
	if res.StatusCode != http.StatusOK {
		t.Errorf("got %d", res.StatusCode)
	}
	wantProblem(t, do(t, "DELETE", url+"/fail/delete", "", nil, "Accept", "text/plain"), 404, "no such ticket")
}

func TestQuery(t *testing.T) {
	for query, want := range map[string]string{
		"":              "",
		"id=1&x=2&x=3":  "",
		"id=1&id=1":     "query parameter id: given more than once",
		"id=1&%69d=2":   "query parameter id: given more than once",
		"id=%zz":        `the query cannot be read: invalid URL escape "%zz"`,
		"id=1;other=2":  "the query cannot be read: invalid semicolon separator in query",
		"other=1&ID=3":  "",
		"id=1&other=%q": `the query cannot be read: invalid URL escape "%q"`,
	} {
		c := echo.New().NewContext(&http.Request{URL: &url.URL{RawQuery: query}}, nil)
		got, err := web.Query(c, "id")
		if want != "" && (err == nil || err.Error() != want) || want == "" && (err != nil || got == nil) {
			t.Errorf("%s: got %v, want %q", query, err, want)
		}
	}
}
