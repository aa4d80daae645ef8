package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

// settings are what the last stage of a Dockerfile says of its image.
type settings struct {
	base   string // image
	folder string // that gets the binaries
	config v1.Config
}

// read returns what a Dockerfile says, with the version as its argument VERSION. An instruction that it does not know
// is an error, so that no image lacks it.
func read(path, version string) (settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return settings{}, err
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return settings{}, err
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return settings{}, err
	}
	last := stages[len(stages)-1]
	s := settings{base: last.BaseName, config: v1.Config{Labels: map[string]string{}, ExposedPorts: map[string]struct{}{}}}
	lex, arguments := shell.NewLex(parsed.EscapeToken), shell.EnvsFromSlice([]string{"VERSION=" + version})
	for _, c := range last.Commands {
		if expand, ok := c.(instructions.SupportsSingleWordExpansion); ok {
			if err := expand.Expand(func(word string) (string, error) {
				expanded, _, err := lex.ProcessWord(word, arguments)
				return expanded, err
			}); err != nil {
				return settings{}, err
			}
		}
		switch c := c.(type) {
		case *instructions.ArgCommand: // VERSION
		case *instructions.LabelCommand:
			for _, l := range c.Labels {
				s.config.Labels[l.Key] = l.Value
			}
		case *instructions.UserCommand:
			s.config.User = c.User
		case *instructions.ExposeCommand:
			for _, port := range c.Ports {
				s.config.ExposedPorts[port+"/tcp"] = struct{}{}
			}
		case *instructions.EntrypointCommand:
			s.config.Entrypoint = c.CmdLine
		case *instructions.CmdCommand:
			s.config.Cmd = c.CmdLine
		case *instructions.CopyCommand:
			if c.From != stages[0].Name || len(c.SourcePaths) != 1 || c.SourcePaths[0] != "/out/" || s.folder != "" {
				return settings{}, fmt.Errorf("%s copies more than the binaries: %v", path, c)
			}
			s.folder = c.DestPath
		default:
			return settings{}, fmt.Errorf("%s: %s is not followed here", path, c.Name())
		}
	}
	if s.folder == "" {
		return settings{}, fmt.Errorf("%s does not copy the binaries", path)
	}
	return s, nil
}
