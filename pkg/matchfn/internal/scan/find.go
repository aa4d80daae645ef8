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
