package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContextIsUsedUnlessFlagsSayOtherwise(t *testing.T) {
	shell, service := newShell(t), newService(t)
	other := newService(t)
	shell.run("context", "list").expect(0, "", `mm: there are no contexts`)
	shell.run("context", "set", "here", "--url", service.url, "--data", shell.data).expect(0, "context  here", "")
	file := filepath.Join(shell.config, "contexts.yaml")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: only its owner is to read it", info, err)
	}
	if info, err := os.Stat(shell.config); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v: only its owner is to look into it", info, err)
	}
	shell.run("function", "list", "-o", "json").expect(0, "[]", "project demo has no functions")
	shell.run("context", "set", "there", "--url", other.url, "--data", shell.data, "--project", "another").
		expect(0, "project  another", "")
	shell.run("context", "list").expect(0, "CONTEXT  CURRENT  URL", "")
	shell.run("function", "list", "--context", "there").expect(1, "", "403") // the fake knows only the project demo
	shell.run("function", "list", "--context", "there", "--project", "demo").expect(0, "", "has no functions")
	shell.run("context", "use", "there").expect(0, "context  there\n", "")
	shell.run("function", "list").expect(1, "", "403")
	t.Setenv("MM_CONTEXT", "here")
	shell.run("function", "list").expect(0, "", "has no functions")
	unset(t, "MM_CONTEXT")
	shell.run("context", "use", "nowhere").expect(1, "", `mm: there is no context "nowhere"`)
	shell.run("function", "list", "--context", "nowhere").expect(1, "", `mm: there is no context "nowhere"`)
	shell.run("context", "delete", "there").expect(0, "deleted  there\n", "")
	shell.run("context", "delete", "there").expect(0, "", "mm: there is no context there: nothing was deleted\n")
	shell.run("context", "show", "here", "-o", "yaml").expect(0, "url: "+service.url+"\n", "")
	shell.run("context", "set", "bad name").expect(2, "", "is no name of a context")
	shell.run("context", "set", "bad", "--url", "nowhere").expect(2, "", "is no URL")
	shell.run("context", "set", "bad").expect(2, "", "--url, or the --data of a development service, is required")
}

// A token of a context goes to the context's service alone, and is never printed.
func TestTokenOfAContextGoesToItsServiceAlone(t *testing.T) {
	shell, service := newShell(t), newService(t)
	other := newService(t)
	token := strings.TrimSpace(shell.run("token", "developer", "--data", shell.data).out)
	t.Setenv("MM_TOKEN", token)
	set := shell.run("context", "set", "kept", "--url", service.url)
	set.expect(0, "tokens   one that is kept\n", "")
	unset(t, "MM_TOKEN")
	shell.run("function", "list").expect(0, "", "has no functions")
	for _, args := range [][]string{{"context", "list"}, {"context", "show"}, {"context", "show", "kept", "-o", "json"}} {
		if got := shell.run(args...); got.code != 0 || strings.Contains(got.out+got.err, token) {
			t.Errorf("%q prints %s %s", args, got.out, got.err)
		}
	}
	t.Chdir(t.TempDir()) // without a data folder
	shell.run("function", "list", "--url", other.url).expect(1, "", "mm: there is no key in .matchmaker")
	shell.run("function", "list", "--url", service.url+"/").expect(0, "", "has no functions")

	for _, mark := range []string{"", `\357\273\277`} {
		command := "printf '" + mark + "%s\\n' " + token
		shell.run("context", "set", "kept", "--token-command", command).expect(0, "tokens   a command\n", "")
		shell.run("function", "list").expect(0, "", "has no functions")
	}
	shell.run("context", "set", "kept", "--token-command", "exit 3").expect(0, "a command", "")
	shell.run("function", "list").expect(1, "", "the command for a token: exit status 3")
	// Another service is not told what was for this one.
	shell.run("context", "set", "kept", "--url", other.url).expect(0, "tokens   made with the key", "")
}

func TestFileOfContextsThatIsNone(t *testing.T) {
	shell := newShell(t)
	if err := os.MkdirAll(shell.config, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(shell.config, "contexts.yaml")
	for _, text := range []string{"contexts: [secret]", "kontexts: {}", "contexts: {a: {tokens: secret}}"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := shell.run("context", "list")
		got.expect(1, "", "contexts.yaml: it has no contexts that this version of mm can read")
		if strings.Contains(got.err, "secret") {
			t.Errorf("it shows %s", got.err)
		}
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("#", maxContextFile+1)), fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
	shell.run("context", "list").expect(1, "", "more than 1048576 bytes")
	for _, text := range []string{"current: gone\ncontexts: {a: null}\n", "{\x00}\x00"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		shell.run("context", "list", "-o", "json").expect(0, "[]", "there are no contexts")
	}
}

// "matchmaker dev" says in its data folder where it listens.
func TestServiceIsFoundByItsDataFolder(t *testing.T) {
	shell, service := newShell(t), newService(t)
	if err := os.WriteFile(filepath.Join(shell.data, urlFile), []byte(service.url+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell.run("function", "list", "--data", shell.data).expect(0, "", "has no functions")
	if err := os.WriteFile(filepath.Join(shell.data, urlFile), []byte("nowhere"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell.run("context", "show", "--data", shell.data).expect(0, "url      "+defaultURL, "")
}
