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
	var values []string
	for i := range s.Len(path) {
		values = append(values, s.String(path+"."+strconv.Itoa(i), ""))
	}
	return values
}

// Floats returns a list of numbers, nil when absent.
func (s *Settings) Floats(path string) []float64 {
	var values []float64
	for i := range s.Len(path) {
		values = append(values, s.Float(path+"."+strconv.Itoa(i), 0))
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
	n := s.root.At(path)
	if n == nil || s.err != nil {
		return nil
	}
	if n.Kind != want {
		s.Fail(path, message.Sprintf("must be %s, not %s", want, n.Kind))
		return nil
	}
	return n
}
