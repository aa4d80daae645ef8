package kubernetes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/allocator/agones/kubernetes"
)

const v1, v1beta1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"

// script is a program that prints credentials of v1beta1. status is JSON.
func script(status string) string {
	return fmt.Sprintf("#!/bin/sh\ncat <<'END'\n%s\nEND\n", credential(v1beta1, status))
}

func credential(version, status string) string {
	return fmt.Sprintf(`{"apiVersion": %q, "kind": "ExecCredential", "status": %s}`, version, status)
}

// plugin is a client whose credentials a shell script prints.
func (w *world) plugin(script string, o kubernetes.Options) *kubernetes.Client {
	w.t.Helper()
	w.put("plugin", "#!/bin/sh\n"+script)
	o.Kubeconfig = w.kubeconfig("config", "{}", `{"exec": {"command": "./plugin", "apiVersion": "`+v1+`",
		"interactiveMode": "IfAvailable", "env": [{"name": "FOLDER", "value": `+fmt.Sprintf("%q", w.dir)+`}]}}`)
	return w.client(o)
}

// runs is how often a script ran that notes it.
func (w *world) runs() int {
	text, _ := os.ReadFile(filepath.Join(w.dir, "runs")) // none yet
	return strings.Count(string(text), "run\n")
}

const (
	noteRun = "echo run >>$FOLDER/runs\n"
	// waitForGo waits for the file of that name, or for the end of the test.
	waitForGo = "until [ -e $FOLDER/go ] || [ ! -e $FOLDER ]; do sleep 0.01; done\n"
	printIt   = "cat $FOLDER/credential\n"
)

func TestPluginIsTold(t *testing.T) {
	w := open(t)
	w.put("print", `#!/bin/sh
printf '%s' "$KUBERNETES_EXEC_INFO" >$FOLDER/info
printf '%s|' "$@" "$EMPTY" "$HOME" >$FOLDER/arguments
cat >$FOLDER/input
cat $FOLDER/credential
`)
	t.Setenv("HOME", "/home/of/the/allocator")
	t.Setenv("FOLDER", "overridden")
	t.Setenv("PATH", w.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for version, tell := range map[string]bool{v1: true, v1beta1: false} {
		w.put("credential", credential(version, `{"token": "hunter2"}`))
		cluster := `{"tls-server-name": "127.0.0.1", "disable-compression": true, "extensions": [{"name": "x", "extension": 1},
			{"name": "client.authentication.k8s.io/exec", "extension": {"audience": ["a", {"b": 7}]}}, {"name": "y"}]}`
		user := fmt.Sprintf(`{"exec": {"apiVersion": %q, "command": "print", "args": ["a b", "", "$HOME"],
			"env": [{"name": "FOLDER", "value": %q}, {"name": "EMPTY", "value": ""}],
			"interactiveMode": "Never", "provideClusterInfo": %t}}`, version, w.dir, tell)
		w.expect(w.client(kubernetes.Options{Kubeconfig: w.kubeconfig("config", cluster, user)}), "Bearer hunter2")
		spec := map[string]any{"interactive": false}
		if tell {
			spec["cluster"] = map[string]any{
				"server": w.URL, "tls-server-name": "127.0.0.1", "certificate-authority-data": w.base64(w.Authority.File),
				"proxy-url": "", "disable-compression": true,
				"config": map[string]any{"audience": []any{"a", map[string]any{"b": 7.0}}},
			}
		}
		var info any
		if err := json.Unmarshal([]byte(w.read(filepath.Join(w.dir, "info"))), &info); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"apiVersion": version, "kind": "ExecCredential", "spec": spec}
		if diff := cmp.Diff(any(want), info); diff != "" {
			t.Error(diff)
		}
		if got := w.read(filepath.Join(w.dir, "arguments")); got != "a b||$HOME||/home/of/the/allocator|" {
			t.Error(got)
		}
		if got := w.read(filepath.Join(w.dir, "input")); got != "" {
			t.Errorf("the program read %q", got)
		}
	}
}

