package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is how a hosting system misbehaves.
type Fault uint8

// The faults.
const (
	Slow      Fault = iota // answers after a while
	Lost                   // executes the call, and the connection breaks before the answer
	Twice                  // gets the call twice, as if a proxy repeated it
	Garbage                // executes it, and answers with a web page
	Truncated              // executes it, and the answer breaks off
	Endless                // executes it, and the answer has no end
	Broken                 // executes it, and answers 500
	Away                   // does nothing, and answers 503
	Hang                   // does nothing, and never answers
	HangAfter              // executes it, and never answers
	Echo                   // does nothing, answers 400, and repeats the request in the answer
)

func (f Fault) String() string {
	return [...]string{
		"slow", "lost answer", "twice", "garbage", "truncated", "endless", "broken", "away", "hang", "hang after", "echo",
	}[f]
}

// Server serves a hosting system over TLS, with faults on demand.
type Server struct {
	URL       string
	Authority *Authority

	t       *testing.T
	handler http.Handler
	server  *httptest.Server

	mu          sync.Mutex
	certificate tls.Certificate
	faults      []fault
	calls       int
	hangs       func()
}

// Calls selects calls.
type Calls func(r *http.Request, body []byte) bool

type fault struct {
	kind Fault
	hits Calls
}

// Serve starts a server. clients says which client certificates it asks for; nil for none.
func Serve(t *testing.T, handler http.Handler, authority *Authority, clients *tls.Config) *Server {
	t.Helper()
	s := &Server{t: t, Authority: authority, handler: handler}
	server := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.server = server
	s.certificate = authority.Server(t, time.Now().Add(30*time.Minute))
	if clients == nil {
		clients = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	// GetCertificate would not be called for a connection to an address without a name.
	certificate := func(*tls.ClientHelloInfo) (*tls.Config, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c := clients.Clone()
		c.Certificates = []tls.Certificate{s.certificate}
		return c, nil
	}
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: certificate}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	server.StartTLS()
	s.URL = server.URL
	t.Cleanup(server.Close)
	return s
}

// Renew gives the server a certificate that expires at a time, and ends the connections under the old one.
func (s *Server) Renew(expires time.Time) {
	certificate := s.Authority.Server(s.t, expires)
	s.mu.Lock()
	s.certificate = certificate
	s.mu.Unlock()
	s.server.CloseClientConnections()
}

// Break makes the next calls suffer the faults, one each. hits selects the calls; nil selects all.
func (s *Server) Break(hits Calls, kinds ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		s.faults = append(s.faults, fault{kind, hits})
	}
}

// OnHang calls hangs when a call hangs.
func (s *Server) OnHang(hangs func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = hangs
}

// hang never answers a call.
func (s *Server) hang(r *http.Request) {
	s.mu.Lock()
	hangs := s.hangs
	s.mu.Unlock()
	if hangs != nil {
		hangs()
	}
	<-r.Context().Done()
}

// Heal cancels the faults that no call has suffered yet.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Calls counts the calls that arrived.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// next is the fault of a call, and whether it has one.
func (s *Server) next(r *http.Request, body []byte) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	for i, f := range s.faults {
		if f.hits == nil || f.hits(r, body) {
			s.faults = append(s.faults[:i], s.faults[i+1:]...)
			return f.kind, true
		}
	}
	return 0, false
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	kind, broken := s.next(r, body)
	if !broken {
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.handler.ServeHTTP(w, r)
		return
	}
	switch kind {
	case Away:
		w.Header().Set("Retry-After", "0")
		http.Error(w, "upstream connect error or disconnect/reset before headers", http.StatusServiceUnavailable)
		return
	case Hang:
		s.hang(r)
		return
	case Echo:
		// A provider is likely to repeat what is short. The secret parts come first.
		secret := body[max(bytes.LastIndex(body, []byte("matchProperties")), 0):]
		all := fmt.Sprintf("%.100s %.150s %s", r.Header.Get("Authorization"), secret, r.URL)
		text, _ := json.Marshal(map[string]any{
			"message": all, "error": all, "detail": all, "reason": all, "messages": []string{all},
		})
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(text)
		return
	}
	answer := s.handle(r, body)
	if kind == Twice {
		answer = s.handle(r, body)
	}
	switch kind {
	case Slow:
		select {
		case <-time.After(30 * time.Millisecond):
		case <-r.Context().Done():
		}
		pass(w, answer, answer.Body.String())
	case Twice:
		pass(w, answer, answer.Body.String())
	case Lost:
		drop(w)
	case Garbage:
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Welcome</title>\x00\xff")
	case Truncated:
		text := answer.Body.String()
		w.Header().Set("Content-Length", "100000")
		pass(w, answer, text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		drop(w)
	case Endless:
		pass(w, answer, "")
		for filler := strings.Repeat(" ", 1<<16); ; {
			if _, err := io.WriteString(w, filler); err != nil {
				return
			}
		}
	case Broken:
		http.Error(w, `{"error":"internal"}`, http.StatusInternalServerError)
	case HangAfter:
		s.hang(r)
	}
}

// handle executes a call, whether or not the caller still waits for it.
func (s *Server) handle(r *http.Request, body []byte) *httptest.ResponseRecorder {
	again := r.Clone(context.WithoutCancel(r.Context()))
	again.Body = io.NopCloser(bytes.NewReader(body))
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, again)
	return w
}

func pass(w http.ResponseWriter, answer *httptest.ResponseRecorder, text string) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, text)
}

// drop ends the connection.
func drop(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}
