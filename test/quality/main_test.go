package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A night is played, and its tables and curves are written.
func TestNight(t *testing.T) {
	out := t.TempDir()
	var output bytes.Buffer
	args := []string{"-worlds", "night", "-seeds", "2", "-points", "1", "-out", out}
	if testing.Short() {
		args = append(args, "-engine", "rules", "-engine", "rules on flexmatch", "-engine", "flexmatch")
	}
	err := run(t.Context(), args, &output)
	if err != nil {
		t.Fatal(err, output.String())
	}
	tables, err := os.ReadFile(filepath.Join(out, "tables.md"))
	if err != nil || !strings.Contains(string(tables), "| rules on flexmatch |") {
		t.Error(err, string(tables))
	}
	if _, err := os.Stat(filepath.Join(out, "night.svg")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(output.String(), "night: 2 of 2 seeds") {
		t.Error(output.String())
	}
}

func TestWrongFlags(t *testing.T) {
	for want, args := range map[string][]string{
		`there is no world "nowhere"`: {"-worlds", "nowhere"},
		"must be at least 1":          {"-seeds", "0"},
		`no argument "all"`:           {"all"},
	} {
		err := run(t.Context(), append(args, "-out", t.TempDir()), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, not %s", args, err, want)
		}
	}
}