func TestCredentialsOfAPluginAreKeptUntilTheyExpire(t *testing.T) {
	w := open(t)
	c := w.plugin(noteRun+printIt, kubernetes.Options{})
	put := func(token string, lifetime time.Duration) {
		status := fmt.Sprintf(`{"token": %q, "expirationTimestamp": %q}`, token, w.now().Add(lifetime).Format(time.RFC3339))
		w.put("credential", credential(v1, status))
	}
	put("one", 5*time.Minute)
	w.expect(c, "Bearer one")
	put("two", 10*time.Minute)
	w.wait(4 * time.Minute)
	w.expect(c, "Bearer one")
	if n := w.runs(); n != 1 {
		t.Errorf("the program ran %d times", n)
	}
	w.wait(2 * time.Minute)
	w.expect(c, "Bearer two")
	w.expect(c, "Bearer two")
	if n := w.runs(); n != 2 {
		t.Errorf("the program ran %d times", n)
	}

	// Refused credentials are not used again.
	put("three", time.Minute)
	w.answer(http.StatusUnauthorized)
	w.expect(c, "Bearer two")
	w.answer(http.StatusOK)
	w.expect(c, "Bearer three")

	// Without a date they never expire.
	w.put("credential", credential(v1, `{"token": "four"}`))
	w.wait(2 * time.Minute)
	w.expect(c, "Bearer four")
	w.put("credential", credential(v1, `{"token": "five"}`))
	w.wait(10 * time.Minute)
	w.expect(c, "Bearer four")
	if n := w.runs(); n != 4 {
		t.Errorf("the program ran %d times", n)
	}
}

// While the program runs, calls wait for it: those that come meanwhile too, and only as long as they may.
func TestPluginRunsOnceForAllCalls(t *testing.T) {
	w := open(t)
	c := w.plugin(noteRun+waitForGo+printIt, kubernetes.Options{})
	why := errors.New("the allocator stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := c.Call(ctx, http.MethodGet, "/", nil); !errors.Is(err, why) {
			t.Error(err)
		}
	})
	w.await("the program", func() bool { return w.runs() > 0 })
	cancel(why)
	all.Wait()
	for range 8 {
		all.Go(func() { w.expect(c, "Bearer t") })
	}
	w.put("credential", credential(v1, `{"token": "t"}`))
	w.put("go", "")
	all.Wait()
	if n := w.runs(); n != 1 {
		t.Errorf("the program ran %d times", n)
	}
}

func TestAnswerToFormerCredentialsRefusesNoNewOnes(t *testing.T) {
	w := open(t)
	c := w.plugin(noteRun+printIt, kubernetes.Options{})
	w.put("credential", credential(v1, `{"token": "one"}`))
	w.answer(http.StatusUnauthorized)
	held := make(chan struct{})
	w.mu.Lock()
	w.held = held
	w.mu.Unlock()
	var slow sync.WaitGroup
	slow.Go(func() { _, _ = c.Call(t.Context(), http.MethodGet, "/", nil) })
	w.await("a call", func() bool { return w.Calls() == 1 })
	w.expect(c, "Bearer one")
	w.put("credential", credential(v1, `{"token": "two"}`))
	w.answer(http.StatusOK)
	w.expect(c, "Bearer two")
	w.answer(http.StatusUnauthorized)
	close(held)
	slow.Wait()
	w.answer(http.StatusOK)
	w.expect(c, "Bearer two")
	if n := w.runs(); n != 2 {
		t.Errorf("the program ran %d times", n)
	}
}

