package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwt"
	"golang.org/x/oauth2"

	"matchmaker.dev/services/internal/edge/oidc"
)

type loginCommand struct {
	Issuer   string   `placeholder:"URL" help:"The identity provider; default: as at the last login of the context."`
	Client   string   `name:"client-id" placeholder:"ID" help:"The identifier that the provider gave to mm, of a public client; default: likewise."`
	Scope    []string `sep:"none" help:"What the token is to be good for; may be repeated. Default: likewise, or openid and offline_access."`
	Audience string   `help:"The token's audience, if the provider wants one; default: likewise."`
}

const (
	// loginTimeout bounds how long a login may take, whatever the provider says.
	loginTimeout = 30 * time.Minute
	// renewBefore is how long a token must last to be used.
	renewBefore = 2 * time.Minute
)

var errNoContext = usageError("a login is kept with a context, and none is current: make one with " +
	"\"mm context set NAME --url URL\", or name it with --context")

// Run logs in. It takes as long as the provider and the user do.
func (c loginCommand) Run(ctx untimed, s *session) error {
	name, kept, err := s.currentContext()
	if err != nil {
		return err
	}
	if kept == nil {
		return errNoContext
	}
	login := keptLogin{Issuer: c.Issuer, Client: c.Client, Scopes: c.Scope, Audience: c.Audience}
	if before := kept.Login; before != nil {
		login.Issuer, login.Client = cmp.Or(login.Issuer, before.Issuer), cmp.Or(login.Client, before.Client)
		login.Audience = cmp.Or(login.Audience, before.Audience)
		if len(login.Scopes) == 0 {
			login.Scopes = before.Scopes
		}
	}
	if len(login.Scopes) == 0 {
		login.Scopes = []string{"openid", "offline_access"}
	}
	if login.Issuer == "" || login.Client == "" {
		return usageError("--issuer and --client-id are required for the first login")
	}
	limited, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	p, err := discover(limited, login.Issuer)
	if err != nil {
		return err
	}
	token, err := s.authorize(limited, p, login)
	if err != nil {
		return err
	}
	login.take(token)
	if err := s.keepLogin(name, &login); err != nil {
		return err
	}
	return s.showMembers(map[string]any{"context": name, "issuer": login.Issuer, "expires": login.Expires},
		"context, issuer, token until=expires:time")
}

// authorize tells the user where to log in, and waits for the token.
func (s *session) authorize(ctx context.Context, p *oidc.Provider, login keptLogin) (*oauth2.Token, error) {
	if p.Device == "" {
		return nil, fmt.Errorf("%s has no device authorization (RFC 8628): "+
			"give mm a token with --token, or \"mm context set --token-command\"", login.Issuer)
	}
	var options []oauth2.AuthCodeOption
	if login.Audience != "" {
		options = append(options, oauth2.SetAuthURLParam("audience", login.Audience))
	}
	config := login.config(p)
	device, err := config.DeviceAuth(p.Context(ctx), options...)
	if err != nil {
		return nil, loginError(err)
	}
	s.note("open %s and enter the code %s", device.VerificationURI, device.UserCode)
	if device.VerificationURIComplete != "" {
		s.note("or open %s and compare the code", device.VerificationURIComplete)
	}
	bar := s.startProgress("waiting for the login", 0)
	defer bar.stop()
	token, err := config.DeviceAccessToken(p.Context(ctx), device, options...)
	bar.stop()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, messageError{cause: err, message: "the login was not completed in time"}
	case err != nil:
		return nil, loginError(err)
	}
	return token, nil
}

// keepLogin stores a login with a context. It takes the place of any other source of tokens.
func (s *session) keepLogin(name string, login *keptLogin) error {
	return s.changeContexts(func(kept *contextFile) error {
		one, err := kept.get(name)
		if err != nil {
			return err
		}
		one.Token, one.TokenCommand, one.Login = "", "", login
		return nil
	})
}

// take keeps the tokens of an answer. Services read JWTs: where the access token is none, the ID token is the one.
func (l *keptLogin) take(token *oauth2.Token) {
	l.Token, l.Expires = token.AccessToken, token.Expiry
	if id, ok := token.Extra("id_token").(string); ok && strings.Count(l.Token, ".") != 2 {
		l.Token = id
	}
	if parsed, err := jwt.ParseInsecure([]byte(l.Token)); err == nil {
		if expires, ok := parsed.Expiration(); ok {
			l.Expires = expires
		}
	}
	l.Expires = l.Expires.UTC()
	if token.RefreshToken != "" {
		l.Refresh = token.RefreshToken
	}
}

// loginToken is the token of the context's login, a new one if it is about to expire.
func (s *session) loginToken(ctx context.Context) (string, error) {
	login := s.kept.Login
	again := fmt.Sprintf("\"mm login --context %s\"", s.context)
	if login.Token != "" && (login.Expires.IsZero() || s.now().Add(renewBefore).Before(login.Expires)) {
		return login.Token, nil
	}
	if login.Refresh == "" {
		return "", messageError{cause: errors.New("expired"), message: "the login has ended, log in again: " + again}
	}
	p, err := discover(ctx, login.Issuer)
	if err != nil {
		return "", err
	}
	config := login.config(p)
	token, err := config.TokenSource(p.Context(ctx), &oauth2.Token{RefreshToken: login.Refresh}).Token()
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
		return "", messageError{cause: err, message: "the login has ended, log in again: " + again}
	}
	if err != nil {
		return "", loginError(err)
	}
	login.take(token)
	return login.Token, s.keepLogin(s.context, login)
}

// loginError is an error of an identity provider without its body, which may have a token.
func loginError(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	text := cmp.Or(refused.ErrorDescription, refused.ErrorCode, refused.Response.Status)
	return messageError{cause: errors.New(refused.ErrorCode), message: "the identity provider refused: " + text}
}

// discover reads the discovery document of an issuer.
func discover(ctx context.Context, issuer string) (*oidc.Provider, error) {
	p, err := oidc.Discover(ctx, issuer)
	if errors.Is(err, oidc.ErrIssuer) {
		return nil, usageError("--issuer: " + err.Error())
	}
	return p, err
}

// config is what the library needs to know of a login.
func (l *keptLogin) config(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: l.Client, Scopes: l.Scopes, Endpoint: oauth2.Endpoint{
		DeviceAuthURL: p.Device, TokenURL: p.Token, AuthStyle: oauth2.AuthStyleInParams,
	}}
}

type logoutCommand struct{}

// Run forgets the tokens of the context's login.
func (logoutCommand) Run(ctx context.Context, s *session) error {
	name, kept, err := s.currentContext()
	if err != nil {
		return err
	}
	if kept == nil || kept.Login == nil || kept.Login.Token == "" && kept.Login.Refresh == "" {
		s.note("not logged in: nothing was forgotten")
		if s.structured() {
			return s.print(map[string]any{"context": nil})
		}
		return nil
	}
	out := *kept.Login
	out.Token, out.Refresh, out.Expires = "", "", time.Time{}
	if err := s.keepLogin(name, &out); err != nil {
		return err
	}
	if err := revoke(ctx, kept.Login); err != nil {
		s.note("the identity provider did not end the login: %s", s.errorText(err))
	}
	return s.showID("logged out", "context", name)
}

// revoke ends a login at its provider (RFC 7009), if the provider can.
func revoke(ctx context.Context, login *keptLogin) error {
	p, err := discover(ctx, login.Issuer)
	if err != nil || p.Revoke == "" {
		return err
	}
	form := url.Values{"token": {cmp.Or(login.Refresh, login.Token)}, "client_id": {login.Client}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := p.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
