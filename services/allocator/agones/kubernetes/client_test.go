package kubernetes_test

import (
	"cmp"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/agones/kubernetes"
	"matchmaker.dev/services/allocator/provider/conformance"
)

// world is an API server, a folder for files, and a clock.
type world struct {
	*conformance.Server
	t   *testing.T
	dir string
	log conformance.LogBuffer

	mu     sync.Mutex
	later  time.Duration // than the machine's clock
	status int           // of answers
	held   chan struct{} // the next call waits for it
	calls  []*http.Request
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), status: http.StatusOK}
	authority := conformance.NewAuthority(t)
	w.Server = conformance.Serve(t, w, authority, &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: authority.Pool(),
	})
	return w
}

// ServeHTTP answers with the call's headers.
func (w *world) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, r)
	if held := w.held; held != nil {
		w.held = nil
		w.mu.Unlock()
		<-held
		w.mu.Lock()
	}
	to.WriteHeader(w.status)
	_, _ = io.WriteString(to, r.Header.Get("Authorization"))
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.later)
}

// wait lets time pass.
func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.later += d
}

func (w *world) answer(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = status
}

// put writes a file into the folder.
func (w *world) put(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) read(path string) string {
	w.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// await waits for a condition.
func (w *world) await(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("waited for %s", what)
		}
	}
}

func (w *world) client(o kubernetes.Options) *kubernetes.Client {
	w.t.Helper()
	o.Log, o.Now, o.Timeout = w.log.Logger(), w.now, cmp.Or(o.Timeout, time.Minute)
	c, err := kubernetes.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// call makes a call, and returns how it arrived.
func (w *world) call(c *kubernetes.Client) *http.Request {
	w.t.Helper()
	answer, err := c.Call(w.t.Context(), http.MethodGet, "/apis/x?y=z", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if answer.Status != w.status {
		w.t.Errorf("status %d, want %d", answer.Status, w.status)
	}
	return w.last()
}

// last is the last call that arrived.
func (w *world) last() *http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[len(w.calls)-1]
}

// expect makes a call, and compares its header Authorization.
func (w *world) expect(c *kubernetes.Client, authorization string) {
	w.t.Helper()
	if got := w.call(c).Header.Get("Authorization"); got != authorization {
		w.t.Errorf("a call has %q, want %q", got, authorization)
	}
}

func TestPod(t *testing.T) {
	w := open(t)
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	w.expect(w.client(kubernetes.Options{CA: w.Authority.File, Token: w.put("token", "hunter2\n")}), "Bearer hunter2")
}

func TestCalls(t *testing.T) {
	w := open(t)
	var body string
	w.Break(func(_ *http.Request, text []byte) bool {
		body = string(text)
		return false
	}, conformance.Slow)
	c := w.client(kubernetes.Options{URL: w.URL + "/base/", CA: w.Authority.File, Token: w.put("token", "t")})
	for _, test := range []struct {
		method    string
		body      any
		text, typ string
	}{
		{http.MethodGet, nil, "", ""},
		{http.MethodPost, map[string]string{"a": "<"}, `{"a":"\u003c"}`, "application/json"},
		{http.MethodPatch, map[string]any{"a": nil}, `{"a":null}`, "application/merge-patch+json"},
		{http.MethodDelete, nil, "", ""},
	} {
		if _, err := c.Call(t.Context(), test.method, "/apis/x?y=z", test.body); err != nil {
			t.Fatal(err)
		}
		r := w.last()
		if r.Method != test.method || r.URL.String() != "/base/apis/x?y=z" || strings.TrimSpace(body) != test.text ||
			r.Header.Get("Content-Type") != test.typ || r.Header.Get("Accept") != "application/json, */*" {
			t.Errorf("%s %s with %q of type %q", r.Method, r.URL, body, r.Header.Get("Content-Type"))
		}
	}
	if _, err := c.Call(t.Context(), http.MethodPost, "/", func() {}); err == nil {
		t.Error("a body that is no JSON was sent")
	}
}

func TestTokenFileIsReadAgain(t *testing.T) {
	w := open(t)
	file := w.put("token", "one")
	c := w.client(kubernetes.Options{URL: w.URL, CA: w.Authority.File, Token: file})
	w.expect(c, "Bearer one")
	w.put("token", "two")
	w.expect(c, "Bearer one")
	w.wait(time.Minute)
	w.expect(c, "Bearer two")

	// While the file is away the token stays in use, until it is refused.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.wait(time.Minute)
	w.expect(c, "Bearer two")
	if !strings.Contains(w.log.String(), "no such file") {
		t.Error("the log has no warning")
	}
	w.answer(http.StatusUnauthorized)
	w.expect(c, "Bearer two")
	if _, err := c.Call(t.Context(), http.MethodGet, "/", nil); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("a token that was refused: %v", err)
	}
	w.answer(http.StatusOK)
	w.put("token", "three")
	w.expect(c, "Bearer three")

	// Only a refused token is read again.
	w.put("token", "four")
	for _, status := range []int{http.StatusForbidden, http.StatusInternalServerError, http.StatusOK} {
		w.answer(status)
		w.expect(c, "Bearer three")
	}
}

