package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/internal/platform/textfile"
	"matchmaker.dev/services/internal/platform/wait"
)

const prefix = "OTEL_EXPORTER_OTLP_"

// The signals, as the names of variables have them.
const (
	traces  = "TRACES"
	metrics = "METRICS"
)

// lookup returns a setting of a signal, and the variable that has it: the signal's own variable precedes the general
// one.
func lookup(signal, setting string) (name, value string) {
	for _, name = range []string{prefix + signal + "_" + setting, prefix + setting} {
		if value = strings.TrimSpace(os.Getenv(name)); value != "" {
			break
		}
	}
	return name, value
}

// newClient makes the client of a signal. version is this program's.
func newClient(signal, version string) (*client, error) {
	target, err := endpoint(signal)
	if err != nil {
		return nil, err
	}
	secure, err := tlsConfig(signal)
	if err != nil {
		return nil, err
	}
	if target.Scheme == "http" && (secure.RootCAs != nil || secure.Certificates != nil) {
		return nil, errors.New("an endpoint with http:// does not go with certificates: use https://")
	}
	c := &client{url: target, timeout: 10 * time.Second, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure, ForceAttemptHTTP2: true,
			IdleConnTimeout: 90 * time.Second,
			HTTP2:           wait.Pings(),
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if c.header, err = headers(signal); err != nil {
		return nil, err
	}
	if c.header.Get("User-Agent") == "" {
		c.header.Set("User-Agent", "matchmaker-OTLP-Exporter-Go/"+version)
	}
	c.header.Set("Content-Type", contentType)
	switch name, value := lookup(signal, "COMPRESSION"); value {
	case "gzip":
		c.gzip = true
		c.header.Set("Content-Encoding", value)
	case "", "none":
	default:
		return nil, fmt.Errorf("%s is %q: only gzip and none are supported", name, value)
	}
	if name, value := lookup(signal, "TIMEOUT"); value != "" {
		ms, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%s is %q: a number of milliseconds is needed", name, value)
		}
		if c.timeout = time.Duration(ms) * time.Millisecond; ms == 0 {
			c.timeout = math.MaxInt64 // no limit, as the specification says
		}
	}
	return c, nil
}

// endpoint returns where to send a signal. The signal's own URL is used as it is; the common one is a base. Its scheme
// says whether TLS is used, so that OTEL_EXPORTER_OTLP_INSECURE, which is for URLs without one, has no effect.
func endpoint(signal string) (*url.URL, error) {
	name, value := lookup(signal, "ENDPOINT")
	value = cmp.Or(value, "http://localhost:4318")
	target, err := url.Parse(value)
	if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
		return nil, fmt.Errorf("%s must be a URL such as http://localhost:4318", name)
	}
	if name == prefix+"ENDPOINT" {
		target = target.JoinPath("v1", strings.ToLower(signal))
	}
	return target, nil
}

// headers reads name=value,name=value. Errors do not show values: they may be keys.
func headers(signal string) (http.Header, error) {
	all := http.Header{}
	variable, value := lookup(signal, "HEADERS")
	for pair := range strings.SplitSeq(value, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, text, found := strings.Cut(pair, "=")
		text, err := url.PathUnescape(strings.TrimSpace(text))
		if name = strings.TrimSpace(name); !found || name == "" || err != nil {
			return nil, fmt.Errorf("%s must be name=value,name=value with percent-encoded values", variable)
		}
		all.Set(name, text)
	}
	return all, nil
}

func tlsConfig(signal string) (*tls.Config, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if name, file := lookup(signal, "CERTIFICATE"); file != "" {
		text, err := textfile.Read(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s holds no certificate", name, file)
		}
	}
	certName, cert := lookup(signal, "CLIENT_CERTIFICATE")
	keyName, key := lookup(signal, "CLIENT_KEY")
	if cert == "" && key == "" {
		return secure, nil
	}
	pair, err := textfile.KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", certName, keyName, err)
	}
	secure.Certificates = []tls.Certificate{pair}
	return secure, nil
}
