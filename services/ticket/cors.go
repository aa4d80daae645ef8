package ticket

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/web"
)

// What browsers may send from pages of allowed origins, and read of answers.
const (
	allowedMethods = "GET, HEAD, POST, DELETE"
	allowedHeaders = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, Traceparent, " +
		"X-Correlation-Id, X-On-Behalf-Of"
	exposedHeaders = "Location, Preference-Applied, Retry-After, X-Correlation-Id"
)

// origins are those of --cors-origins.
func (s *Settings) origins() []string {
	if s.Origins == "" {
		return nil
	}
	list := strings.Split(s.Origins, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// checkOrigins names an origin that no browser sends.
func (s *Settings) checkOrigins() error {
	for _, origin := range s.origins() {
		if origin == "*" {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme+"://"+strings.ToLower(u.Host) != origin {
			return errors.New("--cors-origins: " + origin + " is no origin: scheme://host or scheme://host:port, in lower " +
				"case and without a slash at the end, or *")
		}
	}
	return nil
}

// cors lets browsers of the allowed origins read answers. Without any it changes nothing.
func (s *service) cors(next echo.HandlerFunc) echo.HandlerFunc {
	origins := s.Settings.origins()
	if len(origins) == 0 {
		return next
	}
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Add(echo.HeaderVary, echo.HeaderOrigin)
		if origin := c.Request().Header.Get(echo.HeaderOrigin); origin != "" &&
			(slices.Contains(origins, origin) || slices.Contains(origins, "*")) {
			header.Set(echo.HeaderAccessControlAllowOrigin, origin)
			header.Set(echo.HeaderAccessControlExposeHeaders, exposedHeaders)
		}
		return next(c)
	}
}

// preflights answers what browsers ask before a request with a token.
func (s *service) preflights(e *echo.Echo) {
	if len(s.Settings.origins()) == 0 {
		return
	}
	answer := s.cors(func(c echo.Context) error {
		header := c.Response().Header()
		if header.Get(echo.HeaderAccessControlAllowOrigin) != "" {
			header.Set(echo.HeaderAccessControlAllowMethods, allowedMethods)
			header.Set(echo.HeaderAccessControlAllowHeaders, allowedHeaders)
			header.Set(echo.HeaderAccessControlMaxAge, "600")
		}
		return c.NoContent(http.StatusNoContent)
	})
	for _, path := range []string{web.Base + "/tickets", web.Base + "/tickets/acceptance", web.TicketEvents} {
		e.OPTIONS(path, answer)
	}
}
