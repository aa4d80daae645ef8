package main

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"

	"matchmaker.dev/services/cmd/mm/project"
	"matchmaker.dev/services/internal/match/definition"
)

type functionNew struct {
	Name    string `arg:"" help:"The function's name."`
	Dir     string `placeholder:"FOLDER" completion-predictor:"folder" help:"The folder to write; default: the name. It must be empty or not exist."`
	OnlySDK bool   `name:"only-sdk" help:"Only replace the SDK of the project in the folder."`
}

// Run writes the project.
func (c functionNew) Run(s *session) error {
	name, ok := definition.FunctionName(c.Name)
	if !ok {
		return usageError(fmt.Sprintf("%q is no function name: "+
			"use 1 to 64 letters, digits, '.', '_' and '-', with a letter or digit first and last", c.Name))
	}
	dir := c.Dir
	if oneLine(dir) != dir {
		return usageError("--dir: only printable characters are allowed")
	}
	dir = cmp.Or(dir, name)
	if c.OnlySDK {
		if err := project.ReplaceSDK(dir); err != nil {
			return err
		}
		s.note("the SDK in %s is now mm %s's", filepath.Join(dir, "sdk"), version)
		return nil
	}
	if err := project.Write(dir, name); err != nil {
		return err
	}
	s.note("wrote the match function %s. Next:", name)
	next := nextCommands(s, dir)
	var g grid
	for _, command := range next {
		g.rows = append(g.rows, []any{command})
	}
	return s.show(map[string]any{"function": name, "folder": dir, "next": next}, g)
}

func nextCommands(s *session, dir string) []string {
	try := "make try"
	if found, err := exec.LookPath("mm"); err != nil || found != s.path {
		try += " MM=" + shellQuote(s.path)
	}
	return []string{"cd " + shellQuote(dir), "go test ./...", try}
}

// shellQuote quotes a path if a shell needs that.
func shellQuote(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@:,", r)
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
