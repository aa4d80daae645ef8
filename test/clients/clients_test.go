package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The pinned generator of Go clients, and what its code imports.
const (
	oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
	goModule    = `module clients

go 1.26

require github.com/oapi-codegen/runtime v1.8.0
`
)

// documents are all OpenAPI documents, by the package of their client.
var documents = map[string]string{
	"matchmaking": "../../services/internal/edge/openapi/openapi.yaml",
	"manager":     "../../services/allocator/manager/openapi.yaml",
}

// run runs a program in a folder.
func run(t *testing.T, folder string, env []string, program string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir, c.Env = folder, append(os.Environ(), env...)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c, err, text)
	}
}

// skipShort skips a test in `make test`, which downloads no generators.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make check runs it")
	}
}

// source is the path of a document.
func source(t *testing.T, document string) string {
	t.Helper()
	path, err := filepath.Abs(document)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGo(t *testing.T) {
	skipShort(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(goModule), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"GOWORK=off", "GOFLAGS=-trimpath -mod=mod"}
	for name, document := range documents {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		run(t, folder, env, "go", "run", oapiCodegen, "-generate", "types,client", "-package", name,
			"-o", filepath.Join(name, "client.go"), source(t, document))
	}
	run(t, folder, env, "go", "mod", "tidy")
	run(t, folder, env, "go", "vet", "./...")
}

func TestTypeScript(t *testing.T) {
	skipShort(t)
	tools, err := filepath.Abs("node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tools, "openapi-typescript")); err != nil {
		t.Fatalf("openapi-typescript is needed: run 'make generators' (%v)", err)
	}
	folder := t.TempDir()
	var use strings.Builder
	for name, document := range documents {
		run(t, folder, nil, filepath.Join(tools, "openapi-typescript"), source(t, document), "--output", name+".ts")
		use.WriteString("export type * as " + name + " from './" + name + "'\n")
	}
	use.WriteString("import type { components, operations } from './matchmaking'\n" +
		"export const ticket: components['schemas']['CreateTicket'] = { attributes: { skill: 1 } }\n" +
		"export type Made = operations['createTicket']['responses'][201]['content']['application/json']['id']\n")
	if err := os.WriteFile(filepath.Join(folder, "use.ts"), []byte(use.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, folder, nil, filepath.Join(tools, "tsc"), "--strict", "--noEmit", "use.ts")
}
