package kubernetes_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/agones/kubernetes"
)

// kubeconfig writes a kubeconfig with other contexts beside the current one. cluster and user are JSON. Members that
// cluster lacks come from the world's server.
func (w *world) kubeconfig(name, cluster, user string) string {
	w.t.Helper()
	all := map[string]any{"server": w.URL, "certificate-authority": w.Authority.File}
	var change map[string]any
	if err := json.Unmarshal([]byte(cluster), &change); err != nil {
		w.t.Fatal(err)
	}
	for key, value := range change {
		if all[key] = value; value == nil {
			delete(all, key)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.put(name, fmt.Sprintf(`
# A comment, and members that nothing here reads.
apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: here
contexts:
- {name: there, context: {cluster: away, user: nobody}}
- {name: here, context: {cluster: near, user: me, namespace: games}}
clusters:
- {name: away, cluster: {server: "http://192.0.2.1", insecure-skip-tls-verify: true}}
- name: near
  cluster: %s
users:
- {name: nobody, user: {auth-provider: {name: gcp}}}
- name: me
  user: %s
`, text, user))
}

func (w *world) base64(path string) string {
	w.t.Helper()
	return base64.StdEncoding.EncodeToString([]byte(w.read(path)))
}

func TestUsers(t *testing.T) {
	w := open(t)
	w.put("token", "hunter2\n")
	certificate, key := filepath.Join(w.dir, "tls.crt"), filepath.Join(w.dir, "tls.key")
	w.Authority.Client(t, certificate, key, time.Now().Add(time.Hour))
	data := fmt.Sprintf(`"client-certificate-data": %q, "client-key-data": %q`, w.base64(certificate), w.base64(key))
	for name, test := range map[string]struct {
		user          string
		authorization string
		certificate   bool
	}{
		"nobody":                {`{}`, "", false},
		"null":                  {`null`, "", false},
		"token":                 {`{"token": "hunter2"}`, "Bearer hunter2", false},
		"number":                {`{token: 0123456}`, "Bearer 0123456", false},
		"file":                  {`{"tokenFile": "token"}`, "Bearer hunter2", false},
		"file and token":        {`{"tokenFile": "./token", "token": "an old one"}`, "Bearer hunter2", false},
		"absolute":              {fmt.Sprintf(`{"tokenFile": %q}`, filepath.Join(w.dir, "token")), "Bearer hunter2", false},
		"password":              {`{"username": "ü", "password": "a:b"}`, "Basic w7w6YTpi", false},
		"certificate":           {`{"client-certificate": "tls.crt", "client-key": "tls.key"}`, "", true},
		"certificate data":      {"{" + data + "}", "", true},
		"file and data":         {`{"client-certificate": "none.crt", "client-key": "none.key", ` + data + "}", "", true},
		"certificate and token": {`{"token": "t", ` + data + "}", "Bearer t", true},
		"certificate, data of the key": {
			fmt.Sprintf(`{"client-certificate": "tls.crt", "client-key-data": %q}`, w.base64(key)), "", true,
		},
		"certificate, and a program": {`{"exec": {"command": "none", "apiVersion": "v0"}, ` + data + "}", "", true},
		"token, and a program":       {`{"token": "t", "exec": {"command": "none", "apiVersion": "v0"}}`, "Bearer t", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.call(w.client(kubernetes.Options{Kubeconfig: w.kubeconfig("config", "{}", test.user)}))
			if got := r.Header.Get("Authorization"); got != test.authorization {
				t.Errorf("%q, want %q", got, test.authorization)
			}
			if (len(r.TLS.PeerCertificates) > 0) != test.certificate {
				t.Errorf("%d client certificates", len(r.TLS.PeerCertificates))
			}
		})
	}
}

func TestImpersonation(t *testing.T) {
	w := open(t)
	r := w.call(w.client(kubernetes.Options{Kubeconfig: w.kubeconfig("config", "{}", `{"token": "t", "as": "jane",
		"as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": {"example.com/scopes": ["x", "y"], "a b": ["z"]}}`)}))
	for name, want := range map[string]string{
		"Impersonate-User": "jane", "Impersonate-Uid": "7", "Impersonate-Group": "a,b",
		"Impersonate-Extra-Example.com%2fscopes": "x,y", "Impersonate-Extra-A%20b": "z", "Authorization": "Bearer t",
	} {
		if got := strings.Join(r.Header.Values(name), ","); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestClusters(t *testing.T) {
	w := open(t)
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.put("ca.crt", w.read(w.Authority.File))
	// The proxy leads to the API server, whatever it is asked for.
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization")
		there, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Error(err)
			return
		}
		here, _, err := http.NewResponseController(to).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(there, here)
			_ = there.Close()
		}()
		_, _ = io.Copy(here, there)
		_ = here.Close()
	}))
	t.Cleanup(proxy.Close)
	through := strings.Replace(proxy.URL, "http://", "http://u:hunter2@", 1)
	for name, test := range map[string]struct{ cluster, path, encoding, proxy, failure string }{
		"as it is":   {cluster: "{}", encoding: "gzip"},
		"a path":     {cluster: fmt.Sprintf(`{"server": "%s/k8s/clusters/c-1/"}`, w.URL), path: "/k8s/clusters/c-1", encoding: "gzip"},
		"data":       {cluster: fmt.Sprintf(`{"certificate-authority": null, "certificate-authority-data": %q}`, w.base64(w.Authority.File)), encoding: "gzip"},
		"both":       {cluster: fmt.Sprintf(`{"certificate-authority": "none", "certificate-authority-data": %q}`, w.base64(w.Authority.File)), encoding: "gzip"},
		"relative":   {cluster: `{"certificate-authority": "ca.crt"}`, encoding: "gzip"},
		"no CA":      {cluster: `{"certificate-authority": null}`, failure: "unknown authority"},
		"other name": {cluster: fmt.Sprintf(`{"server": "https://localhost:%s"}`, u.Port()), failure: "to match localhost"},
		"named": {
			cluster:  fmt.Sprintf(`{"server": "https://localhost:%s", "tls-server-name": "127.0.0.1"}`, u.Port()),
			encoding: "gzip",
		},
		"uncompressed": {cluster: `{"disable-compression": true}`},
		"proxy": {
			cluster:  fmt.Sprintf(`{"server": "https://api.test", "tls-server-name": "127.0.0.1", "proxy-url": %q}`, through),
			encoding: "gzip", proxy: "CONNECT api.test:443 Basic dTpodW50ZXIy",
		},
		"no proxy": {cluster: `{"proxy-url": "http://u:hunter2@127.0.0.1:1"}`, failure: "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			asked = ""
			c := w.client(kubernetes.Options{Kubeconfig: w.kubeconfig("config", test.cluster, "{}")})
			_, err := c.Call(t.Context(), http.MethodGet, "/apis", nil)
			if test.failure != "" {
				if err == nil || !strings.Contains(err.Error(), test.failure) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%v, want %q", err, test.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r := w.last()
			if r.URL.Path != test.path+"/apis" || r.Header.Get("Accept-Encoding") != test.encoding || asked != test.proxy {
				t.Errorf("%s with encoding %q, proxy %q", r.URL, r.Header.Get("Accept-Encoding"), asked)
			}
		})
	}
}

