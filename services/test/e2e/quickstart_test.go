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

// quickStart runs the commands of the README's quick start and of the tutorial.
func quickStart(t *testing.T, s *system) {
	dir := t.TempDir()
	for from, to := range map[string]string{
		s.made.mm: "bin/mm", s.made.duel: "bin/functions/duel.zip",
		s.made.arena: "bin/functions/arena.zip", s.made.rules: "bin/functions/rules.zip", s.keys: ".matchmaker",
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
	for _, lines := range shellBlocks(t) {
		if lines != "make dev\n" {
			script.WriteString(strings.ReplaceAll(lines, "http://127.0.0.1:8080", s.front()))
		}
	}
	cmd := exec.CommandContext(within(t), "bash", "-euo", "pipefail", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // mm finds the service by its data folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var connections []string
	for _, c := range regexp.MustCompile(`(?m)^connection +(\S+)$`).FindAllStringSubmatch(string(out), -1) {
		connections = append(connections, c[1])
	}
	// Two pairs, one who plays a party, eight who play with another one, and three of the tutorial's game.
	games := []int{2, 2, 1, 8, 3}
	var of []string
	at := 0
	for _, n := range games {
		if at+n <= len(connections) {
			of = append(of, slices.Compact(slices.Clone(connections[at:at+n]))...)
		}
		at += n
	}
	if len(connections) != at || len(of) != len(games) || len(slices.Compact(slices.Clone(of))) != len(games) {
		t.Errorf("mm prints the connections %q, want those of games with %v of them:\n%s", connections, games, out)
	}
	if !strings.Contains(string(out), `"assignment":{"connection":"127.0.0.1:`) {
		t.Errorf("curl prints no assignment:\n%s", out)
	}
}

// shellBlocks returns the shell blocks of the README's quick start, and those of the tutorial that follows it.
func shellBlocks(t *testing.T) []string {
	t.Helper()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	tutorial, err := os.ReadFile("../../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(readme), "\n## Quick start\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	var blocks []string
	for _, text := range []string{chapter, string(tutorial)} {
		found := regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Fatal("the quick start or the tutorial has no shell block")
		}
		for _, block := range found {
			blocks = append(blocks, block[1])
		}
	}
	return blocks
}
