// Package openapi is the description of the HTTP API in OpenAPI 3.1, for people, generators of clients, and the
// contract suite.
package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"
	"go.yaml.in/yaml/v3"

	"matchmaker.dev/services/internal/platform/app"
)

// Path is where a process serves the document.
const Path = "/openapi.json"

//go:embed openapi.yaml
var source []byte

// JSON is the document, which is made once. Its bytes are shared.
var JSON = sync.OnceValues(func() ([]byte, error) {
	var document map[string]any
	if err := yaml.Unmarshal(source, &document); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	delete(document, "x-errors") // they are where they are used
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return text, nil
})

// New makes the part that serves the document, without a token.
func New() (app.Part, error) {
	text, err := JSON()
	if err != nil {
		return app.Part{}, err
	}
	return app.Part{Name: "openapi", Routes: func(e *echo.Echo) {
		e.GET(Path, func(c echo.Context) error {
			c.Response().Header().Set(echo.HeaderCacheControl, "public, max-age=60")
			return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, text)
		})
	}}, nil
}
