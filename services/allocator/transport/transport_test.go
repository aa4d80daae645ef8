package transport_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/provider/conformance"
	"matchmaker.dev/services/allocator/transport"
)

// world is a server and a client of it.
type world struct {
	server *conformance.Server
	client *transport.Client
	log    conformance.LogBuffer
	now    time.Time
}

func open(t *testing.T, handler http.HandlerFunc, o transport.Options) *world {
	t.Helper()
	w := &world{now: time.Now()}
	w.server = conformance.Serve(t, handler, conformance.NewAuthority(t), nil)
	if o.CA == "" {
		o.CA = w.server.Authority.File
	}
	o.Log, o.Now = w.log.Logger(), func() time.Time { return w.now }
	var err error
	if w.client, err = transport.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.client.Close)
	return w
}

func (w *world) get(ctx context.Context, t *testing.T, path string) (*transport.Answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.client.Do(ctx, r)
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func TestAnswer(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		hello(w, r)
	}, transport.Options{})
	if a, err := w.get(t.Context(), t, "/"); err != nil || a.Status != http.StatusTeapot || string(a.Body) != "hello" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	w := open(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}, transport.Options{})
	if a, err := w.get(t.Context(), t, "/"); err != nil || a.Status != http.StatusTemporaryRedirect ||
		w.server.Calls() != 1 {
		t.Errorf("%+v, %v, %d calls", a, err, w.server.Calls())
	}
}

func TestAnswersAreBounded(t *testing.T) {
	w := open(
		t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 11)) },
		transport.Options{Limit: 10},
	)
	if _, err := w.get(t.Context(), t, "/"); err == nil || !strings.Contains(err.Error(), "more than 10 bytes") {
		t.Error(err)
	}
}

func TestDeadlines(t *testing.T) {
	w := open(t, hello, transport.Options{Timeout: 50 * time.Millisecond})
	w.server.Break(nil, conformance.Hang)
	_, err := w.get(t.Context(), t, "/path?secret=hunter2")
	if err == nil || !strings.HasSuffix(err.Error(), "/path: no answer within 50ms") ||
		strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}

	w = open(t, hello, transport.Options{})
	w.server.Break(nil, conformance.Hang)
	why := errors.New("the allocator stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := w.get(ctx, t, "/"); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestErrorsHideTheQuery(t *testing.T) {
	w := open(t, hello, transport.Options{})
	w.server.Break(nil, conformance.Lost)
	if _, err := w.get(t.Context(), t, "/path?secret=hunter2"); err == nil || strings.Contains(err.Error(), "hunter2") ||
		!strings.Contains(err.Error(), "/path: ") {
		t.Error(err)
	}
}

func TestAuthorityIsRenewed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	put := func(text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(a *conformance.Authority) []byte {
		text, err := os.ReadFile(a.File)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	put(read(conformance.NewAuthority(t)))
	w := open(t, hello, transport.Options{CA: file})
	if _, err := w.get(t.Context(), t, "/"); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Fatal(err)
	}
	// After a call that failed the file is looked at, at once.
	put(read(w.server.Authority))
	if _, err := w.get(t.Context(), t, "/"); err != nil {
		t.Fatal(err)
	}
	// A file that is being written changes nothing, nor does one that is gone.
	for _, change := range []func(){func() { put([]byte("-----BEGIN")) }, func() { _ = os.Remove(file) }} {
		change()
		w.now = w.now.Add(time.Minute)
		if _, err := w.get(t.Context(), t, "/"); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(w.log.String(), "the old ones stay in use"); n != 2 {
		t.Errorf("%d warnings", n)
	}
	// A new one counts from the next look on.
	put(read(conformance.NewAuthority(t)))
	if _, err := w.get(t.Context(), t, "/"); err != nil {
		t.Error(err)
	}
	w.now = w.now.Add(time.Minute)
	if _, err := w.get(t.Context(), t, "/"); err == nil {
		t.Error("a server of the former authority is still trusted")
	}
}

func TestDataInsteadOfFiles(t *testing.T) {
	authority := conformance.NewAuthority(t)
	server := conformance.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].SerialNumber.String())
	}), authority, &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority.Pool(),
	})
	dir := t.TempDir()
	pair := func() (certificate, key []byte) {
		authority.Client(t, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), time.Now().Add(time.Hour))
		var all [2][]byte
		for i, name := range []string{"tls.crt", "tls.key"} {
			var err error
			if all[i], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		return all[0], all[1]
	}
	ca, err := os.ReadFile(authority.File)
	if err != nil {
		t.Fatal(err)
	}
	o := transport.Options{
		CA: "none", CAData: ca, Certificate: "none", Key: "none", Now: time.Now, Log: new(conformance.LogBuffer).Logger(),
	}
	o.CertificateData, o.KeyData = pair()
	client, err := transport.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	serials := map[string]bool{}
	for range 2 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		serials[string(answer.Body)] = true
		client.Identify(pair())
	}
	if len(serials) != 2 {
		t.Errorf("the server saw %d certificates", len(serials))
	}
	o.KeyData, o.Key = nil, ""
	if _, err := transport.New(o); err == nil || !strings.Contains(err.Error(), "both or neither") {
		t.Error(err)
	}
}

