package auth

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

// The scopes of service tokens.
const (
	ScopeAct  = "matchmaking"      // acts for players: creates, reads and deletes their tickets
	ScopeRead = "matchmaking.read" // only reads
)

// OnBehalfOf is the header that names the player a ticket is for.
const OnBehalfOf = "X-On-Behalf-Of"

// everyProject in a project claim stands for all, if the issuer's settings allow it.
const everyProject = "*"

// maxSubject bounds the names of players, in bytes: they become keys of the state.
const maxSubject = 256

// Principal is the identity of a verified token. It is shared between requests with the same token: do not change it.
type Principal struct {
	Kind     Kind
	Subject  string
	Projects []string
	Roles    []string
	Scopes   []string
	Expires  time.Time
	// Match is the match of a game server whose token was issued for its allocation; Fleet is where the server is, and
	// Backfill the backfill ticket that was made with the match. All are empty in tokens that a studio issues to its
	// servers in general.
	Match, Fleet, Backfill string
	// claims are the raw claims of a player's token; nil in others.
	claims []byte
}

// MayUseBackfill reports whether a server may read, change and end a backfill ticket, given by its id and the match
// that it was made with or whose server made it, "" for none. A server with a token of its own touches its own backfill
// tickets, any other server all of the project.
func (p *Principal) MayUseBackfill(backfill, match string) bool {
	return p.Match == "" || p.Match == match || p.Backfill != "" && p.Backfill == backfill
}

// MayUseProject reports whether the principal acts in a project.
func (p *Principal) MayUseProject(project string) bool {
	return slices.Contains(p.Projects, project) || slices.Contains(p.Projects, everyProject)
}

// Project is the one project the token names, for paths that name none; false when it names several, all, or what
// cannot be a project.
func (p *Principal) Project() (string, bool) {
	if len(p.Projects) != 1 || !IsProject(p.Projects[0]) {
		return "", false
	}
	return p.Projects[0], true
}

// HasScope reports whether the token carries a scope.
func (p *Principal) HasScope(scope string) bool { return slices.Contains(p.Scopes, scope) }

// hasRole compares without regard to case: identity providers write roles as they like.
func (p *Principal) hasRole(roles ...string) bool {
	return slices.ContainsFunc(p.Roles, func(has string) bool {
		return slices.ContainsFunc(roles, func(want string) bool { return strings.EqualFold(has, want) })
	})
}

// MustOwnProject is a Forbidden error for all but developers with the role Owner.
func MustOwnProject(p *Principal) error {
	if p.Kind != Developer || !p.hasRole("owner") {
		return problem.New(problem.Forbidden, "the role Owner on the project is needed")
	}
	return nil
}

func cannotAct() error {
	return problem.New(problem.Forbidden, "the token does not act for players: it lacks the scope "+ScopeAct)
}

// MustAct refuses service tokens that do not act for players.
func MustAct(p *Principal) error {
	if p.Kind == Service && !p.HasScope(ScopeAct) {
		return cannotAct()
	}
	return nil
}

// TicketOwner is the player whose ticket a request creates or deletes. A player's token is for the player itself, which
// the header may repeat. A service token that may act names any player, and must name one.
func TicketOwner(p *Principal, onBehalfOf string, present bool) (string, error) {
	if onBehalfOf != p.Subject {
		var err error
		if onBehalfOf, err = decode(onBehalfOf); err != nil {
			return "", err
		}
	}
	switch {
	case p.Kind == Player && present && onBehalfOf != p.Subject:
		return "", problem.New(problem.Forbidden, OnBehalfOf+": a player acts for itself only")
	case p.Kind == Player:
		return p.Subject, nil
	case p.Kind != Service || !p.HasScope(ScopeAct):
		return "", cannotAct()
	case onBehalfOf == "":
		return "", problem.New(problem.Invalid, OnBehalfOf+": a service must name the player it acts for")
	case !IsPlayer(onBehalfOf):
		return "", problem.New(problem.Invalid, OnBehalfOf+": up to %d bytes of printable UTF-8 are expected", maxSubject)
	}
	return onBehalfOf, nil
}

// TicketReader returns whose tickets the principal may read: the whole project's (any), or one owner's.
func TicketReader(p *Principal) (owner string, any bool, err error) {
	switch {
	case p.Kind == Player:
		return p.Subject, false, nil
	case p.Kind == Service && (p.HasScope(ScopeAct) || p.HasScope(ScopeRead)):
		return "", true, nil
	}
	return "", false, problem.New(problem.Forbidden,
		"the token does not read tickets: it lacks the scope "+ScopeAct+" or "+ScopeRead)
}

// IsPlayer reports whether a name can be a player's: it is printable UTF-8 of up to 256 bytes.
func IsPlayer(name string) bool {
	return name != "" && len(name) <= maxSubject && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// extended is how a value in the form of RFC 8187 begins. Many HTTP clients send no others than ASCII.
const extended = "UTF-8'"

// decode returns the name that a header's value has: percent-encoded UTF-8 behind UTF-8 and two quotes, between
// which may be a language, and otherwise as it is.
func decode(value string) (string, error) {
	if len(value) < len(extended) || !strings.EqualFold(value[:len(extended)], extended) {
		return value, nil
	}
	_, encoded, found := strings.Cut(value[len(extended):], "'")
	name, err := url.PathUnescape(encoded)
	if err != nil || !found {
		return "", problem.New(problem.Invalid, OnBehalfOf+": percent-encoded UTF-8 is expected after UTF-8'' (RFC 8187)")
	}
	return name, nil
}

// PlayerOf is the player for whom a request acts, see TicketOwner. It refuses two names in the header: a proxy may have
// added one to the client's.
func PlayerOf(c echo.Context) (string, error) {
	values := c.Request().Header.Values(OnBehalfOf)
	switch len(values) {
	case 0:
		return TicketOwner(From(c), "", false)
	case 1:
		return TicketOwner(From(c), values[0], true)
	}
	return "", problem.New(problem.Invalid, OnBehalfOf+": given more than once")
}
