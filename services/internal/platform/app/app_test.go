package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/app"
)

var quiet = slog.New(slog.DiscardHandler)

// process is a running app.Run.
type process struct {
	t    *testing.T
	url  string
	stop context.CancelFunc
	end  chan error
}

func run(t *testing.T, o app.Options, parts ...app.Part) *process {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p := &process{t: t, stop: stop, end: make(chan error, 1)}
	started := make(chan net.Addr, 1)
	o.Settings.Listen, o.Log, o.Started = "127.0.0.1:0", quiet, func(addr net.Addr) { started <- addr }
	go func() { p.end <- app.Run(ctx, o, parts...) }()
	select {
	case addr := <-started:
		p.url = "http://" + addr.String()
	case err := <-p.end:
		t.Fatalf("ended at once: %v", err)
	}
	return p
}

func (p *process) wait() error {
	p.t.Helper()
	select {
	case err := <-p.end:
		return err
	case <-time.After(2 * time.Minute):
		p.t.Fatal("the process does not end")
		return nil
	}
}

func (p *process) get(path string) (status int, body string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

// untilStopped is a Run as it should be.
func untilStopped(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestServesPartsUntilStopped(t *testing.T) {
	p := run(t, app.Options{},
		app.Part{Name: "hello", Run: untilStopped, Routes: func(e *echo.Echo) {
			e.GET("/hello", func(c echo.Context) error { return c.JSON(http.StatusOK, "hi") })
		}},
		app.Part{Name: "once", Run: func(context.Context) error { return nil }},
		app.Part{Name: "empty"})
	for path, want := range map[string]string{"/hello": `"hi"`, "/healthz": `{"status":"alive"}`,
		"/readyz": `{"status":"ready"}`} {
		if status, body := p.get(path); status != http.StatusOK || body != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	p.stop()
	if err := p.wait(); err != nil {
		t.Error(err)
	}
	if status, _ := p.get("/healthz"); status != 0 {
		t.Error("still served after the end")
	}
}

func TestReadinessHasWarnings(t *testing.T) {
	p := run(t, app.Options{}, app.Part{Name: "fine", Run: untilStopped, Warns: func() string { return "" }},
		app.Part{Name: "clock", Warns: func() string { return "it is late" }})
	if status, body := p.get("/readyz"); status != http.StatusOK || body != `{"status":"ready","warning":"it is late"}` {
		t.Errorf("%d %s", status, body)
	}
	p.stop()
	if err := p.wait(); err != nil {
		t.Error(err)
	}
}

func TestReadinessNamesWhoIsMissing(t *testing.T) {
	p := run(t, app.Options{},
		app.Part{Name: "fine", Ready: func(context.Context) error { return nil }},
		app.Part{Name: "state", Ready: func(context.Context) error { return errors.New("dial redis://user:secret@host") }},
		app.Part{Name: "auth", Ready: func(context.Context) error { return problem.New(problem.Unavailable, "no keys") }},
		app.Part{Name: "slow", Ready: untilStopped})
	status, body := p.get("/readyz")
	var problem struct{ Detail string }
	if err := json.Unmarshal([]byte(body), &problem); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if want := "not ready: auth: no keys; slow; state"; status != http.StatusServiceUnavailable || problem.Detail != want {
		t.Errorf("%d %q, want %q", status, problem.Detail, want)
	}
	if status, _ := p.get("/healthz"); status != http.StatusOK {
		t.Errorf("alive: %d", status)
	}
	p.stop()
	if err := p.wait(); err != nil {
		t.Error(err)
	}
}

func TestFirstFailureStopsAll(t *testing.T) {
	broken := make(chan struct{})
	stopped := make(chan struct{})
	p := run(t, app.Options{Shutdown: app.Shutdown{Grace: time.Hour}},
		app.Part{Name: "director", Run: func(context.Context) error {
			<-broken
			return errors.New("lease lost")
		}},
		app.Part{Name: "runner", Run: func(ctx context.Context) error {
			<-ctx.Done()
			close(stopped)
			return errors.New("an echo of the first")
		}})
	close(broken)
	err := p.wait()
	if fmt.Sprint(err) != "director: lease lost" {
		t.Errorf("got %v", err)
	}
	select {
	case <-stopped:
	default:
		t.Error("the other part was not stopped")
	}
}

func TestFailureWhileStopping(t *testing.T) {
	p := run(t, app.Options{}, app.Part{Name: "allocator", Run: func(ctx context.Context) error {
		<-ctx.Done()
		return errors.New("outbox not written")
	}})
	p.stop()
	if err := p.wait(); fmt.Sprint(err) != "allocator: outbox not written" {
		t.Errorf("got %v", err)
	}
}

func TestCancelledForAnotherReasonIsAFailure(t *testing.T) {
	p := run(t, app.Options{}, app.Part{Name: "bus", Run: func(context.Context) error { return context.Canceled }})
	if err := p.wait(); fmt.Sprint(err) != "bus: context canceled" {
		t.Errorf("got %v", err)
	}
}

// While requests finish the process is not ready and its parts still run.
func TestGraceAndDrain(t *testing.T) {
	entered, release, enough := make(chan struct{}), make(chan struct{}), make(chan struct{})
	ranDuringRequest := make(chan bool, 1)
	var alive context.Context
	running := make(chan struct{})
	ender := app.Part{Name: "ender", Run: func(context.Context) error {
		<-enough
		return errors.New("a failure ends the grace period")
	}}
	p := run(t, app.Options{Shutdown: app.Shutdown{Grace: time.Hour, Drain: time.Minute}}, ender, app.Part{
		Name: "ticket",
		Run: func(ctx context.Context) error {
			alive = ctx
			close(running)
			<-ctx.Done()
			return nil
		},
		Routes: func(e *echo.Echo) {
			e.GET("/slow", func(c echo.Context) error {
				close(entered)
				<-release
				ranDuringRequest <- alive.Err() == nil
				return c.JSON(http.StatusOK, "done")
			})
		},
	})
	<-running
	answer := make(chan string, 1)
	go func() {
		_, body := p.get("/slow")
		answer <- body
	}()
	<-entered
	p.stop()
	for { // during Grace probes are still answered, and told to go elsewhere
		status, body := p.get("/readyz")
		if status == http.StatusServiceUnavailable {
			if !strings.Contains(body, "not ready: stopping") {
				t.Errorf("got %s", body)
			}
			break
		}
		if status == 0 {
			t.Fatal("stopped accepting without a grace period")
		}
	}
	close(enough)
	for { // then new clients are not served
		if status, _ := p.get("/healthz"); status == 0 {
			break
		}
	}
	close(release)
	if body := <-answer; body != `"done"` {
		t.Errorf("the request under way got %s", body)
	}
	if !<-ranDuringRequest {
		t.Error("the part was stopped before the request was answered")
	}
	if err := p.wait(); fmt.Sprint(err) != "ender: a failure ends the grace period" {
		t.Error(err)
	}
}

// Connections that are kept open end with an answer, and not while a request may be on its way.
func TestConnectionsEndWithAnAnswer(t *testing.T) {
	enough := make(chan struct{})
	p := run(t, app.Options{Shutdown: app.Shutdown{Grace: time.Hour}},
		app.Part{Name: "ender", Run: func(context.Context) error {
			<-enough
			return errors.New("a failure ends the grace period")
		}})
	ends := func() (ready, last bool) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode == http.StatusOK, res.Close
	}
	if ready, last := ends(); !ready || last {
		t.Errorf("before it stops it is ready: %v, and ends the connection: %v", ready, last)
	}
	p.stop()
	for {
		if ready, last := ends(); !ready {
			if !last {
				t.Error("the connection is kept by a process that stops")
			}
			break
		}
	}
	close(enough)
	_ = p.wait()
}

func TestHurry(t *testing.T) {
	waits, hurried := make(chan struct{}), make(chan struct{})
	p := run(t, app.Options{}, app.Part{
		Name: "patient",
		Routes: func(e *echo.Echo) {
			e.GET("/patient", func(c echo.Context) error {
				close(waits)
				<-hurried
				return c.String(http.StatusOK, "nothing happened")
			})
		},
		OnShutdown: func() { close(hurried) },
	})
	answer := make(chan string, 1)
	go func() {
		_, body := p.get("/patient")
		answer <- body
	}()
	<-waits
	p.stop()
	if body := <-answer; body != "nothing happened" {
		t.Errorf("the request that waited got %q", body)
	}
	if err := p.wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

func TestHardDeadline(t *testing.T) {
	const want = "did not stop in time: stuck\nhttp: requests did not finish in time and were cut off"
	for drain := 20 * time.Millisecond; ; drain *= 10 { // the good part, too, may be late on a slow machine
		err := stopWithin(t, drain)
		if fmt.Sprint(err) == want {
			return
		}
		if drain > 10*time.Second || !strings.Contains(fmt.Sprint(err), "good") {
			t.Fatalf("got  %v\nwant %s", err, want)
		}
	}
}

// stopWithin stops a process with a part that ends in good order, one that does not, and a request that does not.
func stopWithin(t *testing.T, drain time.Duration) error {
	t.Helper()
	release := make(chan struct{})
	defer close(release)
	entered := make(chan struct{})
	p := run(t, app.Options{Shutdown: app.Shutdown{Drain: drain}},
		app.Part{Name: "stuck", Run: func(context.Context) error {
			<-release
			return nil
		}},
		app.Part{Name: "good", Run: untilStopped},
		app.Part{Name: "web", Routes: func(e *echo.Echo) {
			e.GET("/slow", func(echo.Context) error {
				close(entered)
				<-release
				return nil
			})
		}})
	go p.get("/slow")
	<-entered
	p.stop()
	return p.wait()
}

func TestListen(t *testing.T) {
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, o := range map[string]app.Options{
		"no address":     {Log: quiet},
		"address in use": {Log: quiet, Settings: app.Settings{Listen: taken.Addr().String()}},
	} {
		if err := app.Run(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), "--listen: ") {
			t.Errorf("%s: %v", name, err)
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	given, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := app.Options{Log: quiet, Listener: given, Started: func(addr net.Addr) {
		if addr.String() != given.Addr().String() {
			t.Errorf("started on %s", addr)
		}
		stop()
	}}
	if err := app.Run(ctx, o); err != nil {
		t.Error(err)
	}
}

func TestListenerThatBreaks(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := app.Options{Log: quiet, Listener: listener, Started: func(net.Addr) { listener.Close() }}
	if err := app.Run(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), "http: ") {
		t.Errorf("got %v", err)
	}
}

func TestLogger(t *testing.T) {
	for _, tt := range []struct{ level, format, line string }{
		{"debug", "text", `level=DEBUG msg=hello k=v`},
		{"info", "text", ""},
		{"debug", "json", `"level":"DEBUG","msg":"hello","k":"v"}`},
	} {
		var out strings.Builder
		log, err := app.Logger(&out, tt.level, tt.format)
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("hello", "k", "v")
		if got := out.String(); !strings.Contains(got, tt.line) || (tt.line == "") != (got == "") {
			t.Errorf("%s %s: %q", tt.level, tt.format, got)
		}
	}
	for want, given := range map[string][2]string{
		`log level "loud" is none of debug, info, warn, error`: {"loud", "text"},
		`log format "xml" is none of text, json`:               {"info", "xml"},
	} {
		if _, err := app.Logger(io.Discard, given[0], given[1]); fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
