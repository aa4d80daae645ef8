package document

import (
	"bytes"
	"errors"
	"unicode/utf16"
)

// encodings are the encodings that a text may have beside UTF-8, by their byte order marks.
var encodings = []struct {
	mark string
	high int // which of two bytes is the high one; -1 for what is not read
}{{"\xff\xfe\x00\x00", -1}, {"\x00\x00\xfe\xff", -1}, {"\xff\xfe", 1}, {"\xfe\xff", 0}}

var (
	errUTF32 = errors.New("it is UTF-32, by its byte order mark: save it as UTF-8")
	errOdd   = errors.New("it is UTF-16, by its byte order mark, and ends within a character: save it as UTF-8")
)

// Text returns the text of a file in UTF-8, without a byte order mark. With the mark of UTF-16, it is read as that, as
// some editors and shells write it.
func Text(file []byte) ([]byte, error) {
	for _, e := range encodings {
		switch {
		case !bytes.HasPrefix(file, []byte(e.mark)):
			continue
		case e.high < 0:
			return nil, errUTF32
		case len(file)%2 != 0:
			return nil, errOdd
		}
		units := make([]uint16, 0, len(file)/2)
		for at := len(e.mark); at < len(file); at += 2 {
			units = append(units, uint16(file[at+e.high])<<8|uint16(file[at+1-e.high]))
		}
		return []byte(string(utf16.Decode(units))), nil
	}
	return bytes.TrimPrefix(file, []byte("\ufeff")), nil
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
