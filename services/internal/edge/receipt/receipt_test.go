package receipt_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyring"
)

var (
	now  = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	home = netip.MustParseAddr("192.0.2.7")
	six  = netip.MustParseAddr("2001:db8:1:2::7")
)

// installation is a file with the regions eu and us, and what signs for them.
type installation struct {
	dir      string
	verifier *receipt.Verifier
	clock    time.Time
}

func install(t *testing.T) *installation {
	t.Helper()
	i := &installation{dir: t.TempDir(), clock: now}
	for _, name := range []string{"eu", "us", "stranger"} {
		_, err := keyring.Add(i.keys(name), now)
		must(t, err)
	}
	file := i.write(t, "- {region: eu, udp: 'eu.example:7600', keys: eu.keys}\n"+
		"- {region: us, udp: 'us.example:7600', url: 'https://us.example', keys: us.keys}\n"+
		"- {region: asia, udp: 'asia.example:3075', protocol: playfab}\n")
	var err error
	i.verifier, err = receipt.Open(receipt.Settings{
		File: file, Age: time.Minute, Proxies: web.Proxies{Trusted: "10.0.0.0/8"},
	}, func() time.Time { return i.clock })
	must(t, err)
	return i
}

func (i *installation) keys(name string) string { return filepath.Join(i.dir, name+".keys") }

