package registry

import (
	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/fault"
	"matchmaker.dev/services/internal/web"
)

// nameOf is the function that the path names, in lower case.
func nameOf(c echo.Context) (string, error) { return parseName(web.Param(c, "name")) }

// parseName checks a function's name and lower-cases it: names are compared so.
func parseName(raw string) (string, error) {
	name, ok := definition.FunctionName(raw)
	if !ok {
		return "", fault.New(fault.Invalid, "name: %s is not a function name: 1 to 64 letters, digits, '.', '_' or '-', of which the first and the last are letters or digits",
			quote(raw))
	}
	return name, nil
}
