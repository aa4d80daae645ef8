package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/internal/edge/problem"
)

// wordOf is a value for a flag or an argument that must have one.
func wordOf(value *kong.Value) string {
	if enum := value.EnumSlice(); value.Enum != "" {
		return enum[0]
	}
	return map[string]string{"id": "ada"}[value.Name] + "1"
}

// TestNoFlagAndNoArgumentTakesNothingForAValue: an empty value, most often a variable of a shell that is not set, and
// what is no value of the kind, are mistakes of the command line wherever they are.
func TestNoFlagAndNoArgumentTakesNothingForAValue(t *testing.T) {
	parser, err := newParser(new(commandLine), console{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	shell := newShell(t)
	t.Chdir(t.TempDir())
	tried := 0
	try := func(name string, line ...string) {
		tried++
		got := shell.run(append(line, "--url", "http://127.0.0.1:1", "--data", shell.data)...)
		if got.code != exitUsage || !strings.Contains(got.err, name) || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q", line, got.code, got.err)
		}
	}
	for _, command := range parser.Model.Leaves(true) {
		path := strings.Fields(command.Path())
		if path[0] == "completion" {
			continue
		}
		required := func(but *kong.Value) (line []string) {
			for _, one := range command.Positional {
				if one.Required || one == but {
					line = append(line, map[bool]string{true: "", false: wordOf(one)}[one == but])
				}
			}
			for _, flag := range command.Flags {
				if flag.Required && flag.Value != but {
					line = append(line, "--"+flag.Name+"="+wordOf(flag.Value))
				}
			}
			return line
		}
		for _, one := range command.Positional {
			try("<"+one.Name+">", append(path, required(one)...)...)
		}
		for _, flag := range command.Flags {
			if flag.IsBool() || flag.Name == "help" || flag.Name == "note" {
				continue
			}
			line := append(path, required(flag.Value)...)
			try("--"+flag.Name, append(line, "--"+flag.Name+"=")...)
			if kind := flag.Target.Kind().String(); strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint") {
				for _, bad := range []string{"x", "NaN", "1e400", "1e400s", "99999999999999999999h"} {
					try("--"+flag.Name, append(line, "--"+flag.Name+"="+bad)...)
				}
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d were tried", tried)
	}
}

// TestRefusalsNameWhatTheCommandLineHas: what the service refuses of a request is told in the words of the command
// line, and is a mistake in it. What a file has is none.
func TestRefusalsNameWhatTheCommandLineHas(t *testing.T) {
	t.Chdir(t.TempDir())
	shell := newShell(t)
	for name, text := range map[string]string{"players.json": `[{"id":"a"}]`, "file.json": "{}"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	detail := ""
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(detail, "[") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, detail)
			return
		}
		writeProblem(w, problem.Invalid, detail)
	}))
	t.Cleanup(service.Close)
	for _, test := range []struct {
		line, detail, want string
		code               int
	}{
		{"ticket create --player p --queue a", "queues.0: odd", "mm: --queue: odd (", 2},
		{"party create --player p --size 1", "size: odd", "mm: --size: odd (", 2},
		{"ticket create --player p --attribute created=1", "attributes.created: odd", "mm: --attribute created: odd (", 2},
		{"ticket create --player p --value a=1", "properties.a: odd", "mm: --value a: odd (", 2},
		{"ticket create --player p --property a=1", "properties.a: odd", "mm: --property a: odd (", 2},
		{"ticket create --player p --for a", "players.0.id: odd", "mm: --for: odd (", 2},
		{"ticket create --player p --players players.json", "players.0.id: odd", "mm: --players: players.0.id: odd (", 1},
		{"ticket create --player p", "queues.0: odd", "mm: queues.0: odd (", 1},
		{"ticket get x", "query parameter id: odd", "mm: <id>: odd (", 2},
		{"ticket list --queue a --config b", "x", "give one of them", 2},
		{"ticket list --min-age 1s --max-age 2s", "query parameters minAge, maxAge: odd",
			"mm: --min-age, --max-age: odd (", 2},
		{"ticket accept x --match y", "match: odd", "mm: --match: odd (", 2},
		{"function shadow f 3", "version: odd", "mm: <version>: odd (", 2},
		{"function restart f", "functions: odd", "mm: <name>: odd (", 2},
		{"function canary f 3 --blocks 5m --percent 5", "blockSeconds: odd", "mm: --blocks: odd (", 2},
		{"function canary f 3 --blocks 5m --percent 5", "percent: odd", "mm: --percent: odd (", 2},
		{"function canary f 3 --config 5 --deadline 5s", "deadlineSeconds: odd", "mm: --deadline: odd (", 2},
		{"function canary f --config 5", "", "mm: <version> is required", 2},
		{"function canary f 1 --blocks 5m --percent 0", "", "mm: --percent: must be", 2},
		{"config put a file.json --if-match b", "header If-Match: odd", "mm: --if-match: odd (", 2},
		{"config put a file.json --if-match \x1b", "", "mm: --if-match: only printable characters are allowed\n", 2},
		{"config put a file.json", `[{"ResultCode":"badConfigId","Message":"configId: odd"}]`, "mm: badConfigId: <id>: odd\n", 2},
		{"config put a file.json", `[{"ResultCode":"badQueue","Message":"queue: odd"}]`, "mm: badQueue: queue: odd\n", 1},
		{"backfill create --connection a", "Connection: odd", "mm: --connection: odd (", 2},
		{"party lead bob --player p", "player: odd", "mm: <member>: odd (", 2},
		{"config get ..", "", "mm: config id \"..\" cannot be", 2},
		{"config list --project ..", "", "mm: project \"..\" cannot be", 2},
		{"config list --url nonsense", "", "mm: URL \"nonsense\" must begin", 2},
		{"ticket create --player \x1b[31m", "", "mm: --player: up to 256 bytes of printable UTF-8", 2},
		{"token player \x1b[31m", "", "mm: <player>: up to 256 bytes of printable UTF-8", 2},
		{"token developer --role boss", "", "--role must be one of", 2},
		{"token service --scope all", "", "--scope must be one of", 2},
		{"ticket list --attribute a=NaN..1", "", "is not NAME=MIN..MAX", 2},
		{"ticket list --attribute a=1..inf", "", "is not NAME=MIN..MAX", 2},
		{"config put a missing.json", "", "mm: open missing.json: ", 2},
		{"config put a .", "", "mm: read .: is a directory", 2},
		{"ticket create --player p --property a=@missing", "", "mm: --property a: open missing: ", 2},
		{"function test x --generate 1", "", "mm: open x: ", 2},
		{"record erase --players . x a", "", "mm: --players: read .: is a directory\n", 2},
		{"simulate missing.yaml", "", "mm: open missing.yaml: ", 2},
		{"rules check missing.json", "", "mm: open missing.json: ", 2},
		{"rules check file.json --pool x", "", "mm: --pool: only files of unity have pools", 2},
		{"rules import flexmatch file.json --pool x", "", "mm: --pool: only files of unity have pools", 2},
		{"function new x --dir a\x1b[31m", "", "mm: --dir: only printable characters are allowed", 2},
	} {
		detail = test.detail
		line := append(strings.Split(test.line, " "), "--data", shell.data)
		if !strings.Contains(test.line, "--url") {
			line = append(line, "--url", service.URL)
		}
		got := shell.run(line...)
		if got.code != test.code || !strings.Contains(got.err, test.want) || strings.Contains(got.err, service.URL) {
			t.Errorf("%q, %q: exit code %d, %q", test.line, test.detail, got.code, got.err)
		}
	}
}

// TestDeletingWhatIsNotThereSucceeds: it says so, whatever it is.
func TestDeletingWhatIsNotThereSucceeds(t *testing.T) {
	shell, service := newShell(t), newService(t)
	for _, line := range []string{"config delete x", "function delete x", "backfill delete x",
		"ticket delete x --player p", "context delete x", "party leave --player p", "party disband --player p", "logout",
		"webhook drop backend 3"} {
		shell.on(service, strings.Fields(line)...).expect(0, "", ": nothing was ")
	}
}
