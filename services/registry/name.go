package registry

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/web"
)

// nameOf is the function that the path names, in lower case.
func nameOf(c echo.Context) (string, error) { return parseName(web.PathParam(c, "name")) }

// queryOf is the query of a request. One that cannot be read as a whole is Invalid: a part of it would be taken for not
// given.
func queryOf(c echo.Context) (url.Values, error) {
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, problem.New(problem.Invalid, "the query cannot be read: %v", err)
	}
	return query, nil
}

// parseName checks a function's name and lower-cases it: names are compared so.
func parseName(raw string) (string, error) {
	name, ok := definition.FunctionName(raw)
	if !ok {
		what := quote(raw) + " is not a function name"
		if raw == "" {
			what = "missing"
		}
		return "", problem.New(problem.Invalid,
			"name: %s: 1 to 64 letters, digits, '.', '_' or '-' are expected, "+
				"of which the first and the last are letters or digits", what)
	}
	return name, nil
}
