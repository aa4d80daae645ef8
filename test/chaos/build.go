package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"matchmaker.dev/services/internal/sandbox/sandboxtest"
	"matchmaker.dev/services/test/chaos/mistake"
	"matchmaker.dev/services/test/chaos/overlay"
)

// artefacts are the files that a system consists of.
type artefacts struct {
	matchmaker string
	// editions are modules of one match function.
	editions []string
	// instances are arguments for another binary that runs instances of functions: matchmaker with the race detector
	// cannot run them.
	instances []string
}

// build builds the artefacts into a folder.
func build(ctx context.Context, o options, dir string, log logFunc) (*artefacts, error) {
	a := &artefacts{matchmaker: filepath.Join(dir, "matchmaker")}
	here, err := command(ctx, "go", "list", "-f", "{{.Dir}}", "matchmaker.dev/services/test/chaos")
	if err != nil {
		return nil, err
	}
	root := filepath.Join(here, "..", "..")
	// Package languages tells that they are what chaos.c becomes.
	for _, name := range []string{"chaos.wasm", "chaos-2.wasm"} {
		a.editions = append(a.editions, filepath.Join(here, "testdata", name))
	}
	arguments := []string{"build", "-ldflags=-s -w", "-o", a.matchmaker}
	if o.Race {
		arguments = append(arguments, "-race")
		child, err := sandboxtest.Build(dir)
		if err != nil {
			return nil, err
		}
		a.instances = []string{"--instance-binary", child}
	}
	var edits []overlay.Edits
	log("building")
	if o.Break != nil {
		planted, err := mistake.Edits(root)
		if err != nil {
			return nil, err
		}
		edits = append(edits, planted)
	}
	if o.Clocks {
		log("the clocks are wrong: all packages are built anew, which takes minutes the first time")
		clock, err := clockEdits(ctx)
		if err != nil {
			return nil, err
		}
		edits = append(edits, clock)
	}
	if edits != nil {
		list, err := overlay.Write(dir, edits...)
		if err != nil {
			return nil, err
		}
		arguments = append(arguments, "-overlay", list)
	}
	if _, err := command(ctx, "go", append(arguments, "matchmaker.dev/services/cmd/matchmaker")...); err != nil {
		return nil, err
	}
	return a, nil
}

// command runs a program and returns its output.
func command(ctx context.Context, program string, arguments ...string) (string, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, program, arguments...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", c, err, &errs)
	}
	return strings.TrimSpace(out.String()), nil
}
