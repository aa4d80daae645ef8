package web

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// serializer makes echo's c.JSON and c.Bind use the same JSON rules as Decode.
type serializer struct{}

// Serialize writes an answer: nil slices as [], nil maps as {}, keys of maps sorted. Nothing is written when the value
// cannot be encoded, so that the error can still become a problem body.
func (serializer) Serialize(c echo.Context, v any, indent string) error {
	opts := []json.Options{json.Deterministic(true)}
	if indent != "" {
		opts = append(opts, jsontext.WithIndent(indent))
	}
	text, err := json.Marshal(v, opts...)
	if err != nil {
		return err
	}
	_, err = c.Response().Write(text)
	return err
}

func (serializer) Deserialize(c echo.Context, v any) error { return Decode(c, v) }
