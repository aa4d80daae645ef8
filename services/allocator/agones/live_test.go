package agones_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"matchmaker.dev/services/allocator/agones"
	"matchmaker.dev/services/allocator/agones/agonestest"
	"matchmaker.dev/services/allocator/agones/kubernetes"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

// What make kubernetes says: a cluster, and how its API server reaches the API of allocations in this process.
var (
	kubeconfig  = flag.String("kubeconfig", "", "an administrator's kubeconfig of a cluster with definitions.yaml")
	listen      = flag.String("listen", "", "where allocations are served, to the API server alone")
	certificate = flag.String("certificate", "", "folder with tls.crt and tls.key for it, which may change")
	clients     = flag.String("clients", "", "the authority of the API server's own certificate")
)

// live is a cluster with a real API server. It asks this process for allocations, as it asks Agones' extension.
type live struct {
	url, ca string
	api     *kubernetes.Client // an administrator's

	mu       sync.Mutex
	clusters map[string]*agonestest.Cluster // by namespace
}

func openLive(t *testing.T) *live {
	t.Helper()
	if *kubeconfig == "" {
		t.Skip("this is part of make kubernetes")
	}
	text, err := os.ReadFile(*kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     string `yaml:"certificate-authority"`
			}
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil || len(file.Clusters) != 1 {
		t.Fatalf("%s has %d clusters, %v", *kubeconfig, len(file.Clusters), err)
	}
	l := &live{
		url: file.Clusters[0].Cluster.Server, ca: file.Clusters[0].Cluster.CA, clusters: map[string]*agonestest.Cluster{},
	}
	l.api, err = kubernetes.New(kubernetes.Options{
		Kubeconfig: *kubeconfig, Timeout: time.Minute, Log: new(conformance.LogBuffer).Logger(), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.api.Close)
	l.serve(t)
	return l
}

// of is where the API server keeps core objects and roles.
func of(resource, namespace string) string {
	api := "/api/v1"
	if strings.HasPrefix(resource, "role") {
		api = "/apis/rbac.authorization.k8s.io/v1"
	}
	if namespace != "" {
		api += "/namespaces/" + namespace
	}
	return api + "/" + resource
}

// created is an object that the API server has made.
type created struct {
	Metadata struct{ Name, UID string }
	Status   struct{ Token string }
}

// create creates an object.
func (l *live) create(t *testing.T, path string, object map[string]any) created {
	t.Helper()
	var made created
	if _, err := agonestest.Call(t.Context(), l.api, http.MethodPost, path, object, &made); err != nil {
		t.Fatal(err)
	}
	return made
}

func (l *live) delete(t *testing.T, path string) {
	t.Helper()
	if _, err := agonestest.Call(t.Context(), l.api, http.MethodDelete, path, nil, nil); err != nil {
		t.Fatal(err)
	}
}

// serve serves allocations. Callers have a certificate of the API server's authority, which has checked the rights.
func (l *live) serve(t *testing.T) {
	t.Helper()
	authority, err := os.ReadFile(*clients)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		t.Fatalf("%s has no certificate", *clients)
	}
	mux := http.NewServeMux()
	const version = "allocation.agones.dev/v1"
	mux.HandleFunc("GET /apis/"+version, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version,
			"resources": []any{map[string]any{
				"name": "gameserverallocations", "singularName": "", "namespaced": true, "kind": "GameServerAllocation",
				"verbs": []string{"create"},
			}},
		})
	})
	mux.HandleFunc("POST /apis/"+version+"/namespaces/{namespace}/gameserverallocations",
		func(w http.ResponseWriter, r *http.Request) {
			l.mu.Lock()
			c := l.clusters[r.PathValue("namespace")]
			l.mu.Unlock()
			if c == nil || !strings.HasPrefix(r.Header.Get("X-Remote-User"), "system:serviceaccount:") {
				http.Error(w, "nobody's namespace, or nobody's call", http.StatusInternalServerError)
				return
			}
			c.Allocate(w, r)
		})
	var last atomic.Pointer[tls.Certificate]
	current := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(filepath.Join(*certificate, "tls.crt"), filepath.Join(*certificate, "tls.key"))
		if err == nil { // otherwise the new key is there, and its certificate is not yet
			last.Store(&pair)
		}
		return last.Load(), nil
	}
	server := &http.Server{
		Addr: *listen, Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, GetCertificate: current, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		},
	}
	done := make(chan error, 1)
	go func() { done <- server.ListenAndServeTLS("", "") }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	l.await(t, "the API of allocations", func(ctx context.Context) error {
		_, err := agonestest.Call(ctx, l.api, http.MethodGet, "/apis/"+version, nil, nil)
		return err
	})
}

// await waits until done returns nil.
func (l *live) await(t *testing.T, what string, done func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := done(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited for %s: %v", what, err)
		}
	}
}

