// Command generate writes the types and requests of the SDKs from the OpenAPI document: a model of it, and a template
// for each language. 'make verify FIX=1' runs it in the repository's root.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"matchmaker.dev/services/internal/edge/openapi"
)

func main() {
	files, err := generate()
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.FromSlash(name), []byte(text), 0o644)) //nolint:gosec // ours
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// languages are the files that are made, and what makes each of them.
var languages = map[string]func(*Model) string{
	"sdk/csharp/src/Api.cs":            csharp,
	"sdk/cpp/include/matchmaker/api.h": cppHeader,
	"sdk/cpp/src/api.cc":               cppSource,
	"sdk/typescript/src/api.ts":        typescript,
}

// generate returns the files as they should be, by their paths in the repository.
func generate() (map[string]string, error) {
	text, err := openapi.JSON()
	if err != nil {
		return nil, err
	}
	m, err := NewModel(text, "ProblemDetails")
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name, write := range languages {
		files[name] = write(m)
	}
	return files, nil
}
