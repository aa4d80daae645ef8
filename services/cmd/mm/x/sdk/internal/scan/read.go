package scan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is the type of a JSON value, as error messages name it.
type Kind string

// The kinds of JSON values.
const (
	KindObject Kind = "an object"
	KindArray  Kind = "an array"
	KindString Kind = "a string"
	KindNumber Kind = "a number"
	KindBool   Kind = "true or false"
	KindNull   Kind = "null"
)

// KindOf returns the kind of a valid JSON value. It looks only at the first byte.
func KindOf(raw []byte) Kind {
	i := space(raw, 0)
	if i == len(raw) {
		return KindNull
	}
	switch raw[i] {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	}
	return KindNumber
}

// Members calls each with the name and the value of every member of a valid JSON object, in order, until it returns
// false. The value has no space around it.
func Members(object []byte, each func(name string, raw []byte) bool) {
	walk(object, func(name, raw []byte) bool { return each(Unquote(name), raw) })
}

// Elements calls each with every element of a valid JSON array, in order, until it returns false. The element has no
// space around it.
func Elements(array []byte, each func(raw []byte) bool) {
	walk(array, func(_, raw []byte) bool { return each(raw) })
}

// walk calls each with all members of an object or all elements of an array. The text must be valid; otherwise it stops
// early.
func walk(text []byte, each func(name, raw []byte) bool) {
	i := space(text, 0)
	if i == len(text) || (text[i] != '{' && text[i] != '[') {
		return
	}
	object := text[i] == '{'
	i = space(text, i+1)
	for i < len(text) && text[i] != '}' && text[i] != ']' {
		var name []byte
		if object {
			end, err := quoted(text, i)
			if err != nil || text[i] != '"' {
				return
			}
			name = text[i:end]
			i = space(text, end)
			i = space(text, i+1)
		}
		end, err := value(text, i, 0)
		if err != nil || !each(name, text[i:end]) {
			return
		}
		i = space(text, end)
		if i < len(text) && text[i] == ',' {
			i = space(text, i+1)
		}
	}
}

// Unquote returns the text of a valid JSON string. An unpaired surrogate becomes U+FFFD, as in encoding/json.
func Unquote(raw []byte) string {
	if len(raw) < 2 {
		return ""
	}
	if raw = raw[1 : len(raw)-1]; bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'u':
			r := unicode(raw, i)
			i += 6
			if utf16.IsSurrogate(r) {
				pair := utf16.DecodeRune(r, unicode(raw, i))
				if pair != utf8.RuneError {
					i += 6
				}
				r = pair
			}
			out = utf8.AppendRune(out, r)
			continue
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
		i += 2
	}
	return string(out)
}

// unicode returns the code unit of the \uXXXX at i, or U+FFFD if there is none.
func unicode(raw []byte, i int) rune {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return utf8.RuneError
	}
	var r rune
	for _, c := range raw[i+2 : i+6] {
		h := hex(c)
		if h < 0 {
			return utf8.RuneError
		}
		r = r<<4 | h
	}
	return r
}

// AppendString appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString(to []byte, text string) []byte {
	const digits = "0123456789abcdef"
	to = append(to, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			to = append(to, '\\', byte(r))
		case r < ' ':
			to = append(to, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			to = utf8.AppendRune(to, r)
		}
	}
	return append(to, '"')
}
