package multiplay_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/multiplay"
	"matchmaker.dev/services/allocator/multiplay/multiplaytest"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

// ways are the ways to use Clanforge, and the ways in which it may behave where nothing is written down.
var ways = map[string]func(o *multiplay.Options, c *multiplaytest.Clanforge){
	"v2, signature": func(*multiplay.Options, *multiplaytest.Clanforge) {},
	"v2, basic":     func(o *multiplay.Options, _ *multiplaytest.Clanforge) { o.Auth = "basic" },
	"v1":            func(o *multiplay.Options, _ *multiplaytest.Clanforge) { o.API, o.NoPayload = "v1", true },
	"wait for ready": func(o *multiplay.Options, c *multiplaytest.Clanforge) {
		o.WaitReady, c.Readies = true, 4
	},
	"unknown is not found":     func(_ *multiplay.Options, c *multiplaytest.Clanforge) { c.Strict = true },
	"known is a conflict":      func(_ *multiplay.Options, c *multiplaytest.Clanforge) { c.Known = http.StatusConflict },
	"known is a bad request":   func(_ *multiplay.Options, c *multiplaytest.Clanforge) { c.Known = http.StatusBadRequest },
	"fulfilled when asked for": func(_ *multiplay.Options, c *multiplaytest.Clanforge) { c.Polls = 0 },
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
					Fixture: w.fixture(), Server: w.server, Allocates: allocates, Releases: releases,
					Secrets: []string{w.clanforge.Access, w.clanforge.Secret}, Log: &w.log,
				}
			})
		})
	}
}

// world is Clanforge and a provider.
type world struct {
	clanforge *multiplaytest.Clanforge
	server    *conformance.Server
	options   multiplay.Options
	provider  *multiplay.Provider
	log       conformance.LogBuffer
}

func open(t *testing.T, way func(*multiplay.Options, *multiplaytest.Clanforge)) *world {
	t.Helper()
	w := &world{clanforge: multiplaytest.New(conformance.Room)}
	w.server = conformance.Serve(t, w.clanforge.Handler(), conformance.NewAuthority(t), nil)
	w.options = multiplay.Options{
		URL: w.server.URL, CA: w.server.Authority.File, ProjectGUID: "9c1d0b7a-0000-4000-8000-000000000001",
		Region: "eu", Regions: map[string]string{"eu": w.clanforge.Region}, Timeout: time.Minute, Log: w.log.Logger(),
		Now: time.Now,
	}
	way(&w.options, w.clanforge)
	var err error
	if w.provider, err = multiplay.New(w.options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.provider.Close)
	return w
}

func plain(*multiplay.Options, *multiplaytest.Clanforge) {}

func (w *world) hosting() provider.Hosting {
	return provider.Hosting{
		Fleet: w.clanforge.Fleet, Profile: w.clanforge.Profile, Access: provider.Secret(w.clanforge.Access),
		Secret: provider.Secret(w.clanforge.Secret),
	}
}

func (w *world) fixture() conformance.Fixture {
	strange := w.hosting()
	strange.Secret = "another"
	f := conformance.Fixture{
		Provider: w.provider, Hosting: w.hosting(), InUse: w.clanforge.InUse, Strange: &strange, Maximum: w.clanforge.Forbid,
		Lose:    func() { w.server.Break(changes, conformance.Lost) },
		Contend: func() { w.clanforge.Busy(1) },
		Exhaust: func() func() {
			w.clanforge.Resize(0)
			return func() { w.clanforge.Resize(conformance.Room) }
		},
		End: func(r provider.Ref) { w.clanforge.End(r.Allocation()) },
		PayloadOf: func(r provider.Ref) ([]byte, bool) {
			a := w.clanforge.Of(r.Allocation())
			if a == nil || a.Type != "application/json" {
				return nil, false
			}
			return a.Payload, true
		},
	}
	if w.options.NoPayload {
		f.PayloadOf = nil // that is what the setting is for
	}
	return f
}

func (w *world) request(match string) *provider.Request {
	return &provider.Request{Ref: provider.Ref{Project: "p", Match: match, Hosting: w.hosting()}, Token: "jwt"}
}

// allocate asks until there is a server.
func (w *world) allocate(t *testing.T, r *provider.Request) string {
	t.Helper()
	result, err := w.provider.Allocate(t.Context(), r)
	for err == nil && result.Status == provider.Pending {
		var results []provider.Result
		if results, err = w.provider.Poll(t.Context(), []provider.Ref{r.Ref}); err == nil {
			result = results[0]
		}
	}
	if err != nil || result.Status != provider.Allocated {
		t.Fatalf("allocate %s: %v, %v", r.Match, result, err)
	}
	return result.Connection
}

