package registry

import (
	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/definition"
)

// nameOf is the function that the path names, in lower case.
func nameOf(c echo.Context) (string, error) { return parseName(c.Param("name")) }

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
