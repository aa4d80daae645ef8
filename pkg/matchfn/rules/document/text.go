package document

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf16"
)

// encodings are the encodings that a text may have beside UTF-8, by their byte order marks.
var encodings = []struct {
	mark  string
	order binary.ByteOrder // nil for what is not read
}{
	{"\xff\xfe\x00\x00", nil}, {"\x00\x00\xfe\xff", nil},
	{"\xff\xfe", binary.LittleEndian}, {"\xfe\xff", binary.BigEndian},
}

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
		case e.order == nil:
			return nil, errUTF32
		case len(file)%2 != 0:
			return nil, errOdd
		}
		units := make([]uint16, 0, len(file)/2)
		for at := len(e.mark); at < len(file); at += 2 {
			units = append(units, e.order.Uint16(file[at:]))
		}
		return []byte(string(utf16.Decode(units))), nil
	}
	return bytes.TrimPrefix(file, []byte("\ufeff")), nil
}
