package policy

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile("(?ms)^```[a-z]+\n.*?^```\n\n(.*?)(?:\n\n|\\z)")
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	target    = regexp.MustCompile("`make ([a-z-]+)")
	ranIn     = regexp.MustCompile(`^Run by [^(]*\(\[[^]]*\]\(([^)]+)\)\): (.*)$`)
)

// Below each block of docs/production.md stands which target runs it: a file of it, and what stands there. Or it says
// that nothing does.
func TestProductionSaysWhatRunsItsCommands(t *testing.T) {
	const page = "docs/production.md"
	text, makefile := read(t, page), read(t, "Makefile")
	blocks := codeBlock.FindAllStringSubmatch(text, -1)
	if fences := strings.Count(text, "\n```"); len(blocks) < 10 || 2*len(blocks) != fences {
		t.Fatalf("%s: %d blocks have a paragraph below, of %d fences", page, len(blocks), fences)
	}
	for _, found := range target.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(makefile, "\n"+found[1]+":") {
			t.Errorf("%s: there is no target %s", page, found[1])
		}
	}
	if values := read(t, "deploy/values/guide.yaml"); !strings.Contains(text, "```yaml\n"+values+"```\n") {
		t.Errorf("%s does not show deploy/values/guide.yaml as it is", page)
	}
	for _, block := range blocks {
		said := strings.Join(strings.Fields(block[1]), " ")
		if strings.HasPrefix(said, "**No target ") {
			continue
		}
		ran := ranIn.FindStringSubmatch(said)
		if ran == nil {
			t.Errorf("%s: a block is followed by %q, which does not say what runs it", page, said)
			continue
		}
		file := read(t, path.Join(path.Dir(page), ran[1]))
		evidence, _, _ := strings.Cut(ran[2], ". ")
		spans := codeSpan.FindAllStringSubmatch(evidence, -1)
		if len(spans) == 0 {
			t.Errorf("%s: %q does not say what stands in the file", page, said)
		}
		for _, span := range spans {
			if !strings.Contains(file, span[1]) {
				t.Errorf("%s: %s has no %s", page, ran[1], span[1])
			}
		}
	}
}
