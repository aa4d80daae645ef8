package agones_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/allocator/agones"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

// Kubernetes' own client repeats calls whose answer has Retry-After. A second allocation could give the match a second
// server.
func TestClientRepeatsNoCall(t *testing.T) {
	for _, kind := range []conformance.Fault{conformance.Away, conformance.Broken, conformance.Lost} {
		x := ways["kubernetes"].open(t)
		r := request("m")
		r.First = true
		x.api.Break(nil, kind)
		if _, err := x.provider.Allocate(t.Context(), r); err == nil || provider.Final(err) {
			t.Errorf("%s: %v", kind, err)
		}
		if n := x.api.Calls(); n != 1 {
			t.Errorf("%s: an allocation is %d calls", kind, n)
		}
		x.api.Break(nil, kind)
		if _, err := x.provider.Poll(t.Context(), []provider.Ref{r.Ref}); err == nil {
			t.Errorf("%s: Poll has no error", kind)
		}
		if n := x.api.Calls(); n != 2 {
			t.Errorf("%s: an allocation and a poll are %d calls", kind, n)
		}
	}
}

func TestClientFollowsNoRedirect(t *testing.T) {
	x := ways["kubernetes"].world(t)
	elsewhere := conformance.Serve(t, x.cluster.API(), x.api.Authority, nil)
	x.api = conformance.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}), x.api.Authority, nil)
	x.options.Kubernetes.URL = x.api.URL
	x.start(t)
	if _, err := x.provider.Allocate(t.Context(), request("m")); err == nil || !strings.Contains(err.Error(), "307") {
		t.Error(err)
	}
	if elsewhere.Calls() != 0 {
		t.Error("the redirect was followed")
	}
}

func TestRetryAfterIsPassedOn(t *testing.T) {
	x := ways["kubernetes"].world(t)
	x.api = conformance.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, `{"kind": "Status", "apiVersion": "v1", "message": "too many requests"}`, http.StatusTooManyRequests)
	}), x.api.Authority, nil)
	x.options.Kubernetes.URL = x.api.URL
	x.start(t)
	_, err := x.provider.Allocate(t.Context(), request("m"))
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Reason != provider.Contention || e.RetryAfter.Seconds() != 7 ||
		!strings.HasSuffix(err.Error(), "too many requests") {
		t.Errorf("%v", err)
	}
}

// kubeconfig writes a kubeconfig. user is a user's JSON.
func (x *world) kubeconfig(t *testing.T, user string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
		"clusters": [{"name": "test", "cluster": {"server": %q, "certificate-authority": %q}}],
		"users": [{"name": "test", "user": %s}]}`, x.api.URL, x.api.Authority.File, user)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestKubeconfig(t *testing.T) {
	credential := filepath.Join(t.TempDir(), "credential.json")
	text := fmt.Sprintf(
		`{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": %q}}`, token,
	)
	if err := os.WriteFile(credential, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, user := range map[string]string{
		"token": fmt.Sprintf(`{"token": %q}`, token),
		"a program that prints credentials": fmt.Sprintf(`{"exec": {"apiVersion": "client.authentication.k8s.io/v1",
			"command": "cat", "args": [%q], "interactiveMode": "Never"}}`, credential),
	} {
		x := ways["kubernetes"].world(t)
		x.options.Kubernetes = &agones.Kubernetes{Kubeconfig: x.kubeconfig(t, user)}
		x.start(t)
		x.allocate(t, request("m"))
		x.api.Break(nil, conformance.Echo)
		if _, err := x.provider.Allocate(t.Context(), request("m")); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKubeconfigOfATokenFileIsReadAgain(t *testing.T) {
	x := ways["kubernetes"].world(t)
	file, err := json.Marshal(x.token)
	if err != nil {
		t.Fatal(err)
	}
	x.options.Kubernetes = &agones.Kubernetes{Kubeconfig: x.kubeconfig(t, `{"tokenFile": `+string(file)+`}`)}
	x.start(t)
	x.allocate(t, request("a"))
	x.cluster.Authorize(t, "the next token", manifest)
	if err := os.WriteFile(x.token, []byte("the next token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := x.provider.Allocate(t.Context(), request("b")); err == nil || provider.Final(err) {
		t.Errorf("an old token: %v", err)
	}
	x.allocate(t, request("b"))
}
