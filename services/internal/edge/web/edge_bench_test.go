package web

import (
	stdjson "encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// BenchmarkEdge is what the edge costs a ticket's creation beside a bare echo handler that decodes the same body, the
// network left out.
func BenchmarkEdge(b *testing.B) {
	bare := echo.New()
	bare.POST(Base+"/tickets", func(c echo.Context) error {
		var body createTicket
		if err := stdjson.NewDecoder(c.Request().Body).Decode(&body); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, map[string]string{"id": "x"})
	})
	edge := New(slog.New(slog.NewTextHandler(b.Output(), nil)), Options{})
	edge.POST(Base+"/tickets", func(c echo.Context) error {
		var body createTicket
		if err := Decode(c, &body); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, struct {
			ID string `json:"id"`
		}{"x"})
	})
	for name, e := range map[string]*echo.Echo{"bare": bare, "edge": edge} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				req := httptest.NewRequest(http.MethodPost, "/demo/matchmaking/api/v1/tickets", strings.NewReader(usualTicket))
				req.Header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
				res := httptest.NewRecorder()
				e.ServeHTTP(res, req)
				if res.Code != http.StatusCreated {
					b.Fatal(res.Body)
				}
			}
		})
	}
}
