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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"matchmaker.dev/services/allocator/agones"
	"matchmaker.dev/services/allocator/agones/agonestest"
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
	config  *rest.Config
	objects dynamic.Interface

	mu       sync.Mutex
	clusters map[string]*agonestest.Cluster // by namespace
}

func openLive(t *testing.T) *live {
	t.Helper()
	if *kubeconfig == "" {
		t.Skip("this is part of make kubernetes")
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 1000, 2000
	l := &live{config: config, clusters: map[string]*agonestest.Cluster{}}
	if l.objects, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	l.serve(t)
	return l
}

// of is where the API server keeps core objects and roles.
func (l *live) of(resource, namespace string) dynamic.ResourceInterface {
	kind := schema.GroupVersionResource{Version: "v1", Resource: resource}
	if strings.HasPrefix(resource, "role") {
		kind.Group = "rbac.authorization.k8s.io"
	}
	return l.objects.Resource(kind).Namespace(namespace)
}

// create creates an object.
func (l *live) create(t *testing.T, where dynamic.ResourceInterface, object map[string]any, sub ...string,
) *unstructured.Unstructured {
	t.Helper()
	made, err := where.Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}, sub...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// serve serves allocations. Whoever asks has a certificate of the API server's authority: it has checked the rights.
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
		_ = json.NewEncoder(w).Encode(metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version,
			APIResources: []metav1.APIResource{{
				Name: "gameserverallocations", Namespaced: true, Kind: "GameServerAllocation", Verbs: []string{"create"},
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
	client, err := rest.HTTPClientFor(l.config)
	if err != nil {
		t.Fatal(err)
	}
	l.await(t, "the API of allocations", func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.config.Host+"/apis/"+version, nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		}
		return errors.Join(err, answer.Body.Close())
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
	namespace := l.create(t, l.of("namespaces", ""), map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"generateName": "fleets-"},
	}).GetName()
	x := &world{way: w, t: t, token: filepath.Join(t.TempDir(), "token")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the provider's log:\n%s", x.log.String())
		}
	})
	x.cluster = agonestest.NewClusterOf(t, l.config, namespace)
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
		x.options.Kubernetes = &agones.Kubernetes{URL: l.config.Host, CA: l.config.CAFile, Token: x.token, Keep: w.keep}
	}
	if w.service {
		x.serve(t, conformance.NewAuthority(t))
	}
	return x
}

// through has calls of the cluster's API go through a server that can break them. It passes on what it gets.
func (l *live) through(t *testing.T, x *world) {
	t.Helper()
	target, err := url.Parse(l.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := rest.TLSConfigFor(rest.AnonymousClientConfig(l.config))
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{TLSClientConfig: trusted},
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
	}
	authority := conformance.NewAuthority(t)
	x.api = conformance.Serve(t, proxy, authority, nil)
	x.options.Kubernetes.URL, x.options.Kubernetes.CA = x.api.URL, authority.File
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
		object := new(unstructured.Unstructured)
		if err := yaml.Unmarshal([]byte(part), &object.Object); err != nil {
			t.Fatal(err)
		}
		object.SetNamespace(namespace)
		if subjects, found, _ := unstructured.NestedSlice(object.Object, "subjects"); found {
			subjects[0].(map[string]any)["namespace"] = namespace
			object.Object["subjects"] = subjects
		}
		l.create(t, l.of(strings.ToLower(object.GetKind())+"s", namespace), object.Object)
	}
}

// issue writes a token of the allocator's account. It is valid as long as the object is there to which it is bound.
func (l *live) issue(t *testing.T, x *world, bound map[string]any) {
	t.Helper()
	spec := map[string]any{}
	if bound != nil {
		spec["boundObjectRef"] = bound
	}
	made := l.create(t, l.of("serviceaccounts", x.options.Namespace), map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec,
		"metadata": map[string]any{"name": "matchmaker-allocator"},
	}, "token")
	token, found, err := unstructured.NestedString(made.Object, "status", "token")
	if err != nil || !found {
		t.Fatalf("no token: %v", err)
	}
	if err := os.WriteFile(x.token, []byte(token), 0o600); err != nil {
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
	secrets := l.of("secrets", x.options.Namespace)
	secret := l.create(t, secrets, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "bound"},
	})
	l.issue(t, x, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "name": "bound", "uid": string(secret.GetUID()),
	})
	x.start(t)
	x.allocate(t, request("a"))
	if err := secrets.Delete(t.Context(), "bound", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
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
	roles := l.of("roles", x.options.Namespace)
	err := roles.Delete(t.Context(), "matchmaker-allocator", metav1.DeleteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.await(t, "the right to be gone", func(ctx context.Context) error {
		_, err := x.provider.Allocate(ctx, request("b"))
		if provider.ReasonOf(err) != provider.Refused || !strings.Contains(err.Error(), "forbidden") {
			return fmt.Errorf("%w", errors.Join(errors.New("the answer is"), err))
		}
		return nil
	})
}
