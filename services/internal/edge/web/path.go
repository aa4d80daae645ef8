package web

import (
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"
)

// unescapePath unescapes the parameters of the path, once. Echo keeps the escapes if the path was sent in another form
// than Go would have written. Parameters never become more segments: routes are found before. No path has an empty one.
func unescapePath(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		for i, name := range c.ParamNames() {
			if name != "*" && c.ParamValues()[i] == "" { // as of /functions//log
				return echo.ErrNotFound
			}
		}
		if c.Request().URL.RawPath == "" {
			return next(c)
		}
		values := slices.Clone(c.ParamValues())
		for i, value := range values {
			if plain, err := url.PathUnescape(value); err == nil {
				values[i] = plain
			}
		}
		c.SetParamValues(values...)
		return next(c)
	}
}
