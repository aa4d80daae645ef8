// Package console shows a project to people: waiting tickets, matches, configs, functions, servers, and changes
// with their authors. It is a client of the HTTP API with the rights of its viewer, and needs neither Redis nor NATS.
//
// Pages are made here and need no script; a small one keeps them live. An action first asks for what it changes. Names
// come from players and studios: templates escape them.
package console

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/openapi"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/memo"
	"matchmaker.dev/services/internal/platform/wait"
)

const (
	// loadTime is how long the reads of a page may take, and refreshEvery how often a page that is live is made anew.
	loadTime     = 10 * time.Second
	refreshEvery = 2 * time.Second
	// maxUpload bounds the file of a function here; the API has its own limit.
	maxUpload = 64 << 20
	root      = web.Console
	// mintedTime is how long a token that needs no login is used.
	mintedTime = 30 * time.Minute
)

//go:embed asset page
var files embed.FS

// Options are what the console needs.
type Options struct {
	Settings Settings
	Log      *slog.Logger
	Now      func() time.Time
	Meter    telemetry.Meter
	// API is where the API is; empty while that is not known.
	API func() string
	// Mint makes a token for a project, for requests from this machine; nil where all viewers log in.
	Mint func(project string) (string, error)
	// Project is where a viewer without a login begins.
	Project string
}

type service struct {
	Options
	sessions  *sessions
	pages     pageSet
	cache     cache
	requests  http.Client // to the API
	streams   *stream.Streams
	providers providers
	stopped   chan struct{}
	protect   *http.CrossOriginProtection
	minted    memo.Memo[string, session] // by project
}

// New makes the console.
func New(o Options) (app.Part, error) {
	s := &service{Options: o, stopped: make(chan struct{}), protect: http.NewCrossOriginProtection(),
		providers: providers{places: make(chan struct{}, maxExchanges)},
		requests: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second,
			HTTP2: wait.Pings()},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	var err error
	if s.sessions, err = newSessions(o.Settings, o.Now); err != nil {
		return app.Part{}, err
	}
	if s.pages, err = parsePages(); err != nil {
		return app.Part{}, err
	}
	s.streams = stream.New(stream.Options{Stopped: s.stopped, Log: o.Log, Instead: "reload the page",
		Settings: stream.Settings{Places: o.Settings.Viewers, PerPlayer: o.Settings.Viewers, Heartbeat: 15 * time.Second,
			Spread: 5 * time.Second},
		Instruments: stream.Instruments{
			Open:    o.Meter.UpDownCounter("matchmaker.console.streams", "{stream}", "Pages of the console that are live."),
			Refused: o.Meter.Counter("matchmaker.console.streams.refused", "{stream}", "Pages that had no place to be live."),
			Ended:   o.Meter.Counter("matchmaker.console.streams.ended", "{stream}", "Pages that ended, by the reason."),
		}})
	return app.Part{Name: "console", Routes: s.routes, Run: s.run, OnShutdown: func() { close(s.stopped) }}, nil
}

// run returns when the streams have ended.
func (s *service) run(ctx context.Context) error {
	<-ctx.Done()
	s.streams.Drain()
	return nil
}

func (s *service) routes(e *echo.Echo) {
	e.GET(root, s.enter, secure)
	e.GET(root+"/", s.enter, secure)
	e.GET(root+"/-/asset/:name", s.asset, secure)
	e.GET(root+"/-/login", s.login, secure)
	e.POST(root+"/-/login", s.logIn, secure)
	e.GET(root+"/-/provider", s.begin, secure)
	e.GET(callback, s.finish, secure)
	e.POST(root+"/-/logout", s.logOut, secure)
	e.GET(root+"/:project", s.show, secure)
	e.GET(root+"/:project/:page", s.show, secure)
	e.POST(root+"/:project/:page", s.act, secure)
	e.PUT(root+"/:project/function", s.upload, secure, web.LimitBody(maxUpload))
}

// secure sets the headers that keep other sites, and names that players and studios chose, from running anything here.
func secure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		return next(c)
	}
}

// asset answers a file of the folder asset, or the description of the API, where the editor of configs has its help
// from.
func (s *service) asset(c echo.Context) error {
	text, err := fs.ReadFile(files, path.Join("asset", path.Base(c.Param("name"))))
	if c.Param("name") == path.Base(openapi.Path) {
		text, err = openapi.JSON()
	}
	if err != nil {
		return echo.ErrNotFound
	}
	kinds := map[string]string{".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
		".json": "application/json"}
	c.Response().Header().Set(echo.HeaderCacheControl, "max-age=3600")
	return c.Blob(http.StatusOK, kinds[path.Ext(c.Param("name"))]+"; charset=utf-8", text)
}

// enter answers the console's first address.
func (s *service) enter(c echo.Context) error {
	if one, ok := s.viewer(c, s.Project); ok {
		return c.Redirect(http.StatusSeeOther, address(one.Project, "now"))
	}
	return c.Redirect(http.StatusSeeOther, root+"/-/login")
}

// viewer is the session of a request: of a login, or of this machine where that is enough.
func (s *service) viewer(c echo.Context, project string) (session, bool) {
	if s.Mint == nil {
		return s.sessions.read(c)
	}
	if !isLocal(c.Request()) || project == "" {
		return session{}, false
	}
	return s.mint(project)
}