func allocates(r *http.Request, _ []byte) bool { return strings.HasSuffix(r.URL.Path, "/allocate") }
func releases(r *http.Request, _ []byte) bool  { return strings.HasSuffix(r.URL.Path, "/deallocate") }
func changes(r *http.Request, _ []byte) bool   { return allocates(r, nil) || releases(r, nil) }

func TestSignedRequestsCarryNoSecret(t *testing.T) {
	for name, signed := range map[string]bool{"v2, signature": true, "v2, basic": false} {
		w := open(t, ways[name])
		w.server.Break(func(r *http.Request, body []byte) bool {
			var all bytes.Buffer
			fmt.Fprint(&all, r.Header, r.URL, string(body))
			if signed && strings.Contains(all.String(), w.clanforge.Secret) {
				t.Error("the secret key travels")
			}
			if strings.Contains(r.URL.String(), w.clanforge.Access) {
				t.Error("the access key is in the URL")
			}
			return false
		}, conformance.Slow)
		w.allocate(t, w.request("m"))
		if (w.clanforge.Signed() > 0) != signed {
			t.Errorf("%s: %d calls were signed", name, w.clanforge.Signed())
		}
	}
}

func TestManyAreAskedAboutInBatches(t *testing.T) {
	for _, name := range []string{"v2, signature", "unknown is not found"} {
		w := open(t, ways[name])
		w.clanforge.Resize(1000)
		var refs []provider.Ref
		want := map[int]string{}
		for i := range 250 {
			r := w.request(fmt.Sprint("m", i))
			if i%60 == 0 {
				want[i] = w.allocate(t, r)
			}
			refs = append(refs, r.Ref)
		}
		before := w.server.Calls()
		results, err := w.provider.Poll(t.Context(), refs)
		if err != nil {
			t.Fatal(err)
		}
		if n := w.clanforge.Largest(); n != 100 {
			t.Errorf("%s: %d allocations in a call, want 100", name, n)
		}
		if n := w.server.Calls() - before; name == "v2, signature" && n != 3 {
			t.Errorf("%d calls for 250 allocations, want 3", n)
		}
		for i, r := range results {
			if c := want[i]; c != r.Connection || (c == "") != (r.Status == provider.Gone) {
				t.Errorf("%s: match %d is %v at %q, want %q", name, i, r.Status, r.Connection, c)
			}
		}
	}
}

// A signer that kept what it derived from a secret by the access key alone would sign for any caller with that access
// key.
func TestWhoNamesTheAccessKeyOfAnotherIsNotSignedForByIt(t *testing.T) {
	w := open(t, plain)
	w.allocate(t, w.request("m"))
	r := w.request("m2")
	r.Hosting.Secret = "a guess"
	if _, err := w.provider.Allocate(t.Context(), r); provider.ReasonOf(err) != provider.Refused {
		t.Errorf("a secret that is a guess: %v", err)
	}
	if err := w.provider.Release(t.Context(), provider.Ref{Project: "p", Match: "m", Hosting: r.Hosting}); err == nil ||
		w.clanforge.InUse() != 1 {
		t.Errorf("whoever guesses gives back the server of another: %v", err)
	}
}

func TestMatchesOfSeveralAccountsArePolledTogether(t *testing.T) {
	w := open(t, plain)
	one := w.request("m")
	w.allocate(t, one)
	other := *w.request("m2")
	other.Hosting.Secret = "another"
	results, err := w.provider.Poll(t.Context(), []provider.Ref{one.Ref, other.Ref})
	if err != nil || results[0].Status != provider.Allocated || results[1].Status != provider.Unknown ||
		provider.ReasonOf(results[1].Err) != provider.Refused {
		t.Errorf("keys that are no good: %v, %v", results, err)
	}
	missing := *w.request("m3")
	missing.Hosting.Access = ""
	results, err = w.provider.Poll(t.Context(), []provider.Ref{missing.Ref, one.Ref})
	if err != nil || results[0].Status != provider.Failed || results[1].Status != provider.Allocated {
		t.Errorf("%v, %v", results, err)
	}
}

// What cannot be taken back is not known. The matches that are polled with it are.
func TestOneThatCannotBeTakenBackFailsNoOther(t *testing.T) {
	w := open(t, plain)
	var refs []provider.Ref
	for _, match := range []string{"spoilt", "good"} {
		r := w.request(match)
		w.allocate(t, r)
		refs = append(refs, r.Ref)
	}
	w.clanforge.Spoil(refs[0].Allocation())
	w.server.Break(releases, conformance.Away)
	results, err := w.provider.Poll(t.Context(), refs)
	if err != nil || results[0].Status != provider.Unknown || results[0].Err == nil ||
		results[1].Status != provider.Allocated {
		t.Fatalf("%v, %v", results, err)
	}
	results, err = w.provider.Poll(t.Context(), refs)
	if err != nil || results[0].Status != provider.Failed || w.clanforge.InUse() != 1 {
		t.Errorf("later: %v, %v", results, err)
	}
}

