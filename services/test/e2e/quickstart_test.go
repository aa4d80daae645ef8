package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// quickStart: what the README tells newcomers to paste works as it is.
func quickStart(t *testing.T, s *system) {
	dir := t.TempDir()
	for from, to := range map[string]string{
		s.made.mm: "bin/mm", s.made.duel: "bin/functions/duel.zip", s.made.arena: "bin/functions/arena.zip", s.keys: ".matchmaker",
	} {
		to = filepath.Join(dir, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, to); err != nil {
			t.Fatal(err)
		}
	}
	var script strings.Builder
	for _, lines := range pasted(t) {
		if lines != "make dev\n" {
			script.WriteString(strings.ReplaceAll(lines, "http://127.0.0.1:8080", s.front()))
		}
	}
	cmd := exec.CommandContext(within(t), "bash", "-euo", "pipefail", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MM_URL=" + s.front()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var connections []string
	for _, c := range regexp.MustCompile(`(?m)^connection +(\S+)$`).FindAllStringSubmatch(string(out), -1) {
		connections = append(connections, c[1])
	}
	if got := slices.Compact(slices.Clone(connections)); len(connections) != 5 || len(got) != 2 || connections[1] != got[0] {
		t.Errorf("mm prints the connections %q, want two that are equal, and three of another game:\n%s", connections, out)
	}
	if !strings.Contains(string(out), `"assignment":{"connection":"127.0.0.1:`) {
		t.Errorf("curl prints no assignment:\n%s", out)
	}
}

// pasted are the shell blocks of the README's quick start.
func pasted(t *testing.T) []string {
	t.Helper()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(readme), "\n## Quick start\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	var blocks []string
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllStringSubmatch(chapter, -1) {
		blocks = append(blocks, block[1])
	}
	if len(blocks) == 0 {
		t.Fatal("the README's quick start has nothing to paste")
	}
	return blocks
}
