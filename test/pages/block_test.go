//go:build linux

package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block is a block of commands of a page.
type block struct {
	line     int
	commands string
	// output is what the page says that they print: some of the lines.
	output []string
}

var (
	fence = regexp.MustCompile("^ *```(.*)$")
	shell = []string{"sh", "bash", "shell", "console"}
	other = []string{"", "cmake", "cpp", "csharp", "gdscript", "go", "json", "text", "ts", "yaml"}
	// indented is a command in a block without a fence, which would not run here.
	indented = regexp.MustCompile(`^(?: {4,}|\t)\s*(?:\$ |(?:bin/)?(?:mm|bench|matchmaker) |(?:make|go|curl|nats|docker|kubectl|helm|npm) )`)
)

// read returns the blocks of commands of a page: those in the language of a shell, and those with a prompt, which have
// what is printed, too. The next block without a language has what that block prints.
func read(t *testing.T, tree, name string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tree, name))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var lines []string
	language, open := "", false
	for n, line := range strings.Split(string(text), "\n") {
		found := fence.FindStringSubmatch(line)
		switch {
		case found != nil && !open:
			language, lines, open = found[1], nil, true
			if !slices.Contains(shell, language) && !slices.Contains(other, language) {
				t.Errorf("%s:%d: is a block of %q one of commands?", name, n+1, language)
			}
		case found != nil:
			open = false
			b := block{line: n - len(lines) + 1}
			if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "$ ") }) {
				for _, l := range lines {
					if command, ok := strings.CutPrefix(l, "$ "); ok {
						b.commands += command + "\n"
					} else {
						b.output = append(b.output, l)
					}
				}
			} else if slices.Contains(shell, language) {
				b.commands = strings.Join(lines, "\n") + "\n"
			} else if language == "" && len(blocks) > 0 {
				blocks[len(blocks)-1].output = lines
			}
			if b.commands != "" {
				blocks = append(blocks, b)
			}
		case open:
			lines = append(lines, line)
		case indented.MatchString(line):
			t.Errorf("%s:%d: a block of commands needs a fence", name, n+1)
		}
	}
	if open {
		t.Fatalf("%s: a block has no end", name)
	}
	return blocks
}

var (
	varies = regexp.MustCompile(`[0-9]+(\.[0-9]+)? ?(ns|µs|ms|s|kB|MB)\b|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	blank  = regexp.MustCompile(`[ -]+`)
)

// lacks returns the first of the lines that is not printed, in their order; "" when all are. Times, sizes and ids
// may differ; dots stand for what is left out, as a line and at the end of one.
func lacks(printed string, lines []string) string {
	normal := func(s string) string {
		return strings.TrimSpace(blank.ReplaceAllString(varies.ReplaceAllString(s, "0"), " "))
	}
	rest := strings.Split(printed, "\n")
	for _, line := range lines {
		if strings.Trim(line, " .…") == "" {
			continue
		}
		at := slices.IndexFunc(rest, func(s string) bool {
			begin, cut := strings.CutSuffix(normal(line), "…")
			return normal(s) == begin || cut && strings.HasPrefix(normal(s), strings.TrimSpace(begin))
		})
		if at < 0 {
			return line
		}
		rest = rest[at+1:]
	}
	return ""
}
