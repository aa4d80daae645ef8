package registry

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/sandbox"
)

func TestUpload(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	pokes := make(chan *pb.Poke, 16)
	heard, err := b.bus.OnPoke(func(_ string, p *pb.Poke) { pokes <- p })
	must(t, err)
	defer heard.Stop()

	module := guest{manifest: `{"attributes":["skill"],"properties":[]}`}.wasm()
	file := zipped(t, packed{name: "duel.wasm", body: module}, packed{name: "other.wasm", body: guest{}.wasm()})
	created := b.clock.now()
	sum := md5.Sum(file)
	want := fmt.Sprintf(`{"name":"duel-1.0","md5Hash":"%x","created":%q,"updated":%q,`+
		`"status":{"state":"Pending","instances":[]},"upload":1}`, sum, created.UTC().Format("2006-01-02T15:04:05.000Z"),
		created.UTC().Format("2006-01-02T15:04:05.000Z"))
	same(t, b.put(t, "/functions/Duel-1.0?implementation=duel", file), http.StatusOK, want)
	same(t, b.get(t, "/functions/duel-1.0"), http.StatusOK, want)
	same(t, b.get(t, "/functions"), http.StatusOK, `{"functions":[`+want+`]}`)
	if p := <-pokes; !p.GetFunctions() {
		t.Errorf("poked with %v", p)
	}

	hash := sha256.Sum256(module)
	record := &pb.Function{
		Name: "duel-1.0", Created: created.UnixMilli(), Updated: created.UnixMilli(), Md5: hex.EncodeToString(sum[:]),
		Module: b.moduleOf(t, "duel-1.0", hash), Implementation: "duel", Generation: created.UnixMilli(),
		Manifest: &pb.Manifest{Attributes: []string{"skill"}, EveryProperty: false},
		Version:  1,
	}
	record.Versions = []*pb.FunctionVersion{{
		Version: 1, Uploaded: created.UnixMilli(), Md5: record.GetMd5(), Module: record.GetModule(), Implementation: "duel",
		Bytes: int64(len(module)), Manifest: record.GetManifest(), By: "studio",
	}}
	b.hasRecord(t, record)
	if stored, err := b.bus.Module(t.Context(), record.GetModule()); err != nil || !bytes.Equal(stored, module) {
		t.Errorf("stored are %d bytes, error %v", len(stored), err)
	}
	// A runner that shares the sandbox need not compile it again.
	if left, err := os.ReadDir(b.boxDir); err != nil || len(left) != 1 {
		t.Errorf("the sandbox keeps %v, error %v", left, err)
	}

	// A new version, in the same millisecond and then in another.
	for _, later := range []time.Duration{0, time.Minute} {
		b.clock.advance(later)
		generation := record.GetGeneration()
		module = guest{size: int(later.Seconds()) + 100}.wasm()
		hash, sum = sha256.Sum256(module), md5.Sum(module)
		got := wants[response.Function](t, b.put(t, "/functions/duel-1.0", module), http.StatusOK)
		if want := created.UTC().Format("2006-01-02T15:04:05.000Z"); got.Created != want {
			t.Errorf("created %s, want %s", got.Created, want)
		}
		record.Updated, record.Generation = b.clock.now().UnixMilli(), max(generation+1, b.clock.now().UnixMilli())
		record.Md5, record.Module, record.Implementation = hex.EncodeToString(sum[:]), b.moduleOf(t, "duel-1.0", hash), ""
		record.Manifest = &pb.Manifest{EveryAttribute: true, EveryProperty: true}
		record.Version++
		record.Versions = slices.Insert(record.GetVersions(), 0, &pb.FunctionVersion{
			Version: record.GetVersion(), Uploaded: record.GetUpdated(), Md5: record.GetMd5(), Module: record.GetModule(),
			Bytes: int64(len(module)), Manifest: record.GetManifest(), By: "studio",
		})
		b.hasRecord(t, record)
	}
}

// A manifest that names more than a request should have is refused, and says how many it may name.
// Promise 9.
func TestUploadOfAManifestOfTooManyNamesIsRefused(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	for _, c := range []struct {
		member string
		names  int
		says   string
	}{
		{"attributes", 11_000, "attributes has 11000 names, at most 256 are allowed: name only what the function reads"},
		{"propertySettings", 257, "propertySettings has 257 names, at most 256 are allowed"},
	} {
		answer := b.put(t, "/functions/many", guest{manifest: manyNames(t, c.member, c.names)}.wasm())
		refused(t, answer, http.StatusBadRequest, "file: mm_manifest: "+c.says)
	}
	for _, member := range []string{"attributes", "attributeSettings"} {
		answer := b.put(t, "/functions/many", guest{manifest: manyNames(t, member, 256)}.wasm())
		wants[response.Function](t, answer, http.StatusOK)
	}
	f, err := b.store.Function(t.Context(), "demo", "many")
	must(t, err)
	if m := f.GetManifest(); m.GetEveryAttribute() || len(m.GetAttributeSettings()) != 256 || !m.GetEveryProperty() {
		t.Errorf("the record has the manifest %v", m)
	}
}

