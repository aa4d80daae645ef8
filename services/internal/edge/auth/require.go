package auth

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// contextKey is where Require leaves the principal for From.
const contextKey = "auth.principal"

// projectParam is the path parameter that names the project, if the path has one.
const projectParam = "project"

const challenge = `Bearer realm="matchmaking"`

// Require is the middleware of routes for some kinds of caller. Without a good token the answer is 401 with a challenge
// (RFC 6750); with one of another kind or for another project 403. Developers must be Manager or Owner.
func (v *Verifier) Require(kinds ...Kind) echo.MiddlewareFunc { return v.require(kinds, developing) }

// RequireLook is Require for routes that only look: developers may be Support as well.
func (v *Verifier) RequireLook(kinds ...Kind) echo.MiddlewareFunc { return v.require(kinds, looking) }

// use is what developers use a route for.
type use int

const (
	developing use = iota // it may change something
	looking
)

func (v *Verifier) require(kinds []Kind, of use) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			p, err := v.authenticate(c)
			if err != nil {
				return err
			}
			if err := permit(p, c, kinds, of); err != nil {
				return err
			}
			c.Set(contextKey, p)
			return next(c)
		}
	}
}

// From is the caller of a request that passed Require, and nil elsewhere.
func From(c echo.Context) *Principal {
	p, _ := c.Get(contextKey).(*Principal)
	return p
}

// ProjectOf is the project in the path of a request that passed Require, or the one that the token names where the path
// has none; "" if it names no single one.
func ProjectOf(c echo.Context) string {
	project := c.Param(projectParam)
	if p := From(c); project == "" && p != nil {
		project, _ = p.Project()
	}
	return project
}

func (v *Verifier) authenticate(c echo.Context) (*Principal, error) {
	token, err := bearer(c.Request().Header)
	if err == nil && token == "" {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, challenge)
		return nil, refuse("a bearer token is needed")
	}
	var p *Principal
	if err == nil {
		p, err = v.Verify(c.Request().Context(), token)
	}
	if problem.KindOf(err) == problem.Unauthenticated {
		// The reasons are fixed texts of this package, free of quotes.
		c.Response().Header().Set(echo.HeaderWWWAuthenticate,
			fmt.Sprintf(`%s, error="invalid_token", error_description="%s"`, challenge, err))
	}
	return p, err
}

// bearer is the request's token, "" when it has none.
func bearer(header http.Header) (string, error) {
	given := header[echo.HeaderAuthorization]
	if len(given) > 1 {
		return "", refuse("more than one Authorization header")
	}
	if len(given) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", nil
	}
	return strings.Trim(token, " "), nil
}

// IsProject reports whether a name can be a project's. It becomes part of keys and subjects, which have characters of
// their own; an issuer of tokens need not know them.
func IsProject(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return 0 < len(name) && len(name) <= 64
}

func permit(p *Principal, c echo.Context, kinds []Kind, of use) error {
	if !slices.Contains(kinds, p.Kind) {
		return problem.New(problem.Forbidden, "this is not for %s tokens", problem.Word(p.Kind))
	}
	if slices.Contains(c.ParamNames(), projectParam) {
		project := c.Param(projectParam)
		if !p.MayUseProject(project) {
			return problem.New(problem.WrongProject, "the token is not for this project")
		}
		if !IsProject(project) {
			return problem.New(problem.NotFound,
				"no project has such a name: 1 to 64 letters, digits, '.', '_' and '-', a letter or digit first")
		}
	}
	if p.Kind == Developer {
		return p.mayUse(of)
	}
	return nil
}

// mayUse is an error for developers whose role is not enough.
func (p *Principal) mayUse(of use) error {
	support := p.hasRole("support")
	switch {
	case p.hasRole("manager", "owner"), of == looking && support:
		return nil
	case of == looking:
		return problem.New(problem.Forbidden, "the role Manager, Owner or Support on the project is needed")
	case support:
		return problem.New(problem.Forbidden,
			"the role Support looks and changes nothing: the role Manager or Owner on the project is needed")
	}
	return problem.New(problem.Forbidden, "the role Manager or Owner on the project is needed")
}

// SettingsReader reads the settings of projects: a *state.Store.
type SettingsReader interface {
	Settings(ctx context.Context, project string) (*pb.ProjectSettings, error)
}

// SeesProperties reports whether a developer may see properties of tickets of a project with these settings: the role
// Support only if they let it.
func (p *Principal) SeesProperties(settings *pb.ProjectSettings) bool {
	return p.hasRole("manager", "owner") || settings.GetSupportProperties()
}

// MaySeeProperties is Forbidden for a developer who sees no properties.
func MaySeeProperties(c echo.Context, store SettingsReader) error {
	if From(c).SeesProperties(nil) { // whatever the settings are
		return nil
	}
	settings, err := store.Settings(c.Request().Context(), c.Param("project"))
	if err == nil && !From(c).SeesProperties(settings) {
		err = problem.New(problem.Forbidden, "the role Support sees no properties of tickets, unless support.properties is "+
			"set in the settings of the project: the role Manager or Owner is needed")
	}
	return err
}
