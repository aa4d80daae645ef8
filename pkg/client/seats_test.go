package client_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/pkg/client"
)

// signKey is a key that signs passes in tests.
type signKey struct {
	id      string
	private ed25519.PrivateKey
}

func newKey(t *testing.T, id string) signKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return signKey{id, private}
}

func encode64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// jwks is the public halves of keys.
func jwks(keys ...signKey) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","kid":%q,"x":%q}`, k.id,
			encode64(k.private.Public().(ed25519.PublicKey)))
	}
	return `{"keys":[{"kty":"RSA","kid":"rsa","n":"AQAB","e":"AQAB"},` + strings.Join(all, ",") + `]}`
}

// pass signs claims, with a header.
func (k signKey) pass(t *testing.T, header, claims map[string]any) string {
	t.Helper()
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	text := encode64(h) + "." + encode64(c)
	return text + "." + encode64(ed25519.Sign(k.private, []byte(text)))
}

func (k signKey) header() map[string]any { return map[string]any{"alg": "EdDSA", "kid": k.id} }

var now = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// good are the claims of a pass for a server.
func good() map[string]any {
	return map[string]any{
		"iss": "matchmaker-seats", "aud": []string{"seat"}, "sub": "ada", "project": "demo", "ticket": "t", "match": "m",
		"connection": "10.0.0.1:7", "iat": now.Add(-time.Minute).Unix(), "exp": now.Add(time.Minute).Unix(),
	}
}

