package main

import (
	"os"
	"strings"
	"testing"

	"matchmaker.dev/services/sdk/conformance/suite"
)

const document = "../../docs/clients.md"

// The document has the rows of today, and no SDK that fails one.
func TestDocumentHasTheTable(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), begin)
	inside, _, _ := strings.Cut(rest, end)
	lines := strings.Split(strings.TrimSpace(inside), "\n")
	rows := suite.Rows()
	if len(lines) != len(rows)+2 || !strings.HasPrefix(lines[0], "| behaviour | Go |") {
		t.Fatalf("the table has %d lines, want %d rows and two lines of a head (go run ./sdk/conformance --into "+
			"docs/clients.md --driver …)", len(lines), len(rows))
	}
	for i, r := range rows {
		cells := strings.Split(strings.Trim(lines[i+2], "| "), " | ")
		if cells[0] != r.Name || len(cells) < 2 || cells[1] != yes {
			t.Errorf("the line %q, want %q and that Go does it", lines[i+2], r.Name)
		}
		for _, cell := range cells[1:] {
			if cell != yes && cell != none {
				t.Errorf("the line %q", lines[i+2])
			}
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	for _, test := range []struct {
		want string
		args []string
	}{
		{"--driver is missing", nil},
		{"LANGUAGE=COMMAND", []string{"--driver", "Go"}},
		{"no row has", []string{"--driver", "Go=true", "--row", "nonsense"}},
		{"1 results are not as expected", []string{"--driver", "none=false", "--row", "an estimate"}},
	} {
		if err := run(t.Context(), test.args); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.args, err, test.want)
		}
	}
}

func TestTableSaysWhatFailed(t *testing.T) {
	rows := []suite.Row{{Name: "one"}, {Name: "two"}, {Name: "three"}}
	text, failed := table(rows, []*sdk{{language: "Go", results: []error{nil, suite.ErrLacks, os.ErrClosed}}})
	want := "| behaviour | Go |\n| --- | --- |\n| one | yes |\n| two | – |\n| three | **no** |\n"
	if text != want || failed != 1 {
		t.Errorf("%d failed:\n%s", failed, text)
	}
}