// mint makes a session without a login. It is used for a while, so that what is read with it is shared.
func (s *service) mint(project string) (session, bool) {
	one, err := s.minted.Get(project, s.Now, func() (session, time.Time, error) {
		token, err := s.Mint(project)
		until := s.Now().Add(mintedTime)
		return session{Token: token, Project: project, Until: until}, until, err
	})
	return one, err == nil
}

// isLocal reports whether a request comes from this machine to a name of it. Another name may be a page's elsewhere,
// whose owner lets it point here.
func isLocal(r *http.Request) bool {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(from).IsLoopback() && isToThisMachine(r)
}

// isToThisMachine reports whether the viewer's address names the machine itself, perhaps a gateway on it.
func isToThisMachine(r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// address is a page's address. Values come in pairs of names and values; pairs without a value are left out.
func address(project, page string, values ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(values); i += 2 {
		if values[i+1] != "" {
			q.Set(values[i], values[i+1])
		}
	}
	to := root + "/" + url.PathEscape(project) + "/" + page
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to
}

// view is one request of a viewer.
type view struct {
	*service
	echo.Context

	viewer  session
	Project string
	API     *client.Client
	// Problems say what could not be read, though the rest could.
	Problems []string
}

// open makes the view of a request. It answers the request itself, and returns nil, if its viewer has to log in.
func (s *service) open(c echo.Context) (*view, error) {
	project := c.Param("project")
	one, ok := s.viewer(c, project)
	if !ok || one.Project != project {
		if web.WantsStream(c.Request().Header) {
			return nil, c.NoContent(http.StatusNoContent) // which ends an EventSource
		}
		return nil, c.Redirect(http.StatusSeeOther, root+"/-/login?"+url.Values{"to": {c.Request().URL.RequestURI()},
			"project": {project}}.Encode())
	}
	api, err := s.connect(one)
	if err != nil {
		return nil, err
	}
	return &view{service: s, Context: c, viewer: one, Project: project, API: api}, nil
}

// connect returns a client with the rights of a session. What fails is told at once: people reload pages.
func (s *service) connect(one session) (*client.Client, error) {
	return client.New(client.Options{URL: s.API(), Project: one.Project, Token: client.StaticToken(one.Token),
		UserAgent: "matchmaker-console", HTTP: &s.requests,
		Retry: client.Retry{Attempts: 1, Reconnects: 1, MaxWait: time.Second}})
}

// link is the address of a page of the viewer's project.
func (v *view) link(page string, values ...string) string { return address(v.Project, page, values...) }

// show answers a page: as HTML, as JSON, or as a stream of what changes on it.
func (s *service) show(c echo.Context) error {
	v, err := s.open(c)
	if v == nil || err != nil {
		return err
	}
	name := c.Param("page")
	if name == "" {
		return c.Redirect(http.StatusSeeOther, v.link("now"))
	}
	p, known := pages()[name]
	if !known {
		return v.render(http.StatusNotFound, frame{Title: "Not found", Failure: "There is no such page."})
	}
	if p.live && web.WantsStream(c.Request().Header) {
		return v.follow(name, p)
	}
	data, err := v.load(p)
	if err != nil {
		return v.fail(err)
	}
	if c.Response().Committed { // a file, or another address
		return nil
	}
	if c.QueryParam("format") == "json" {
		return c.JSONPretty(http.StatusOK, data, "  ")
	}
	return v.render(http.StatusOK, frame{Page: name, Title: p.title, Section: p.section, Live: p.live, Data: data})
}

// load reads what a page shows.
func (v *view) load(p page) (any, error) {
	ctx, cancel := context.WithTimeout(v.Request().Context(), loadTime)
	defer cancel()
	return p.load(ctx, v)
}

// fail answers a page that cannot be shown.
func (v *view) fail(err error) error {
	status, text := client.Status(err), reasonOf(err)
	switch status {
	case http.StatusUnauthorized:
		if v.Mint == nil {
			return v.Redirect(http.StatusSeeOther, root+"/-/login?"+url.Values{"to": {v.Request().URL.RequestURI()},
				"ended": {"true"}, "project": {v.Project}}.Encode())
		}
	case http.StatusForbidden:
		text = "Your role may not do this: " + text
	case 0:
		status = http.StatusBadGateway
		if _, is := errors.AsType[viewerError](err); is {
			status = http.StatusBadRequest
		}
	}
	return v.render(status, frame{Title: http.StatusText(status), Failure: text})
}

// reasonOf is what people read of an error.
func reasonOf(err error) string {
	var answered *client.Error
	var own viewerError
	switch {
	case errors.As(err, &own):
		return string(own)
	case errors.As(err, &answered):
		text := cmp.Or(answered.Detail, answered.Title)
		for _, v := range answered.Validation {
			text += "\n" + v.ResultCode + ": " + v.Message
		}
		return text
	case errors.Is(err, context.DeadlineExceeded):
		return "The API did not answer in time."
	}
	return "The API does not answer."
}

// viewerError is an error for the viewer.
type viewerError string

func (e viewerError) Error() string { return string(e) }

// note keeps what could not be read beside the rest. It returns an error that ends the page: the viewer has to log in,
// or may see nothing.
func (v *view) note(what string, err error) error {
	if refused(err) {
		return err
	}
	if err != nil {
		v.Problems = append(v.Problems, what+": "+reasonOf(err))
	}
	return nil
}