func TestFilesThatAreNoGood(t *testing.T) {
	dir := t.TempDir()
	empty, certificate, key := filepath.Join(dir, "empty"), filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	conformance.NewAuthority(t).Client(t, certificate, key, time.Now().Add(time.Hour))
	for want, o := range map[string]transport.Options{
		"no certificate":     {CA: empty},
		"no such file":       {CA: filepath.Join(dir, "none")},
		"both or neither":    {Certificate: certificate},
		"certificate and":    {Certificate: certificate, Key: empty},
		"none: no such file": {Certificate: certificate, Key: filepath.Join(dir, "none")},
	} {
		o.Now = time.Now
		if _, err := transport.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for raw, want := range map[string]string{
		"https://fleet.example.com":         "https://fleet.example.com",
		"https://fleet.example.com/api/v1/": "https://fleet.example.com/api/v1",
		"http://127.0.0.1:8080":             "http://127.0.0.1:8080",
		"http://[::1]:8080/":                "http://[::1]:8080",
		"http://localhost":                  "http://localhost",
		"http://fleet.example.com":          "",
		"http://127.0.0.1.example.com":      "",
		"ftp://127.0.0.1":                   "",
		"fleet.example.com":                 "",
		"https://":                          "",
		"https://u:hunter2@example.com":     "",
		"https://example.com?key=hunter2":   "",
		"https://u:hunter2@%":               "",
		"":                                  "",
	} {
		u, err := transport.Endpoint(raw)
		switch {
		case want == "" && (err == nil || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: %v, %v", raw, u, err)
		case want != "" && (err != nil || u.String() != want):
			t.Errorf("%s: %v, %v", raw, u, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "99999999": time.Hour, "soon": 0,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
		"Fri, 02 Jan 2099 03:04:00 GMT": time.Hour,
	} {
		a := &transport.Answer{Header: http.Header{"Retry-After": {text}}}
		if got := a.RetryAfter(now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestRedact(t *testing.T) {
	const hidden = "(left out: it repeats a secret)"
	for _, test := range []struct{ text, secret, want string }{
		{"fleet is\n\tfull\x00\x1b[31m", "hunter2hunter2", "fleet is full[31m"},
		{"bad key hunter2", "hunter2", hidden},
		{"bad key", "", "bad key"},
		{"bad key a", "a", "bad key a"},
		{`bad body {\"token\":\"eyJhbGciOi.xyz\"}`, `{"token":"eyJhbGciOi.xyz"}`, hidden},
		{"half of it: eyJhbGciOiJS", "eyJhbGciOiJSUzI1NiJ9", hidden},
		{"%7B%22map%22%3A%22harbour%22", `{"map":"harbour-district"}`, "%7B%22map%22%3A%22harbour%22"}, // a word is no secret
		{strings.Repeat("é", 400), "", strings.Repeat("é", 150) + "…"},
		{"\xff\xfe", "", "�"},
	} {
		if got := transport.Redact(test.text, test.secret); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}
