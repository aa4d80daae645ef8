package matchfn

import (
	"strconv"

	"matchmaker.dev/pkg/matchfn/internal/message"
	"matchmaker.dev/pkg/matchfn/internal/scan"
)

// Settings reads single values of a config's settings without encoding/json, which would make the module half as large
// again. A path is member names separated by dots ("teams.size"). Elements of lists have their number as name
// ("maps.0"). If a value is absent or null, the result is the default.
//
// The first error is kept, and all later values are the defaults. Read all values, then return [Settings.Err].
type Settings struct {
	raw     []byte
	members scan.Parsed // of raw
	err     error
}

// NewSettings reads a JSON object. An empty text is an empty object.
func NewSettings(json []byte) *Settings {
	if len(json) == 0 {
		return &Settings{raw: []byte("{}")}
	}
	if err := scan.Object(json); err != nil {
		return &Settings{raw: []byte("{}"), err: message.Errorf("settings: the text %s", err)}
	}
	return &Settings{raw: json, members: scan.Parse(json)}
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
	raw := s.get(path, scan.KindNumber)
	if raw == nil {
		return absent
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		s.Fail(path, "is too large a number")
		return absent
	}
	return value
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
	raw := s.get(path, scan.KindString)
	if raw == nil {
		return absent
	}
	return scan.Unquote(raw)
}

// Bool returns true or false.
func (s *Settings) Bool(path string, absent bool) bool {
	raw := s.get(path, scan.KindBool)
	if raw == nil {
		return absent
	}
	return raw[0] == 't'
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
	n := 0
	scan.Elements(s.get(path, scan.KindArray), func([]byte) bool { n++; return true })
	return n
}

// Has reports whether there is a value other than null.
func (s *Settings) Has(path string) bool { return s.find(path) != nil }

// Names returns the names of an object's members in order, none when absent. The path "" is the settings themselves.
func (s *Settings) Names(path string) []string {
	raw := s.raw
	if path != "" {
		raw = s.get(path, scan.KindObject)
	}
	var names []string
	scan.Members(raw, func(name string, _ []byte) bool {
		names = append(names, name)
		return true
	})
	return names
}

// Only refuses all other settings, for example misspelt ones.
func (s *Settings) Only(names ...string) {
	if name, found := s.members.Other(names); found {
		s.Fail(name, "is not a setting of this function, which has "+list(names))
	}
}

// get returns the value at path. It returns nil if there is none. A value of another kind is an error.
func (s *Settings) get(path string, want scan.Kind) []byte {
	raw := s.find(path)
	if raw == nil || s.err != nil {
		return nil
	}
	if kind := scan.KindOf(raw); kind != want {
		s.Fail(path, message.Sprintf("must be %s, not %s", string(want), string(kind)))
		return nil
	}
	return raw
}

// find returns the value at path, or nil if it is absent or null.
func (s *Settings) find(path string) []byte { return s.members.Find(path) }
