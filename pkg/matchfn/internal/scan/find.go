package scan

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Find returns the value at a path of a valid JSON value, or nil if it is absent or null. A path is names of members
// separated by dots; elements of arrays have their number as name. Of members with the same name it returns the last,
// as encoding/json does.
func Find(raw []byte, path string) []byte {
	for more := true; more; {
		var step string
		step, path, more = strings.Cut(path, ".")
		if raw = child(raw, step); raw == nil {
			return nil
		}
	}
	return present(raw)
}

// Parsed is a valid JSON object that is read once.
type Parsed []Pair

// Pair is a member of an object: a JSON string, and a value without space around it.
type Pair struct{ Name, Value []byte }

// Parse reads a valid JSON object. Its members are parts of the text.
func Parse(text []byte) Parsed {
	p := make(Parsed, 0, 8)
	walk(text, func(name, value []byte) bool {
		p = append(p, Pair{name, value})
		return true
	})
	return p
}

// Other returns the name of the first member that is none of these.
func (p Parsed) Other(names []string) (name string, found bool) {
	for _, m := range p {
		if !slices.ContainsFunc(names, func(name string) bool { return is(m.Name, name) }) {
			return Unquote(m.Name), true
		}
	}
	return "", false
}

// Find is [Find] in the object.
func (p Parsed) Find(path string) []byte {
	step, rest, more := strings.Cut(path, ".")
	for _, m := range slices.Backward(p) {
		if !is(m.Name, step) {
			continue
		}
		if more {
			return Find(m.Value, rest)
		}
		return present(m.Value)
	}
	return nil
}

// present returns a value, or nil if it is null.
func present(raw []byte) []byte {
	if KindOf(raw) == KindNull {
		return nil
	}
	return raw
}

// child returns a member of an object or an element of an array, or nil.
func child(raw []byte, step string) []byte {
	var found []byte
	switch KindOf(raw) {
	case KindObject:
		walk(raw, func(name, value []byte) bool {
			if is(name, step) {
				found = value
			}
			return true
		})
	case KindArray:
		want, err := strconv.Atoi(step)
		if err != nil {
			return nil
		}
		i := 0
		Elements(raw, func(value []byte) bool {
			if i == want {
				found = value
			}
			i++
			return found == nil
		})
	}
	return found
}

// is reports whether a valid JSON string has a text.
func is(raw []byte, text string) bool {
	if len(raw) == len(text)+2 && string(raw[1:len(raw)-1]) == text {
		return bytes.IndexByte(raw, '\\') < 0
	}
	return bytes.IndexByte(raw, '\\') >= 0 && Unquote(raw) == text
}

// Each calls found with every value of a valid JSON value at a path. In a path, * is every member of an object or
// element of an array. A path that ends in @ means the names of the members of an object, as JSON strings.
func Each(raw []byte, path string, found func(raw []byte)) {
	step, rest, more := strings.Cut(path, ".")
	next := func(raw []byte) bool {
		if more {
			Each(raw, rest, found)
		} else {
			found(raw)
		}
		return true
	}
	switch kind := KindOf(raw); {
	case step == "@" && !more:
		if kind == KindObject {
			Members(raw, func(name string, _ []byte) bool {
				found(AppendString(nil, name))
				return true
			})
		}
	case step != "*":
		if raw = child(raw, step); raw != nil && KindOf(raw) != KindNull {
			next(raw)
		}
	case kind == KindObject:
		Members(raw, func(_ string, raw []byte) bool { return next(raw) })
	case kind == KindArray:
		Elements(raw, next)
	}
}
