package auth

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"matchmaker.dev/services/internal/edge/web"
)

// checkJSON refuses a token that two readers could understand differently: one whose header or claims have the same
// name twice in an object, whose times are no numbers, or whose Base64 has another form. The library that reads tokens
// takes the last of two claims, texts as times, and a signature in many forms.
func checkJSON(token string, claims []byte) error {
	var header []byte
	for i, encoded := range strings.Split(token, ".") {
		part, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
		if err != nil {
			return refuse("the token is not a signed JWT")
		}
		if i == 0 {
			header = part
		}
	}
	if err := scan(header); err != nil {
		return err
	}
	return scan(claims, "exp", "nbf", "iat")
}

// maxDepth bounds how deep the objects and lists of a token lie in each other.
const maxDepth = 32

// scan reads a JSON object. The members of it that numbers names must be numbers.
func scan(text []byte, numbers ...string) error {
	if web.TooDeep(text, maxDepth) {
		return refuse("the token's claims lie too deep in each other")
	}
	var members map[string]jsontext.Value
	switch err := json.Unmarshal(text, &members); {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return refuse("the token has the same claim twice")
	case err != nil:
		return refuse("the token has no claims")
	}
	for _, name := range numbers {
		if value, there := members[name]; there && value.Kind() != jsontext.KindNumber {
			return refuse("the token's times are no numbers")
		}
	}
	return nil
}