func TestAnswersHideCredentials(t *testing.T) {
	w := open(t)
	const secret = "correct-horse-battery-staple"
	for name, user := range map[string]string{
		"token": `{"token": "` + secret + `"}`, "password": `{"username": "u", "password": "` + secret + `"}`,
	} {
		c := w.client(kubernetes.Options{Kubeconfig: w.kubeconfig(name, "{}", user)})
		answer, err := c.Call(t.Context(), http.MethodGet, "/", nil)
		if err != nil || len(answer.Body) < len(secret) {
			t.Fatalf("%s: %v, %s", name, err, answer.Body)
		}
		if got := answer.Redact(string(answer.Body)); strings.Contains(got, string(answer.Body[10:])) {
			t.Errorf("%s: %s", name, got)
		}
		w.Break(nil, conformance.Lost)
		if _, err := c.Call(t.Context(), http.MethodPost, "/?"+secret, nil); err == nil ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDeadline(t *testing.T) {
	w := open(t)
	c := w.client(kubernetes.Options{
		URL: w.URL, CA: w.Authority.File, Token: w.put("token", "t"), Timeout: 50 * time.Millisecond,
	})
	w.Break(nil, conformance.Hang)
	if _, err := c.Call(t.Context(), http.MethodGet, "/", nil); err == nil ||
		!strings.HasSuffix(err.Error(), "no answer within 50ms") {
		t.Error(err)
	}
	w.Heal() // the call may not have arrived in time
	w.Break(nil, conformance.Endless)
	c = w.client(kubernetes.Options{URL: w.URL, CA: w.Authority.File, Token: w.put("token", "t")})
	if _, err := c.Call(t.Context(), http.MethodGet, "/", nil); err == nil ||
		!strings.HasSuffix(err.Error(), "more than 8388608 bytes") {
		t.Error(err)
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	w := open(t)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBECONFIG", w.kubeconfig("elsewhere", "{}", `{"token": "t"}`)) // is not for us
	token, empty := w.put("token", "t"), w.put("empty", "\n")
	for want, o := range map[string]kubernetes.Options{
		"url: missing, and this is no pod":   {Token: token},
		"url: http is for this machine":      {URL: "http://api.example.com", Token: token},
		"url: credentials":                   {URL: "https://u:hunter2@api.example.com", Token: token},
		"token: open /var/run/secrets/":      {URL: w.URL},
		"empty is empty":                     {URL: w.URL, Token: empty},
		"ca: the CA file has no certificate": {URL: w.URL, Token: token, CA: empty},
		"ca: open ":                          {URL: w.URL, Token: token, CA: filepath.Join(w.dir, "none")},
		"kubeconfig: url, ca and token must": {Kubeconfig: token, URL: w.URL},
		"must be empty":                      {Kubeconfig: token, CA: token},
		"ca and token must be empty":         {Kubeconfig: token, Token: token},
	} {
		o.Log, o.Now = w.log.Logger(), w.now
		if _, err := kubernetes.New(o); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "")
	if _, err := kubernetes.New(kubernetes.Options{Token: token}); err == nil || !strings.Contains(err.Error(), "no pod") {
		t.Error(err)
	}
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	if _, err := kubernetes.New(kubernetes.Options{Token: token, Now: w.now}); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "/serviceaccount/ca.crt") {
		t.Errorf("a pod without the cluster's authority: %v", err)
	}
}