// An API without TLS is one that kubectl proxy serves on this machine.
func TestNoCredentialsWithoutTLS(t *testing.T) {
	w := open(t)
	plain := httptest.NewServer(w)
	t.Cleanup(plain.Close)
	file := w.kubeconfig("config", fmt.Sprintf(`{"server": %q}`, plain.URL), `{"tokenFile": "none", "token": "hunter2"}`)
	w.expect(w.client(kubernetes.Options{Kubeconfig: file}), "")
}

func TestKubeconfigOfARelativePath(t *testing.T) {
	w := open(t)
	w.put("token", "t")
	w.put("print", script(`{"token": "of the program"}`))
	t.Chdir(w.dir)
	w.kubeconfig("config", "{}", `{"tokenFile": "token"}`)
	file := w.client(kubernetes.Options{Kubeconfig: "config"})
	w.kubeconfig("config", "{}", `{"exec": {"command": "./print", "apiVersion": "client.authentication.k8s.io/v1beta1"}}`)
	program := w.client(kubernetes.Options{Kubeconfig: "config"})
	t.Chdir(t.TempDir())
	w.wait(time.Minute) // the token is read again
	w.expect(file, "Bearer t")
	w.expect(program, "Bearer of the program")
}

func TestKubeconfigsThatMakeNoSense(t *testing.T) {
	w := open(t)
	certificate, key := filepath.Join(w.dir, "tls.crt"), filepath.Join(w.dir, "tls.key")
	w.Authority.Client(t, certificate, key, time.Now().Add(time.Hour))
	exec := func(text string) string { return `{"exec": {` + text + `, "interactiveMode": "Never"}}` }
	for want, test := range map[string]struct{ cluster, user string }{
		`cluster "near": server: http is for this machine`: {cluster: `{"server": "http://api.example.com"}`},
		`server: credentials do not belong`:                {cluster: `{"server": "https://u:hunter2@api.example.com"}`},
		`server: not a URL`:                                {cluster: `{"server": null}`},
		`insecure-skip-tls-verify is not allowed`:          {cluster: `{"insecure-skip-tls-verify": true}`},
		`proxy-url: not an http`:                           {cluster: `{"proxy-url": "ftp://u:hunter2@proxy"}`},
		`proxy-url: not an http, https or`:                 {cluster: `{"proxy-url": "http://u:hunter2@%"}`},
		`no such file`:                                     {cluster: `{"certificate-authority": "none"}`},
		`the CA file has no certificate`:                   {cluster: `{"certificate-authority-data": "aHVudGVyMg=="}`},
		`illegal base64`:                                   {cluster: `{"certificate-authority-data": "hunter2!"}`},
		`into bool`:                                        {cluster: `{"insecure-skip-tls-verify": "hunter2"}`},
		`into kubernetes.user`:                             {user: `hunter2`},
		`auth-provider is not supported, exec is`:          {user: `{"auth-provider": {"name": "gcp", "config": {"token": "hunter2"}}}`},
		`a token or a password`:                            {user: `{"token": "hunter2", "username": "u"}`},
		`a token or a password is expected`:                {user: `{"tokenFile": "x", "password": "hunter2"}`},
		`user "me": open `:                                 {user: `{"tokenFile": "none"}`},
		`both or neither`:                                  {user: `{"client-certificate": "tls.crt"}`},
		`certificate and key: both`:                        {user: `{"client-key-data": "aHVudGVyMg=="}`},
		`certificate and key: tls`:                         {user: `{"client-certificate-data": "aHVudGVyMg==", "client-key": "tls.key"}`},
		`exec.command: missing`:                            {user: exec(`"apiVersion": "client.authentication.k8s.io/v1"`)},
		`exec.apiVersion: "" is neither`:                   {user: exec(`"command": "x"`)},
		`v1alpha1" is neither`:                             {user: exec(`"command": "x", "apiVersion": "client.authentication.k8s.io/v1alpha1"`)},
		`exec.interactiveMode: Always`: {
			user: `{"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Always"}}`,
		},
	} {
		if test.cluster == "" {
			test.cluster = "{}"
		}
		if test.user == "" {
			test.user = "{}"
		}
		w.refuse(w.kubeconfig("config", test.cluster, test.user), want)
	}
	for want, change := range map[string][2]string{
		`there is no context "here"`: {"name: here", "name: everywhere"},
		`there is no context ""`:     {"current-context: here", ""},
		`there is no cluster "near"`: {"name: near", "name: far"},
		`there is no user "me"`:      {"name: me", "name: you"},
		`yaml: line`:                 {"- name: me", "- name: [hunter2"},
	} {
		text := w.read(w.kubeconfig("config", "{}", "{}"))
		w.refuse(w.put("config", strings.Replace(text, change[0], change[1], 1)), want)
	}
	w.refuse(w.put("config", ""), "there is no context")
	if err := os.Remove(filepath.Join(w.dir, "config")); err != nil {
		t.Fatal(err)
	}
	w.refuse(filepath.Join(w.dir, "config"), "no such file")
}

// refuse expects an error of a kubeconfig.
func (w *world) refuse(file, want string) {
	w.t.Helper()
	_, err := kubernetes.New(kubernetes.Options{Kubeconfig: file, Log: w.log.Logger(), Now: w.now})
	if err == nil || !strings.HasPrefix(err.Error(), "kubeconfig: ") || !strings.Contains(err.Error(), want) ||
		strings.Contains(err.Error(), "hunter2") {
		w.t.Errorf("%v, want %q", err, want)
	}
}
