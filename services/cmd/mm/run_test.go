package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/platform/settings/settingstest"
)

func unset(t *testing.T, name string) {
	t.Helper()
	if err := os.Unsetenv(name); err != nil {
		t.Fatal(err)
	}
}

// expect checks the exit code and the two outputs, which must contain the texts. "" is for an output that must be
// empty.
func (r result) expect(code int, out, err string) {
	r.t.Helper()
	if r.code != code {
		r.t.Errorf("exit code %d, want %d", r.code, code)
	}
	for name, pair := range map[string][2]string{"stdout": {r.out, out}, "stderr": {r.err, err}} {
		if got, want := pair[0], pair[1]; !strings.Contains(got, want) || want == "" && got != "" {
			r.t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
}

func TestWrongCommandLinesExitWith2AndOneLine(t *testing.T) {
	shell := newShell(t)
	for line, message := range map[string]string{
		"":                                  "expected one of",
		"bogus":                             "mm: unexpected argument bogus (see mm --help)",
		"ticket create":                     "mm: --player is required",
		"ticket delete t-1":                 "mm: --player is required",
		"ticket create --attribute skill":   "mm: --attribute: \"skill\" is not NAME=NUMBER",
		"ticket create --attribute =1":      "is not NAME=NUMBER",
		"ticket create --attribute a=inf":   "a must be a finite number",
		"ticket create --attribute a=1e999": "a must be a finite number",
		"ticket create --property k":        "is neither NAME=TEXT nor NAME=@FILE",
		"ticket create --player p --attribute a=1 --attribute a=2": "--attribute a is given twice",
		"ticket create --player p --property a=1 --property a=2":   "--property a is given twice",
		"token player":           "(see mm token player --help)",
		"token server --ttl 1ms": "mm: --ttl: must be 1s or more (see mm token server",
		"function log duel --lines --follow --seconds 0":               "with --follow; --seconds: must be 1",
		"function log duel --seconds 0":                                "mm: --seconds: must be 1 or more",
		"config put ranked":                                            "(see mm config put --help)",
		"version --output xml":                                         "--output must be one of",
		"function list --timeout 0s":                                   "mm: --timeout: must be more than 0",
		"ticket get t-1 --timeout=never":                               "--timeout",
		"function put duel duel.zip more":                              "unexpected argument more",
		"function new a/b":                                             `mm: "a/b" is no function name`,
		"function test m":                                              "mm: function test: tickets are required: ",
		"function test m --generate 1 --tickets b":                     "either --tickets FILE or --generate N",
		"function test m --generate=-1":                                "--generate must be from 1 to 10000000",
		"function test m --tickets b --wait 1":                         "--players and --wait are for generated tickets",
		"function test m --tickets b --attribute a=1":                  "--players and --wait are for generated tickets",
		"function test m --generate 1 --attribute 1":                   "--attribute needs a name, such as ",
		"function test m --generate 1 --wait a=1":                      "--wait takes a distribution without a name",
		"function test m --generate 1 --wait x":                        `--wait: "x" is no finite number`,
		"function test m --generate 1 --attribute a=normal:1":          "--attribute: a: normal:MEAN:STDDEV is expected",
		"function test m --generate 1 --attribute a=1 --attribute a=2": "--attribute a is given twice",
		"function test m --generate 1 --runs 0":                        "--runs must be from 1 to 10000",
		"function test m --generate 1 --deadline 2m":                   "--deadline must be from 1ms to 1m",
		"function test m --generate 1 --memory 2000":                   "--memory must be from 1 to 1024, in MiB",
		"function test m --generate 1 --show=-1":                       "--show must be 0 or more",
		"function restart":                                             "(see mm function restart --help)",
		"function delete":                                              "(see mm function delete --help)",
		"config create":                                                "(see mm config create --help)",
		"backfill approve":                                             "(see mm backfill approve --help)",
		"backfill create --attribute a":                                "is not NAME=NUMBER",
		"backfill create --attribute a=1 --attribute a=2":              "--attribute a is given twice",
	} {
		got := shell.run(strings.Fields(line)...)
		got.expect(2, "", message)
		if strings.Count(got.err, "\n") != 1 || !strings.HasPrefix(got.err, "mm: ") {
			t.Errorf("%q: want one line that begins with mm:, got %q", line, got.err)
		}
	}
}

// The help of a command names the environment variables, but does not show the token in one.
func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	shell := newShell(t)
	t.Setenv("MM_TOKEN", "secret-token")
	shell.run("--help").expect(0, "Exit codes: 0 success, 1 failure, 2 wrong command line", "")
	parser, err := newParser(new(commandLine), console{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	leaves := parser.Model.Leaves(true)
	if len(leaves) < 60 {
		t.Fatalf("only %d commands", len(leaves))
	}
	for _, leaf := range leaves {
		command := strings.Join(strings.Fields(leaf.FullPath())[1:], " ")
		got := shell.run(append(strings.Fields(command), "--help")...)
		got.expect(0, "Example", "")
		for _, text := range []string{"mm " + command, "$MM_CONTEXT", "$MM_URL", "$MM_PROJECT", "$MM_DATA", "$MM_TOKEN",
			"$MM_OUTPUT"} {
			if !strings.Contains(got.out, text) {
				t.Errorf("help of %s does not say %q", command, text)
			}
		}
		if strings.Contains(got.out, "secret-token") {
			t.Errorf("help of %s shows the token", command)
		}
	}
	for section := range strings.SplitSeq(strings.TrimPrefix(help, "== "), "\n\n== ") { // none is of no command
		command, text, _ := strings.Cut(section, "\n")
		shell.run(append(strings.Fields(command), "--help")...).expect(0, text[:min(len(text), 20)], "") // lines wrap
	}
}

func TestVersionIsPrinted(t *testing.T) {
	newShell(t).run("version").expect(0, "mm dev\n", "")
	newShell(t).run("--version").expect(0, "mm dev\n", "")
	newShell(t).run("config", "list", "--version").expect(0, "mm dev\n", "")
}

func TestFlagsCanComeFromTheEnvironment(t *testing.T) {
	shell, service := newShell(t), newService(t)
	t.Setenv("MM_URL", service.url)
	t.Setenv("MM_DATA", shell.data)
	t.Setenv("MM_OUTPUT", "json")
	shell.run("function", "list").expect(0, "[]", "has no functions")
	t.Setenv("MM_PROJECT", "another")
	shell.run("function", "list").expect(1, "", "403")
}

func TestCommandsWithoutAKeySayHowToGetOne(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.data = filepath.Join(t.TempDir(), "nothing-here")
	for _, line := range []string{"token developer", "function list", "ticket get t-1"} {
		got := shell.on(service, strings.Fields(line)...)
		got.expect(1, "", "mm: there is no key in "+shell.data)
		for _, hint := range []string{"matchmaker dev", "--data", "--token"} {
			if !strings.Contains(got.err, hint) {
				t.Errorf("%s: %q does not say %s", line, got.err, hint)
			}
		}
	}
	if _, err := os.Stat(shell.data); !os.IsNotExist(err) {
		t.Errorf("the folder was created: %v", err)
	}
}

func TestTokenOfTheUserIsUsed(t *testing.T) {
	shell, service := newShell(t), newService(t)
	player := strings.TrimSpace(shell.run("token", "player", "p", "--data", shell.data).out)
	shell.data = t.TempDir()
	shell.on(service, "ticket", "create", "--token", player).expect(0, "t-1", "")
	// It is used even if it is of the wrong kind.
	got := shell.on(service, "function", "list", "--token", player)
	got.expect(1, "", "mm: a token of kind player is not for this (403 Forbidden, correlation id c-1)\n")
	t.Setenv("MM_TOKEN", player)
	shell.on(service, "ticket", "get", "t-1").expect(0, "t-1", "")
}

func TestRefusedTokenNamesItsKey(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "function", "list", "--token", "odd").expect(1, "", "(401 Unauthorized, correlation id c-1)\n")
	service.untrusted = true
	shell.on(service, "function", "list").expect(1, "",
		"(401 Unauthorized, correlation id c-1); the token was made with the key in "+shell.data+
			": is that the folder of the service at "+service.url+"?\n")
}

func TestErrorNamesAServiceThatDoesNotAnswer(t *testing.T) {
	const url = "http://127.0.0.1:1"
	shell := newShell(t)
	got := shell.run("function", "list", "--url", url, "--data", shell.data)
	got.expect(1, "", "mm: no service answers at "+url)
	if !strings.Contains(got.err, "matchmaker dev") || strings.Count(got.err, "\n") != 1 {
		t.Errorf("printed %q", got.err)
	}
}

func TestOutputCannotControlTheTerminal(t *testing.T) {
	if got := oneLine("a\x1b[31mb\nc\u009bd\u202e"); got != "a\ufffd[31mb c\ufffdd\ufffd" {
		t.Errorf("got %q", got)
	}
	var out bytes.Buffer
	if err := (console{out: &out}).printJSON("a\x1b\x7f\u009b\u202e\U000e0001é\U0001f3b2", ""); err != nil ||
		out.String() != `"a\u001b\u007f\u009b\u202e\udb40\udc01é`+"\U0001f3b2\"\n" {
		t.Errorf("%v: %s", err, &out)
	}
	if got := printable("a\tb\nc\r", "\n\t"); got != "a\tb\nc " {
		t.Errorf("got %q", got)
	}
}

func TestBoundsAreLookedAt(t *testing.T) {
	parser, err := newParser(&commandLine{}, console{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	settingstest.Bounds(t, parser.Model)
}
