package document

import (
	"bytes"
	"errors"
	"unicode/utf16"
)

// encodings are the encodings that a text may have beside UTF-8, by how it begins: with a byte order mark, or with a
// character of ASCII, in which x is any byte but 0.
var encodings = []struct {
	begin string
	high  int // which of two bytes is the high one; -1 for what is not read
}{
	{"\xff\xfe\x00\x00", -1}, {"\x00\x00\xfe\xff", -1}, {"x\x00\x00\x00", -1}, {"\x00\x00\x00x", -1},
	{"\xff\xfe", 1}, {"\xfe\xff", 0}, {"x\x00", 1}, {"\x00x", 0},
}

var (
	errUTF32 = errors.New("it is UTF-32: save it as UTF-8")
	errOdd   = errors.New("it is UTF-16 and ends within a character: save it as UTF-8")
)

// Text returns the text of a file in UTF-8, without a byte order mark. UTF-16, which some editors and shells write, is
// read too.
func Text(file []byte) ([]byte, error) {
	for _, e := range encodings {
		switch {
		case !beginsAs(file, e.begin):
			continue
		case e.high < 0:
			return nil, errUTF32
		case len(file)%2 != 0:
			return nil, errOdd
		}
		units := make([]uint16, len(file)/2)
		for i := range units {
			units[i] = uint16(file[2*i+e.high])<<8 | uint16(file[2*i+1-e.high])
		}
		file = []byte(string(utf16.Decode(units)))
		break
	}
	return bytes.TrimPrefix(file, []byte("\ufeff")), nil
}

func beginsAs(file []byte, begin string) bool {
	if len(file) < len(begin) {
		return false
	}
	for i := range len(begin) {
		if file[i] != begin[i] && (begin[i] != 'x' || file[i] == 0) {
			return false
		}
	}
	return true
}

// Quote appends a JSON string to a text.
func Quote(text []byte, s string) []byte {
	text = append(text, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			text = append(text, '\\', c)
		case c == '\n':
			text = append(text, `\n`...)
		case c == '\t':
			text = append(text, `\t`...)
		case c < ' ':
			text = append(text, `\u00`...)
			text = append(text, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			text = append(text, c)
		}
	}
	return append(text, '"')
}