// world is a world whose cluster is a namespace of its own. The allocator has the rights of the manifest there.
func (l *live) world(t *testing.T, w way) *world {
	t.Helper()
	namespace := l.create(t, of("namespaces", ""), map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"generateName": "fleets-"},
	}).Metadata.Name
	x := &world{way: w, t: t, token: filepath.Join(t.TempDir(), "token")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the provider's log:\n%s", x.log.String())
		}
	})
	x.cluster = agonestest.NewClusterOf(t, l.api, namespace)
	x.cluster.Allocated = w.play
	l.mu.Lock()
	l.clusters[namespace] = x.cluster
	l.mu.Unlock()
	x.cluster.AddFleet("green", w.fleet(), nil)
	x.options = agones.Options{
		Namespace: namespace, Density: w.density, Timeout: 20 * time.Second, Log: x.log.Logger(), Now: time.Now,
	}
	if w.kubernetes {
		l.authorize(t, namespace)
		l.issue(t, x, nil)
		x.options.Kubernetes = &agones.Kubernetes{URL: l.url, CA: l.ca, Token: x.token, Keep: w.keep}
	}
	if w.service {
		x.serve(t, conformance.NewAuthority(t))
	}
	return x
}

// through has calls of the cluster's API go through a server that can break them. It passes on what it gets.
func (l *live) through(t *testing.T, x *world) {
	t.Helper()
	target, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(l.ca)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trusted}},
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
	}
	x.api = conformance.Serve(t, proxy, conformance.NewAuthority(t), nil)
	x.options.Kubernetes.URL, x.options.Kubernetes.CA = x.api.URL, x.api.Authority.File
	if x.allocates == nil {
		x.allocates = x.api
	}
}

// authorize applies the manifest in a namespace.
func (l *live) authorize(t *testing.T, namespace string) {
	t.Helper()
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(part), &object); err != nil {
			t.Fatal(err)
		}
		object["metadata"].(map[string]any)["namespace"] = namespace
		if subjects, found := object["subjects"].([]any); found {
			subjects[0].(map[string]any)["namespace"] = namespace
		}
		l.create(t, of(strings.ToLower(object["kind"].(string))+"s", namespace), object)
	}
}

// issue writes a token of the allocator's account. It is valid as long as the object is there to which it is bound.
func (l *live) issue(t *testing.T, x *world, bound map[string]any) {
	t.Helper()
	spec := map[string]any{}
	if bound != nil {
		spec["boundObjectRef"] = bound
	}
	made := l.create(t, of("serviceaccounts", x.options.Namespace)+"/matchmaker-allocator/token", map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec,
		"metadata": map[string]any{"name": "matchmaker-allocator"},
	})
	if made.Status.Token == "" {
		t.Fatal("no token")
	}
	if err := os.WriteFile(x.token, []byte(made.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open is a world with its provider.
func (l *live) open(t *testing.T, w way) *world {
	t.Helper()
	x := l.world(t, w)
	x.start(t)
	return x
}

// TestLive runs the suites against a real API server: game servers and fleets are custom resources, allocations an
// aggregated API, and the allocator has a token of its account and the rights of the manifest.
func TestLive(t *testing.T) {
	l := openLive(t)
	for name, w := range ways {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T) conformance.Fixture {
				f := l.open(t, w).fixture()
				if !w.service {
					f.Lose = nil // nothing is between the provider and the API server: see the faults
				}
				return f
			})
		})
		t.Run(name+", with faults", func(t *testing.T) {
			conformance.RunFaults(t, func(t *testing.T) conformance.FaultyFixture {
				x := l.world(t, w)
				secrets := []string{}
				if w.kubernetes {
					l.through(t, x)
					token, err := os.ReadFile(x.token)
					if err != nil {
						t.Fatal(err)
					}
					secrets = append(secrets, string(token))
				}
				x.start(t)
				return conformance.FaultyFixture{
					Fixture: x.fixture(), Server: x.allocates, Allocates: allocates, Releases: x.releases(), Secrets: secrets,
					Log: &x.log,
				}
			})
		})
	}
	t.Run("a token is replaced", l.replaces)
	t.Run("a right is taken away", l.revokes)
}

// replaces: a token is bound to a Secret. When that is gone the API server refuses the token, and a new one works.
func (l *live) replaces(t *testing.T) {
	x := l.world(t, ways["kubernetes"])
	secrets := of("secrets", x.options.Namespace)
	secret := l.create(t, secrets, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "bound"},
	})
	l.issue(t, x, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "name": "bound", "uid": secret.Metadata.UID,
	})
	x.start(t)
	x.allocate(t, request("a"))
	l.delete(t, secrets+"/bound")
	l.await(t, "the token to be refused", func(ctx context.Context) error { // the API server keeps its verdict for 10 s
		_, err := x.provider.Poll(ctx, []provider.Ref{request("a").Ref})
		if err == nil || provider.Final(err) || !strings.Contains(err.Error(), "401") {
			return fmt.Errorf("%w", errors.Join(errors.New("the answer is"), err))
		}
		return nil
	})
	l.issue(t, x, nil)
	l.await(t, "the new token", func(ctx context.Context) error {
		_, err := x.provider.Poll(ctx, []provider.Ref{request("a").Ref})
		return err
	})
	x.allocate(t, request("b"))
}

// revokes: without the role the cluster refuses an allocation, and no retry helps.
func (l *live) revokes(t *testing.T) {
	x := l.open(t, ways["kubernetes"])
	x.allocate(t, request("a"))
	l.delete(t, of("roles", x.options.Namespace)+"/matchmaker-allocator")
	l.await(t, "the right to be gone", func(ctx context.Context) error {
		_, err := x.provider.Allocate(ctx, request("b"))
		if provider.ReasonOf(err) != provider.Refused || !strings.Contains(err.Error(), "forbidden") {
			return fmt.Errorf("%w", errors.Join(errors.New("the answer is"), err))
		}
		return nil
	})
}
