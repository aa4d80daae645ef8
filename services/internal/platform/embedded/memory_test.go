package embedded

import "testing"

// miniredis gets a script with flags as one without them, under its own name.
func TestFlagsOfScriptsAreAComment(t *testing.T) {
	const script, plain = "#!lua flags=allow-oom\nreturn 1", "--lua flags=allow-oom\nreturn 1"
	f := &flagged{}
	byName := []string{hashOf(script), "0"}
	if f.rewrite("EVALSHA", byName) {
		t.Error("a script that nobody sent is known")
	}
	if args := []string{script, "0"}; !f.rewrite("EVAL", args) || args[0] != plain {
		t.Errorf("EVAL of %q", args[0])
	}
	if !f.rewrite("EVALSHA", byName) || byName[0] != hashOf(plain) {
		t.Errorf("EVALSHA of %s, want %s", byName[0], hashOf(plain))
	}
	for _, args := range [][]string{{plain, "0"}, {}} {
		if f.rewrite("EVAL", args) {
			t.Errorf("EVAL of %q is rewritten", args)
		}
	}
	if f.rewrite("EVALSHA", byName) || f.rewrite("GET", []string{script}) {
		t.Error("another command is rewritten")
	}
}
