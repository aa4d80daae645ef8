package policy

import (
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// habits are phrases that make comments hard to read, with how often the whole repository has them at most: lower a
// limit when there are fewer, and rewrite the sentence when there are more. See Style in CONTRIBUTING.md.
var habits = []struct {
	phrase *regexp.Regexp
	limit  int
	write  string
}{
	{regexp.MustCompile(`(?i)\b(that|those) of\b`), 2, "the noun: X of Y, or Y's X"},
	{regexp.MustCompile(`(?i)\b(who|whom|whoever|nobody|somebody)\b`), 78, "the noun, and it for a program; who is for people"},
}

func TestCommentsSpareTheReader(t *testing.T) {
	found := make([]int, len(habits))
	walk(t, func(name string) {
		if path.Ext(name) != ".go" {
			return
		}
		text := read(t, name)
		if strings.Contains(text, "\n// Code generated ") || strings.HasPrefix(text, "// Code generated ") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for i, habit := range habits {
				found[i] += len(habit.phrase.FindAllString(text, -1))
			}
		}
	})
	for i, habit := range habits {
		if found[i] > habit.limit {
			t.Errorf("comments have %q %d times, more than %d: write %s", habit.phrase, found[i], habit.limit, habit.write)
		}
	}
}
