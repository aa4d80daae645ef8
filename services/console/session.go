package console

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/keyring"
)

const (
	cookieName = "matchmaker-console"
	purpose    = "console session"
	// maxToken bounds a token, so that its cookie is one that browsers keep.
	maxToken = 2800
	// maxForm bounds the forms of a login.
	maxForm = 16 << 10
)

// session is a login, as its cookie has it, sealed: no other program reads the token.
type session struct {
	Token   string
	Project string
	Until   time.Time
}

// sessions seals logins. It keeps nothing of them.
type sessions struct {
	seal   cipher.AEAD
	key    []byte
	length time.Duration
	now    func() time.Time
}

func newSessions(s Settings, now func() time.Time) (*sessions, error) {
	key := make([]byte, 32)
	rand.Read(key)
	if s.Keys != "" {
		ring, err := keyring.Open(s.Keys, now)
		if err != nil {
			return nil, fmt.Errorf("--console-keys: %w", err)
		}
		keys, err := ring.Derived(purpose)
		if err != nil {
			return nil, fmt.Errorf("--console-keys: %w", err)
		}
		key = keys[0]
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	return &sessions{seal: seal, key: key, length: s.Session, now: now}, err
}

// read returns the session of a request's cookie, if it has one that goes on.
func (s *sessions) read(c echo.Context) (one session, ok bool) {
	ok = s.get(c, cookieName, purpose, &one)
	return one, ok && s.now().Before(one.Until)
}

// csrf is what a form of a session has, and no other site knows. The subject of the token tells sessions apart: the API
// verifies it, this does not.
func (s *sessions) csrf(one session) string {
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "csrf\x00%s\x00%s", one.Project, claimsOf(one.Token).Subject)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// claims are what a token says of itself.
type claims struct {
	Subject string  `json:"sub"`
	Expires float64 `json:"exp"`
}

// claimsOf reads a token without verifying it: the API does.
func claimsOf(token string) (c claims) {
	if parts := strings.Split(token, "."); len(parts) == 3 {
		if text, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			_ = json.Unmarshal(text, &c) // one that is no JWT has no end that is known
		}
	}
	return c
}

// checkForm refuses a request that changes something and does not come from a page of this session.
func (s *service) checkForm(c echo.Context, one session) error {
	if err := s.protect.Check(c.Request()); err != nil {
		return problem.New(problem.Forbidden, "the request comes from another site")
	}
	given := c.Request().Header.Get("X-CSRF-Token")
	if given == "" {
		given = c.FormValue("csrf")
	}
	if !hmac.Equal([]byte(given), []byte(s.sessions.csrf(one))) {
		return problem.New(problem.Forbidden, "the form is not of this session: reload the page and try again")
	}
	return nil
}

// login answers the form of a login.
func (s *service) login(c echo.Context) error {
	return s.showLogin(c, http.StatusOK, "")
}

func (s *service) showLogin(c echo.Context, status int, failure string) error {
	if s.Mint != nil {
		failure = "This console is for this machine alone. Open it as http://localhost or http://127.0.0.1, " +
			"or run matchmaker console, which has a login."
		status = http.StatusForbidden
	}
	if c.QueryParam("ended") != "" {
		failure = "Your session has ended. Sign in again to go on where you were."
	}
	v := &view{service: s, Context: c}
	return v.render(status, frame{Title: "Sign in", Page: "login", Failure: failure, Data: map[string]any{
		"To": c.FormValue("to"), "Project": c.FormValue("project"), "Off": s.Mint != nil, "Issuer": s.Settings.Issuer,
	}})
}

// logIn begins a session with a token that the API takes.
func (s *service) logIn(c echo.Context) error {
	c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, maxForm)
	if err := s.protect.Check(c.Request()); err != nil || s.Mint != nil {
		return s.showLogin(c, http.StatusForbidden, "The request comes from another site.")
	}
	return s.enterWith(c, session{Token: strings.TrimSpace(c.FormValue("token")),
		Project: strings.TrimSpace(c.FormValue("project"))}, c.FormValue("to"))
}

// enterWith begins a session with a token that the API takes.
func (s *service) enterWith(c echo.Context, one session, to string) error {
	one.Until = s.Now().Add(s.Settings.Session)
	if len(one.Token) == 0 || len(one.Token) > maxToken || one.Project == "" {
		return s.showLogin(c, http.StatusBadRequest,
			fmt.Sprintf("A project is needed, and a token of up to %d characters.", maxToken))
	}
	if end := claimsOf(one.Token).Expires; end > 0 && time.Unix(int64(end), 0).Before(one.Until) {
		one.Until = time.Unix(int64(end), 0)
	}
	api, err := s.connect(one)
	if err == nil {
		_, err = api.ListConfigs(c.Request().Context())
	}
	switch client.Status(err) {
	case http.StatusUnauthorized:
		return s.showLogin(c, http.StatusUnauthorized, "The API does not take this token: "+reasonOf(err))
	case http.StatusForbidden:
		return s.showLogin(c, http.StatusForbidden, "This token may not see the project: "+reasonOf(err))
	}
	if err != nil {
		return s.showLogin(c, http.StatusBadGateway, reasonOf(err))
	}
	if err := s.sessions.put(c, cookieName, purpose, one, one.Until); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, returnTo(to, one.Project))
}

// returnTo is where a login goes on: to a page of the console and nowhere else.
func returnTo(to, project string) string {
	u, err := url.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, root+"/"+project+"/") {
		return address(project, "now")
	}
	return u.RequestURI()
}

// logOut ends a session.
func (s *service) logOut(c echo.Context) error {
	if one, ok := s.sessions.read(c); ok {
		if err := s.checkForm(c, one); err != nil {
			return err
		}
	}
	if err := s.sessions.put(c, cookieName, purpose, nil, time.Time{}); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, root+"/-/login")
}