func (i *installation) write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(i.dir, "regions.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// sign is a receipt that says a region and is signed with the first key of a file.
func (i *installation) sign(t *testing.T, file, region string, client netip.Addr, at time.Time) string {
	t.Helper()
	ring, err := keyring.Open(i.keys(file), time.Now)
	must(t, err)
	keys, err := ring.Derived(receipt.Purpose)
	must(t, err)
	raw := receipt.NewSigner(region, keys[0]).Append(nil, client, 30500*time.Microsecond, at)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func from(address string, forwarded ...string) *http.Request {
	r := &http.Request{RemoteAddr: address, Header: http.Header{}}
	for _, text := range forwarded {
		r.Header.Add("X-Forwarded-For", text)
	}
	return r
}

func TestVerify(t *testing.T) {
	i := install(t)
	good := i.sign(t, "eu", "eu", home, now)
	good6 := i.sign(t, "eu", "eu", six, now)
	us := i.sign(t, "us", "us", home, now)
	changed := func(at int) string {
		raw, err := base64.RawURLEncoding.DecodeString(good)
		must(t, err)
		raw[at] ^= 1
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	eu := map[string]float64{"eu": 30.5}
	const forged = "receipts.0: the beacon of region eu has not signed it"
	const moved = "it was measured from another network than this request comes from"
	client := from("192.0.2.7:4000")
	for name, tt := range map[string]struct {
		request  *http.Request
		receipts []string
		want     map[string]float64
		err      string
	}{
		"none":                   {client, nil, nil, ""},
		"one":                    {client, []string{good}, eu, ""},
		"of two regions":         {client, []string{good, us}, map[string]float64{"eu": 30.5, "us": 30.5}, ""},
		"of both families, by 4": {client, []string{good6, good}, eu, ""},
		"of both families, by 6": {from("[2001:db8:1:ffff::1]:1"), []string{good, good6}, eu, ""},
		"4 in 6":                 {from("[::ffff:192.0.2.99]:1"), []string{good}, eu, ""},
		"behind a proxy":         {from("10.0.0.1:1", "203.0.113.5, 192.0.2.7"), []string{good}, eu, ""},
		"behind two proxies":     {from("10.0.0.1:1", "192.0.2.7", "10.2.3.4"), []string{good}, eu, ""},
		"a minute old":           {client, []string{i.sign(t, "eu", "eu", home, now.Add(-time.Minute))}, eu, ""},
		"of a clock ahead":       {client, []string{i.sign(t, "eu", "eu", home, now.Add(time.Minute))}, eu, ""},

		"a client that says where it is": {from("203.0.113.5:1", "192.0.2.7"), []string{good}, nil, moved},
		"a client before a proxy":        {from("10.0.0.1:1", "192.0.2.7, 203.0.113.5"), []string{good}, nil, moved},
		"a proxy that says nothing":      {from("10.0.0.1:1"), []string{good}, nil, moved},
		"a proxy that says a name": {from("10.0.0.1:1", "unknown"), []string{good}, nil,
			"receipts: the request says no address"},
		"moved":                     {from("192.0.3.7:1"), []string{good}, nil, "receipts.0: " + moved},
		"moved, of IPv6":            {from("[2001:db8:2:2::7]:1"), []string{good6}, nil, "receipts.0: " + moved},
		"of the other family alone": {client, []string{us, good6}, nil, "receipts.1: " + moved},
		"old": {client, []string{i.sign(t, "eu", "eu", home, now.Add(-61*time.Second))}, nil,
			"receipts.0: it is 1m1s old, at most 1m0s are allowed: measure region eu again"},
		"from the future": {client, []string{i.sign(t, "eu", "eu", home, now.Add(61*time.Second))}, nil,
			"receipts.0: the clock of the beacon of region eu is ahead by 1m1s"},
		"twice":                      {client, []string{good, good}, nil, "receipts.1: there is another one of region eu"},
		"of another region's beacon": {client, []string{i.sign(t, "us", "eu", home, now)}, nil, forged},
		"of a stranger":              {client, []string{i.sign(t, "stranger", "eu", home, now)}, nil, forged},
		"another time":               {client, []string{changed(9)}, nil, forged},
		"another round trip":         {client, []string{changed(12)}, nil, forged},
		"another network":            {client, []string{changed(14)}, nil, forged},
		"another name": {client, []string{changed(24)}, nil,
			"receipts.0: no beacon of a region et is believed"},
		"another tag":     {client, []string{changed(40)}, nil, forged},
		"another version": {client, []string{changed(0)}, nil, "receipts.0: it is no receipt of a beacon"},
		"another length":  {client, []string{changed(22)}, nil, "receipts.0: it is no receipt of a beacon"},
		"not Base64":      {client, []string{"?"}, nil, "receipts.0: it is not the Base64 of URLs"},
		"empty":           {client, []string{""}, nil, "receipts.0: it is no receipt of a beacon"},
		"of a source without keys": {client, []string{i.sign(t, "stranger", "asia", home, now)}, nil,
			"receipts.0: no beacon of a region asia is believed"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := i.verifier.Verify(tt.receipts, tt.request)
			if tt.err == "" {
				if err != nil || !cmp.Equal(got, tt.want) {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			if problem.KindOf(err) != problem.Invalid || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v, want %s", err, tt.err)
			}
		})
	}
	if _, err := (*receipt.Verifier)(nil).Verify([]string{good}, client); problem.KindOf(err) != problem.Invalid {
		t.Errorf("without regions: %v", err)
	}
}

// The keys of a file are those that are in it, within five seconds.
func TestKeysChange(t *testing.T) {
	i := install(t)
	old := i.sign(t, "eu", "eu", home, now)
	check := func(text string, believed bool) {
		t.Helper()
		if _, err := i.verifier.Verify([]string{text}, from("192.0.2.7:1")); (err == nil) != believed {
			t.Error(err)
		}
	}
	check(old, true)
	_, err := keyring.Add(i.keys("eu"), now)
	must(t, err)
	i.clock = now.Add(5 * time.Second)
	fresh := i.sign(t, "eu", "eu", home, now)
	check(fresh, true)
	check(old, true)
	text, err := os.ReadFile(i.keys("eu"))
	must(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	must(t, os.WriteFile(i.keys("eu"), []byte(first), 0o600))
	i.clock = now.Add(10 * time.Second)
	check(fresh, true)
	check(old, false)
}

func TestCheckSize(t *testing.T) {
	player, service := &auth.Principal{Kind: auth.Player}, &auth.Principal{Kind: auth.Service}
	longest := strings.Repeat("A", base64.RawURLEncoding.EncodedLen(receipt.MaxSize))
	most := make([]string, receipt.MaxReceipts)
	must(t, receipt.CheckSize(append(most[1:], longest), player))
	must(t, receipt.CheckSize(nil, service))
	for want, tt := range map[string]struct {
		receipts []string
		caller   *auth.Principal
	}{
		"receipts: 129 of them, at most 128 are allowed":                          {append(most, ""), player},
		"receipts.1: 96 characters, at most 95 are allowed":                       {[]string{"", longest + "A"}, player},
		"receipts: only players send them; a game service sets the values itself": {[]string{""}, service},
	} {
		if err := receipt.CheckSize(tt.receipts, tt.caller); problem.KindOf(err) != problem.Invalid || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRegionsFile(t *testing.T) {
	i := install(t)
	const eu = "{region: eu, udp: 'eu.example:7600', keys: eu.keys}"
	many := ""
	for n := range receipt.MaxRegions + 1 {
		many += fmt.Sprintf("- {region: r%d, udp: 'a:1', protocol: echo}\n", n)
	}
	for want, text := range map[string]string{
		"0 regions, 1 to 64 are expected":         "",
		"65 regions, 1 to 64 are expected":        many,
		"1: region eu is there twice":             "- " + eu + "\n- " + eu,
		"0: region: 1 to 32 letters":              "- {region: 'e u', udp: 'a:1', keys: k}",
		"0: keys: required":                       "- {region: eu, udp: 'a:1'}",
		"0: udp, url: at least one is expected":   "- {region: eu, keys: eu.keys}",
		"0: udp: a host and a port are expected":  "- {region: eu, udp: 'a', keys: eu.keys}",
		"0: url: http:// or https://":             "- {region: eu, url: 'ftp://a', keys: eu.keys}",
		"0: protocol: beacon, playfab or echo is": "- {region: eu, udp: 'a:1', protocol: icmp}",
		"0: protocol echo: udp is expected":       "- {region: eu, udp: 'a:1', protocol: echo, keys: eu.keys}",
		"field port not found":                    "- {region: eu, port: 1}",
		"region eu: keys: ":                       "- {region: eu, udp: 'a:1', keys: missing.keys}",
	} {
		_, err := receipt.Open(receipt.Settings{File: i.write(t, text), Age: time.Minute}, time.Now)
		if err == nil || !strings.HasPrefix(err.Error(), "--regions: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func FuzzVerify(f *testing.F) {
	dir := f.TempDir()
	_, err := keyring.Add(filepath.Join(dir, "k"), now)
	must(f, err)
	file := filepath.Join(dir, "regions.yaml")
	must(f, os.WriteFile(file, []byte("- {region: eu, udp: 'a:1', keys: k}"), 0o600))
	v, err := receipt.Open(receipt.Settings{File: file, Age: time.Minute}, time.Now)
	must(f, err)
	f.Add([]byte("\x01\x04" + strings.Repeat("\x00", 20) + "\x02eu" + strings.Repeat("\x00", 16)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := base64.RawURLEncoding.EncodeToString(raw)
		if got, err := v.Verify([]string{text}, from("192.0.2.7:1")); problem.KindOf(err) != problem.Invalid {
			t.Fatalf("%x: %v, %v", raw, got, err)
		}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
