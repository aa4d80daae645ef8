package lenient

import (
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// What is in strings and comments is no value. The error names the first value that is too many.
func TestLimitOfValues(t *testing.T) {
	const fill = MaxValues - 4 // beside the object and its members
	for name, c := range map[string]struct{ before, tail, want string }{
		"all":           {`"a": 1, "b": [{}`, `]`, ""},
		"one more":      {`"a": 1, "b": [{}`, `, 1]`, "line 3, column 3: this is value 20001, and at most 20000 are allowed"},
		"in a string":   {`"a": "\\\",[{,", "b": [{}`, `]`, ""},
		"after strings": {`"a": "\\", "b": [{}`, `, "x"]`, "line 3, column 3: this is value 20001"},
		"in a name":     {`",[{": 1, "b": [{}`, `]`, ""},
		"in comments":   {"// ,[{\"\n\"a\": 1, /* ,[\n */ \"b\": [{}", `]`, ""},
		"after a comment": {"// ,[{\"\n\"a\": 1, /* ,[\n */ \"b\": [{}", `, /* " */ []]`,
			"line 5, column 11: this is value 20001"},
		"last commas": {`"a": 1, "b": [{}`, `,],`, ""},
	} {
		text := "\ufeff{" + c.before + strings.Repeat(",0", fill) + "\n\n" + c.tail + "}"
		_, err := Parse([]byte(text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestFirstIsAfterSpaceAndComments(t *testing.T) {
	for text, want := range map[string]string{
		" \t\r\n\"a\"": `"a"`, "// b\n/* \"c\" */{": "{", "// b": "", "/* b": "", "": "", "/": "", `"`: `"`, `"\`: `"\`,
	} {
		if got := string(document.First([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