func TestPluginThatPrintsACertificate(t *testing.T) {
	w := open(t)
	c := w.plugin(printIt, kubernetes.Options{})
	certificate, key := filepath.Join(w.dir, "tls.crt"), filepath.Join(w.dir, "tls.key")
	put := func(token string) {
		w.Authority.Client(t, certificate, key, time.Now().Add(time.Hour))
		status, err := json.Marshal(map[string]any{
			"clientCertificateData": w.read(certificate), "clientKeyData": w.read(key), "token": token,
			"expirationTimestamp": w.now().Add(5 * time.Minute),
		})
		if err != nil {
			t.Fatal(err)
		}
		w.put("credential", credential(v1, string(status)))
	}
	serials := map[string]bool{}
	for _, token := range []string{"", "Bearer t"} {
		put(strings.TrimPrefix(token, "Bearer "))
		for range 2 {
			r := w.call(c)
			if len(r.TLS.PeerCertificates) != 1 || r.Header.Get("Authorization") != token {
				t.Fatalf("%d certificates, %q", len(r.TLS.PeerCertificates), r.Header.Get("Authorization"))
			}
			serials[r.TLS.PeerCertificates[0].SerialNumber.String()] = true
		}
		w.wait(6 * time.Minute)
	}
	if len(serials) != 2 {
		t.Errorf("%d certificates were used", len(serials))
	}
	w.put("credential", credential(v1, `{"token": "t"}`))
	if r := w.call(c); len(r.TLS.PeerCertificates) != 0 {
		t.Error("the certificate is used longer than it is printed")
	}
}

func TestPluginsThatMisbehave(t *testing.T) {
	w := open(t)
	certificate, key := filepath.Join(w.dir, "tls.crt"), filepath.Join(w.dir, "tls.key")
	w.Authority.Client(t, certificate, key, time.Now().Add(time.Hour))
	pair, err := json.Marshal(map[string]string{"clientCertificateData": w.read(certificate), "token": "hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	echo := func(text string) string { return "cat <<'END'\n" + text + "\nEND\n" }
	for want, script := range map[string]string{
		"plugin: exit status 7":                echo(credential(v1, `{"token": "hunter2"}`)) + "exit 7",
		"printed more than 8388608 bytes":      "yes hunter2",
		"printed no ExecCredential of":         echo("hunter2"),
		"no ExecCredential of client":          echo(credential(v1beta1, `{"token": "hunter2"}`)),
		"plugin: it printed no ExecCredential": echo(strings.ReplaceAll(credential(v1, `{"token": "hunter2"}`), "Exec", "")),
		"no ExecCredential":                    echo(credential(v1, `{"token": "hunter2", "expirationTimestamp": "soon"}`)),
		"neither a token nor a certificate":    echo(credential(v1, `{"token": ""}`)),
		"printed neither a token":              echo(credential(v1, `null`)),
		"tls: failed to find any PEM":          echo(credential(v1, string(pair))),
		"tls: ":                                echo(credential(v1, `{"clientKeyData": "hunter2"}`)),
	} {
		c := w.plugin(script, kubernetes.Options{})
		_, err := c.Call(t.Context(), http.MethodGet, "/", nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c := w.client(kubernetes.Options{Kubeconfig: w.kubeconfig("config", "{}", `{"exec": {"command": "no-such-program",
		"apiVersion": "`+v1+`"}}`)})
	if _, err := c.Call(t.Context(), http.MethodGet, "/", nil); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Error(err)
	}
	if w.Calls() != 0 {
		t.Error("the API was called without credentials")
	}
}

func TestPluginThatHangs(t *testing.T) {
	w := open(t)
	c := w.plugin("exec sleep 600", kubernetes.Options{PluginTimeout: 50 * time.Millisecond})
	if _, err := c.Call(t.Context(), http.MethodGet, "/", nil); err == nil ||
		!strings.HasSuffix(err.Error(), "plugin: not done within 50ms") {
		t.Error(err)
	}
	c = w.plugin(waitForGo, kubernetes.Options{Timeout: 50 * time.Millisecond})
	if _, err := c.Call(t.Context(), http.MethodGet, "/", nil); err == nil ||
		!strings.HasSuffix(err.Error(), "no answer within 50ms") {
		t.Error(err)
	}

	// A child of it keeps the output open, when it has printed all.
	c = w.plugin("(\n"+waitForGo+") &\n"+printIt, kubernetes.Options{})
	w.put("credential", credential(v1, `{"token": "t"}`))
	w.expect(c, "Bearer t")
	w.put("go", "")
}
