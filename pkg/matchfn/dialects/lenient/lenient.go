// Package lenient takes the members out of JSON objects as real rule files write them: numbers in strings, a single
// value where a list is expected, members that are null, and names in any case, with underscores or without. What it
// does not know it refuses, with the place: a misspelt limit must not vanish.
package lenient

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// MaxBytes and MaxValues bound a file, MaxSeconds the times in it.
const (
	MaxBytes   = 256 << 10
	MaxValues  = 20000
	MaxSeconds = 24 * 60 * 60
)

// Parse reads a file, which may have a byte order mark, comments and trailing commas.
func Parse(text []byte) (*document.Node, error) {
	text, err := document.Text(text)
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the text has %d bytes, and at most %d are allowed", len(text), MaxBytes)
	}
	n, err := document.Parse(text, document.Relaxed(), document.MaxValues(MaxValues))
	if e := new(document.Error); errors.As(err, &e) && strings.HasPrefix(e.Text, document.NoJSON) {
		e.Text += ": of a template in YAML or HCL, only the JSON in it is read"
	}
	return n, err
}

// Reader remembers the first error of all objects that are read with it.
type Reader struct {
	// Fold takes names and words in any case, with or without dots, underscores, spaces and hyphens.
	Fold bool
	err  error
}

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail notes an error at a place, if it is the first. The place may be nil.
func (r *Reader) Fail(at *document.Node, format string, args ...any) {
	switch {
	case r.err != nil:
	case at == nil:
		r.err = fmt.Errorf(format, args...)
	default:
		r.err = at.Errorf("%s", fmt.Sprintf(format, args...))
	}
}

// Object reads an object. It is never nil.
func (r *Reader) Object(n *document.Node) *Object {
	o := &Object{reader: r, Node: n}
	if n == nil {
		r.Fail(nil, "an object is missing")
		return o
	}
	if n.Kind != document.Object {
		r.Fail(n, "an object is expected, not %s", n.Kind)
		return o
	}
	o.taken = make([]bool, len(n.Members))
	return o
}

// Object is an object whose members are taken one by one.
type Object struct {
	Node   *document.Node
	reader *Reader
	taken  []bool
}

// Get takes a member by one of its names. It returns nil if there is none, or if it is null. Two members for the same
// names are an error.
func (o *Object) Get(names ...string) *document.Node {
	var found *document.Node
	for i := range o.taken {
		m := o.Node.Members[i]
		if o.taken[i] || !o.named(m.Name, names) {
			continue
		}
		o.taken[i] = true
		if found != nil {
			o.reader.Fail(m.Node, "it says the same as %s, which is here too", found.Path)
		}
		found = m.Node
	}
	if found == nil || found.Kind == document.Null {
		return nil
	}
	return found
}

func (o *Object) named(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return o.reader.same(n, name) })
}

// same reports whether a name or a word is meant by a text.
func (r *Reader) same(name, text string) bool {
	return name == text || r.Fold && plain(name) == plain(text)
}

// plain returns a name without that in which spellings of it differ.
func plain(name string) string { return spellings.Replace(strings.ToLower(name)) }

var spellings = strings.NewReplacer("_", "", ".", "", " ", "", "-", "")

// Member returns the first member of an object that is not null and whose name is one of some, in any spelling, or nil.
func Member(n *document.Node, names ...string) *document.Node {
	if n == nil {
		return nil
	}
	o := Object{reader: &Reader{Fold: true}}
	for _, m := range n.Members {
		if m.Kind != document.Null && o.named(m.Name, names) {
			return m.Node
		}
	}
	return nil
}

// Need is like Get, and a missing member is an error.
func (o *Object) Need(names ...string) *document.Node {
	n := o.Get(names...)
	if n == nil {
		o.reader.Fail(o.Node, "%q is missing", names[0])
	}
	return n
}

// Text takes a string. It is the fallback if there is none.
func (o *Object) Text(fallback string, names ...string) string {
	n := o.Get(names...)
	if n == nil {
		return fallback
	}
	return o.reader.Text(n)
}

// Text reads a string.
func (r *Reader) Text(n *document.Node) string {
	if n != nil && n.Kind != document.String {
		r.Fail(n, "a string is expected, not %s", n.Kind)
	}
	if n == nil {
		return ""
	}
	return n.Text
}

