package textfile_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"

	"matchmaker.dev/services/internal/platform/textfile"
)

// encoded is a text in UTF-16.
func encoded(order binary.AppendByteOrder, text string) (file string) {
	var all []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		all = order.AppendUint16(all, unit)
	}
	return string(all)
}

func TestTextsOfEditorsAndShells(t *testing.T) {
	const text = "{\"ä\": \"🎲\"}\n"
	for name, c := range map[string]struct{ file, want, failure string }{
		"utf-8":                 {text, text, ""},
		"mark":                  {"\ufeff" + text, text, ""},
		"little":                {encoded(binary.LittleEndian, "\ufeff"+text), text, ""},
		"big":                   {encoded(binary.BigEndian, "\ufeff"+text), text, ""},
		"little without a mark": {encoded(binary.LittleEndian, text), text, ""},
		"big without a mark":    {encoded(binary.BigEndian, text), text, ""},
		"empty":                 {"", "", ""},
		"one byte":              {"7", "7", ""},
		"one character":         {"7\x00", "7", ""},
		"cut": {encoded(binary.LittleEndian, text) + "x", "",
			"it is UTF-16 and ends within a character: save it as UTF-8"},
		"four little":                {"\xff\xfe\x00\x00{\x00\x00\x00", "", "it is UTF-32: save it as UTF-8"},
		"four big":                   {"\x00\x00\xfe\xff\x00\x00\x00{", "", "it is UTF-32: save it as UTF-8"},
		"four little without a mark": {"{\x00\x00\x00}\x00\x00\x00", "", "it is UTF-32: save it as UTF-8"},
		"four big without a mark":    {"\x00\x00\x00{\x00\x00\x00}", "", "it is UTF-32: save it as UTF-8"},
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := textfile.Read(file)
		if string(got) != c.want || c.failure == "" && err != nil ||
			c.failure != "" && (err == nil || err.Error() != file+": "+c.failure) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
