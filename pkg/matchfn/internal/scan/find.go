package scan

import (
	"strconv"
	"strings"
)

// Find returns the value at a path of a valid JSON value, or nil if it is absent or null. A path is names of members
// separated by dots; elements of arrays have their number as name. Of members with the same name it returns the last,
// as encoding/json does.
func Find(raw []byte, path string) []byte {
	for step := range strings.SplitSeq(path, ".") {
		raw = child(raw, step)
		if raw == nil {
			return nil
		}
	}
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
		Members(raw, func(name string, value []byte) bool {
			if name == step {
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
