package registry

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
)

// TestProjectsShareTheStoreOfModules: the modules of all projects are bounded, and one project may have half of what
// the others leave, with those that it dropped and that are not removed yet. So another one always finds room. What is
// stored already needs none.
func TestProjectsShareTheStoreOfModules(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	b := start(t, func(o *Options) { o.Settings.AllModules, o.Settings.Versions = 8, 1 })
	upload := func(name string, n int) answer {
		t.Helper()
		return b.put(t, "/functions/"+name, guest{size: size + n}.wasm())
	}
	full := func(a answer) {
		t.Helper()
		refused(t, a, http.StatusTooManyRequests, "file: the modules of all projects take ")
		after, err := strconv.Atoi(a.header.Get("Retry-After"))
		if err != nil || time.Duration(after)*time.Second != sweepInterval(time.Hour) ||
			a.header.Get("RateLimit-Policy") != `"max-modules-total";q=8` {
			t.Errorf("%v, %v", a.header, err)
		}
	}
	// Half of eight, with the one that replaces another: three, and a bit over for what NATS needs besides.
	for n := range 3 {
		wants[response.Function](t, upload("duel", n), http.StatusOK)
	}
	full(upload("duel", 3))
	wants[response.Function](t, upload("duel", 2), http.StatusOK) // it is stored
	mine := b.token
	b.token = b.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "other", Project: "other", Role: "Manager"})
	other := func(n int) answer {
		t.Helper()
		b.project = "other"
		defer func() { b.project = "demo" }()
		return upload("duel", n)
	}
	for n := range 2 {
		wants[response.Function](t, other(10+n), http.StatusOK)
	}
	full(other(12))
	b.token = mine
	full(upload("duel", 3))
	// What was dropped is removed after an hour, and makes room.
	b.clock.advance(62 * time.Minute)
	if n, err := b.sweeper(time.Hour).sweep(t.Context()); err != nil || n != 3 {
		t.Fatalf("%d modules were removed, %v", n, err)
	}
	eventually(t, "room for another", func() error {
		if a := upload("duel", 3); a.status != http.StatusOK {
			return fmt.Errorf("%d: %s", a.status, a.body)
		}
		return nil
	})
}

func TestSizeIsInTheNameOfAModule(t *testing.T) {
	for name, want := range map[string]int64{
		moduleName("abc", 1234): 1234, "abc.wasm": 0, "abc.k3j4h5g6.wasm": 0, "abc.k3j4h5g6.x.wasm": 0, "": 0,
	} {
		if got := sizeIn(name); got != want {
			t.Errorf("the size in %q is %d, want %d", name, got, want)
		}
	}
}

// TestUseOfProjectsIsMeasured: a project's use is measured after each change, and the use of all projects after a look
// at them.
func TestUseOfProjectsIsMeasured(t *testing.T) {
	t.Parallel()
	meter, measured := telemetrytest.New()
	b := start(t, func(o *Options) { o.Meter = meter })
	want := func(functions, uploads float64) {
		t.Helper()
		for name, want := range map[string]float64{"matchmaker.functions": functions, "matchmaker.uploads.kept": uploads} {
			if got := measured.Value(t, name, "project", "demo"); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
	}
	want(-1, -1)
	wants[response.Function](t, b.put(t, "/functions/one", guest{}.wasm()), http.StatusOK)
	wants[response.Function](t, b.put(t, "/functions/two", guest{size: 1000}.wasm()), http.StatusOK)
	wants[response.Function](t, b.put(t, "/functions/two", guest{size: 2000}.wasm()), http.StatusOK)
	want(2, 3)
	modules, code := measured.Value(t, "matchmaker.modules"), measured.Value(t, "matchmaker.machine_code")
	if least := float64(3*len(guest{}.wasm()) + 3000); modules < least || modules > least+10 || code < 100 {
		t.Errorf("modules of %v bytes, machine code of %v", modules, code)
	}
	b.registry.inventory.replace(nil)
	want(-1, -1)
	s := b.sweeper(time.Hour)
	s.found = b.registry.inventory.replace
	_, err := s.sweep(t.Context())
	must(t, err)
	want(2, 3)
	b.do(t, http.MethodDelete, "/functions/one", nil)
	want(1, 2)
	b.do(t, http.MethodDelete, "/functions/two", nil)
	want(-1, -1)
}

// Uploads and reads of logs under way are measured.
func TestUploadsAndReadsAreMeasured(t *testing.T) {
	meter, measured := telemetrytest.New()
	r := &registry{admission: newAdmission(), logReads: newLogReads()}
	r.metrics = newMetrics(meter, r)
	want := func(name string, want float64, labels ...string) {
		t.Helper()
		if got := measured.Value(t, name, labels...); got != want {
			t.Errorf("%s%v is %v, want %v", name, labels, got, want)
		}
	}
	slot, err := r.admission.enter("one")
	must(t, err)
	want("matchmaker.uploads.open", 1, "project", "one")
	slot.leave()
	want("matchmaker.uploads.open", -1, "project", "one")
	leave, err := r.readLog(t.Context(), "one")
	must(t, err)
	want("matchmaker.log.reads.open", 1, "project", "one", "state", "reading")
	leave()
}