// manyNames is a manifest with a list of many names.
func manyNames(t *testing.T, member string, n int) string {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.FormatInt(int64(i), 36)
	}
	text, err := json.Marshal(map[string][]string{member: names})
	must(t, err)
	return string(text)
}

// moduleOf is the name of a function's module in the object store: the module's hash and a unique suffix.
func (b *bench) moduleOf(t *testing.T, function string, hash [sha256.Size]byte) string {
	t.Helper()
	f, err := b.store.Function(t.Context(), "demo", function)
	must(t, err)
	if name := f.GetModule(); strings.HasPrefix(name, hex.EncodeToString(hash[:])+".") &&
		strings.HasSuffix(name, ".wasm") {
		return name
	}
	t.Errorf("the module is called %s, want it to begin with its hash %x", f.GetModule(), hash)
	return ""
}

func (b *bench) hasRecord(t *testing.T, want *pb.Function) {
	t.Helper()
	got, err := b.store.Function(t.Context(), "demo", want.GetName())
	must(t, err)
	if diff := cmp.Diff(want, got, protocmp.Transform(),
		protocmp.IgnoreFields(&pb.FunctionVersion{}, "machine_code")); diff != "" {
		t.Errorf("record differs (-want +got):\n%s", diff)
	}
}

func TestUploadForms(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	module := guest{}.wasm()
	sum := fmt.Sprintf("%x", md5.Sum(module))
	form := func(fill func(*multipart.Writer)) (io.Reader, string) {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		fill(w)
		must(t, w.Close())
		return &body, w.FormDataContentType()
	}
	file := func(w *multipart.Writer, field, name string, contents []byte) {
		part, err := w.CreateFormFile(field, name)
		must(t, err)
		_, err = part.Write(contents)
		must(t, err)
	}
	whole := func(w *multipart.Writer) {
		must(t, w.WriteField("comment", "not the file"))
		file(w, "anything", "duel.wasm", module)
		file(w, "second", "second.wasm", []byte("not read"))
	}
	body, contentType := form(whole)
	if got := wants[response.Function](t, b.do(t, http.MethodPut, "/functions/form", body, "Content-Type", contentType),
		http.StatusOK); got.MD5 != sum {
		t.Errorf("MD5 %s, want the file's alone: %s", got.MD5, sum)
	}
	for _, contentType := range []string{"application/zip", "application/x-www-form-urlencoded", "what ever", ""} {
		got := wants[response.Function](t, b.do(t, http.MethodPut, "/functions/raw", bytes.NewReader(module), "Content-Type",
			contentType), http.StatusOK)
		if got.MD5 != sum {
			t.Errorf("%s: MD5 %s, want %s", contentType, got.MD5, sum)
		}
	}

	body, contentType = form(func(w *multipart.Writer) { must(t, w.WriteField("file", "no file name")) })
	refused(t, b.do(t, http.MethodPut, "/functions/bad", body, "Content-Type", contentType), http.StatusBadRequest,
		"file: missing or of zero length")
	body, contentType = form(func(w *multipart.Writer) { file(w, "file", "duel.wasm", nil) })
	refused(t, b.do(t, http.MethodPut, "/functions/bad", body, "Content-Type", contentType), http.StatusBadRequest,
		"file: missing or of zero length")
	refused(t, b.do(t, http.MethodPut, "/functions/bad", strings.NewReader("text"), "Content-Type", contentType),
		http.StatusBadRequest, "file: the body broke off or is no form")
	refused(t, b.do(t, http.MethodPut, "/functions/bad", strings.NewReader("text"), "Content-Type", "multipart/form-data"),
		http.StatusBadRequest, "no boundary")
	body, contentType = form(whole)
	half := io.LimitReader(body, 250)
	refused(t, b.do(t, http.MethodPut, "/functions/bad", half, "Content-Type", contentType), http.StatusBadRequest,
		"file: ")
	b.hasOnly(t, "form", "raw")
}

