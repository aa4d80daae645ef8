// Package definition reads what the makers of a game define in JSON: which function runs, with which settings, on which
// pools of tickets. Configs are made of it, and so are backfill requests of the first generation.
//
// A Reader walks through a document once and notes all its faults, each with a result code and the path of the member,
// instead of ending at the first.
package definition

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Function is which function runs.
type Function struct {
	Name    string // in lower case: function names are compared so
	Version string // ignored
	Upload  int64  // the upload that runs; 0 for the one that the function runs
}

// longestVersion is the length in bytes of a version.
const longestVersion = 64

// Function reads the object that names a function.
func (r *Reader) Function(at Path) Function {
	var f Function
	given, ok := r.Object(at,
		Member{"name", func(at Path) {
			raw, ok := r.Text(at)
			if !ok {
				return
			}
			name, good := FunctionName(raw)
			switch {
			case raw == "":
				r.missingFunction(at)
			case !good:
				r.Add(BadTargetFunction, at,
					"%s is no function name: 1 to 64 letters, digits, '.', '_' and '-' are, with a letter or digit first and last",
					quote(raw))
			}
			f.Name = name
		}},
		Member{"version", func(at Path) { f.Version = r.PlainText(at, BadTargetFunction, longestVersion) }},
		Member{"upload", func(at Path) {
			n, ok := r.Integer(at)
			if ok && n < 1 {
				r.Add(BadTargetFunction, at, "a whole number from 1 is expected: an upload that is kept")
			}
			f.Upload = n
		}},
	)
	if ok && !given["name"] {
		r.missingFunction(at.Member("name"))
	}
	return f
}

func (r *Reader) missingFunction(at Path) {
	r.Add(MissingTargetFunction, at, "required, the name of an uploaded function")
}

// PlainText reads a string of at most so many bytes, without control characters.
func (r *Reader) PlainText(at Path, code string, most int) string {
	text, _ := r.Text(at)
	switch {
	case len(text) > most:
		r.Add(code, at, "%d bytes, at most %d are allowed", len(text), most)
	case strings.ContainsFunc(text, unicode.IsControl):
		r.Add(code, at, "control characters are not allowed")
	}
	return text
}

// Settings reads any JSON value, for a function to understand. It is returned as it was sent, but for the space between
// its parts and needless escapes.
func (r *Reader) Settings(at Path) jsontext.Value {
	if r.broken != nil {
		return nil
	}
	raw, err := r.dec.ReadValue()
	if err != nil {
		r.fail(err)
		return nil
	}
	value := raw.Clone()
	if err := value.Format(jsontext.AllowDuplicateNames(true)); err != nil {
		r.fail(err)
		return nil
	}
	outer := r.dec
	r.dec = decoder(value)
	r.checkDepth(at, maxDepth)
	r.dec = outer
	return value
}

// checkDepth walks through a value of any type that nests at most so deep, and has numbers that can be read.
func (r *Reader) checkDepth(at Path, deep int) {
	kind := r.dec.PeekKind()
	switch {
	case kind == jsontext.KindNumber:
		r.Number(at)
	case kind != jsontext.KindBeginObject && kind != jsontext.KindBeginArray:
		r.skip()
	case deep == 0:
		r.Add(BadFunctionConfig, at, "objects and arrays nest deeper than %d", maxDepth)
		r.skip()
	case kind == jsontext.KindBeginObject:
		r.Keys(at, func(_ string, at Path) { r.checkDepth(at, deep-1) })
	default:
		r.Array(at, func(at Path) { r.checkDepth(at, deep-1) })
	}
}

var functionName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$`)

// FunctionName is a function's name as it is stored and compared, in lower case, and whether it is one: 1 to 64
// letters, digits, '.', '_' and '-', of which the first and the last are letters or digits.
func FunctionName(raw string) (name string, ok bool) {
	name = LowerASCII(raw)
	return name, functionName.MatchString(name)
}

// LowerASCII is strings.ToLower for ASCII alone, which makes no ASCII letter out of another: the Kelvin sign is no k.
func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}
