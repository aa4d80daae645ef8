package lenient

import (
	"bytes"
	"fmt"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// First returns what follows the white space and the comments at the beginning of a text.
func First(text []byte) []byte {
	at := len(text)
	scan(text, func(i int) bool {
		at = i
		return false
	})
	return text[at:]
}

// count returns an error at the first value that is too many.
func count(text []byte) error {
	values, begins := 0, true // whether a value may begin here
	at := -1
	scan(text, func(i int) bool {
		c := text[i]
		if begins && c != ']' && c != '}' {
			if values++; values > MaxNodes {
				at = i
				return false
			}
		}
		begins = c == ',' || c == '[' || c == '{'
		return true
	})
	if at < 0 {
		return nil
	}
	before := text[:at]
	return &document.Error{
		Line: bytes.Count(before, []byte("\n")) + 1, Column: at - bytes.LastIndexByte(before, '\n'),
		Text: fmt.Sprintf("this is value %d, and at most %d are allowed", values, MaxNodes),
	}
}

// scan calls a function with the place of each byte that is no white space, in no comment and in no string, and of the
// quotation mark before a string, until it returns false. It reads what is no JSON, too.
func scan(text []byte, see func(at int) bool) {
	for at := 0; at < len(text); {
		rest, size := text[at:], 1
		switch {
		case bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0:
			at++
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			at += through(rest, "\n")
			continue
		case bytes.HasPrefix(rest, []byte("/*")):
			at += 2 + through(rest[2:], "*/")
			continue
		case rest[0] == '"':
			size = quoted(rest)
		}
		if !see(at) {
			return
		}
		at += size
	}
}

// through returns how many bytes there are up to the end of a word, or all if it is not there.
func through(text []byte, word string) int {
	if i := bytes.Index(text, []byte(word)); i >= 0 {
		return i + len(word)
	}
	return len(text)
}

// quoted returns how many bytes a string has, with both quotation marks.
func quoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
