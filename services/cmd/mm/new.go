package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"

	"matchmaker.dev/services/cmd/mm/project"
	"matchmaker.dev/services/internal/definition"
)

type functionNew struct {
	Name    string `arg:"" help:"The function's name."`
	Dir     string `placeholder:"FOLDER" help:"The folder to write, which must not exist or be empty; the name by default."`
	OnlySDK bool   `name:"only-sdk" help:"Only renew the SDK of the project in the folder."`
}

func (functionNew) Help() string {
	return `The project is a small function that works: teams of players of about the same skill. It has tests, a config, tickets to try it on, and a copy of the SDK, so that it builds with nothing but Go.

Examples:

    mm function new ffa
    mm function new ffa --dir functions/ffa
    mm function new ffa --dir functions/ffa --only-sdk`
}

// Run writes the project.
func (c functionNew) Run(s *session) error {
	name, ok := definition.FunctionName(c.Name)
	if !ok {
		return usageError(fmt.Sprintf("%q is no function name: 1 to 64 letters, digits, '.', '_' and '-' are, with a letter or digit first and last", c.Name))
	}
	dir := c.Dir
	if dir == "" {
		dir = name
	}
	if c.OnlySDK {
		if err := project.Renew(dir); err != nil {
			return err
		}
		s.note("the SDK in %s is that of mm %s", filepath.Join(dir, "sdk"), version)
		return nil
	}
	if err := project.Write(dir, name); err != nil {
		return err
	}
	s.note("wrote the match function %s. Next:", name)
	return s.show(map[string]any{"function": name, "folder": dir, "next": c.next(s, dir)}, steps(c.next(s, dir)))
}

// next is what to type now.
func (c functionNew) next(s *session, dir string) []string {
	try := "make try"
	if found, err := exec.LookPath("mm"); err != nil || found != s.path {
		try += " MM=" + quoted(s.path)
	}
	return []string{"cd " + quoted(dir), "go test ./...", try}
}

// quoted is a path as it can be typed.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@:,", r)
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// steps are commands in a column, which can be copied.
func steps(commands []string) grid {
	var g grid
	for _, command := range commands {
		g.rows = append(g.rows, []any{command})
	}
	return g
}
