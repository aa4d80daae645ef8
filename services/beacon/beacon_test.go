package beacon_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/beacon"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// running is a beacon of the region eu, its HTTP API, and a service that believes it.
type running struct {
	*beacon.Beacon
	url      string
	keys     string
	verifier *receipt.Verifier
}

func start(t *testing.T, change func(*beacon.Options)) *running {
	t.Helper()
	dir, begin := t.TempDir(), time.Now()
	r := &running{keys: filepath.Join(dir, "eu.keys")}
	_, err := keyring.Add(r.keys, time.Now())
	must(t, err)
	o := beacon.Options{
		Log: slog.New(slog.DiscardHandler), Wall: time.Now, Elapsed: func() time.Duration { return time.Since(begin) },
		Settings: beacon.Settings{Region: "eu", UDP: "127.0.0.1:0", Keys: r.keys, Rate: 1e6, Burst: 1e6},
	}
	change(&o)
	r.Beacon, err = beacon.New(t.Context(), o)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
	e := web.New(o.Log, web.Options{})
	r.Part().Routes(e)
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	r.url = server.URL
	file := filepath.Join(dir, "regions.yaml")
	text := "- {region: eu, udp: '" + r.Addr().String() + "', url: '" + r.url + "', keys: eu.keys}\n"
	must(t, os.WriteFile(file, []byte(text), 0o600))
	r.verifier, err = receipt.Open(receipt.Settings{File: file, Age: time.Minute}, time.Now)
	must(t, err)
	return r
}

// clock is the time of a beacon, in nanoseconds.
type clock struct{ atomic.Int64 }

func (c *clock) elapsed() time.Duration { return time.Duration(c.Load()) }

// believed is the round trip that the service believes of receipts, for a client on this machine.
func (r *running) believed(t *testing.T, receipts []string) float64 {
	t.Helper()
	proven, err := r.verifier.Verify(receipts, &http.Request{RemoteAddr: "127.0.0.1:1"})
	must(t, err)
	return proven["eu"]
}

func (r *running) region() client.Region {
	return client.Region{Name: "eu", Protocol: "beacon", UDP: r.Addr().String(), URL: r.url}
}

// The client measures by UDP and by HTTP, and the service believes what the beacon measured.
func TestMeasure(t *testing.T) {
	r := start(t, func(*beacon.Options) {})
	for name, o := range map[string]client.MeasureOptions{"udp": {}, "http": {HTTP: true}} {
		var got client.Latency
		waittest.Until(t, "no probe is lost, as one is when the machine stands still", func() bool {
			got = client.MeasureRegions(t.Context(), []client.Region{r.region()}, o)[0]
			return got.Lost == 0
		})
		if got.Err != nil || got.Region != "eu" || got.Sent != 5 || got.RTT <= 0 || len(got.Receipts) != 1 {
			t.Fatalf("%s: %+v", name, got)
		}
		if ms := float64(got.RTT.Microseconds()) / 1000; r.believed(t, got.Receipts) != ms {
			t.Errorf("%s: the service believes %v ms of %v", name, r.believed(t, got.Receipts), got.RTT)
		}
	}
}

// A round trip is what passes between the two questions of a probe by the beacon's clock, whatever the client says.
func TestRoundTripIsTheBeacons(t *testing.T) {
	var now clock
	r := start(t, func(o *beacon.Options) { o.Elapsed = now.elapsed })
	c := r.dial(t)
	now.Store(int64(5 * time.Second))
	echo := c.greet(t, 1)
	now.Add(int64(42500 * time.Microsecond))
	if ms := r.believed(t, []string{c.prove(t, echo)}); ms != 42.5 {
		t.Errorf("%v ms", ms)
	}
	now.Add(int64(receipt.Longest)) // a client that waits only seems farther, and at last too far
	c.silent(t, echo)
	now.Store(int64(5*time.Second) - 1)
	c.silent(t, echo)
}

// sameTime is a beacon whose clock stands still, so that no question comes too late.
func sameTime(o *beacon.Options) { o.Elapsed = func() time.Duration { return time.Minute } }

