package manager_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/manager"
	"matchmaker.dev/services/allocator/manager/managertest"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

const (
	secret      = "hunter2-hunter2-of-the-installation"
	otherSecret = "hunter3-hunter3-of-the-config"
)

var ways = map[string]func(m *managertest.Manager){
	"at once":  func(*managertest.Manager) {},
	"pending":  func(m *managertest.Manager) { m.Polls = 3 },
	"too late": func(m *managertest.Manager) { m.Polls, m.Late = 2, true },
}

// Promise 7.
func TestConformance(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.Run(t, func(t *testing.T) conformance.Fixture { return open(t, way).fixture() })
		})
	}
}

// Promise 7.
func TestFaults(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.RunFaults(t, func(t *testing.T) conformance.FaultyFixture {
				w := open(t, way)
				return conformance.FaultyFixture{
					Fixture: w.fixture(), Server: w.server, Allocates: allocates, Releases: releases, Secrets: []string{secret},
					Log: &w.log,
				}
			})
		})
	}
}

// world is a manager and a provider.
type world struct {
	manager  *managertest.Manager
	server   *conformance.Server
	options  manager.Options
	provider *manager.Provider
	log      conformance.LogBuffer
}

func open(t *testing.T, way func(m *managertest.Manager)) *world {
	t.Helper()
	w := &world{manager: managertest.New(t, manager.Description, conformance.Room)}
	w.manager.Keys["build-7"], w.manager.Fleet = secret, "green"
	way(w.manager)
	w.server = conformance.Serve(t, w.manager, conformance.NewAuthority(t), nil)
	w.options = manager.Options{
		URL: w.server.URL + "/", CA: w.server.Authority.File, KeyID: "build-7", KeyFile: file(t, secret+"\n"),
		Timeout: time.Minute, Log: w.log.Logger(), Now: time.Now,
	}
	w.start(t)
	return w
}

