package auth

import (
	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/problem"
)

// PlayerOf is the player for whom a request acts, see TicketOwner. Of two names in the header neither is the right one:
// a proxy on the way may have added one that the client gave already.
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
