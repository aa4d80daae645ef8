package definition

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
	cut := longestName
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(text[:cut]) + "…"
}
