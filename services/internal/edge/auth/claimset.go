package auth

import (
	"bytes"
	"encoding/json"
)

// ClaimSet is the claims of a player's token, to take values from.
type ClaimSet struct{ claims map[string]any }

// ClaimSet reads the claims of a player's token; other tokens have none.
func (p *Principal) ClaimSet() ClaimSet {
	claims, _ := claimsOf(p.claims)
	return ClaimSet{claims}
}

// claimsOf reads claims, which are an object, as they are; without an empty name, which is no path.
func claimsOf(text []byte) (claims map[string]any, err error) {
	err = read(text, &claims, "the token has no claims")
	delete(claims, "")
	return claims, err
}

// Number is the number at a path, written as for [Claims]. Null is no claim. ok is false if the value is not a finite
// number.
func (s ClaimSet) Number(path string) (number float64, present, ok bool) {
	value, present := lookup(s.claims, path)
	if !present || value == nil {
		return 0, false, true
	}
	text, ok := value.(json.Number)
	if !ok {
		return 0, true, false
	}
	number, err := text.Float64()
	return number, true, err == nil
}

// JSON is the value at a path, written as for [Claims]. Numbers are as the token writes them, and the members of
// objects are sorted. Null is no claim. ok is false when the path goes through a value that is no object.
func (s ClaimSet) JSON(path string) (text []byte, present, ok bool) {
	value, present := lookup(s.claims, path)
	if !present || value == nil {
		return nil, false, true
	}
	if _, bad := value.(noObject); bad {
		return nil, true, false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), true, err == nil
}
