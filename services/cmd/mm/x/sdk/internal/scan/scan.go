// Package scan reads JSON without encoding/json, which would add a megabyte to every match function that needs one
// number of its settings.
package scan

import (
	"errors"
	"unicode/utf8"

	"matchmaker.dev/pkg/matchfn/internal/message"
)

// MaxDepth bounds how deep objects and arrays may nest.
const MaxDepth = 32

var errEnd = errors.New("ends too early")

// Object reports whether text is exactly one valid JSON object, in UTF-8 and nested at most MaxDepth deep.
func Object(text []byte) error {
	start := space(text, 0)
	if start == len(text) {
		return errEnd
	}
	if text[start] != '{' {
		return errors.New("is not an object")
	}
	return Valid(text)
}

// Valid reports whether text is exactly one valid JSON value, in UTF-8 and nested at most MaxDepth deep.
func Valid(text []byte) error {
	end, err := value(text, space(text, 0), 0)
	if err != nil {
		return err
	}
	if end = space(text, end); end != len(text) {
		return unexpected(text, end)
	}
	return nil
}

// value returns where the value that begins at i ends.
func value(text []byte, i, depth int) (int, error) {
	if i >= len(text) {
		return i, errEnd
	}
	switch c := text[i]; {
	case c == '{', c == '[':
		if depth == MaxDepth {
			return i, message.Errorf("is nested more than %d deep", MaxDepth)
		}
		return container(text, i, depth+1)
	case c == '"':
		return quoted(text, i)
	case c == '-' || digit(text, i):
		return number(text, i)
	case c == 't':
		return word(text, i, "true")
	case c == 'f':
		return word(text, i, "false")
	case c == 'n':
		return word(text, i, "null")
	}
	return i, unexpected(text, i)
}

// container returns where the object or array that begins at i ends.
func container(text []byte, i, depth int) (int, error) {
	object := text[i] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	i = space(text, i+1)
	if i < len(text) && text[i] == closing {
		return i + 1, nil
	}
	for {
		var err error
		if object {
			if i >= len(text) {
				return i, errEnd
			}
			if text[i] != '"' {
				return i, unexpected(text, i)
			}
			if i, err = quoted(text, i); err != nil {
				return i, err
			}
			if i = space(text, i); i >= len(text) {
				return i, errEnd
			}
			if text[i] != ':' {
				return i, unexpected(text, i)
			}
			i = space(text, i+1)
		}
		if i, err = value(text, i, depth); err != nil {
			return i, err
		}
		if i = space(text, i); i >= len(text) {
			return i, errEnd
		}
		switch text[i] {
		case closing:
			return i + 1, nil
		case ',':
			i = space(text, i+1)
		default:
			return i, unexpected(text, i)
		}
	}
}

// quoted returns where the string that begins at i ends.
func quoted(text []byte, i int) (int, error) {
	i++
	for i < len(text) {
		switch c := text[i]; {
		case c == '"':
			return i + 1, nil
		case c < ' ':
			return i, unexpected(text, i)
		case c == '\\':
			n, err := escape(text, i)
			if err != nil {
				return i, err
			}
			i += n
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				return i, message.Errorf("is not UTF-8 at byte %d", i)
			}
			i += n
		}
	}
	return i, errEnd
}

// escape returns the length of the escape sequence at i.
func escape(text []byte, i int) (int, error) {
	if i+1 >= len(text) {
		return 0, errEnd
	}
	switch text[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		if i+6 > len(text) {
			return 0, errEnd
		}
		for j := i + 2; j < i+6; j++ {
			if hex(text[j]) < 0 {
				return 0, unexpected(text, j)
			}
		}
		return 6, nil
	}
	return 0, unexpected(text, i+1)
}

// number returns where the number that begins at i ends.
func number(text []byte, i int) (int, error) {
	if text[i] == '-' {
		i++
	}
	switch {
	case i < len(text) && text[i] == '0':
		i++
	default:
		var err error
		if i, err = digits(text, i); err != nil {
			return i, err
		}
	}
	if i < len(text) && text[i] == '.' {
		var err error
		if i, err = digits(text, i+1); err != nil {
			return i, err
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		return digits(text, i)
	}
	return i, nil
}

// digits returns where the run of at least one digit that begins at i ends.
func digits(text []byte, i int) (int, error) {
	if i >= len(text) {
		return i, errEnd
	}
	if !digit(text, i) {
		return i, unexpected(text, i)
	}
	for digit(text, i) {
		i++
	}
	return i, nil
}

func digit(text []byte, i int) bool {
	return i < len(text) && '0' <= text[i] && text[i] <= '9'
}

func word(text []byte, i int, want string) (int, error) {
	for j := range len(want) {
		if i+j >= len(text) {
			return i, errEnd
		}
		if text[i+j] != want[j] {
			return i, unexpected(text, i+j)
		}
	}
	return i + len(want), nil
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// hex returns the value of a hexadecimal digit, -1 for any other byte.
func hex(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

func unexpected(text []byte, i int) error {
	_, n := utf8.DecodeRune(text[i:])
	return message.Errorf("has %q at byte %d, which does not belong there", text[i:i+n], i)
}
