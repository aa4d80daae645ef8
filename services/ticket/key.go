package ticket

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

// idempotencyHeader tells a repeated create from another one (draft-ietf-httpapi-idempotency-key-header).
const idempotencyHeader = "Idempotency-Key"

// longestKey is the most characters of a key: more than twice as many as a UUID has.
const longestKey = 128

// idempotencyKey is the key of a request, "" for none. It is a string of structured fields (RFC 9651): in quotes, of
// printable ASCII, with \\ before a quote or a backslash.
func idempotencyKey(c echo.Context) (string, error) {
	values := c.Request().Header[idempotencyHeader]
	if len(values) == 0 {
		return "", nil
	}
	bad := problem.New(problem.Invalid, "%s: 1 to %d printable ASCII characters in quotes are expected, such as "+
		`"8e03978e-40d5-43dd-bc93-6894a57f9324"`, idempotencyHeader, longestKey)
	text := strings.Trim(values[0], " ")
	if len(values) > 1 || len(text) < 3 || text[0] != '"' || text[len(text)-1] != '"' {
		return "", bad
	}
	var key strings.Builder
	for inner := text[1 : len(text)-1]; inner != ""; inner = inner[1:] {
		switch inner[0] {
		case '\\':
			if inner = inner[1:]; inner == "" || inner[0] != '"' && inner[0] != '\\' {
				return "", bad
			}
		case '"':
			return "", bad
		}
		key.WriteByte(inner[0])
	}
	if !isKey(key.String()) {
		return "", bad
	}
	return key.String(), nil
}

// isKey reports whether a text can be a key.
func isKey(text string) bool {
	return text != "" && len(text) <= longestKey &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// fingerprint is what a key was sent with: the same for requests that mean the same.
func fingerprint(key string, in creation) ([]byte, error) {
	if key == "" {
		return nil, nil
	}
	return json.Marshal(in, json.Deterministic(true))
}
