// Package transport is the HTTPS client for hosting systems. Certificates are always verified and may be renewed while
// it runs, every call has a deadline, the size of answers is limited, redirects are not followed, and errors name only
// the method, the host and the path.
package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/services/internal/platform/textfile"
	"matchmaker.dev/services/internal/platform/wait"
)

// Options of a client. Files are PEM.
type Options struct {
	// CA is a file of the authorities that the system's certificate must descend from; the machine's when empty.
	CA string
	// Certificate and Key are files of the client's own certificate; both or neither.
	Certificate string
	Key         string
	// CAData, CertificateData and KeyData are used instead of the files.
	CAData, CertificateData, KeyData []byte
	// ServerName is whose certificate the system must have; the URL's host when empty.
	ServerName string
	// Proxy returns the proxy of a call; when nil, the environment does.
	Proxy func(*http.Request) (*url.URL, error)
	// Uncompressed asks for answers that are not compressed.
	Uncompressed bool
	// Timeout is how long a call may take, the reading of its answer included; 10 s when 0.
	Timeout time.Duration
	// Limit is how many bytes an answer may have; 1 MiB when 0.
	Limit int64
	// Renewal is how often the files are read again; 10 s when 0. After a call that failed they are read at once.
	Renewal time.Duration
	Log     *slog.Logger
	Now     func() time.Time
}

// Client calls a hosting system. It is safe for concurrent use.
type Client struct {
	options Options

	mu      sync.Mutex
	files   files
	client  *http.Client
	checked time.Time
}

// Answer is a response that was read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// authorization is the call's header of that name.
	authorization string
}

// New reads the files. Errors say what is wrong with them.
func New(o Options) (*Client, error) {
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Limit = cmp.Or(o.Limit, 1<<20)
	o.Renewal = cmp.Or(o.Renewal, 10*time.Second)
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	if (o.Certificate == "" && len(o.CertificateData) == 0) != (o.Key == "" && len(o.KeyData) == 0) {
		return nil, errors.New("certificate and key: both or neither")
	}
	c := &Client{options: o}
	files, err := c.read()
	if err != nil {
		return nil, err
	}
	if c.client, err = c.connect(files); err != nil {
		return nil, err
	}
	c.files, c.checked = files, o.Now()
	return c, nil
}

// Endpoint parses the base URL of a hosting system. It must be https, or http on the machine itself, since calls hold
// tokens. The result has no query, and no slash at its end.
func Endpoint(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("not a URL") // the cause repeats the URL, with the password that may be in it
	case u.Host == "":
		return nil, errors.New("not a URL with a host, as https://fleet.example.com")
	case u.User != nil:
		return nil, errors.New("credentials do not belong into a URL")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("a base URL has neither a query nor a fragment")
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		u.Path = strings.TrimRight(u.Path, "/")
		return u, nil
	case u.Scheme == "http":
		return nil, errors.New("http is for this machine only, since calls hold tokens: use https")
	default:
		return nil, errors.New("not an https URL")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Do makes a call. An error means that no answer could be read: the call may have had its effect.
func (c *Client) Do(ctx context.Context, r *http.Request) (*Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, fmt.Errorf("no answer within %s", c.options.Timeout))
	defer cancel()
	answer, err := c.call(ctx, r)
	if err == nil {
		return answer, nil
	}
	c.suspect()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the query
	}
	return nil, fmt.Errorf("%s %s%s: %w", r.Method, r.URL.Host, r.URL.Path, err)
}

func (c *Client) call(ctx context.Context, r *http.Request) (*Answer, error) {
	response, err := c.current().Do(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, c.options.Limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) > c.options.Limit:
		return nil, fmt.Errorf("the answer has more than %d bytes", c.options.Limit)
	}
	return &Answer{
		Status: response.StatusCode, Header: response.Header, Body: body, authorization: r.Header.Get("Authorization"),
	}, nil
}

// Close ends idle connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client.CloseIdleConnections()
}

// RetryAfter is when the system wants to be called again, 0 when it does not say.
func (a *Answer) RetryAfter(now time.Time) time.Duration { return wait.RetryAfter(a.Header, now) }

// current is the client with the certificates of the files as they are now.
func (c *Client) current() *http.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.options.Now()
	if now.Sub(c.checked).Abs() < c.options.Renewal { // the clock may be set back
		return c.client
	}
	c.checked = now
	files, err := c.read()
	if err != nil || files.equal(c.files) {
		if err != nil {
			c.options.Log.Warn("certificates could not be read, the old ones stay in use", "error", err)
		}
		return c.client
	}
	renewed, err := c.connect(files)
	if err != nil { // a file is being written, or the certificate is of another key
		c.options.Log.Warn("new certificates are invalid, the old ones stay in use", "error", err)
		return c.client
	}
	c.client.CloseIdleConnections()
	c.files, c.client = files, renewed
	c.options.Log.Info("certificates were renewed", "ca", c.options.CA, "certificate", c.options.Certificate)
	return c.client
}

// suspect makes the next call read the files.
func (c *Client) suspect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checked = time.Time{}
}

// Identify replaces CertificateData and KeyData. Calls that began before keep the old ones.
func (c *Client) Identify(certificate, key []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.options.CertificateData, c.options.KeyData = certificate, key
	c.checked = time.Time{}
}

// connect makes a client with the certificates of files. It has no connections yet.
func (c *Client) connect(files files) (*http.Client, error) {
	config, err := files.config()
	if err != nil {
		return nil, err
	}
	config.Time, config.ServerName = c.options.Now, c.options.ServerName
	connecting := max(5*time.Second, c.options.Timeout/2) // dial and handshake each; a call ends with its own context
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               c.options.Proxy,
			DialContext:         (&net.Dialer{Timeout: connecting, KeepAlive: 15 * time.Second}).DialContext,
			TLSClientConfig:     config,
			TLSHandshakeTimeout: connecting,
			ForceAttemptHTTP2:   true,
			HTTP2:               wait.Pings(),
			DisableCompression:  c.options.Uncompressed,
			MaxIdleConns:        256,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     60 * time.Second,
		},
		// Only the host that the operator named gets the tokens.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// files are the contents of the files.
type files struct{ ca, certificate, key []byte }

func (f files) equal(g files) bool {
	return bytes.Equal(f.ca, g.ca) && bytes.Equal(f.certificate, g.certificate) && bytes.Equal(f.key, g.key)
}

func (c *Client) read() (files, error) {
	var f files
	for _, one := range []struct {
		path string
		data []byte
		into *[]byte
	}{
		{c.options.CA, c.options.CAData, &f.ca}, {c.options.Certificate, c.options.CertificateData, &f.certificate},
		{c.options.Key, c.options.KeyData, &f.key},
	} {
		switch {
		case len(one.data) > 0:
			*one.into = one.data
		case one.path != "":
			text, err := textfile.Read(one.path)
			if err != nil {
				return files{}, err
			}
			*one.into = text
		}
	}
	return f, nil
}

func (f files) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(f.ca) {
			return nil, fmt.Errorf("the CA file has no certificate in PEM")
		}
	}
	if f.certificate != nil {
		pair, err := tls.X509KeyPair(f.certificate, f.key)
		if err != nil {
			return nil, fmt.Errorf("certificate and key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
