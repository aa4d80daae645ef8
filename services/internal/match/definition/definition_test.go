package definition

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestFunctionName(t *testing.T) {
	for raw, want := range map[string]string{
		"duel": "duel", "DUEL": "duel", "0": "0", "a-b_c.d9": "a-b_c.d9", strings.Repeat("A", 64): strings.Repeat("a", 64),
	} {
		if name, ok := FunctionName(raw); !ok || name != want {
			t.Errorf("%q: %q, %v", raw, name, ok)
		}
	}
	for _, raw := range []string{"", ".", "-a", "a-", "_a", "a.", "a b", "a/b", "ä", "\u212a", "a\n",
		strings.Repeat("a", 65)} {
		if name, ok := FunctionName(raw); ok {
			t.Errorf("%q is %q", raw, name)
		}
	}
}

func TestPath(t *testing.T) {
	for path, want := range map[Path]string{
		"":                                    "the body",
		Path("").Member("a").Index(3):         "a[3]",
		Path("a").Member("b c").Member("d.e"): "a.b c.d.e",
		Path("a").Member(""):                  `a.""`,
		Path("a").Member("\x1b[1m"):           `a."\x1b[1m"`,
		Path("a").Member(strings.Repeat("ä", 100)):       `a."` + strings.Repeat("ä", 64) + `"…`,
		Path("a").Member("x" + strings.Repeat("ä", 100)): `a."x` + strings.Repeat("ä", 63) + `"…`,
	} {
		if path.String() != want {
			t.Errorf("%s, want %s", path, want)
		}
	}
}

func TestFieldErrors(t *testing.T) {
	var f FieldErrors
	if f.Err() != nil {
		t.Error("an error without faults")
	}
	for range 9 {
		f.Add(WrongType, "a", "b")
	}
	if want := strings.Repeat("a: b; ", 8) + "a: b"; f.Err() == nil || f.Error() != want {
		t.Errorf("%q", f.Error())
	}
	for range 103 {
		f.Add(WrongType, "a", "b")
	}
	if want := strings.Repeat("a: b; ", 10) + "and 102 more faults"; f.Error() != want {
		t.Errorf("%q", f.Error())
	}
}

// Text that is not JSON ends every way of reading with an error, and no way without an end.
func TestBrokenText(t *testing.T) {
	for _, text := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":[`, `{"a":[1`, `{"a":{"b"`, `{"a":"`, `{"a":1`,
		`{"a":nul`, `{]`, `[}`, `{"a":"\ud800"}`} {
		readers := map[string]func(*Reader){
			"object":   func(r *Reader) { r.Object("", Member{"a", func(at Path) { r.Text(at) }}) },
			"keys":     func(r *Reader) { r.Keys("", func(_ string, at Path) { r.Array(at, func(at Path) { r.Number(at) }) }) },
			"pools":    func(r *Reader) { r.Pools("") },
			"settings": func(r *Reader) { r.Settings("") },
			"function": func(r *Reader) { r.Function("") },
			"integer":  func(r *Reader) { r.Keys("", func(_ string, at Path) { r.Integer(at) }) },
		}
		for name, read := range readers {
			r := NewReader(jsontext.Value(text), Limits{})
			read(r)
			if r.Err() == nil {
				t.Errorf("%s of %s: no error", name, text)
			}
		}
	}
}