func TestAddresses(t *testing.T) {
	for v6, want := range map[bool]string{false: "198.51.100.7:9000", true: "[2001:db8::7]:9000"} {
		w := open(t, func(o *multiplay.Options, _ *multiplaytest.Clanforge) { o.IPv6 = v6 })
		if got := w.allocate(t, w.request("m")); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestHostingThatMakesNoSense(t *testing.T) {
	w := open(t, func(o *multiplay.Options, _ *multiplaytest.Clanforge) { o.Region = "" })
	calls := w.server.Calls()
	for want, change := range map[string]func(h *provider.Hosting){
		"FleetId is missing":            func(h *provider.Hosting) { h.Fleet = "" },
		`FleetId "../x" is no id`:       func(h *provider.Hosting) { h.Fleet = "../x" },
		`FleetId ".." is no id`:         func(h *provider.Hosting) { h.Fleet = ".." },
		`Profile "small" is no number`:  func(h *provider.Hosting) { h.Profile = "small" },
		`Profile "" is no number`:       func(h *provider.Hosting) { h.Profile = "" },
		"Access and Secret are missing": func(h *provider.Hosting) { h.Secret = "" },
		"asks for no region":            func(*provider.Hosting) {},
		"region of the match is no id":  func(h *provider.Hosting) { h.Region = "e u" },
	} {
		r := w.request("m")
		if !strings.Contains(want, "region") {
			r.Hosting.Region = "eu"
		}
		change(&r.Hosting)
		if _, err := w.provider.Allocate(t.Context(), r); provider.ReasonOf(err) != provider.Refused ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if w.server.Calls() != calls {
		t.Error("Clanforge was called")
	}
	r := w.request("m")
	r.Hosting.Region = w.clanforge.Region // an id, as it is
	w.allocate(t, r)
}

func TestUnknownProfileAndFleet(t *testing.T) {
	w := open(t, plain)
	for _, change := range []func(h *provider.Hosting){
		func(h *provider.Hosting) { h.Profile = "1" }, func(h *provider.Hosting) { h.Fleet = "another" },
		func(h *provider.Hosting) { h.Region = "mars" },
	} {
		r := w.request("m")
		change(&r.Hosting)
		_, err := w.provider.Allocate(t.Context(), r)
		if provider.ReasonOf(err) != provider.Refused ||
			!strings.Contains(err.Error(), "does not know the fleet, the region or the profile") {
			t.Error(err)
		}
	}
}

func TestTooMuchToTell(t *testing.T) {
	w := open(t, plain)
	r := w.request("m")
	r.Properties = []byte(`"` + strings.Repeat("x", 30_000) + `"`)
	if _, err := w.provider.Allocate(t.Context(), r); provider.ReasonOf(err) != provider.Refused ||
		!strings.Contains(err.Error(), "takes 30000") {
		t.Errorf("%.200v", err)
	}
	r.Properties = []byte(`"` + strings.Repeat("x", 29_000) + `"`)
	w.allocate(t, r)
}

func TestFailedAllocationIsTakenBack(t *testing.T) {
	w := open(t, plain)
	w.clanforge.Resize(0)
	r := w.request("m")
	var result provider.Result
	for result.Status != provider.Failed {
		var err error
		if result, err = w.provider.Allocate(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if provider.ReasonOf(result.Err) != provider.FleetEmpty || w.clanforge.Of(r.Allocation()) != nil {
		t.Errorf("%v, %v", result.Err, w.clanforge.Of(r.Allocation()))
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	for want, o := range map[string]multiplay.Options{
		"url: http is for this machine": {URL: "http://api.example.com", NoPayload: true},
		"auth:":                         {Auth: "digest", NoPayload: true},
		"api: \"v3\"":                   {API: "v3", NoPayload: true},
		"api: v1 has no payload":        {API: "v1", ProjectGUID: "x"},
		"project-guid: missing":         {},
		"timeout:":                      {NoPayload: true, Timeout: -1},
		"no such file":                  {NoPayload: true, CA: "/none.crt"},
	} {
		o.Log, o.Now = new(conformance.LogBuffer).Logger(), time.Now
		if _, err := multiplay.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	p, err := multiplay.New(multiplay.Options{NoPayload: true, Log: new(conformance.LogBuffer).Logger(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}
