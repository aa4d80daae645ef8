package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const games = "games"

// deployed installs the chart, and tries its pods.
func deployed(t *testing.T) {
	data, own := filepath.Join(here.dir, "development"), filepath.Join(here.dir, "own")
	try(t, "Redis with Sentinels, NATS of three, users", func(t *testing.T) { stores(t, own) })
	try(t, "names", func(t *testing.T) {
		kubectl(t, "apply", "--filename", "dns.yaml")
		kubectl(t, "--namespace", "kube-system", "rollout", "status", "deployment/coredns", "--timeout", patience.String())
	})
	try(t, "an identity provider", func(t *testing.T) { identity(t, data) })
	try(t, "the pods of the chart are ready", func(t *testing.T) {
		// As docs/production.md has it.
		kubectl(t, "create", "namespace", games)
		kubectl(t, "label", "namespace", games, "pod-security.kubernetes.io/enforce=restricted")
		enforced(t, games)
		secrets(t, own)
		helm(t, "install", "mm", chart, "--namespace", games, "--values", "node.yaml")
		seen := map[string]bool{}
		for _, p := range pods(t) {
			if s := p.Status.ContainerStatuses; len(s) != 1 || !s[0].Ready || s[0].RestartCount != 0 {
				t.Errorf("%s: %+v", p.Name, s)
			}
			at := p.Labels["app.kubernetes.io/component"] + " on " + p.Spec.NodeName
			if seen[at] {
				t.Errorf("there are two %s, and none on the other node", at)
			}
			seen[at] = true
		}
	})
	var token string
	try(t, "players are matched", func(t *testing.T) {
		mm(t, data, "registry", "function", "put", "duel", filepath.Join(*built, "functions", "duel.zip"))
		file := filepath.Join(here.dir, "ranked.json")
		const ranked = `{"matchmaking": {"name": "Ranked", "targetFunction": {"name": "duel", "version": "1"},
			"config": {"attribute": "skill", "window": 100, "widen": 10}},
			"pools": {"everyone": [{"attribute": "skill", "min": 0, "max": 5000}]},
			"hosting": {"Profile": "default", "Access": "", "Secret": "", "FleetId": "local"}}`
		if err := os.WriteFile(file, []byte(ranked), 0o600); err != nil {
			t.Fatal(err)
		}
		mm(t, data, "config", "config", "put", "ranked", file)
		token = strings.TrimSpace(mm(t, data, "ticket", "token", "service", "--ttl", "1h"))
		c := newCrowd(t, service(t, "ticket"), token)
		c.join(t.Context())
		c.join(t.Context())
		c.rest(t)
	})
	t.Run("containers are confined", confined)
	t.Run("the policies decide who reaches whom", reached)
	try(t, "a node is lost", func(t *testing.T) { lost(t, token) })
	t.Run("a node is drained", func(t *testing.T) { drained(t, token) })
}

// identity makes the keys that tokens are made with, and serves them.
func identity(t *testing.T, data string) {
	t.Helper()
	dev := exec.CommandContext(t.Context(), filepath.Join(*built, "matchmaker"), "dev", "--data", data, "--memory")
	var said bytes.Buffer
	dev.Stdout, dev.Stderr, dev.Dir = &said, &said, here.dir
	if err := dev.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the keys", func(context.Context) error {
		_, keys := os.Stat(filepath.Join(data, "jwks.json"))
		_, url := os.Stat(filepath.Join(data, "url"))
		return errors.Join(keys, url)
	})
	_ = dev.Process.Signal(syscall.SIGTERM)
	if err := dev.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(data, "jwks.json"))
	})
	server := &http.Server{Addr: issuer + ":8090", Handler: serve, ReadHeaderTimeout: patience}
	go func() { _ = server.ListenAndServe() }() // until the process ends
}

// kubectl runs kubectl.
func kubectl(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(here.bin, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "HOME="+here.dir, "KUBECONFIG="+here.kubeconfig)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, said)
	}
}

// service is the URL of a service's cluster address, which kube-proxy leads to its pods.
func service(t *testing.T, name string) string {
	t.Helper()
	s, err := here.api.CoreV1().Services(games).Get(t.Context(), "mm-matchmaker-"+name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://%s:%d", s.Spec.ClusterIP, s.Spec.Ports[0].Port)
}

// mm runs mm against a service.
func mm(t *testing.T, data, at string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(*built, "mm"), args...)
	cmd.Env = append(os.Environ(), "HOME="+here.dir, "MM_URL="+service(t, at), "MM_DATA="+data, "MM_PROJECT=demo")
	var said, warned bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &warned
	if err := cmd.Run(); err != nil {
		t.Fatalf("mm %s: %v\n%s%s", strings.Join(args, " "), err, &said, &warned)
	}
	return said.String()
}

// pods are the pods of the chart.
func pods(t *testing.T) []corev1.Pod {
	t.Helper()
	all, err := here.api.CoreV1().Pods(games).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Items) < 16 {
		t.Fatalf("%d pods, want two of each service", len(all.Items))
	}
	return all.Items
}

// confined looks at the process of every pod, as the kernel has it.
func confined(t *testing.T) {
	for _, p := range pods(t) {
		at, pid, err := cgroup(here.dir, "memory", string(p.UID), "matchmaker")
		if err != nil {
			t.Fatal(err)
		}
		proc := filepath.Join("/proc", strconv.Itoa(pid))
		text, err := os.ReadFile(filepath.Join(proc, "status"))
		if err != nil {
			t.Fatal(err)
		}
		status := map[string]string{}
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(line, ":")
			status[key] = strings.Join(strings.Fields(value), " ")
		}
		for key, want := range map[string]string{
			"Uid": "65532 65532 65532 65532", "Gid": "65532 65532 65532 65532", "CapEff": "0000000000000000",
			"CapPrm": "0000000000000000", "CapBnd": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2",
		} {
			if status[key] != want {
				t.Errorf("%s: %s is %q, want %q", p.Name, key, status[key], want)
			}
		}
		// Even a user that may write anywhere may not write there, because the mount is read-only.
		err = os.WriteFile(filepath.Join(proc, "root", "usr", "written"), nil, 0o600)
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: a write below / : %v, want %v", p.Name, err, syscall.EROFS)
		}
		written := filepath.Join(proc, "root", "tmp", "written")
		if err := errors.Join(os.WriteFile(written, nil, 0o600), os.Remove(written)); err != nil {
			t.Errorf("%s: a write below /tmp: %v", p.Name, err)
		}
		limit := p.Spec.Containers[0].Resources.Limits.Memory().Value()
		if got := number(t, filepath.Join(at, "memory.limit_in_bytes")); got != limit {
			t.Errorf("%s: memory is limited to %d, want %d", p.Name, got, limit)
		}
		at, _, err = cgroup(here.dir, "pids", string(p.UID), "matchmaker")
		if err != nil {
			t.Fatal(err)
		}
		if got := number(t, filepath.Join(filepath.Dir(at), "pids.max")); got != pidsLimit {
			t.Errorf("%s: processes are limited to %d, want %d", p.Name, got, pidsLimit)
		}
	}
}

// number reads a number of the kernel's.
func number(t *testing.T, file string) int64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return n
}