func (b *bench) hasOnly(t *testing.T, names ...string) {
	t.Helper()
	var got []string
	for _, f := range wants[response.FunctionList](t, b.get(t, "/functions"), http.StatusOK).Functions {
		got = append(got, f.Name)
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("functions differ (-want +got):\n%s", diff)
	}
}

func TestUploadRefusals(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *Options) { o.Archive = 100_000 })
	good := guest{}.wasm()
	for name, test := range map[string]struct {
		path string
		file []byte
		says string
	}{
		"no name":                {"/functions/", good, "name: missing"},
		"name of other letters":  {"/functions/caf%C3%A9", good, "name: "},
		"name with a space":      {"/functions/a%20b", good, `name: "a b" is not a function name`},
		"name with a slash":      {"/functions/a%2Fb", good, `name: "a/b" is not a function name`},
		"name that ends badly":   {"/functions/duel.", good, "name: "},
		"name that begins badly": {"/functions/_duel", good, "name: "},
		"name with Kelvin":       {"/functions/%E2%84%AA", good, "name: "},
		"name too long":          {"/functions/" + strings.Repeat("a", 65), good, "name: "},
		"no file":                {"/functions/duel", nil, "file: missing or of zero length"},
		"unsupported":            {"/functions/duel", []byte("Rar!\x1a\x07"), "file: unsupported archive type"},
		"too long":               {"/functions/duel", exactly(100_001), "file: longer than the maximum of 100000 bytes"},
		"two modules": {"/functions/duel",
			zipped(t, packed{name: "a.wasm", body: good}, packed{name: "b.wasm", body: good}), "implementation: missing"},
		"torn query": {"/functions/duel?implementation=%zz", good, `the query cannot be read: invalid URL escape "%zz"`},
		"no such module": {"/functions/duel?implementation=c", zipped(t, packed{name: "a.wasm", body: good}),
			`implementation: the archive holds no module "c.wasm"`},
		"import":         {"/functions/duel", guest{evil: true}.wasm(), "file: the module imports env.evil"},
		"export":         {"/functions/duel", guest{missing: "mm_run"}.wasm(), "file: the module does not export mm_run"},
		"does not start": {"/functions/duel", guest{trap: true}.wasm(), "file: the module does not start: unreachable"},
		"memory": {"/functions/duel", guest{pages: 4097}.wasm(),
			"file: the module starts with 262208 KiB of memory, the limit is 262144 KiB"},
		"imported memory": {"/functions/duel", guest{borrows: true}.wasm(),
			"file: the module imports its memory env.memory: it must export one"},
		"manifest": {"/functions/duel", guest{manifest: `{"attributes":"skill"}`}.wasm(),
			"file: mm_manifest: attributes: a list of names is expected, got: string"},
		"nested": {"/functions/duel", zipped(t, packed{name: "bin/a.wasm", body: good}),
			`file: the archive's entry "bin/a.wasm" is in a folder`},
		"slip": {"/functions/duel", tarred(t, packed{name: "../a.wasm", body: good}),
			`file: the archive's entry "../a.wasm" points out of its folder`},
		"archive bomb": {"/functions/duel", zipped(t, packed{name: "zeros", body: make([]byte, 20<<20)}),
			"file: the archive unpacks to more than"},
		"no code": {"/functions/duel", []byte("\x00asm\x01\x00\x00\x00"), "file: the module does not export"},
		"garbage": {"/functions/duel", []byte("\x00asmgarbage"), "file: "},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, b.put(t, test.path, test.file), http.StatusBadRequest, test.says)
			// Of unknown length, as a stream.
			stream := io.MultiReader(bytes.NewReader(test.file))
			refused(t, b.do(t, http.MethodPut, test.path, stream), http.StatusBadRequest, test.says)
		})
	}
	b.hasOnly(t)
	if left, err := os.ReadDir(b.boxDir); err != nil || len(left) > 0 {
		t.Errorf("the sandbox keeps %v, error %v", left, err)
	}
}

// A module that takes too long, or too much memory, to be compiled or started is the uploader's mistake, not the
// service's.
func TestUploadOfCompileBombs(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, test := range map[string]struct {
		limits sandbox.Limits
		module guest
		says   string
	}{
		"compile time": {sandbox.Limits{Compile: time.Second}, guest{bomb: true},
			"file: the module does not compile: compiling took longer than 1s"},
		"compile memory": {sandbox.Limits{Compile: 2 * time.Minute, CompileMemory: 128 << 20},
			guest{bomb: true},
			"file: the module does not compile: its process needed more memory than it may have"},
		"start time": {sandbox.Limits{Start: time.Second}, guest{spin: true},
			"file: the module does not start: the start took longer than 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			box, err := sandbox.New(sandbox.Options{Dir: dir, Binary: child, Limits: test.limits, Log: log})
			must(t, err)
			t.Cleanup(box.Close)
			b := start(t, func(o *Options) { o.Sandbox = box })
			refused(t, b.put(t, "/functions/duel", test.module.wasm()), http.StatusBadRequest, test.says)
			b.hasOnly(t)
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("the sandbox keeps %v, error %v", left, err)
			}
		})
	}
}

