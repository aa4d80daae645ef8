package web

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// serializer makes echo's c.JSON and c.Bind use the same JSON rules as Decode.
type serializer struct{}

// Marshal is the JSON of an answer, on one line: nil slices as [], nil maps as {}, keys of maps sorted.
func Marshal(v any) ([]byte, error) { return json.Marshal(v, json.Deterministic(true)) }

// Serialize writes an answer as Marshal encodes it. Nothing is written when the value cannot be encoded, so that the
// error can still become a problem body.
func (serializer) Serialize(c echo.Context, v any, indent string) error {
	encode := Marshal
	if indent != "" {
		encode = func(v any) ([]byte, error) {
			return json.Marshal(v, json.Deterministic(true), jsontext.WithIndent(indent))
		}
	}
	text, err := encode(v)
	if err != nil {
		return err
	}
	_, err = c.Response().Write(text)
	return err
}

func (serializer) Deserialize(c echo.Context, v any) error { return Decode(c, v) }