func (w *world) start(t *testing.T) {
	t.Helper()
	var err error
	if w.provider, err = manager.New(w.options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.provider.Close)
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (w *world) fixture() conformance.Fixture {
	return conformance.Fixture{
		Provider: w.provider, Hosting: provider.Hosting{Fleet: "green"}, Strange: &provider.Hosting{Fleet: "blue"},
		InUse: w.manager.InUse, Maximum: w.manager.Forbid,
		PayloadOf: func(r provider.Ref) ([]byte, bool) { return w.manager.PayloadOf(r.Allocation()) },
		Lose:      func() { w.server.Break(changes, conformance.Lost) },
		Contend:   func() { w.manager.Busy(1) },
		Exhaust: func() func() {
			w.manager.Resize(0)
			return func() { w.manager.Resize(conformance.Room) }
		},
		End: func(r provider.Ref) { w.manager.End(r.Allocation()) },
	}
}

func allocates(r *http.Request, _ []byte) bool { return r.URL.Path == "/allocations" }
func releases(r *http.Request, _ []byte) bool  { return r.Method == http.MethodDelete }
func changes(r *http.Request, _ []byte) bool   { return allocates(r, nil) || releases(r, nil) }

func request(match string) *provider.Request {
	return &provider.Request{
		Ref: provider.Ref{Project: "p", Match: match, Hosting: provider.Hosting{Fleet: "green"}}, Token: "jwt",
	}
}

func TestOrder(t *testing.T) {
	var got map[string]any
	w := open(t, ways["at once"])
	w.manager.Fleet = ""
	w.server.Break(func(_ *http.Request, body []byte) bool {
		_ = json.Unmarshal(body, &got)
		return false
	}, conformance.Slow)
	r := request("m")
	r.Hosting = provider.Hosting{Fleet: "f", Profile: "p", Region: "r", Access: "a key", Secret: otherSecret}
	if _, err := w.provider.Allocate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got["fleet"] != "f" || got["profile"] != "p" || got["region"] != "r" || got["allocation"] != r.Allocation() ||
		got["project"] != "p" || len(got) != 6 {
		t.Errorf("%v", got)
	}
}

func TestManagerDecidesByProject(t *testing.T) {
	w := open(t, ways["at once"])
	w.manager.Project = "mine"
	r := request("m")
	if got, err := w.provider.Allocate(t.Context(), r); !provider.Final(err) || w.manager.InUse() != 0 {
		t.Errorf("another project: %+v, %v", got, err)
	}
	r.Project = "mine"
	if got, err := w.provider.Allocate(t.Context(), r); err != nil || got.Status != provider.Allocated {
		t.Errorf("its own project: %+v, %v", got, err)
	}
}

func TestKeyOfTheConfig(t *testing.T) {
	w := open(t, ways["at once"])
	w.options.KeyID, w.options.KeyFile = "", ""
	w.manager.Keys["studio"] = otherSecret
	w.start(t)
	good, short, none := request("m"), request("m2"), request("m3")
	good.Hosting.Access, good.Hosting.Secret = "studio", otherSecret
	short.Hosting.Access, short.Hosting.Secret = "studio", "short"
	if r, err := w.provider.Allocate(t.Context(), good); err != nil || r.Status != provider.Allocated {
		t.Errorf("%v, %v", r, err)
	}
	for _, r := range []*provider.Request{short, none} {
		if _, err := w.provider.Allocate(t.Context(), r); provider.ReasonOf(err) != provider.Refused ||
			!strings.Contains(err.Error(), "at least 16 bytes") {
			t.Error(err)
		}
		if err := w.provider.Release(t.Context(), r.Ref); err != nil {
			t.Errorf("release without a key: %v", err)
		}
	}
	results, err := w.provider.Poll(t.Context(), []provider.Ref{good.Ref, good.Ref})
	if err != nil || results[0].Status != provider.Allocated || results[1] != results[0] {
		t.Errorf("%v, %v", results, err)
	}
	wrong := request("m")
	wrong.Hosting.Access, wrong.Hosting.Secret = "studio", otherSecret+"x"
	if _, err := w.provider.Allocate(t.Context(), wrong); provider.ReasonOf(err) != provider.Refused ||
		!strings.Contains(err.Error(), "refuses the key") {
		t.Error(err)
	}
}

func TestKeyIsRenewed(t *testing.T) {
	w := open(t, ways["at once"])
	w.manager.Keys["build-7"] = otherSecret
	if _, err := w.provider.Allocate(t.Context(), request("m")); provider.ReasonOf(err) != provider.Refused {
		t.Error(err)
	}
	if err := os.WriteFile(w.options.KeyFile, []byte(otherSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.provider.Allocate(t.Context(), request("m")); err != nil {
		t.Error(err)
	}
}

func TestPollsInBatches(t *testing.T) {
	w := open(t, ways["at once"])
	var refs []provider.Ref
	for i := range 250 {
		refs = append(refs, request(fmt.Sprint("m", i)).Ref)
	}
	before := w.server.Calls()
	if _, err := w.provider.Poll(t.Context(), refs); err != nil { // the description has the limit
		t.Fatal(err)
	}
	if n := w.server.Calls() - before; n != 3 {
		t.Errorf("%d calls for 250 allocations, want 3", n)
	}
}

// answers serves one answer.
func answers(t *testing.T, status int, header, body string) *manager.Provider {
	t.Helper()
	server := conformance.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}), conformance.NewAuthority(t), nil)
	p, err := manager.New(manager.Options{
		URL: server.URL, CA: server.Authority.File, KeyFile: file(t, secret), Log: new(conformance.LogBuffer).Logger(),
		Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestWhatStatusesMean(t *testing.T) {
	for _, test := range []struct {
		status     int
		header     string
		body       string
		reason     provider.Reason // "" for an error that may pass
		retryAfter time.Duration
		says       string
	}{
		{400, "", ``, provider.Refused, 0, "refuses the request"},
		{401, "", ``, provider.Refused, 0, "refuses the key"},
		{403, "", ``, provider.Refused, 0, "refuses the key"},
		{404, "", ``, provider.Refused, 0, "does not know"},
		{409, "", ``, provider.Contention, 0, "busy"},
		{413, "", ``, provider.Refused, 0, "refuses the request"},
		{422, "", `{"detail": "profile: unknown"}`, provider.Refused, 0, "profile: unknown"},
		{422, "", `{"detail": "no allocation of p"}`, provider.Refused, 0, "no allocation of p"},
		{429, "7", ``, provider.Contention, 7 * time.Second, "busy"},
		{
			409, "3", `{"reason": "fleet-empty", "detail": "all are in use"}`, provider.FleetEmpty, 3 * time.Second,
			"all are in use",
		},
		{404, "", `{"reason": "maximum-zero"}`, provider.MaximumZero, 0, "maximum-zero"},
		{503, "", `{"reason": "contention", "detail": "starting"}`, provider.Contention, 0, "starting"},
		{503, "9", `{"reason": "who knows"}`, "", 0, "status 503"},
		{500, "", ``, "", 0, "status 500"},
		{301, "", ``, "", 0, "status 301"},
	} {
		_, err := answers(t, test.status, test.header, test.body).Allocate(t.Context(), request("m"))
		if err == nil || provider.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%d %s: %v, want %q", test.status, test.body, err, test.reason)
			continue
		}
		if test.reason != "" {
			if e, _ := errors.AsType[*provider.Error](err); e == nil || e.RetryAfter != test.retryAfter {
				t.Errorf("%d: %+v, want to be asked after %s", test.status, err, test.retryAfter)
			}
		}
	}
}

func TestAnswersThatMakeNoSense(t *testing.T) {
	id := request("m").Allocation()
	for _, body := range []string{
		``, `[]`, `{}`, `{"allocation": "another", "status": "pending"}`, `{"allocation": "` + id + `"}`,
		`{"allocation": "` + id + `", "status": "soon"}`, `{"allocation": "` + id + `", "status": "allocated"}`,
	} {
		if r, err := answers(t, 200, "", body).Allocate(t.Context(), request("m")); err == nil ||
			provider.ReasonOf(err) != "" {
			t.Errorf("%s: %v, %v", body, r, err)
		}
	}
	if _, err := answers(t, 200, "", `{"status": "ok"}`).Poll(t.Context(), []provider.Ref{request("m").Ref}); err == nil {
		t.Error("no list is taken for an empty one")
	}
	r, err := answers(t, 200, "", `{"allocation": "`+id+`", "status": "failed"}`).Allocate(t.Context(), request("m"))
	if err != nil || r.Status != provider.Failed || provider.ReasonOf(r.Err) != provider.Refused {
		t.Errorf("a failure without a reason: %v, %v", r, err)
	}
}

func TestDetailThatRepeatsTheKeyIsLeftOut(t *testing.T) {
	one := `{"allocation": "` + request("m").Allocation() + `", "status": "failed", "reason": "refused", "detail": "` + secret + `"}`
	polled, err := answers(t, 200, "", `{"allocations": [`+one+`]}`).Poll(t.Context(), []provider.Ref{request("m").Ref})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := answers(t, 200, "", one).Allocate(t.Context(), request("m"))
	for _, r := range []provider.Result{polled[0], asked} {
		if err != nil || r.Status != provider.Failed || strings.Contains(r.Err.Error(), "hunter2") {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// The value was made by Python's hmac.
func TestSignature(t *testing.T) {
	got := manager.Sign(
		[]byte("at-least-16-bytes"), "1760000000", "DELETE", "/allocations/0b0f6c6e-0000-5000-8000-000000000000", nil,
	)
	if want := "3e835bcc393e3b94f98da51f94b4bf55178cedc579c55965b3aaaf75a674e28a"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	for want, o := range map[string]manager.Options{
		"url: missing":                  {},
		"url: http is for this machine": {URL: "http://fleet.example.com"},
		"key-file: missing":             {URL: "https://fleet.example.com", KeyID: "a"},
		"no such file":                  {URL: "https://fleet.example.com", KeyFile: "/none"},
		"at least 16 bytes":             {URL: "https://fleet.example.com", KeyFile: file(t, "short")},
		"both or neither":               {URL: "https://fleet.example.com", Certificate: "/none"},
		"timeout":                       {URL: "https://fleet.example.com", Timeout: -1},
	} {
		o.Log, o.Now = new(conformance.LogBuffer).Logger(), time.Now
		if _, err := manager.New(o); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "short") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
