package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// CORS lets browsers call routes of an API from web pages of other origins.
type CORS struct {
	origins                   []string
	methods, headers, exposed string
}

// NewCORS takes origins as CheckOrigins does; without any it changes nothing. Browsers may send these methods and
// headers, and read the exposed headers of answers.
func NewCORS(origins, methods, headers, exposed string) *CORS {
	return &CORS{origins: splitOrigins(origins), methods: methods, headers: headers, exposed: exposed}
}

func splitOrigins(origins string) []string {
	if origins == "" {
		return nil
	}
	list := strings.Split(origins, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// CheckOrigins names an origin that no browser sends. Origins have commas between, * is all, and "" none.
func CheckOrigins(origins string) error {
	for _, origin := range splitOrigins(origins) {
		if origin == "*" {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme+"://"+strings.ToLower(u.Host) != origin {
			return errors.New(origin + " is no origin: scheme://host or scheme://host:port, in lower case and without a " +
				"slash at the end, or *")
		}
	}
	return nil
}

// Allow lets browsers of the allowed origins read all answers at some paths, also answers of steps before the handler.
// It answers their preflight requests.
func (a *CORS) Allow(e *echo.Echo, paths ...string) {
	if len(a.origins) == 0 {
		return
	}
	e.Pre(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Before(func() { // the route is known by then
				if slices.Contains(paths, c.Path()) {
					a.addTo(c.Response().Header(), c.Request().Header.Get(echo.HeaderOrigin))
				}
			})
			return next(c)
		}
	})
	for _, path := range paths {
		e.OPTIONS(path, a.preflight)
	}
}

// addTo lets a page of an origin, "" for none, read an answer.
func (a *CORS) addTo(header http.Header, origin string) {
	header.Add(echo.HeaderVary, echo.HeaderOrigin)
	if a.allows(origin) {
		header.Set(echo.HeaderAccessControlAllowOrigin, origin)
		header.Set(echo.HeaderAccessControlExposeHeaders, a.exposed)
	}
}

func (a *CORS) allows(origin string) bool {
	return origin != "" && (slices.Contains(a.origins, origin) || slices.Contains(a.origins, "*"))
}

func (a *CORS) preflight(c echo.Context) error {
	if a.allows(c.Request().Header.Get(echo.HeaderOrigin)) {
		header := c.Response().Header()
		header.Set(echo.HeaderAccessControlAllowMethods, a.methods)
		header.Set(echo.HeaderAccessControlAllowHeaders, a.headers)
		header.Set(echo.HeaderAccessControlMaxAge, "600")
	}
	return c.NoContent(http.StatusNoContent)
}
