package matchfn

import (
	"slices"
	"strconv"

	"matchmaker.dev/pkg/matchfn/internal/message"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Settings reads single values of a config's settings without encoding/json, which would make the module half as large
// again. A path is member names separated by dots ("teams.size"). Elements of lists have their number as name
// ("maps.0"). If a value is absent or null, the result is the default.
//
// The first error is kept, and all later values are the defaults. Read all values, then return [Settings.Err].
type Settings struct {
	root *document.Node
	err  error
}

// NewSettings reads a JSON object. An empty text is an empty object.
func NewSettings(json []byte) *Settings {
	s := &Settings{root: &document.Node{Kind: document.Object}}
	if len(json) == 0 {
		return s
	}
	switch root, err := document.Parse(json); {
	case err != nil:
		s.err = message.Errorf("settings: %s", err)
	case root.Kind != document.Object:
		s.err = message.Errorf("settings: the text is not an object")
	default:
		s.root = root
	}
	return s
}

// Err returns the first error, a message for the author of the config.
func (s *Settings) Err() error { return s.err }

// Fail adds an error that only the function can find, such as a number out of range: Fail("window", "must be
// positive").
func (s *Settings) Fail(path, reason string) {
	if s.err == nil {
		s.err = message.Errorf("settings: %q %s", path, reason)
	}
}

// Float returns a number.
func (s *Settings) Float(path string, absent float64) float64 {
	if n := s.get(path, document.Number); n != nil {
		return n.Number
	}
	return absent
}

// Int returns a number that has no fraction.
func (s *Settings) Int(path string, absent int) int {
	value := s.Float(path, float64(absent))
	if value != float64(int(value)) {
		s.Fail(path, "must be a whole number")
		return absent
	}
	return int(value)
}

// String returns a string.
func (s *Settings) String(path, absent string) string {
	if n := s.get(path, document.String); n != nil {
		return n.Text
	}
	return absent
}

// Bool returns true or false.
func (s *Settings) Bool(path string, absent bool) bool {
	if n := s.get(path, document.Bool); n != nil {
		return n.True
	}
	return absent
}

// Strings returns a list of strings, nil when absent.
func (s *Settings) Strings(path string) []string {
	return elements(s, path, document.String, func(n *document.Node) string { return n.Text })
}

// Floats returns a list of numbers, nil when absent.
func (s *Settings) Floats(path string) []float64 {
	return elements(s, path, document.Number, func(n *document.Node) float64 { return n.Number })
}

// elements returns the values of a list. One that is null, and any after an error, is the zero value.
func elements[T any](s *Settings, path string, want document.Kind, value func(*document.Node) T) (values []T) {
	if list := s.get(path, document.List); list != nil {
		for i, n := range list.Elements {
			var one T
			if n = s.checked(n, path+"."+strconv.Itoa(i), want); n != nil {
				one = value(n)
			}
			values = append(values, one)
		}
	}
	return values
}

// Len returns the length of a list, 0 when absent.
func (s *Settings) Len(path string) int {
	if n := s.get(path, document.List); n != nil {
		return len(n.Elements)
	}
	return 0
}

// Has reports whether there is a value other than null.
func (s *Settings) Has(path string) bool { return s.root.At(path) != nil }

// Names returns the names of an object's members in order, none when absent. The path "" is the settings themselves.
func (s *Settings) Names(path string) (names []string) {
	n := s.root
	if path != "" {
		n = s.get(path, document.Object)
	}
	if n != nil {
		for _, m := range n.Members {
			names = append(names, m.Name)
		}
	}
	return names
}

// Only refuses all other settings, for example misspelt ones.
func (s *Settings) Only(names ...string) {
	for _, m := range s.root.Members {
		if !slices.Contains(names, m.Name) {
			s.Fail(m.Name, "is not a setting of this function, which has "+list(names))
		}
	}
}

// get returns the value at path. It returns nil if there is none. A value of another kind is an error.
func (s *Settings) get(path string, want document.Kind) *document.Node {
	return s.checked(s.root.At(path), path, want)
}

// checked is get for the value n, which is at path.
func (s *Settings) checked(n *document.Node, path string, want document.Kind) *document.Node {
	if n == nil || n.Kind == document.Null || s.err != nil {
		return nil
	}
	if n.Kind != want {
		s.Fail(path, message.Sprintf("must be %s, not %s", want, n.Kind))
		return nil
	}
	return n
}