func TestUploadOfTheLongestFile(t *testing.T) {
	t.Parallel()
	file := zipped(t, packed{name: "a.wasm", body: guest{}.wasm()}, packed{name: "noise", body: exactly(200_000)})
	b := start(t, func(o *Options) { o.Archive = len(file) })
	wants[response.Function](t, b.put(t, "/functions/duel", file), http.StatusOK)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	must(t, w.WriteField("comment", strings.Repeat("x", 10_000)))
	part, err := w.CreateFormFile("file", "a.zip")
	must(t, err)
	_, err = part.Write(file)
	must(t, err)
	must(t, w.Close())
	wants[response.Function](t, b.do(t, http.MethodPut, "/functions/duel", &form, "Content-Type", w.FormDataContentType()),
		http.StatusOK)
}

func TestMaximumNumberOfFunctions(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	// One more than the service's own check would let pass: the store decides.
	module := guest{}.wasm()
	var wg sync.WaitGroup
	statuses := make(chan answer, 24)
	for i := range cap(statuses) {
		wg.Go(func() { statuses <- b.put(t, fmt.Sprintf("/functions/f%02d", i), module) })
	}
	wg.Wait()
	close(statuses)
	accepted := 0
	for a := range statuses {
		if a.status == http.StatusOK {
			accepted++
			continue
		}
		refused(t, a, http.StatusBadRequest, "the project has 20 match functions, the most it may have")
	}
	if accepted != 20 {
		t.Fatalf("%d were accepted", accepted)
	}
	// Hopeless: refused before the file is looked at.
	refused(t, b.put(t, "/functions/more", []byte("no archive")), http.StatusBadRequest,
		"the project has 20 match functions")
	// One that is there may be replaced, and its place taken when it is deleted.
	name := wants[response.FunctionList](t, b.get(t, "/functions"), http.StatusOK).Functions[7].Name
	wants[response.Function](t, b.put(t, "/functions/"+name, module), http.StatusOK)
	if a := b.do(t, http.MethodDelete, "/functions/"+name, nil); a.status != http.StatusNoContent {
		t.Fatalf("delete: %d", a.status)
	}
	wants[response.Function](t, b.put(t, "/functions/more", module), http.StatusOK)
}

// TestOnlyDevelopers asks every route with the tokens that are not for it.
func TestOnlyDevelopers(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	tokens := map[string]struct {
		token  string
		status int
	}{
		"none":   {"", http.StatusUnauthorized},
		"player": {b.mint(t, issuer.Claims{Kind: auth.Player, Subject: "p", Project: "demo"}), http.StatusForbidden},
		"server": {b.mint(t, issuer.Claims{Kind: auth.Server, Subject: "s", Project: "demo"}), http.StatusForbidden},
		"other project": {b.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "d", Project: "other", Role: "Owner"}),
			http.StatusForbidden},
		"mere member": {b.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "d", Project: "demo", Role: "User"}),
			http.StatusForbidden},
	}
	for _, route := range []string{
		"GET /functions", "PUT /functions/duel", "GET /functions/duel", "DELETE /functions/duel",
		"GET /functions/duel/log", "GET /functions/duel/versions", "POST /functions/duel/actions/rollback",
		"POST /functions/actions/restart",
	} {
		method, path, _ := strings.Cut(route, " ")
		for name, test := range tokens {
			t.Run(route+" "+name, func(t *testing.T) {
				a := b.do(t, method, path, nil, "Authorization", "Bearer "+test.token)
				refused(t, a, test.status, "")
			})
		}
	}
}

func TestGenerationsGrow(t *testing.T) {
	now := time.UnixMilli(1000)
	for previous, want := range map[int64]int64{0: 1000, 1: 1000, 999: 1000, 1000: 1001, 5000: 5001} {
		if got := nextGeneration(&pb.Function{Generation: previous}, now); got != want {
			t.Errorf("after %d comes %d, want %d", previous, got, want)
		}
	}
	if got := nextGeneration(nil, now); got != 1000 {
		t.Errorf("the first is %d", got)
	}
}
