package registry

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
)

// upload uploads a module unlike other numbers' modules, and returns its MD5.
func (b *bench) upload(t *testing.T, name string, number int) (sum string) {
	t.Helper()
	b.clock.advance(time.Minute)
	module := numbered(number)
	wants[response.Function](t, b.put(t, "/functions/"+name, module), http.StatusOK)
	return fmt.Sprintf("%x", md5.Sum(module))
}

func numbered(n int) []byte {
	return guest{size: 100 + n, manifest: fmt.Sprintf(`{"attributes":["a%d"]}`, n)}.wasm()
}

func (b *bench) rollback(t *testing.T, name, body string) answer {
	t.Helper()
	return b.do(t, http.MethodPost, "/functions/"+name+"/actions/rollback", strings.NewReader(body), "Content-Type",
		"application/json")
}

// record is what is stored of the function duel.
func (b *bench) record(t *testing.T) *pb.Function {
	t.Helper()
	f, err := b.store.Function(t.Context(), "demo", "duel")
	must(t, err)
	return f
}

// hasVersions checks the numbers, of which the current one has a star.
func (b *bench) hasVersions(t *testing.T, want string) {
	t.Helper()
	var got []string
	list := wants[response.FunctionVersionList](t, b.get(t, "/functions/duel/versions"), http.StatusOK)
	for _, v := range list.Versions {
		star := ""
		if v.Current {
			star = "*"
		}
		got = append(got, fmt.Sprint(v.Version, star))
	}
	if strings.Join(got, " ") != want {
		t.Errorf("versions %v, want %s", got, want)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	refused(t, b.get(t, "/functions/duel/versions"), http.StatusNotFound, `function "duel" was not found`)
	refused(t, b.get(t, "/functions/d!/versions"), http.StatusBadRequest, "name: ")
	one := b.upload(t, "duel", 1)
	first := iso8601(b.clock.now().UnixMilli())
	two := b.upload(t, "duel", 2)
	second := iso8601(b.clock.now().UnixMilli())
	same(t, b.get(t, "/functions/DUEL/versions"), http.StatusOK, fmt.Sprintf(
		`{"versions":[{"version":2,"current":true,"md5Hash":%q,"size":%d,"uploaded":%q,`+
			`"by":"studio"},{"version":1,"current":false,"md5Hash":%q,"size":%d,"uploaded":%q,"by":"studio"}]}`,
		two, len(numbered(2)), second, one, len(numbered(1)), first))

	before := b.record(t)
	pokes := make(chan *pb.Poke, 16)
	heard, err := b.bus.OnPoke(func(_ string, p *pb.Poke) { pokes <- p })
	must(t, err)
	defer heard.Stop()
	b.clock.advance(time.Minute)
	now := iso8601(b.clock.now().UnixMilli())
	same(t, b.rollback(t, "Duel", `{"version":1}`), http.StatusOK, fmt.Sprintf(
		`{"name":"duel","md5Hash":%q,"created":%q,"updated":%q,"status":{"state":"Pending","instances":[]},`+
			`"upload":1}`, one, first,
		now))
	if p := <-pokes; !p.GetFunctions() {
		t.Errorf("poked with %v", p)
	}
	b.hasVersions(t, "2 1*")
	after := b.record(t)
	if after.GetModule() != before.GetVersions()[1].GetModule() || after.GetGeneration() <= before.GetGeneration() ||
		!cmp.Equal(after.GetManifest().GetAttributes(), []string{"a1"}) {
		t.Errorf("went back from\n%v\nto\n%v", before, after)
	}
	stored, err := b.bus.Module(t.Context(), after.GetModule())
	must(t, err)
	if !bytes.Equal(stored, numbered(1)) {
		t.Error("the module is not version 1's")
	}

	// A rollback to the current version changes nothing, also after an upload.
	b.clock.advance(time.Minute)
	wants[response.Function](t, b.rollback(t, "duel", `{"version":1}`), http.StatusOK)
	if diff := cmp.Diff(after.String(), b.record(t).String()); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	b.upload(t, "duel", 1)
	b.hasVersions(t, "2 1*")
	if f := b.record(t); f.GetModule() != after.GetModule() || f.GetGeneration() <= after.GetGeneration() ||
		f.GetUpdated() <= after.GetUpdated() {
		t.Errorf("the same upload again: from\n%v\nto\n%v", after, f)
	}
	// What was uploaded before, but does not run, is a new version, which needs no second copy.
	b.upload(t, "duel", 2)
	b.hasVersions(t, "3* 2 1")
	if f := b.record(t); f.GetModule() != before.GetModule() {
		t.Errorf("stored again: %v", f)
	}
	// And forward.
	wants[response.Function](t, b.rollback(t, "duel", `{"version":2}`), http.StatusOK)
	b.hasVersions(t, "3 2* 1")

	// Versions end with their function.
	if a := b.do(t, http.MethodDelete, "/functions/duel", nil); a.status != http.StatusNoContent {
		t.Fatalf("delete: %d", a.status)
	}
	b.upload(t, "duel", 4)
	b.hasVersions(t, "1*")
}

func TestVersionsArePushedOut(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *Options) { o.Settings.Versions = 3 })
	for n := range 5 {
		b.upload(t, "duel", n)
	}
	b.hasVersions(t, "5* 4 3")
	wants[response.Function](t, b.rollback(t, "duel", `{"version":3}`), http.StatusOK)
	b.hasVersions(t, "5 4 3*")
	b.upload(t, "duel", 5)
	b.hasVersions(t, "6* 5 4")
}

func TestRollbackRefusals(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	refused(t, b.rollback(t, "duel", `{"version":1}`), http.StatusNotFound, `function "duel" was not found`)
	for n := range 2 {
		b.upload(t, "duel", n)
	}
	before := b.record(t)
	refused(t, b.rollback(t, "du!el", `{"version":1}`), http.StatusBadRequest, "name: ")
	refused(t, b.rollback(t, "duel", `{}`), http.StatusBadRequest, "version: missing")
	refused(t, b.rollback(t, "duel", `{"version":-1}`), http.StatusBadRequest, "version: ")
	refused(t, b.rollback(t, "duel", `{"version":"1"}`), http.StatusBadRequest, "version: ")
	refused(t, b.rollback(t, "duel", `{"version":1.5}`), http.StatusBadRequest, "version: ")
	refused(t, b.rollback(t, "duel", `{"vision":1}`), http.StatusBadRequest, "vision")
	refused(t, b.rollback(t, "duel", `{"version":7}`), http.StatusNotFound,
		`version: 7 of function "duel" is not kept, those that are: 2, 1`)
	if a := b.do(t, http.MethodPost, "/functions/duel/actions/rollback", strings.NewReader("version=1"), "Content-Type",
		"text/plain"); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("a body of text is answered %d", a.status)
	}
	must(t, b.bus.DeleteModule(t.Context(), before.GetVersions()[1].GetModule()))
	refused(t, b.rollback(t, "duel", `{"version":1}`), http.StatusConflict,
		"version: the module of version 1 is not stored any more")
	must(t, b.bus.PutModule(t.Context(), before.GetVersions()[1].GetModule(), []byte("something else")))
	refused(t, b.rollback(t, "duel", `{"version":1}`), http.StatusConflict,
		"version: the module of version 1 is not stored any more")
	if diff := cmp.Diff(before.String(), b.record(t).String()); diff != "" {
		t.Errorf("changed although refused: %s", diff)
	}
}
