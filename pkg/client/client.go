// Package client speaks the matchmaking service's HTTP API: tickets for players, configs and functions for developers,
// backfill for game servers.
//
// A [Client] belongs to one project and one source of tokens, and is safe for use by many goroutines. Every call takes
// a context that bounds it, retries included. Answers other than success are an [*Error], which carries the status, the
// code, the reason, what the player may be told, and the correlation id to quote to support.
//
// An answer may be lost. Calls that can be repeated are repeated, and creates of tickets are by their Idempotency-Key
// ([Client.CreateTicket]). A game that crashed goes on with the ticket that its player has ([Client.Resume]).
//
// The package needs the standard library only. Package clienttest is the service in memory, for a game's own tests.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// TokenSource gives the bearer token for a request. It is asked before every try, so that it can renew a token that
// expires; it should cache. Its error ends the call. When a token was answered 401 the source is asked once more, and
// if it gives another one the request is sent again: see [RefusedToken].
type TokenSource func(ctx context.Context) (string, error)

// StaticToken is a source that always gives the same token.
func StaticToken(token string) TokenSource {
	return func(context.Context) (string, error) { return token, nil }
}

// Options are the settings of a Client. URL and Project are required.
type Options struct {
	// URL is where the service is: scheme, host, port, and a path when it is served below one, as in
	// http://127.0.0.1:8080.
	URL string
	// Project is the identifier of the project to work in.
	Project string
	// Token gives the bearer token of a kind that suits the calls to be made: player for tickets, developer for configs
	// and functions, server for backfill. Without it requests carry no token.
	Token TokenSource
	// HTTP sends the requests. By default a client of its own, which follows no redirects and keeps up to 64 idle
	// connections to the service. Whichever it is, a try of which nothing is sent or comes for a minute, or for 130 s
	// after an upload, is given up: the node of the service may be gone.
	HTTP *http.Client
	// UserAgent names the calling program, by default matchmaker-client-go.
	UserAgent string
	// Retry says when requests are sent again. Its zero value is the service's recommended policy.
	Retry Retry
}

// Client is a connection to the service. Make one with New.
type Client struct {
	base  string // {url}/{project}/matchmaking/api, without a slash at the end
	token TokenSource
	http  *http.Client
	agent string
	retry Retry
}

// New checks the options and returns a Client. It does not talk to the service.
func New(o Options) (*Client, error) {
	base, err := baseURL(o.URL, o.Project)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, token: o.Token, http: o.HTTP, agent: o.UserAgent, retry: o.Retry.orDefault()}
	if c.http == nil {
		c.http = newHTTP()
	}
	c.agent = cmp.Or(c.agent, "matchmaker-client-go")
	return c, nil
}

func baseURL(address, project string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		// url.Parse repeats its input, which may hold a password.
		return "", errors.New("client: URL is not an address like http://127.0.0.1:8080")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("client: URL %q must begin with http:// or https:// and name a host", u.Redacted())
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("client: URL %q must hold no user, query or fragment", u.Redacted())
	}
	segment, err := segment("project", project)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(u.String(), "/") + "/" + segment + "/matchmaking/api", nil
}

// segment is value as one element of a path. It refuses what would name another resource than the caller meant: nothing
// at all, or a dot path that servers and proxies resolve.
func segment(what, value string) (string, error) {
	if value == "" || value == "." || value == ".." {
		return "", fmt.Errorf("client: %s %q cannot be in a path", what, value)
	}
	return url.PathEscape(string([]rune(value))), nil // what is no UTF-8 is U+FFFD, as in JSON
}

func newHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 64,
			// Shorter than servers and load balancers are used to wait: the side that closes must not be theirs, or a creation
			// is lost on its way.
			IdleConnTimeout: 30 * time.Second,
			// A connection that died silently would take all requests until the kernel gives it up.
			HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
			TLSHandshakeTimeout: 10 * time.Second,
		},
		// Followed, a redirect would turn a POST into a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
