package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/oauth2"

	"matchmaker.dev/services/internal/edge/oidc"
	"matchmaker.dev/services/internal/platform/memo"
)

const (
	loginCookie  = "matchmaker-console-login"
	loginPurpose = "console login"
	callback     = root + "/-/callback"
	// loginTime is how long a login at the provider may take, and discoveryTime how long its document is used.
	loginTime, discoveryTime = 10 * time.Minute, 10 * time.Minute
	// maxExchanges is how many logins one process asks the provider for at a time.
	maxExchanges = 16
)

// login is a login that goes on at the provider, as its cookie has it, sealed. Nothing is kept of it here.
type login struct {
	State, Nonce, Verifier string
	Project, To            string
	Until                  time.Time
}

// providers has the provider's document, and the places of those that ask the provider.
type providers struct {
	found  memo.Memo[string, *oidc.Provider] // by issuer
	places chan struct{}
}

// provider is the identity provider. Callers wait for the one that asks for its document.
func (s *service) provider(ctx context.Context) (*oidc.Provider, error) {
	return s.providers.found.Get(s.Settings.Issuer, s.Now, func() (*oidc.Provider, time.Time, error) {
		found, err := oidc.Discover(ctx, s.Settings.Issuer)
		if err == nil && (found.Authorize == "" || found.Keys == "") {
			err = errors.New("it has no authorization_endpoint or jwks_uri")
		}
		return found, s.Now().Add(discoveryTime), err
	})
}

func (s *service) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: s.Settings.ClientID, Scopes: strings.Fields(s.Settings.Scope),
		RedirectURL: strings.TrimRight(s.Settings.Public, "/") + callback,
		Endpoint:    oauth2.Endpoint{AuthURL: p.Authorize, TokenURL: p.Token, AuthStyle: oauth2.AuthStyleInParams}}
}

// begin sends the viewer to the provider, with PKCE (RFC 7636). The policy lets no form lead to another site, so a
// header does.
func (s *service) begin(c echo.Context) error {
	project := strings.TrimSpace(c.QueryParam("project"))
	if s.Settings.Issuer == "" || s.Mint != nil {
		return echo.ErrNotFound
	}
	to := c.QueryParam("to")
	if len(to) > 1024 {
		to = ""
	}
	if project == "" || len(project) > 256 {
		return s.showLogin(c, http.StatusBadRequest, "Enter a project.")
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), loadTime)
	defer cancel()
	p, err := s.provider(ctx)
	if err != nil {
		s.Log.WarnContext(ctx, "identity provider not found", "error", err)
		return s.showLogin(c, http.StatusBadGateway, "The identity provider does not answer. Try again later.")
	}
	one := login{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Project: project,
		To: to, Until: s.Now().Add(loginTime)}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(one.Verifier),
		oauth2.SetAuthURLParam("nonce", one.Nonce)}
	if s.Settings.Audience != "" {
		options = append(options, oauth2.SetAuthURLParam("audience", s.Settings.Audience))
	}
	if err := s.sessions.put(c, loginCookie, loginPurpose, one, one.Until); err != nil {
		return err
	}
	provider := s.oauth(p).AuthCodeURL(one.State, options...)
	c.Response().Header().Set("Refresh", "0;url="+provider)
	v := &view{service: s, Context: c}
	return v.render(http.StatusOK, frame{Title: "Sign in", Page: "provider", Data: provider})
}

// finish ends a login at the provider, and begins a session with the token that it gave.
func (s *service) finish(c echo.Context) error {
	if s.Settings.Issuer == "" || s.Mint != nil {
		return echo.ErrNotFound
	}
	var one login
	known := s.sessions.get(c, loginCookie, loginPurpose, &one) && s.Now().Before(one.Until)
	if err := s.sessions.put(c, loginCookie, loginPurpose, nil, time.Time{}); err != nil {
		return err
	}
	state, code, refusal := c.QueryParam("state"), c.QueryParam("code"), c.QueryParam("error")
	iss := c.QueryParam("iss") // RFC 9207
	switch {
	case !known || subtle.ConstantTimeCompare([]byte(state), []byte(one.State)) == 0:
		return s.showLogin(c, http.StatusForbidden, "This login was not begun here, or took too long. Sign in again.")
	case iss != "" && strings.TrimRight(iss, "/") != strings.TrimRight(s.Settings.Issuer, "/"):
		return s.showLogin(c, http.StatusForbidden, "The answer is of another identity provider. Sign in again.")
	case refusal != "" || code == "":
		return s.showLogin(c, http.StatusForbidden, "The identity provider refused the login: "+refusal)
	}
	select {
	case s.providers.places <- struct{}{}:
		defer func() { <-s.providers.places }()
	default:
		return s.showLogin(c, http.StatusServiceUnavailable, "Too many sign in at this moment. Try again.")
	}
	token, err := s.exchange(c.Request().Context(), code, one)
	if err != nil {
		s.Log.WarnContext(c.Request().Context(), "login refused", "error", cause(err))
		return s.showLogin(c, http.StatusForbidden, "The identity provider gave no token that is good. Sign in again.")
	}
	return s.enterWith(c, session{Token: token, Project: one.Project}, one.To)
}

// exchange gets the token for a code. Services read JWTs: where the access token is none, the ID token is the one.
func (s *service) exchange(ctx context.Context, code string, one login) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	p, err := s.provider(ctx)
	if err != nil {
		return "", err
	}
	answer, err := s.oauth(p).Exchange(p.Context(ctx), code, oauth2.VerifierOption(one.Verifier))
	if err != nil {
		return "", err
	}
	id, _ := answer.Extra("id_token").(string)
	if err := p.Verify(ctx, id, s.Settings.ClientID, one.Nonce, s.Now); err != nil {
		return "", err
	}
	if strings.Count(answer.AccessToken, ".") == 2 {
		return answer.AccessToken, nil
	}
	return id, nil
}

// cause is an error of a provider without its body, which may have a token.
func cause(err error) string {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return "the provider refused: " + refused.ErrorCode
	}
	return err.Error()
}

// put sets a cookie with a value, sealed, until a time. It removes the cookie for nil.
func (s *sessions) put(c echo.Context, name, purpose string, value any, until time.Time) error {
	//nolint:gosec // it is Secure but for addresses of the viewer's machine, where there is no TLS
	cookie := &http.Cookie{Name: name, Path: root, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: -1,
		Secure: !isToThisMachine(c.Request())}
	if value != nil {
		plain, err := json.Marshal(value)
		if err != nil {
			return err
		}
		//nolint:gosec // this AEAD makes its nonce by itself
		cookie.Value = base64.RawURLEncoding.EncodeToString(s.seal.Seal(nil, nil, plain, []byte(purpose)))
		cookie.MaxAge = max(1, int(until.Sub(s.now()).Seconds()))
	}
	c.SetCookie(cookie)
	return nil
}

// get reads the value of a cookie, and reports whether it was sealed here for the purpose.
func (s *sessions) get(c echo.Context, name, purpose string, into any) bool {
	cookie, err := c.Cookie(name)
	if err != nil {
		return false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return false
	}
	plain, err := s.seal.Open(nil, nil, sealed, []byte(purpose))
	return err == nil && json.Unmarshal(plain, into) == nil
}
