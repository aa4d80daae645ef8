package token_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyfile"
)

var quiet = slog.New(slog.DiscardHandler)

// clock is one that a test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func rotate(t *testing.T, path string, now time.Time) time.Time {
	t.Helper()
	from, err := keyfile.Rotate(path, now)
	if err != nil {
		t.Fatal(err)
	}
	return from
}

// replica is an allocator's issuer on a file that others have too.
func replica(t *testing.T, path string, c *clock) *token.Issuer {
	t.Helper()
	keys, err := keyfile.Open(path, c.now, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return token.New(keys, c.now, 30*time.Minute)
}

func verifier(t *testing.T, c *clock, trusted auth.Issuer) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Options{Issuers: []auth.Issuer{trusted}, Now: c.now, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var server = token.Server{Project: "demo", Allocation: "a-1", Match: "m-1", Fleet: "eu", Backfill: "b-1"}

func mint(t *testing.T, i *token.Issuer) string {
	t.Helper()
	text, _, err := i.Mint(server)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestWhatATokenSays(t *testing.T) {
	c, path := newClock(), filepath.Join(t.TempDir(), "keys.json")
	rotate(t, path, c.now())
	i := replica(t, path, c)
	text, expires, err := i.Mint(server)
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t, c, i.Trust())
	p, err := v.Verify(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if p.Kind != auth.Server || p.Subject != "a-1" || p.Match != "m-1" || p.Fleet != "eu" || p.Backfill != "b-1" ||
		!p.MayUseProject("demo") || p.MayUseProject("other") {
		t.Errorf("%+v", p)
	}
	if want := c.now().Add(30 * time.Minute); !p.Expires.Equal(want) || !expires.Equal(want) {
		t.Errorf("it ends at %s, as it says, and at %s, as Mint says; want %s", p.Expires, expires, want)
	}
	c.add(31 * time.Minute)
	if _, err := v.Verify(t.Context(), text); problem.KindOf(err) != problem.Unauthenticated {
		t.Errorf("after its time: %v", err)
	}
}

// serve is where a replica serves its public keys.
func serve(t *testing.T, i *token.Issuer) string {
	t.Helper()
	e := web.New(quiet, web.Options{})
	i.Routes(e)
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	return s.URL + token.Path
}

// Over three changes of keys no token is refused, whichever replica signed it, though replicas and verifiers hear of
// a change at different times.
func TestRotationWithOverlap(t *testing.T) {
	c, dir := newClock(), t.TempDir()
	// A secret reaches each machine as a file of its own.
	paths := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
	distribute := func(n int) {
		text, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(paths[n], text, 0o600); err != nil {
			t.Fatal(err)
		}
		// Whatever the file system's clock: the file has changed.
		if err := os.Chtimes(paths[n], c.now(), c.now()); err != nil {
			t.Fatal(err)
		}
	}
	rotate(t, paths[0], c.now())
	distribute(1)
	replicas := []*token.Issuer{replica(t, paths[0], c), replica(t, paths[1], c)}
	var verifiers []*auth.Verifier
	for _, r := range replicas {
		remote := r.Trust()
		remote.JWKS, remote.Source = serve(t, r), nil
		verifiers = append(verifiers, verifier(t, c, remote))
	}
	kids := map[string]bool{}
	check := func() {
		t.Helper()
		for n, r := range replicas {
			text := mint(t, r)
			kids[strings.SplitN(text, ".", 2)[0]] = true
			for m, v := range verifiers {
				if _, err := v.Verify(t.Context(), text); err != nil {
					t.Errorf("at %s, of replica %d, at verifier %d: %v", c.now(), n, m, err)
				}
			}
		}
	}
	check()
	for range 3 {
		rotate(t, paths[0], c.now())
		for minute := range 20 {
			if minute == 6 {
				distribute(1) // which takes its time
			}
			check()
			c.add(time.Minute)
		}
		c.add(26 * time.Hour)
		check()
	}
	if len(kids) != 4 {
		t.Errorf("%d keys signed, want 4", len(kids))
	}
	// The keys that signed long ago are gone: the last change has left its predecessor alone.
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(`"kid"`)); n != 2 {
		t.Errorf("%d keys are kept, want 2", n)
	}
}

func TestPublicKeysHoldNothingPrivate(t *testing.T) {
	c, path := newClock(), filepath.Join(t.TempDir(), "keys.json")
	rotate(t, path, c.now())
	from := rotate(t, path, c.now())
	if !from.Equal(c.now().Add(keyfile.Lead)) {
		t.Errorf("a second key signs from %s on", from)
	}
	res, err := http.Get(serve(t, replica(t, path, c)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var set struct{ Keys []map[string]any }
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) != 2 {
		t.Fatalf("%s: %v", text, err)
	}
	for _, key := range set.Keys {
		if key["d"] != nil || key["x"] == nil || key["kid"] == nil || key["alg"] != "EdDSA" || key["use"] != "sig" {
			t.Errorf("key %v", key)
		}
	}
	if got := res.Header.Get("Content-Type"); got != "application/jwk-set+json" {
		t.Error(got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestKeysThatAreNone(t *testing.T) {
	c, path := newClock(), filepath.Join(t.TempDir(), "keys.json")
	if _, err := keyfile.Open(path, c.now, quiet); err == nil {
		t.Error("no file, no error")
	}
	const (
		ed = `"kty":"OKP","crv":"Ed25519"`
		x  = `"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`
		d  = `"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"`
	)
	for text, want := range map[string]string{
		"hunter2":     "no JSON Web Key Set",
		`{"keys":[]}`: "has no key",
		`{"keys":[{"kty":"oct","k":"aHVudGVyMg","kid":"a"}]}`: "key 0 is no private Ed25519 key",

		`{"keys":[{` + ed + `,` + x + `,"kid":"a"}]}`:                              "key 0 is no private Ed25519 key",
		`{"keys":[{` + ed + `,` + d + `,` + x + `}]}`:                              "Ed25519 key with an id",
		`{"keys":[{` + ed + `,` + d + `,` + x + `,"kid":"a","signs_from":"now"}]}`: "signs_from is no number",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			func() error { _, err := keyfile.Open(path, c.now, quiet); return err }(),
			func() error { _, err := keyfile.Rotate(path, c.now()); return err }(),
		} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter") ||
				strings.Contains(err.Error(), "nWGx") {
				t.Errorf("%s: %v, want %q and nothing of the key", text, err, want)
			}
		}
	}
}

// A file that breaks while an allocator runs leaves it the keys that it has.
func TestAFileThatBreaks(t *testing.T) {
	c, path := newClock(), filepath.Join(t.TempDir(), "keys.json")
	rotate(t, path, c.now())
	i := replica(t, path, c)
	v := verifier(t, c, i.Trust())
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.add(time.Minute)
	if _, err := v.Verify(t.Context(), mint(t, i)); err != nil {
		t.Error(err)
	}
}
