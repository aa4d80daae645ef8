// Package oidc finds out about identity providers, and checks the ID tokens that they give (OpenID Connect Core 1.0).
package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"
	"golang.org/x/oauth2"
)

const (
	// timeout bounds a request to a provider, and maxAnswer its answer in bytes.
	timeout   = 30 * time.Second
	maxAnswer = 1 << 20
	// skew is how far the clocks of a provider and this machine may be apart.
	skew = time.Minute
)

// ErrIssuer is the error for an issuer that is no URL.
var ErrIssuer = errors.New("no URL such as https://login.example.com")

// Provider is what a provider's discovery document says of it. Endpoints that it does not have are empty.
type Provider struct {
	Issuer    string `json:"issuer"`
	Authorize string `json:"authorization_endpoint"`
	Device    string `json:"device_authorization_endpoint"`
	Token     string `json:"token_endpoint"`
	Revoke    string `json:"revocation_endpoint"`
	Keys      string `json:"jwks_uri"`

	// HTTP follows no redirects.
	HTTP *http.Client `json:"-"`
}

// Discover reads the discovery document of an issuer (OpenID Connect Discovery 1.0).
func Discover(ctx context.Context, issuer string) (*Provider, error) {
	p := &Provider{HTTP: &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	at := strings.TrimRight(issuer, "/") + "/.well-known/openid-configuration"
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is %w", issuer, ErrIssuer)
	}
	if err := CheckSecret(u); err != nil {
		return nil, err
	}
	status, text, err := p.get(ctx, at)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK || json.Unmarshal(text, p) != nil || p.Token == "" {
		return nil, fmt.Errorf("%s is no discovery document (%d %s): is %s the issuer?", at, status, http.StatusText(status),
			issuer)
	}
	if strings.TrimRight(p.Issuer, "/") != strings.TrimRight(issuer, "/") {
		return nil, fmt.Errorf("%s is the document of another issuer, %s", at, p.Issuer)
	}
	for _, endpoint := range []string{p.Authorize, p.Device, p.Token, p.Revoke, p.Keys} {
		u, err := url.Parse(endpoint)
		if err != nil {
			return nil, fmt.Errorf("%s: an endpoint is no URL", at)
		}
		if endpoint == "" {
			continue
		}
		if err := CheckSecret(u); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Provider) get(ctx context.Context, at string) (status int, text []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	response, err := p.HTTP.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("the identity provider does not answer: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if text, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer)); err != nil {
		return 0, nil, fmt.Errorf("%s: %w", at, err)
	}
	return response.StatusCode, text, nil
}

// Context makes the library use the provider's client.
func (p *Provider) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, p.HTTP)
}

// Verify checks an ID token: its signature by the provider's keys, its issuer, its time, and that it is for the client
// and the nonce of this login.
func (p *Provider) Verify(ctx context.Context, token, client, nonce string, now func() time.Time) error {
	status, text, err := p.get(ctx, p.Keys)
	if err != nil {
		return err
	}
	keys, err := jwk.Parse(text, jwk.WithIgnoreParseError(true)) // a new kind of key is for others
	if status != http.StatusOK || err != nil {
		return fmt.Errorf("%s is no key set (%d %s)", p.Keys, status, http.StatusText(status))
	}
	_, err = jwt.Parse([]byte(token), jwt.WithKeySet(keys, jws.WithInferAlgorithmFromKey(true)), jwt.WithIssuer(p.Issuer),
		jwt.WithAudience(client), jwt.WithClaimValue("nonce", nonce), jwt.WithRequiredClaim(jwt.ExpirationKey),
		jwt.WithAcceptableSkew(skew), jwt.WithClock(jwt.ClockFunc(now)))
	if err != nil {
		return fmt.Errorf("the ID token is not good: %w", err)
	}
	return nil
}

// CheckSecret tells why tokens must not be sent to an address: they would travel where others can read them.
func CheckSecret(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%s://%s: https is needed, since others could read tokens on the way", u.Scheme, u.Host)
}
