package web

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// Listener returns a listener for a Server of this package: what net/http refuses before a handler sees it, malformed
// requests and headers over the bound, is answered with a problem body like everything else.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

// conn replaces the plain texts that net/http writes to connections by itself. It writes each of them at once, and with
// headers that no answer of a handler begins with.
type conn struct{ net.Conn }

func (c conn) Write(p []byte) (int, error) {
	status, reason, ok := refusalIn(p)
	if !ok {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(refusal(status, reason, time.Now())); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite ends the answers. Without it net/http would close the connection while the client still sends, and the
// client could not read the answer.
func (c conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// What a refusal of net/http begins with, and what follows its status line. That to an Expect is an empty answer.
var (
	statusLine    = []byte("HTTP/1.1 ")
	plainHeaders  = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	noExpectation = []byte("HTTP/1.1 417 ")
)

// refusalIn reads the status, and the reason if there is one, of a refusal that net/http is about to write.
func refusalIn(p []byte) (status int, reason string, ok bool) {
	if !bytes.HasPrefix(p, statusLine) || len(p) < len(statusLine)+3 || p[len(statusLine)] < '4' {
		return 0, "", false
	}
	line, _, _ := bytes.Cut(p, []byte("\r\n"))
	if !bytes.HasPrefix(p[len(line):], plainHeaders) && !bytes.HasPrefix(p, noExpectation) {
		return 0, "", false
	}
	status, err := strconv.Atoi(string(line[len(statusLine) : len(statusLine)+3]))
	if err != nil {
		return 0, "", false
	}
	_, reason, _ = strings.Cut(string(line), ": ")
	return status, reason, true
}

// refusal is the whole answer to what is no request.
func refusal(status int, reason string, now time.Time) []byte {
	detail := "the request is malformed HTTP/1.1"
	switch status {
	case http.StatusExpectationFailed:
		detail = "Expect: only 100-continue is understood"
	case http.StatusRequestHeaderFieldsTooLarge:
		detail = fmt.Sprintf("the headers are too large: they must be smaller than %d bytes", maxHeader)
	case http.StatusNotImplemented:
		detail = "Transfer-Encoding: only chunked is understood"
	}
	if reason != "" {
		detail += ": " + reason // a fixed text of net/http
	}
	id := rand.Text()
	body, err := problemText(status, problem.OfStatus(status), detail, id)
	if err != nil {
		body = nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n"+
		"Content-Type: %s\r\nDate: %s\r\n%s: %s\r\n\r\n", status, http.StatusText(status), len(body), mediaProblem,
		now.UTC().Format(http.TimeFormat), HeaderCorrelationID, id)
	b.Write(body)
	return b.Bytes()
}
