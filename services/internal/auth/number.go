package auth

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Numbers are the claims of a player's token, to take numbers from.
type Numbers struct{ claims map[string]any }

// Numbers reads the claims of a player's token; other tokens have none.
func (p *Principal) Numbers() Numbers {
	var n Numbers
	d := json.NewDecoder(bytes.NewReader(p.claims))
	d.UseNumber() // a number may be larger than a float64
	if d.Decode(&n.claims) != nil {
		n.claims = nil // the claims were read before, so there are none
	}
	return n
}

// At is the number at a path, which is as those of [Claims]. Null is no claim. ok is false when something else than a
// finite number is there.
func (n Numbers) At(path string) (number float64, present, ok bool) {
	value, present := lookup(n, path)
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

// Get is for lookup.
func (n Numbers) Get(name string, into any) error {
	value, present := n.claims[name]
	to, ok := into.(*any)
	if !present || !ok {
		return errors.New("auth: no such claim")
	}
	*to = value
	return nil
}