// Value reads a string that players' values are, or are compared with: it must have 1 to 256 bytes.
func (r *Reader) Value(n *document.Node) string {
	s := r.Text(n)
	if n != nil && n.Kind == document.String && (s == "" || len(s) > 256) {
		r.Fail(n, "a string of 1 to 256 bytes is expected, not one of %d", len(s))
	}
	return s
}

// Name takes a string that must not be missing, empty or longer than 256 bytes.
func (o *Object) Name(names ...string) string {
	n := o.Need(names...)
	if n == nil {
		return ""
	}
	name := o.reader.Text(n)
	if name == "" || len(name) > 256 {
		o.reader.Fail(n, "must have 1 to 256 bytes")
	}
	return name
}

// Word takes one of some words. It is the fallback if there is none; an empty fallback makes it necessary.
func (o *Object) Word(name, fallback string, words ...string) string {
	n := o.Get(name)
	if n == nil {
		if fallback == "" {
			o.reader.Fail(o.Node, "%q is missing: it is one of %s", name, strings.Join(words, ", "))
		}
		return fallback
	}
	text := o.reader.Text(n)
	for _, w := range words {
		if o.reader.same(w, text) {
			return w
		}
	}
	o.reader.Fail(n, "must be one of %s, not %q", strings.Join(words, ", "), text)
	return fallback
}

// Bool takes true or false, which may be in a string.
func (o *Object) Bool(fallback bool, names ...string) bool {
	n := o.Get(names...)
	if n == nil {
		return fallback
	}
	return o.reader.Bool(n)
}

// Bool reads true or false, which may be in a string.
func (r *Reader) Bool(n *document.Node) bool {
	switch {
	case n.Kind == document.Bool:
		return n.True
	case n.Kind == document.String && (n.Text == "true" || n.Text == "false"):
		return n.Text == "true"
	}
	r.Fail(n, "true or false is expected, not %s", n.Kind)
	return false
}

// Number takes a number if there is one.
func (o *Object) Number(names ...string) *float64 {
	n := o.Get(names...)
	if n == nil {
		return nil
	}
	return new(o.reader.Number(n))
}

// NumberOr takes a number. It is the fallback if there is none.
func (o *Object) NumberOr(fallback float64, names ...string) float64 {
	if v := o.Number(names...); v != nil {
		return *v
	}
	return fallback
}

// ParseNumber reads a number in a string.
func ParseNumber(text string) (v float64, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// Number reads a number, which may be in a string. It is 0 for nil.
func (r *Reader) Number(n *document.Node) float64 {
	if n == nil {
		return 0
	}
	if n.Kind == document.Number {
		return n.Number
	}
	if n.Kind == document.String {
		if v, ok := ParseNumber(n.Text); ok {
			return v
		}
		r.Fail(n, "a number is expected, not %q", n.Text)
		return 0
	}
	r.Fail(n, "a number is expected, not %s", n.Kind)
	return 0
}

// Whole takes a whole number from low to high. It is the fallback if there is none; one below low makes it necessary.
func (o *Object) Whole(name string, fallback, low, high int) int {
	n := o.Get(name)
	if n == nil {
		if fallback < low {
			o.reader.Fail(o.Node, "%q is missing", name)
		}
		return fallback
	}
	return o.reader.Whole(n, low, high)
}

// Range takes two whole numbers that the object needs: the least, from low to high, and the most.
func (o *Object) Range(least, most string, low, high int) (from, to int) {
	from, to = o.Whole(least, low-1, low, high), o.Whole(most, 0, 1, high)
	if from > to {
		o.reader.Fail(o.Node, "%s is more than %s", least, most)
	}
	return from, to
}

// Whole reads a whole number from low to high.
func (r *Reader) Whole(n *document.Node, low, high int) int {
	v := r.Number(n)
	if v != math.Trunc(v) || v < float64(low) || v > float64(high) {
		r.Fail(n, "must be a whole number from %d to %d", low, high)
		return low
	}
	return int(v)
}

// List takes a list of at most most elements. A single value that is no list is a list of one.
func (o *Object) List(most int, names ...string) []*document.Node {
	return o.reader.List(o.Get(names...), most)
}

// List returns the elements of a list of at most so many, and of a single value that one.
func (r *Reader) List(n *document.Node, most int) []*document.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind != document.List:
		return []*document.Node{n}
	case len(n.Elements) > most:
		r.Fail(n, "has %d elements, and at most %d are allowed", len(n.Elements), most)
		return nil
	}
	return n.Elements
}

