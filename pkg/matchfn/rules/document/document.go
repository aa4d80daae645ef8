// Package document reads JSON into a tree in which every value knows its place, so that an error can name it. It reads
// what real files have too, if asked: comments and commas after the last element.
package document

import (
	"bytes"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// Kind is the kind of a JSON value, as error messages name it.
type Kind string

// The kinds of values.
const (
	Null   Kind = "null"
	Bool   Kind = "true or false"
	Number Kind = "a number"
	String Kind = "a string"
	List   Kind = "a list"
	Object Kind = "an object"
)

func (k Kind) String() string { return string(k) }

// Limits of a text.
const (
	MaxBytes = 1 << 20
	MaxDepth = 32 // of objects and lists in each other
)

// Node is a value of a document.
type Node struct {
	Kind Kind
	// Path is how one gets to the value, such as teams[0].size; empty for the whole document.
	Path string
	// Line and Column begin at 1.
	Line, Column int
	// Text is the text of a string, without quotes and escapes, or of a number as it is written.
	Text string
	// Number is the value of a number.
	Number float64
	True   bool
	// Members are the members of an object, Elements the elements of a list, in their order.
	Members  []Member
	Elements []*Node
}

// Member is a member of an object.
type Member struct {
	Name string
	*Node
}

// Error is what is wrong at a place of a document.
type Error struct {
	Path         string
	Line, Column int
	Text         string
}

func (e *Error) Error() string {
	where := ""
	if e.Line > 0 {
		where = message.Sprintf("line %d, column %d: ", e.Line, e.Column)
	}
	if e.Path != "" {
		where += e.Path + ": "
	}
	return where + e.Text
}

// Errorf returns an error at the value's place.
func (n *Node) Errorf(format string, args ...any) error {
	return &Error{Path: n.Path, Line: n.Line, Column: n.Column, Text: message.Sprintf(format, args...)}
}

// Get returns a member of an object, or nil if there is none.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for _, m := range n.Members {
		if m.Name == name {
			return m.Node
		}
	}
	return nil
}

// At returns the value at a path: names of members, and numbers of elements, separated by dots. It is nil if it is
// absent or null.
func (n *Node) At(path string) (found *Node) {
	n.Each(path, func(n *Node) { found = n })
	return found
}

// Each calls with every value at a path that is not null. In a path, * is every member or element, and a last @ the
// names of the members.
func (n *Node) Each(path string, with func(*Node)) {
	step, rest, more := strings.Cut(path, ".")
	next := func(of *Node) {
		switch {
		case of == nil || of.Kind == Null:
		case more:
			of.Each(rest, with)
		default:
			with(of)
		}
	}
	for _, m := range n.Members {
		if step == "@" && !more {
			next(&Node{Kind: String, Text: m.Name})
		} else if step == "*" || m.Name == step {
			next(m.Node)
		}
	}
	for i, e := range n.Elements {
		if step == "*" || strconv.Itoa(i) == step {
			next(e)
		}
	}
}

// Option changes what Parse takes.
type Option func(*parser)

// Relaxed takes comments of // and /* */, and a comma after the last member or element.
func Relaxed() Option { return func(p *parser) { p.relaxed = true } }

// MaxValues bounds how many values there are.
func MaxValues(n int) Option { return func(p *parser) { p.most = n } }

// NoJSON begins the error of a text that is none.
const NoJSON = "JSON is expected, and the text begins with "