// What is not the answer of a beacon to this client is not answered.
func TestQuestionsThatAreRefused(t *testing.T) {
	r := start(t, sameTime)
	c, other := r.dial(t), r.dial(t)
	echo := c.greet(t, 1)
	changed := func(at int) []byte {
		text := append([]byte(nil), echo...)
		text[at] ^= 1
		return text
	}
	for name, question := range map[string][]byte{
		"nothing":         {},
		"short":           echo[:len(echo)-1],
		"long":            append(append([]byte(nil), echo...), 0),
		"other magic":     changed(0),
		"an answer":       changed(4), // kind 2
		"another nonce":   changed(8),
		"another time":    changed(31),
		"another tag":     changed(47),
		"PlayFab's probe": append([]byte{0xff, 0xff}, make([]byte, 32)...),
	} {
		t.Run(name, func(t *testing.T) { c.silent(t, question) })
	}
	t.Run("from another address", func(t *testing.T) { other.silent(t, echo) })
	whole := t
	t.Run("at another process", func(t *testing.T) {
		second := start(t, sameTime)
		from := &net.Dialer{LocalAddr: c.LocalAddr()} // the same address
		must(t, c.Close())
		there := dialAs(t, from, second.Addr())
		there.silent(t, echo)
		must(t, there.Close())
		c = dialAs(whole, from, r.Addr())
	})
	c.prove(t, echo)
}

// No answer is longer than its question, however long the region's name is.
func TestAnswersAreNotLonger(t *testing.T) {
	r := start(t, func(o *beacon.Options) {
		o.Settings.Region = strings.Repeat("x", receipt.LongestName)
		sameTime(o)
	})
	c := r.dial(t)
	greeting := c.ask(t, question(1))
	grant := c.ask(t, echoOf(greeting))
	if len(greeting) > beacon.QuestionSize || len(grant) > beacon.QuestionSize {
		t.Errorf("answers of %d and %d bytes to questions of %d", len(greeting), len(grant), beacon.QuestionSize)
	}
}

// A network that asks too often is not answered until time has passed; another network is, unless the two share a
// count: of three networks, one does not.
func TestLimit(t *testing.T) {
	var now clock
	limited := func(t *testing.T) *running {
		t.Helper()
		return start(t, func(o *beacon.Options) {
			o.Settings.Rate, o.Settings.Burst, o.Settings.UDP = 1, 3, "0.0.0.0:0"
			o.Elapsed = now.elapsed
			o.Settings.Proxies.Trusted = "127.0.0.0/8"
		})
	}
	for network, c := range map[string]struct{ from, others []string }{
		"/24": {[]string{"192.0.2.1", "192.0.2.2", "192.0.2.255", "192.0.2.1", "192.0.2.9"},
			[]string{"192.0.3.1", "192.0.4.1", "192.0.5.1"}},
		"/48": {[]string{"2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:1:3::1", "2001:db8:1:4::1"},
			[]string{"2001:db8:2::1", "2001:db8:3::1", "2001:db8:4::1"}},
	} {
		t.Run(network, func(t *testing.T) {
			r := limited(t)
			status := func(client string) int {
				t.Helper()
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+beacon.Path, http.NoBody)
				must(t, err)
				req.Header.Set("X-Forwarded-For", client)
				res, err := http.DefaultClient.Do(req)
				must(t, err)
				defer res.Body.Close()
				return res.StatusCode
			}
			for i, client := range c.from {
				if got := status(client); got != map[bool]int{true: 200, false: 429}[i < 3] {
					t.Errorf("%d: %s: %d", i, client, got)
				}
			}
			if !slices.ContainsFunc(c.others, func(client string) bool { return status(client) == 200 }) {
				t.Error("other networks are not answered")
			}
			now.Add(int64(time.Second))
			if first, second := status(c.from[0]), status(c.from[0]); first != 200 || second != 429 {
				t.Errorf("after a second: %d %d", first, second)
			}
		})
	}
	c := dial(t, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), limited(t).Addr().Port()))
	for range 3 {
		c.greet(t, 1)
	}
	c.silent(t, question(1))
}

