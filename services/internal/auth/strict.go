package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// checkJSON refuses a token that two readers could understand differently: one whose header or claims have the same
// name twice in an object, or whose times are no numbers. The library that reads tokens takes the last of two claims,
// and texts as times.
func checkJSON(token string, claims []byte) error {
	encoded, _, _ := strings.Cut(token, ".")
	header, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return refuse("the token is not a signed JWT")
	}
	if err := scan(header, nil); err != nil {
		return err
	}
	return scan(claims, []string{"exp", "nbf", "iat"})
}

// maxDepth bounds how deep the objects and lists of a token lie in each other.
const maxDepth = 32

// object is an object or a list that is read.
type object struct {
	// names are those that the object has so far; nil for a list.
	names map[string]bool
	// name is the name of the next value; named is false when a name comes next.
	name  string
	named bool
}

// scan reads a JSON object. The members of it that numbers names must be numbers.
func scan(text []byte, numbers []string) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var open []*object
	for first := true; ; first = false {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || len(open) == 0 && !first { // or something follows the object
			return refuse("the token has no claims")
		}
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open); n > 0 && open[n-1].names != nil {
			o := open[n-1]
			if !o.named {
				if o.name, _ = t.(string); o.names[o.name] {
					return refuse("the token has the same claim twice")
				}
				o.names[o.name], o.named = true, true
				continue
			}
			o.named = false
			if _, number := t.(json.Number); n == 1 && !number && slices.Contains(numbers, o.name) {
				return refuse("the token's times are no numbers")
			}
		}
		switch t {
		case json.Delim('{'):
			open = append(open, &object{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &object{})
		}
		if len(open) > maxDepth {
			return refuse("the token's claims lie too deep in each other")
		}
	}
}