// with is good with other claims; nil removes one.
func with(changes map[string]any) map[string]any {
	claims := good()
	for name, value := range changes {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	return claims
}

var server = client.SeatServer{Project: "demo", Match: "m", Backfill: "b", Connection: "10.0.0.1:7"}

func seatsOf(t *testing.T, server client.SeatServer, set string) *client.Seats {
	t.Helper()
	keys, err := client.SeatKeysOf([]byte(set))
	if err != nil {
		t.Fatal(err)
	}
	return newSeats(t, server, keys)
}

// newSeats are seats whose clock stands still.
func newSeats(t *testing.T, server client.SeatServer, keys *client.SeatKeys) *client.Seats {
	t.Helper()
	seats, err := client.NewSeats(client.SeatsOptions{
		SeatServer: server, Keys: keys, Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return seats
}

func TestSeatsAdmitWhoHasAPass(t *testing.T) {
	k := newKey(t, "k")
	for name, test := range map[string]struct {
		server client.SeatServer
		claims map[string]any
	}{
		"a new game": {server, good()},
		"who joins":  {server, with(map[string]any{"match": "later", "backfill": "b"})},
		"who joins our own game": {
			client.SeatServer{Project: "demo", Backfill: "b"}, with(map[string]any{"match": "x", "backfill": "b"}),
		},
		"no known connection": {
			client.SeatServer{Project: "demo", Match: "m"}, with(map[string]any{"connection": "else"}),
		},
		"one audience as text":   {server, with(map[string]any{"aud": "seat"})},
		"a clock that is behind": {server, with(map[string]any{"iat": now.Add(20 * time.Second).Unix()})},
		"a clock that is ahead":  {server, with(map[string]any{"exp": now.Add(-20 * time.Second).Unix()})},
		"a claim that is new":    {server, with(map[string]any{"more": []int{1}})},
	} {
		player, ticket, err := seatsOf(t, test.server, jwks(newKey(t, "other"), k)).Check(t.Context(),
			k.pass(t, k.header(), test.claims))
		if player != "ada" || ticket != "t" || err != nil {
			t.Errorf("%s: %q, %q, %v", name, player, ticket, err)
		}
	}
}

func TestSeatsRefuse(t *testing.T) {
	k, other := newKey(t, "k"), newKey(t, "other")
	mine := k.pass(t, k.header(), good())
	claims := func(name string, value any) string {
		return k.pass(t, k.header(), with(map[string]any{name: value}))
	}
	header := func(name string, value any) string {
		h := maps.Clone(k.header())
		h[name] = value
		return k.pass(t, h, good())
	}
	parts := strings.Split(mine, ".")
	mac := hmac.New(sha256.New, k.private.Public().(ed25519.PublicKey))
	hs := encode64([]byte(`{"alg":"HS256","kid":"k"}`)) + "." + parts[1]
	mac.Write([]byte(hs))
	for name, test := range map[string]struct{ pass, reason string }{
		"nothing":                      {"", "no token"},
		"no token":                     {"a b", "no token"},
		"one part":                     {parts[0], "no token"},
		"two parts":                    {parts[0] + "." + parts[1], "no token"},
		"four parts":                   {mine + ".x", "signature"},
		"a huge one":                   {mine + strings.Repeat("A", 20_000), "too long"},
		"a truncated one":              {mine[:len(mine)-3], "signature"},
		"padding":                      {mine + "==", "signature"},
		"no signature":                 {parts[0] + "." + parts[1] + ".", "signature"},
		"other claims":                 {parts[0] + "." + encode64([]byte(`{"sub":"eve"}`)) + "." + parts[2], "signature is wrong"},
		"alg none":                     {encode64([]byte(`{"alg":"none","kid":"k"}`)) + "." + parts[1] + ".", "another way"},
		"alg none, signed":             {header("alg", "none"), "another way"},
		"HS256 with the public key":    {hs + "." + encode64(mac.Sum(nil)), "another way"},
		"alg in another letter case":   {header("alg", "eddsa"), "another way"},
		"no key id":                    {header("kid", ""), "another way"},
		"a critical extension":         {header("crit", []string{"b64"}), "another way"},
		"an unknown key":               {other.pass(t, other.header(), good()), "unknown key"},
		"another key under our key id": {other.pass(t, k.header(), good()), "signature is wrong"},
		"an RSA key":                   {header("kid", "rsa"), "unknown key"},
		"another issuer":               {claims("iss", "matchmaker-servers"), "issuer"},
		"no issuer":                    {claims("iss", nil), "issuer"},
		"a token for the API":          {claims("aud", []string{"matchmaker"}), "audience"},
		"two audiences":                {claims("aud", []string{"seat", "matchmaker"}), "audience"},
		"no audience":                  {claims("aud", nil), "audience"},
		"expired":                      {claims("exp", now.Add(-31*time.Second).Unix()), "expired"},
		"never expires":                {claims("exp", nil), "expired"},
		"expires as a text":            {claims("exp", "2099"), "claims"},
		"from the future":              {claims("iat", now.Add(31*time.Second).Unix()), "future"},
		"no player":                    {claims("sub", ""), "no player"},
		"no ticket":                    {claims("ticket", nil), "no ticket"},
		"another project":              {claims("project", "other"), "another project"},
		"another match":                {claims("match", "n"), "another match"},
		"no match":                     {claims("match", nil), "another match"},
		"another backfill ticket":      {claims("backfill", "c"), "another backfill ticket"},
		"another server":               {claims("connection", "10.0.0.2:7"), "another server"},
		"claims that are no object":    {k.pass(t, k.header(), nil), "issuer"},
	} {
		player, ticket, err := seatsOf(t, server, jwks(k)).Check(t.Context(), test.pass)
		if !errors.Is(err, client.ErrSeat) || !strings.Contains(err.Error(), test.reason) || player != "" || ticket != "" {
			t.Errorf("%s: %q, %v, want %q", name, player, err, test.reason)
		}
	}
	seats := seatsOf(t, client.SeatServer{Project: "demo", Backfill: "b"}, jwks(k))
	if _, _, err := seats.Check(t.Context(), claims("match", "")); !errors.Is(err, client.ErrSeat) {
		t.Errorf("a server without a match admits who is in none: %v", err)
	}
	if _, err := seatsOf(t, server, jwks(k)).CheckPlayer(t.Context(), mine, "eve"); !errors.Is(err, client.ErrSeat) {
		t.Errorf("eve enters with ada's pass: %v", err)
	}
	if ticket, err := seatsOf(t, server, jwks(k)).CheckPlayer(t.Context(), mine, "ada"); ticket != "t" || err != nil {
		t.Errorf("ada does not: %q, %v", ticket, err)
	}
}

func TestSeatsOptionsAreChecked(t *testing.T) {
	keys, err := client.SeatKeysOf([]byte(jwks(newKey(t, "k"))))
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]client.SeatsOptions{
		"Project":  {SeatServer: client.SeatServer{Match: "m"}, Keys: keys},
		"Backfill": {SeatServer: client.SeatServer{Project: "demo"}, Keys: keys},
		"Keys":     {SeatServer: server},
		"Leeway":   {SeatServer: server, Keys: keys, Leeway: time.Hour},
	} {
		if _, err := client.NewSeats(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	many := make([]signKey, 200)
	for i := range many {
		many[i] = newKey(t, fmt.Sprint(i))
	}
	for _, set := range []string{``, `[]`, `{"keys":[]}`, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","kid":"k"}]}`,
		jwks(many...)} {
		if _, err := client.SeatKeysOf([]byte(set)); err == nil {
			t.Errorf("these keys are taken: %.80s", set)
		}
	}
	for _, address := range []string{"", "matchmaker.example", "ftp://matchmaker.example/x", "http://"} {
		if _, err := client.SeatKeysAt(address, nil); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}

// served is a key set that a test changes.
type served struct {
	mu    sync.Mutex
	text  string // "" fails
	reads atomic.Int64
}

func (s *served) set(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

func (s *served) get() string {
	s.reads.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// RoundTrip answers without a network, for tests that own the time.
func (s *served) RoundTrip(*http.Request) (*http.Response, error) {
	text := s.get()
	if text == "" {
		return nil, errors.New("away")
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func TestSeatKeysAreReadOnce(t *testing.T) {
	k, stranger := newKey(t, "k"), newKey(t, "stranger")
	synctest.Test(t, func(t *testing.T) {
		answers := &served{text: jwks(k)}
		keys, err := client.SeatKeysAt("http://matchmaker.example/keys", &http.Client{Transport: answers})
		if err != nil {
			t.Fatal(err)
		}
		seats := newSeats(t, server, keys)
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if _, _, err := seats.Check(t.Context(), k.pass(t, k.header(), good())); err != nil {
					t.Error(i, err)
				}
				_, _, err := seats.Check(t.Context(), stranger.pass(t, stranger.header(), good()))
				if !errors.Is(err, client.ErrSeat) {
					t.Error(i, err)
				}
			})
		}
		all.Wait()
		if n := answers.reads.Load(); n != 1 {
			t.Errorf("the keys were read %d times", n)
		}
	})
}

// pass lets time pass in the bubble.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the bubble's time

func TestSeatKeysChange(t *testing.T) {
	k, next := newKey(t, "k"), newKey(t, "next")
	synctest.Test(t, func(t *testing.T) {
		answers := new(served)
		keys, err := client.SeatKeysAt("http://matchmaker.example/keys", &http.Client{Transport: answers})
		if err != nil {
			t.Fatal(err)
		}
		seats := newSeats(t, server, keys)
		check := func(what string, by signKey, good1 bool, seat bool, reads int64) {
			t.Helper()
			_, _, err := seats.Check(t.Context(), by.pass(t, by.header(), good()))
			synctest.Wait()
			if (err == nil) != good1 || errors.Is(err, client.ErrSeat) != seat || answers.reads.Load() != reads {
				t.Errorf("%s: %v after %d reads", what, err, answers.reads.Load())
			}
		}
		check("no keys yet", k, false, false, 1)
		check("at once again", k, false, false, 1)
		answers.set(jwks(k))
		pass(11 * time.Second)
		check("the service is back", k, true, false, 2)
		check("an unknown key", next, false, true, 2)
		pass(11 * time.Second)
		check("an unknown key later", next, false, true, 3)
		answers.set(jwks(next))
		pass(11 * time.Second)
		check("a new key", next, true, false, 4)
		check("the old one", k, false, true, 4)
		answers.set(``)
		pass(6 * time.Minute)
		check("while the service is away", next, true, false, 5)
		answers.set(jwks(k) + strings.Repeat(" ", 300<<10))
		pass(time.Hour)
		check("an answer that is too long", next, true, false, 6)
		pass(24 * time.Hour)
		check("much later", next, false, false, 7)
	})
}

// A call that waits for keys does not wait for longer than its context.
func TestSeatsGiveUpWithTheirContext(t *testing.T) {
	k := newKey(t, "k")
	hangs := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs }))
	defer web.Close()
	defer close(hangs)
	keys, err := client.SeatKeysAt(web.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	seats, err := client.NewSeats(client.SeatsOptions{SeatServer: server, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := seats.Check(ctx, k.pass(t, k.header(), good())); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
