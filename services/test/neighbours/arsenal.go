package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// arsenal are the attacker's modules. Those that the compiler need not make are in wasm.go.
type arsenal struct {
	dir string
	// hostile does what its settings say; undeclared does the same, and its manifest is empty.
	hostile, undeclared []byte
	// attributes and properties are hostile with a manifest that names so many, see names.
	attributes, properties map[int][]byte
}

// Numbers of names in manifests: as many as 64 KiB have room for, and as many as may be allowed.
const (
	allNames     = 11_000
	allowedNames = 256
)

// newArsenal compiles the modules into a folder.
func newArsenal(ctx context.Context, dir string) (*arsenal, error) {
	a := &arsenal{dir: dir, attributes: map[int][]byte{}, properties: map[int][]byte{}}
	here, err := command(ctx, "go", "list", "-f", "{{.Dir}}", "matchmaker.dev/services/test/neighbours")
	if err != nil {
		return nil, err
	}
	compile := func(manifest string) (module []byte, err error) {
		out, args := filepath.Join(dir, "hostile.wasm"), []string{"--target=wasm32", "-nostdlib", "-O2", "-mbulk-memory",
			"-Wl,--no-entry", "-I" + filepath.Join(here, "..", "..", "..", "functions", "examples", "c")}
		if manifest != "" {
			wants := filepath.Join(dir, "wants.h")
			text := fmt.Sprintf("const char mm_wants[] = %q;\n", manifest)
			if err := os.WriteFile(wants, []byte(text), 0o600); err != nil {
				return nil, err
			}
			args = append(args, fmt.Sprintf("-DWANTS=%q", wants))
		}
		args = append(args, "-o", out, filepath.Join(here, "testdata", "hostile.c"))
		if _, err := command(ctx, "clang", args...); err != nil {
			return nil, err
		}
		return os.ReadFile(out)
	}
	if a.hostile, err = compile(""); err != nil {
		return nil, err
	}
	if a.undeclared, err = compile("{}"); err != nil {
		return nil, err
	}
	for _, n := range []int{allNames, allowedNames} {
		list := `["` + strings.Join(names(n), `","`) + `"]`
		if a.attributes[n], err = compile(`{"attributes":` + list + `,"properties":[]}`); err != nil {
			return nil, err
		}
		if a.properties[n], err = compile(`{"attributes":[],"properties":` + list + `}`); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// names are the shortest names.
func names(n int) (all []string) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	for i := len(letters); len(all) < n; i++ {
		name := ""
		for k := i; k > 0; k /= len(letters) {
			name += string(letters[k%len(letters)])
		}
		all = append(all, name)
	}
	return all
}

// command runs a program and returns its output.
func command(ctx context.Context, program string, arguments ...string) (string, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, program, arguments...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", program, err, &errs)
	}
	return strings.TrimSpace(out.String()), nil
}
