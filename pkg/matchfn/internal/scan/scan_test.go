package scan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"matchmaker.dev/pkg/matchfn/internal/scan"
)

// seeds are valid and invalid texts for every rule of the grammar.
var seeds = []string{
	`{}`, ` { } `, `[]`, `{"a":1}`, `{"a":[1,2,{"b":null}],"c":true,"d":false}`,
	`0`, `-0`, `01`, `-`, `1.`, `1.5`, `.5`, `1e`, `1e+`, `1E-7`, `1e5x`,
	`"\u00e9\n\"\\\/\b\f\r\t"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\u12"`, `"\x"`,
	`"` + "\x01" + `"`, `"` + "\xff" + `"`, `"é😀"`,
	`{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{1:2}`, `{"a" 1}`, `tru`, `trux`, `nullx`,
	`{`, `[`, `"`, ``, ` `, `{}{}`, `}`,
}

func FuzzValidAgreesWithEncodingJSON(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := scan.Valid(text)
		if err == nil && !json.Valid(text) {
			t.Fatalf("accepted %q", text)
		}
		// encoding/json accepts two kinds of text that must be refused here.
		if err != nil && json.Valid(text) && utf8.Valid(text) && !strings.Contains(err.Error(), "nested") {
			t.Fatalf("refused %q: %v", text, err)
		}
		if err != nil {
			return
		}
		switch scan.KindOf(text) {
		case scan.KindString:
			var want string
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			if got := scan.Unquote([]byte(strings.Trim(string(text), " \n\t\r"))); got != want {
				t.Fatalf("Unquote(%s) = %q, want %q", text, got, want)
			}
			var again string
			if err := json.Unmarshal(scan.AppendString(nil, want), &again); err != nil || again != want {
				t.Fatalf("AppendString(%q) reads back as %q, %v", want, again, err)
			}
		case scan.KindObject:
			var want map[string]json.RawMessage
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			scan.Members(text, func(name string, raw []byte) bool {
				got[name] = string(raw)
				return true
			})
			if len(got) != len(want) {
				t.Fatalf("Members(%s) = %v", text, got)
			}
			for name, raw := range want {
				if got[name] != string(raw) {
					t.Fatalf("member %q of %s is %s, want %s", name, text, got[name], raw)
				}
			}
		case scan.KindArray:
			var want []json.RawMessage
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			i := 0
			scan.Elements(text, func(raw []byte) bool {
				if string(raw) != string(want[i]) {
					t.Fatalf("element %d of %s is %s", i, text, raw)
				}
				i++
				return true
			})
			if i != len(want) {
				t.Fatalf("Elements(%s) visited %d", text, i)
			}
		}
	})
}

func TestObjectRefusesInvalidText(t *testing.T) {
	deep := strings.Repeat(`{"a":`, scan.MaxDepth) + "1" + strings.Repeat("}", scan.MaxDepth)
	for text, want := range map[string]string{
		`{"a":1}`:            "",
		deep:                 "",
		`{"a":` + deep + `}`: "is nested more than 32 deep",
		`[1]`:                "is not an object",
		``:                   "ends too early",
		`{"a":1} x`:          `has "x" at byte 8, which does not belong there`,
		"{\"a\":\"\xff\"}":   "is not UTF-8 at byte 6",
	} {
		got := ""
		if err := scan.Object([]byte(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("Object(%.40q) = %q, want %q", text, got, want)
		}
	}
}