// Parse reads exactly one value, of a text as Text takes it. Two members of the same name are an error.
func Parse(text []byte, options ...Option) (*Node, error) {
	text, err := Text(text)
	if err != nil {
		return nil, &Error{Text: err.Error()}
	}
	p := &parser{text: text, line: 1}
	for _, option := range options {
		option(p)
	}
	if len(text) > MaxBytes {
		return nil, &Error{Text: message.Sprintf("the text has %d bytes, and at most %d are allowed", len(text), MaxBytes)}
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	begin := p.at
	node, err := p.value("", 0)
	if err != nil && begin < len(text) && strings.IndexByte("{[\"", text[begin]) < 0 {
		word := text[begin:min(len(text), begin+40)]
		if end := bytes.IndexAny(word, " \t\r\n"); end > 0 {
			word = word[:end]
		}
		p.at = begin
		return nil, p.errorf("", NoJSON+"%s", strconv.Quote(string(word)))
	}
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(text) {
		return nil, p.errorf("", "there is text after the end of the document")
	}
	return node, nil
}

type parser struct {
	text    []byte
	at      int
	line    int
	start   int // of the line
	relaxed bool
	values  int // so far
	most    int // of them; 0 for any number
}

func (p *parser) errorf(path, format string, args ...any) error {
	return &Error{Path: path, Line: p.line, Column: p.at - p.start + 1, Text: message.Sprintf(format, args...)}
}

// next returns the byte that follows, 0 at the end.
func (p *parser) next() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// value reads the value that begins here.
func (p *parser) value(path string, depth int) (*Node, error) {
	if c := p.next(); depth >= MaxDepth && (c == '{' || c == '[') {
		return nil, p.errorf(path, "the text is nested more than %d deep", MaxDepth)
	}
	if p.values++; p.most > 0 && p.values > p.most {
		return nil, p.errorf("", "this is value %d, and at most %d are allowed", p.values, p.most)
	}
	n := &Node{Path: path, Line: p.line, Column: p.at - p.start + 1}
	switch c := p.next(); {
	case c == '{':
		n.Kind = Object
		return n, p.container(n, '}', depth)
	case c == '[':
		n.Kind = List
		return n, p.container(n, ']', depth)
	case c == '"':
		n.Kind = String
		text, err := p.quoted(path)
		n.Text = text
		return n, err
	case c == '-' || c >= '0' && c <= '9':
		return n, p.number(n)
	case p.word("true"), p.word("false"):
		n.Kind, n.True = Bool, c == 't'
		return n, nil
	case p.word("null"):
		n.Kind = Null
		return n, nil
	}
	return nil, p.unexpected(path, "a value")
}

func (p *parser) unexpected(path, wanted string) error {
	if p.at >= len(p.text) {
		return p.errorf(path, "the text ends where %s is expected", wanted)
	}
	return p.errorf(path, "%s is found where %s is expected", strconv.QuoteRune(rune(p.next())), wanted)
}

// container reads an object or a list up to its end.
func (p *parser) container(n *Node, end byte, depth int) error {
	names := map[string]bool{}
	p.at++
	for first := true; ; first = false {
		if err := p.space(); err != nil {
			return err
		}
		if p.next() == end && (first || p.relaxed) {
			p.at++
			return nil
		}
		if err := p.element(n, names, depth); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		switch p.next() {
		case ',':
			p.at++
		case end:
			p.at++
			return nil
		default:
			return p.unexpected(n.Path, "a comma or the end of "+string(n.Kind))
		}
	}
}

// element reads an element of a list, or a member of an object.
func (p *parser) element(n *Node, names map[string]bool, depth int) error {
	if n.Kind == List {
		element, err := p.value(n.Path+"["+strconv.Itoa(len(n.Elements))+"]", depth+1)
		n.Elements = append(n.Elements, element)
		return err
	}
	if p.next() != '"' {
		return p.unexpected(n.Path, "a name in quotes")
	}
	name, err := p.quoted(n.Path)
	if err != nil {
		return err
	}
	if names[name] {
		return p.errorf(n.Path, "there are two members %q", name)
	}
	names[name] = true
	if err := p.space(); err != nil {
		return err
	}
	if p.next() != ':' {
		return p.unexpected(n.Path, "a colon")
	}
	p.at++
	if err := p.space(); err != nil {
		return err
	}
	path := name
	if n.Path != "" {
		path = n.Path + "." + name
	}
	value, err := p.value(path, depth+1)
	n.Members = append(n.Members, Member{name, value})
	return err
}