// Values reads strings as Value does, and returns each once.
func (r *Reader) Values(nodes []*document.Node) []string {
	values := []string{}
	for _, n := range nodes {
		if s := r.Value(n); !slices.Contains(values, s) {
			values = append(values, s)
		}
	}
	return values
}

// Done refuses the members that were not taken. The named members are known, and left out.
func (o *Object) Done(ignored ...string) {
	for i := range o.taken {
		if m := o.Node.Members[i]; !o.taken[i] && !o.named(m.Name, ignored) {
			o.reader.Fail(m.Node, "%q is not known here", m.Name)
		}
	}
}

// Envelope says what APIs and tools have around a rule set.
type Envelope struct {
	// Name is the member with what the rule set is called, there or in itself.
	Name string
	// Marks are members that a rule set has, and what has one is one.
	Marks []string
	// Around are members that a rule set is in. What Members are of it must not be beside them; what Beside are there are
	// its own.
	Around, Members, Beside []string
}

// mostAround is how many objects, lists and texts there are around a rule set at most.
const mostAround = 10

// Open takes a rule set out of what is around it: members of some names, lists and texts, and any object with one
// member that has a rule set in it. It returns what it is called. Of several rule sets it takes none.
func (r *Reader) Open(n *document.Node, e Envelope) (in *document.Node, called string) {
	var beside []document.Member
	for r.err == nil {
		if of := Member(n, e.Name); of != nil && of.Kind == document.String {
			called = of.Text
		}
		inner := Member(n, e.Around...)
		switch {
		case n.Kind == document.String:
			text, err := Parse([]byte(n.Text))
			if err != nil {
				r.Fail(n, "in the text: %v", err)
				return n, called
			}
			n = text
		case n.Kind == document.List && len(n.Elements) == 1:
			n = n.Elements[0]
		case inner != nil:
			o := r.Object(n)
			o.Get(e.Around...)
			for _, m := range n.Members {
				if o.named(m.Name, e.Members) && m.Kind != document.Null {
					r.Fail(m.Node, "%q is not known here", m.Name)
				} else if o.named(m.Name, e.Beside) {
					beside = append(beside, m)
				}
			}
			n = inner
		case Member(n, e.Marks...) != nil:
			if len(beside) > 0 {
				whole := *n
				whole.Members, n = slices.Concat(n.Members, beside), &whole
			}
			return n, called
		default:
			holding := slices.DeleteFunc(Inside(n), func(one *document.Node) bool { return !Holds(one, e.Marks, mostAround) })
			if len(holding) == 0 && n.Kind == document.List {
				holding = n.Elements
			}
			if len(holding) > 1 {
				r.Fail(n, "there are %d here, and one is expected: keep one of %s", len(holding), calledIn(holding, e.Name))
			}
			if len(holding) != 1 {
				return n, called
			}
			n = holding[0]
		}
	}
	return n, called
}

// Holds reports whether a value, or what is in it so many levels deep, has a member of one of some names.
func Holds(n *document.Node, names []string, depth int) bool {
	return Member(n, names...) != nil || depth > 0 &&
		slices.ContainsFunc(Inside(n), func(one *document.Node) bool { return Holds(one, names, depth-1) })
}

// Inside returns the members of an object, the elements of a list, or what a text is that is JSON.
func Inside(n *document.Node) []*document.Node {
	first := document.First([]byte(strings.TrimPrefix(n.Text, "\ufeff")))
	if n.Kind == document.String && len(first) > 0 &&
		strings.IndexByte("{[\"", first[0]) >= 0 {
		if text, err := Parse([]byte(n.Text)); err == nil {
			return []*document.Node{text}
		}
	}
	inside := slices.Clone(n.Elements)
	for _, m := range n.Members {
		inside = append(inside, m.Node)
	}
	return inside
}

// calledIn returns what objects are called by a member of a name, and the places of those that have none.
func calledIn(objects []*document.Node, name string) string {
	names := make([]string, len(objects))
	for i, o := range objects {
		if names[i] = o.Path; Member(o, name) != nil {
			names[i] = strconv.Quote(Member(o, name).Text)
		}
	}
	return strings.Join(names, ", ")
}
