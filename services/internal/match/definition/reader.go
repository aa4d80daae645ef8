package definition

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"matchmaker.dev/services/internal/edge/web"
)

// Reader walks through a JSON document once, from its beginning to its end, and notes every fault on the way. What is
// read at a fault is a zero value: callers need not look before the end.
type Reader struct {
	FieldErrors
	// Secrets are the secrets of webhooks as they were sent, by name. They are apart from what is stored.
	Secrets map[string]string
	limits  Limits
	dec     *jsontext.Decoder
	broken  error // the text is not JSON
}

// NewReader reads a document that is known to be one JSON value, as web.Document returns it.
func NewReader(text jsontext.Value, l Limits) *Reader {
	return &Reader{Secrets: map[string]string{}, limits: l, dec: decoder(text)}
}

func decoder(text jsontext.Value) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
}

// Err is nil, the *Faults, or why the text is not JSON.
func (r *Reader) Err() error {
	if r.broken != nil {
		return r.broken
	}
	return r.FieldErrors.Err()
}

// Member is a member that an object may have.
type Member struct {
	Name string
	Read func(at Path)
}

// Object reads an object with named members, in the order in which they were sent. Names match without regard to case;
// null means not given. ok is false when there is no object.
func (r *Reader) Object(at Path, members ...Member) (given map[string]bool, ok bool) {
	if !r.open(at, jsontext.KindBeginObject) {
		return nil, false
	}
	seen := make(map[string]bool, len(members))
	given = make(map[string]bool, len(members))
	for {
		name, more := r.name()
		if !more {
			return given, r.broken == nil
		}
		m := find(members, name)
		switch {
		case m == nil:
			r.Add(UnknownMember, at.Member(name), "unknown member%s", knownMembers(members))
			r.skip()
		case seen[m.Name]:
			r.Add(DuplicateMember, at.Member(m.Name), "given twice; member names are read without regard to case")
			r.skip()
		case r.dec.PeekKind() == jsontext.KindNull:
			seen[m.Name] = true
			r.skip()
		default:
			seen[m.Name], given[m.Name] = true, true
			m.Read(at.Member(m.Name))
		}
	}
}

func find(members []Member, name string) *Member {
	for i := range members {
		if strings.EqualFold(members[i].Name, name) {
			return &members[i]
		}
	}
	return nil
}

// knownMembers lists the members that there are.
func knownMembers(members []Member) string {
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.Name
	}
	return "; known are " + strings.Join(names, ", ")
}

// Keys reads an object whose keys the sender chose. They are kept as they are. It returns how many there are.
func (r *Reader) Keys(at Path, read func(key string, at Path)) int {
	if !r.open(at, jsontext.KindBeginObject) {
		return 0
	}
	seen := map[string]bool{}
	for {
		key, more := r.name()
		if !more {
			return len(seen)
		}
		if at := at.Member(key); seen[key] {
			r.Add(DuplicateMember, at, "given twice")
			r.skip()
		} else {
			seen[key] = true
			read(key, at)
		}
	}
}

// Array reads an array and returns its length.
func (r *Reader) Array(at Path, read func(at Path)) int {
	if !r.open(at, jsontext.KindBeginArray) {
		return 0
	}
	n := 0
	for ; r.broken == nil && r.dec.PeekKind() != jsontext.KindEndArray; n++ {
		read(at.Index(n))
	}
	r.token()
	return n
}

// Text reads a string.
func (r *Reader) Text(at Path) (string, bool) {
	if !r.expect(at, jsontext.KindString) {
		return "", false
	}
	t, ok := r.token()
	return t.String(), ok
}

// Bool reads true or false.
func (r *Reader) Bool(at Path) (value, ok bool) {
	if r.broken != nil {
		return false, false
	}
	switch got := r.dec.PeekKind(); got {
	case jsontext.KindTrue, jsontext.KindFalse:
		_, ok = r.token()
		return got == jsontext.KindTrue, ok
	case jsontext.KindInvalid:
		r.token()
	default:
		r.Add(WrongType, at, "true or false is expected, got %s", web.KindName(got))
		r.skip()
	}
	return false, false
}

// Number reads a finite number.
func (r *Reader) Number(at Path) (float64, bool) {
	if !r.expect(at, jsontext.KindNumber) {
		return 0, false
	}
	t, ok := r.token()
	if !ok {
		return 0, false
	}
	n, err := t.Float()
	if err != nil {
		r.Add(NumberRange, at, "the number is out of the range of 64-bit floating point")
		return 0, false
	}
	return n, true
}

// Integer reads a number without a fraction; 3.0 and 3e0 are 3.
func (r *Reader) Integer(at Path) (int64, bool) {
	if !r.expect(at, jsontext.KindNumber) {
		return 0, false
	}
	t, ok := r.token()
	if !ok {
		return 0, false
	}
	n, err := web.ParseInteger(t.String())
	switch {
	case errors.Is(err, web.ErrFraction):
		r.Add(WrongType, at, "%s", err)
	case err != nil:
		r.Add(NumberRange, at, "%s", err)
	}
	return n, err == nil
}

// open reads the beginning of an object or array.
func (r *Reader) open(at Path, kind jsontext.Kind) bool {
	if !r.expect(at, kind) {
		return false
	}
	_, ok := r.token()
	return ok
}

// name reads the next member's name; more is false at the end of the object.
func (r *Reader) name() (name string, more bool) {
	t, ok := r.token()
	if !ok || t.Kind() == jsontext.KindEndObject {
		return "", false
	}
	return t.String(), true
}

// expect notes a fault, and passes the value by, when it is of another kind.
func (r *Reader) expect(at Path, kind jsontext.Kind) bool {
	if r.broken != nil {
		return false
	}
	got := r.dec.PeekKind()
	if got == kind {
		return true
	}
	if got == jsontext.KindInvalid {
		r.token()
		return false
	}
	r.Add(WrongType, at, "%s is expected, got %s", web.KindName(kind), web.KindName(got))
	r.skip()
	return false
}

func (r *Reader) token() (jsontext.Token, bool) {
	if r.broken != nil {
		return jsontext.Token{}, false
	}
	t, err := r.dec.ReadToken()
	r.fail(err)
	return t, err == nil
}

func (r *Reader) skip() {
	if r.broken == nil {
		r.fail(r.dec.SkipValue())
	}
}

func (r *Reader) fail(err error) {
	if err != nil {
		r.broken = fmt.Errorf("definition: the text is not JSON: %w", err)
	}
}

// Path is where in a document a value is, as people write it: pools.main[0].min. The document itself has the empty
// path.
type Path string

// Member is the path of a member of the object at p.
func (p Path) Member(name string) Path {
	if p == "" {
		return Path(printable(name))
	}
	return p + "." + Path(printable(name))
}

// Index is the path of an element of the array at p.
func (p Path) Index(i int) Path { return p + "[" + Path(strconv.Itoa(i)) + "]" }

func (p Path) String() string {
	if p == "" {
		return "the body"
	}
	return string(p)
}

// longestName is how much of a member's name an error repeats, in bytes.
const longestName = 128

// printable is a name as it stands where a terminal and a log can take it, and quoted where not.
func printable(name string) string {
	if name != "" && len(name) <= longestName &&
		strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return name
	}
	return quote(name)
}

// quote is a text in quotes, cut when it is long.
func quote(text string) string {
	if len(text) <= longestName {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:longestName], "")) + "…"
}
