package webhook

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client/transporttest"
)

func TestAddresses(t *testing.T) {
	own := []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")}
	for address, ok := range map[string]bool{
		"93.184.215.14:443": true, "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443": true, "10.20.3.4:443": true,
		"127.0.0.1:443": false, "127.9.9.9:443": false, "[::1]:443": false, "0.0.0.0:443": false, "[::]:443": false,
		"10.21.0.1:443": false, "172.16.0.1:443": false, "192.168.1.1:443": false, "100.64.0.1:443": false,
		"100.100.100.200:443": false, "169.254.169.254:80": false, "168.63.129.16:80": false, "192.0.0.192:443": false,
		"[fe80::1%eth0]:443": false, "[fc00::1]:443": false, "[fd00:ec2::254]:443": false, "[fec0::1]:443": false,
		"224.0.0.1:443": false, "[ff02::1]:443": false, "255.255.255.255:443": false, "240.0.0.1:443": false,
		"[::ffff:127.0.0.1]:443": false, "[::ffff:169.254.169.254]:80": false, "[::127.0.0.1]:443": false,
		"[64:ff9b::a9fe:a9fe]:443": false, "[2002:7f00:1::]:443": false, "[2001:0:7f00:1::]:443": false,
		"198.18.0.1:443": false, "[::ffff:10.20.1.1]:443": true, "nonsense": false,
	} {
		if got := check(address, own) == nil; got != ok {
			t.Errorf("%s: allowed is %v", address, got)
		}
	}
}

// What a request came to, on real connections. Nothing of an answer is told but its status.
func TestOutcomes(t *testing.T) {
	hit := false
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit = true }))
	defer target.Close()
	blocked := make(chan struct{})
	mux := http.NewServeMux()
	answer := func(path string, status int, header ...string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(strings.Repeat("secret ", 10_000)))
		})
	}
	answer("/ok", 200)
	answer("/moved", 307, "Location", target.URL)
	answer("/busy", 429, "Retry-After", "7")
	answer("/long", 503, "Retry-After", "99999999")
	answer("/date", 503, "Retry-After", "Fri, 01 Jan 2100 00:00:00 GMT")
	answer("/broken", 500, "Retry-After", "7")
	answer("/fat", 200, "X", strings.Repeat("x", 2*maxHeaders))
	mux.HandleFunc("/never", func(http.ResponseWriter, *http.Request) { <-blocked })
	server := httptest.NewServer(mux)
	defer server.Close()
	defer close(blocked)
	secure := httptest.NewTLSServer(mux)
	defer secure.Close()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for _, c := range []struct {
		url      string
		networks []netip.Prefix
		want     outcome
	}{
		{server.URL + "/ok", loopback, outcome{taken, "", 200, 0}},
		{server.URL + "/ok", nil, outcome{forbidden, "its address is not public", 0, 0}},
		{strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/ok", nil,
			outcome{forbidden, "its address is not public", 0, 0}},
		{server.URL + "/moved", loopback, outcome{refused, "it answered 307: redirects are not followed", 307, 0}},
		{server.URL + "/busy", loopback, outcome{refused, "it answered 429", 429, 7 * time.Second}},
		{server.URL + "/long", loopback, outcome{refused, "it answered 503", 503, time.Hour}},
		{server.URL + "/date", loopback, outcome{refused, "it answered 503", 503, time.Hour}},
		{server.URL + "/broken", loopback, outcome{refused, "it answered 500", 500, 0}},
		{server.URL + "/fat", loopback, outcome{unreachable, "the connection failed", 0, 0}},
		{server.URL + "/never", loopback, outcome{unreachable, "it did not answer in time", 0, 0}},
		{secure.URL + "/ok", loopback, outcome{unreachable, "its certificate is not valid", 0, 0}},
		{"http://127.0.0.1:1/", loopback, outcome{unreachable, "the connection failed", 0, 0}},
		{"https://name.invalid/", loopback, outcome{unreachable, "its name was not found", 0, 0}},
	} {
		most := time.Minute
		if strings.HasSuffix(c.url, "/never") {
			most = 50 * time.Millisecond
		}
		got := newSender(most, c.networks).send(t.Context(), c.url, []byte("{}"), http.Header{})
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.url, got, c.want)
		}
	}
	if hit {
		t.Error("a redirect was followed")
	}
}

func TestConnectionThatDiesSilentlyIsReplaced(t *testing.T) {
	transporttest.ReplacesSilent(t, func() *http.Transport {
		return newSender(5*time.Second, nil).client.Transport.(*http.Transport)
	})
}
