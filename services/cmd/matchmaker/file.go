package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// fileSettings reads the file given with --config.
func fileSettings(r io.Reader) (kong.Resolver, error) {
	values := map[string]any{}
	text, err := io.ReadAll(r)
	if err == nil {
		text, err = document.Text(text)
	}
	if err == nil {
		err = yaml.Unmarshal(text, &values)
	}
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return file(values), nil
}

// file are settings by the name of their flag.
type file map[string]any

// Resolve is the value of one flag.
func (f file) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := f[flag.Name]
	inEnvironment := func(variable string) bool { _, set := os.LookupEnv(variable); return set }
	if !ok || value == nil || slices.ContainsFunc(flag.Envs, inEnvironment) {
		return nil, nil // what kong takes for "not here": the environment goes before the file
	}
	switch value.(type) {
	case map[string]any, []any:
		return nil, fmt.Errorf("--config: %s: one value is expected", flag.Name)
	}
	return fmt.Sprint(value), nil
}

// Validate refuses what is no setting of any command: a mistyped one would be without effect.
// Settings of other commands are welcome, so that all services can share a file.
func (f file) Validate(app *kong.Application) error {
	known := map[string]bool{}
	_ = kong.Visit(app.Node, func(node kong.Visitable, next kong.Next) error {
		if n, ok := node.(*kong.Node); ok {
			for _, flag := range n.Flags {
				known[flag.Name] = true
			}
		}
		return next(nil)
	})
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("--config: unknown setting %s: settings are named as the flags of 'matchmaker all --help' are",
			strings.Join(unknown, ", "))
	}
	return nil
}
