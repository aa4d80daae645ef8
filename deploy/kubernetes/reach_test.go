package kubernetes

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// public are the services that the gateway leads to, and whether they ask identity providers for keys.
var public = map[string]bool{
	"ticket": true, "config": true, "registry": true, "backfill": true, "party": true, "allocator": false,
}

// place is where a connection comes from, or goes to.
type place struct {
	name, node string
	process    int    // the network namespace's process; node-a's when 0
	at         string // an address with a port, of a place that is gone to
}

// reached connects from the pods of the chart, from others, and from a node to everything that listens, and compares
// what the network lets pass with what the policies of node.yaml are to allow.
func reached(t *testing.T) {
	aside, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address+":9999")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = aside.Close() })
	kubectl(t, "create", "namespace", "monitoring")
	from := []place{{name: "the gateway", node: "node-a"}}
	to := []place{{name: "redis", at: homes[0] + ":6379"}, {name: "sentinel", at: homes[1] + ":26379"},
		{name: "nats", at: homes[2] + ":4222"},
		{name: "issuer", at: issuer + ":8090"}, {name: "kubernetes", at: address + ":6443"},
		{name: "elsewhere", at: aside.Addr().String()}}
	for _, pod := range []struct{ namespace, node string }{
		{"default", "node-a"}, {"default", "node-b"}, {"monitoring", "node-a"}, {"monitoring", "node-b"},
	} {
		p := stranger(t, pod.namespace, pod.node)
		from = append(from, place{name: "a pod of " + pod.namespace, node: pod.node, process: process(t, p, "tiny")})
	}
	for _, p := range pods(t) {
		service := p.Labels["app.kubernetes.io/component"]
		from = append(from, place{name: service, node: p.Spec.NodeName, process: process(t, &p, "matchmaker")})
		for _, port := range p.Spec.Containers[0].Ports {
			to = append(to, place{name: service + " " + port.Name, node: p.Spec.NodeName,
				at: fmt.Sprintf("%s:%d", p.Status.PodIP, port.ContainerPort)})
		}
	}
	servers, err := here.api.CoreV1().Pods("kube-system").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(servers.Items) == 0 {
		t.Fatalf("%d name servers, %v", len(servers.Items), err)
	}
	for _, p := range servers.Items {
		to = append(to, place{name: "dns", node: p.Spec.NodeName, at: p.Status.PodIP + ":53"})
	}
	times := 0
	eventually(t, "the policies to be as they are meant", func(context.Context) error {
		times++
		return compare(t.Context(), from, to) // whole, also when the time is over
	})
	t.Logf("%d connections were tried, %d times", len(from)*len(to), times)
}

// compare tries all connections.
func compare(ctx context.Context, from, to []place) error {
	var wrong []string
	var lock sync.Mutex
	var all sync.WaitGroup
	for _, f := range from {
		all.Go(func() {
			for _, p := range to {
				if p.name == f.name+" http" || p.name == f.name+" metrics" {
					continue // its own port, or its other replica's
				}
				err := dial(ctx, f.process, p.at)
				if (err == nil) == allowed(f, p) {
					continue
				}
				lock.Lock()
				wrong = append(wrong, fmt.Sprintf("%s on %s to %s on %q: %v", f.name, f.node, p.name, p.node, err))
				lock.Unlock()
			}
		})
	}
	all.Wait()
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return fmt.Errorf("%d connections are not as they are meant:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	return nil
}

// allowed tells what node.yaml is meant to allow.
func allowed(from, to place) bool {
	service, port, pod := strings.Cut(to.name, " ")
	_, routed := public[service]
	switch asks, own := public[from.name], from.name; {
	case own == "the gateway": // a node always reaches its own pods
		return !pod || to.node == from.node || port == "http" && routed
	case own == "a pod of monitoring":
		return !pod || port == "metrics"
	case own == "a pod of default":
		return !pod
	case to.name == "issuer":
		return asks
	case own == "config" && (to.name == "kubernetes" || to.name == "elsewhere"):
		return true // webhooks are at public addresses, and so are the nodes of this test
	case to.name == "kubernetes":
		return own == "allocator"
	case pod: // services that verify tokens read the keys of game servers' tokens
		return asks && service == "allocator" && port == "http"
	default:
		return to.name == "redis" || to.name == "sentinel" || to.name == "nats" || to.name == "dns"
	}
}

// stranger is a pod that is not of the chart.
func stranger(t *testing.T, namespace, node string) *corev1.Pod {
	t.Helper()
	spec := corev1.PodSpec{
		NodeName: node, Containers: []corev1.Container{{Name: "c", Image: tinyImage, Args: []string{"serve"}}},
	}
	return makePod(t, namespace, "stranger-on-"+node, spec, func(p *corev1.Pod) error {
		if p.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("%s: %s", p.Status.Phase, warnings(t))
		}
		return nil
	})
}

// process is a process of a pod that runs a program.
func process(t *testing.T, p *corev1.Pod, program string) int {
	t.Helper()
	_, pid, err := cgroup(here.dir, "memory", string(p.UID), program)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// dial connects to an address from the network of a process.
func dial(ctx context.Context, process int, to string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this goroutine, and nothing else runs in that network
		failed <- func() error {
			if process > 0 {
				space, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", process))
				if err != nil {
					return err
				}
				defer space.Close()
				if err := unix.Setns(int(space.Fd()), unix.CLONE_NEWNET); err != nil {
					return fmt.Errorf("enter the network: %w", err)
				}
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
			if err != nil {
				return err
			}
			return conn.Close()
		}()
	}()
	return <-failed
}
