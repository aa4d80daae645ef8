package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
)

// ready are the match functions that can be uploaded as they are.
var ready = []string{"arena", "duel", "rules"}

// functions packs the ready-made match functions with the tool that authors use.
func (r *release) functions(ctx context.Context) error {
	for _, name := range ready {
		file := name + "_" + r.number() + ".zip"
		if _, err := r.command(ctx, "functions", nil, "go", "run", "matchmaker.dev/pkg/matchfn/pack",
			"-o", filepath.Join(r.out, file), name); err != nil {
			return err
		}
		modules, err := r.modulesOf(ctx, name)
		if err != nil {
			return err
		}
		r.made = append(r.made, part{name: file, modules: modules})
	}
	return nil
}

// modulesOf asks the go command for the modules in a function: a WebAssembly module does not say it.
func (r *release) modulesOf(ctx context.Context, function string) ([]dependency, error) {
	text, err := r.command(ctx, "functions", []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "list", "-deps",
		"-json=Module", "./"+function)
	if err != nil {
		return nil, err
	}
	var modules []dependency
	for list := json.NewDecoder(bytes.NewReader(text)); ; {
		var listed struct {
			Module *struct{ Path, Version, Sum string }
		}
		if err := list.Decode(&listed); errors.Is(err, io.EOF) {
			return r.withStandard(ctx, modules)
		} else if err != nil {
			return nil, err
		}
		if m := listed.Module; m != nil {
			modules = append(modules, dependency{m.Path, m.Version, m.Sum})
		}
	}
}

// withStandard adds the standard library, of the Go release that builds.
func (r *release) withStandard(ctx context.Context, modules []dependency) ([]dependency, error) {
	text, err := r.command(ctx, ".", nil, "go", "env", "GOVERSION")
	version := strings.TrimPrefix(strings.TrimSpace(string(text)), "go")
	return append(modules, dependency{path: standard, version: version}), err
}
