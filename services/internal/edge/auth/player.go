package auth

import (
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

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
