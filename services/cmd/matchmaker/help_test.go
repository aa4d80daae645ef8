package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/help.txt and testdata/flags.txt again")

// TestHelpStaysAsItIs compares the help of every command with testdata/help.txt, and the name, environment variable,
// default and group of every flag with testdata/flags.txt. After an intended change: go test -run HelpStays -update.
func TestHelpStaysAsItIs(t *testing.T) {
	t.Setenv("COLUMNS", "160")
	c := newCLI()
	app, err := kong.New(c,
		c.options(t.Context(), streams{strings.NewReader(""), io.Discard, io.Discard}, func(int) {})...)
	if err != nil {
		t.Fatal(err)
	}
	var help, flags strings.Builder
	_ = kong.Visit(app.Model.Node, func(node kong.Visitable, next kong.Next) error {
		n, ok := node.(*kong.Node)
		if !ok || n.Type == kong.ArgumentNode {
			return next(nil)
		}
		var words []string
		for command := n; command.Parent != nil; command = command.Parent {
			words = append([]string{command.Name}, words...)
		}
		code, stdout, _ := matchmaker(t, append(words, "--help")...)
		if code != exitOK {
			t.Errorf("%v --help: exit code %d", words, code)
		}
		fmt.Fprintf(&help, "$ matchmaker %s\n%s\n", strings.Join(append(words, "--help"), " "), stdout)
		fmt.Fprintf(&flags, "matchmaker %s\n", strings.Join(words, " "))
		var lines []string
		for _, f := range n.Flags {
			group := ""
			if f.Group != nil {
				group = f.Group.Key
			}
			lines = append(lines, fmt.Sprintf("  --%s %s default=%q placeholder=%q enum=%q group=%s"+
				" required=%v hidden=%v negatable=%q type=%s\n",
				f.Name, strings.Join(f.Envs, ","), f.Default, f.PlaceHolder, f.Enum, group,
				f.Required, f.Hidden, f.Tag.Negatable, f.Tag.Type))
		}
		slices.Sort(lines)
		flags.WriteString(strings.Join(lines, ""))
		return next(nil)
	})
	for name, got := range map[string]string{"help.txt": help.String(), "flags.txt": flags.String()} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
}