// Pages of any origin probe by HTTP. What is no echo of an answer is refused.
func TestHTTP(t *testing.T) {
	r := start(t, sameTime)
	get := func(query string) (int, http.Header, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+beacon.Path+query, http.NoBody)
		must(t, err)
		req.Header.Set("Origin", "https://game.example")
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		must(t, err)
		return res.StatusCode, res.Header, string(text)
	}
	status, header, text := get("")
	if status != 200 || header.Get("Access-Control-Allow-Origin") != "https://game.example" ||
		header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", status, header)
	}
	var greeting struct{ Echo string }
	must(t, json.Unmarshal([]byte(text), &greeting))
	raw, err := base64.RawURLEncoding.DecodeString(greeting.Echo)
	must(t, err)
	raw[0] ^= 1
	for _, tt := range []struct{ query, want string }{
		{"?echo=", "query parameter echo: the echo of an answer is expected"},
		{"?echo=%21", "query parameter echo: the echo of an answer is expected"},
		{"?echo=" + greeting.Echo + "&echo=" + greeting.Echo, "query parameter echo: given more than once"},
		{"?echo=" + base64.RawURLEncoding.EncodeToString(raw), "query parameter echo: it was made for another address"},
	} {
		if status, _, text := get(tt.query); status != 400 || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d %s", tt.query, status, text)
		}
	}
	if status, _, text := get("?echo=" + greeting.Echo); status != 200 || !strings.Contains(text, `"region":"eu"`) {
		t.Errorf("%d %s", status, text)
	}
}

func TestSettings(t *testing.T) {
	good := beacon.Settings{Region: "eu", UDP: ":7600", Rate: 1000, Burst: 2000}
	must(t, settings.Check(&good))
	for want, change := range map[string]func(*beacon.Settings){
		"--region: ":          func(s *beacon.Settings) { s.Region = "e u" },
		"--udp-listen: ":      func(s *beacon.Settings) { s.UDP = ":76000" },
		"--beacon-rate: ":     func(s *beacon.Settings) { s.Rate = 0 },
		"--beacon-burst: ":    func(s *beacon.Settings) { s.Burst = 0 },
		"--trusted-proxies: ": func(s *beacon.Settings) { s.Proxies.Trusted = "10.0.0.1" },
	} {
		s := good
		change(&s)
		if err := settings.Check(&s); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// speaker says datagrams to a beacon, byte by byte.
type speaker struct{ net.Conn }

func (r *running) dial(t *testing.T) speaker { return dial(t, r.Addr()) }

func dial(t *testing.T, to netip.AddrPort) speaker {
	t.Helper()
	return dialAs(t, &net.Dialer{}, to)
}

func dialAs(t *testing.T, dialer *net.Dialer, to netip.AddrPort) speaker {
	t.Helper()
	conn, err := dialer.DialContext(t.Context(), "udp", to.String())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return speaker{conn}
}

// question is the first question of a probe, with a nonce of its own.
func question(nonce byte) []byte {
	text := make([]byte, beacon.QuestionSize)
	copy(text, "mmb\x01\x01")
	text[8] = nonce
	return text
}

// echoOf is the second question, after the answer to the first.
func echoOf(greeting []byte) []byte {
	text := make([]byte, beacon.QuestionSize)
	copy(text, greeting)
	text[4] = 3
	return text
}

func (s speaker) ask(t *testing.T, question []byte) []byte {
	t.Helper()
	_, err := s.Write(question)
	must(t, err)
	must(t, s.SetReadDeadline(time.Now().Add(time.Minute)))
	answer := make([]byte, 2048)
	n, err := s.Read(answer)
	must(t, err)
	return answer[:n]
}

func (s speaker) greet(t *testing.T, nonce byte) (echo []byte) {
	t.Helper()
	return echoOf(s.ask(t, question(nonce)))
}

func (s speaker) prove(t *testing.T, echo []byte) (receipt string) {
	t.Helper()
	return base64.RawURLEncoding.EncodeToString(s.ask(t, echo)[24:])
}

// silent reports an answer to a question, if it comes soon.
func (s speaker) silent(t *testing.T, text []byte) {
	t.Helper()
	_, err := s.Write(text)
	must(t, err)
	must(t, s.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	answer := make([]byte, 2048)
	if n, err := s.Read(answer); err == nil {
		t.Errorf("an answer of %d bytes, kind %d", n, answer[4])
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
