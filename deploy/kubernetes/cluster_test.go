package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pkiutil"
	node "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	lease "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

// address is the control plane's: Kubernetes takes no loopback address for an endpoint.
const address = "192.0.2.1"

// patience is how long the cluster may take for one thing.
const patience = 90 * time.Second

// cluster is a control plane, and nodes that kwok plays, or one real node.
type cluster struct {
	dir, bin   string
	ca, front  *authority // front is the aggregator's
	kubeconfig string
	admin      *rest.Config
	api        kubernetes.Interface
	objects    dynamic.Interface
	mapper     *restmapper.DeferredDiscoveryRESTMapper
	programs   []*program
}

// program is a running program of the control plane.
type program struct {
	name  string
	log   string // a file
	cmd   *exec.Cmd
	ended chan struct{} // closed
}

// start starts everything and waits until the nodes are ready.
func start(ctx context.Context, dir, bin string) (_ *cluster, err error) {
	began := time.Now()
	c := &cluster{dir: dir, bin: bin}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w%s", err, c.logs())
		}
	}()
	if err := connect(); err != nil {
		return nil, err
	}
	if err := c.issue(); err != nil {
		return nil, err
	}
	if err := c.launch(ctx); err != nil {
		return nil, err
	}
	join := c.pretend
	if *built != "" {
		join = c.join
	}
	if err := join(ctx); err != nil {
		return nil, err
	}
	version, err := c.api.Discovery().ServerVersion()
	if err != nil {
		return nil, err
	}
	fmt.Printf("Kubernetes %s is ready after %.1f s\n", version.GitVersion, time.Since(began).Seconds())
	return c, nil
}

// connect gives the network namespace its addresses.
func connect() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("the loopback device: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("the loopback device: %w", err)
	}
	own, err := netlink.ParseAddr(address + "/32")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(lo, own); err != nil {
		return fmt.Errorf("the address %s: %w", address, err)
	}
	// Without a default route the kernel needs one for what kube-proxy sends elsewhere.
	_, services, err := net.ParseCIDR("10.96.0.0/16")
	if err != nil {
		return err
	}
	route := &netlink.Route{LinkIndex: lo.Attrs().Index, Dst: services, Src: net.ParseIP(address),
		Scope: netlink.SCOPE_LINK}
	if err := netlink.RouteAdd(route); err != nil {
		return fmt.Errorf("the route to services: %w", err)
	}
	return nil
}

// issue makes the certificates and kubeconfigs.
func (c *cluster) issue() (err error) {
	if c.ca, err = newAuthority(c.dir, "ca"); err != nil {
		return err
	}
	if c.front, err = newAuthority(c.dir, "front-proxy-ca"); err != nil {
		return err
	}
	key, err := pkiutil.NewPrivateKey(config("").EncryptionAlgorithm)
	if err != nil {
		return err
	}
	err = errors.Join(
		pkiutil.WriteKey(c.dir, "sa", key),
		c.serve(),
		c.front.client("front-proxy", "front-proxy"),
		c.ca.client("admin", "admin", "system:masters"),
		c.ca.client("controller-manager", "system:kube-controller-manager"),
		c.ca.client("scheduler", "system:kube-scheduler"),
	)
	for _, name := range []string{"admin", "controller-manager", "scheduler"} {
		file, failed := c.ca.kubeconfig(name)
		err = errors.Join(err, failed)
		if name == "admin" {
			c.kubeconfig = file
		}
	}
	if err != nil {
		return err
	}
	if c.admin, err = clientcmd.BuildConfigFromFlags("", c.kubeconfig); err != nil {
		return err
	}
	c.admin.QPS, c.admin.Burst, c.admin.WarningHandler = 500, 1000, rest.NoWarnings{} // old kinds are listed too
	if c.api, err = kubernetes.NewForConfig(c.admin); err != nil {
		return err
	}
	if c.objects, err = dynamic.NewForConfig(c.admin); err != nil {
		return err
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.api.Discovery()))
	return nil
}

// serve writes a new certificate of the API server.
func (c *cluster) serve() error {
	return c.ca.server("apiserver", []net.IP{net.ParseIP(address), net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)},
		"kubernetes", "kubernetes.default", "kubernetes.default.svc")
}

// launch starts the programs, each when what it needs is ready.
func (c *cluster) launch(ctx context.Context) error {
	in := func(name string) string { return filepath.Join(c.dir, name) }
	if err := c.run("etcd", "--data-dir", in("etcd"), "--unsafe-no-fsync", "--log-level", "warn"); err != nil {
		return err
	}
	if err := c.run("kube-apiserver", "--etcd-servers", "http://127.0.0.1:2379",
		"--advertise-address", address, "--secure-port", "6443",
		"--service-cluster-ip-range", "10.96.0.0/16", "--authorization-mode", "Node,RBAC", "--allow-privileged",
		"--tls-cert-file", in("apiserver.crt"), "--tls-private-key-file", in("apiserver.key"),
		"--client-ca-file", c.ca.file(), "--service-account-issuer", "https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file", in("sa.key"), "--service-account-signing-key-file", in("sa.key"),
		"--enable-aggregator-routing", "--requestheader-client-ca-file", c.front.file(),
		"--requestheader-allowed-names", "front-proxy", "--requestheader-username-headers", "X-Remote-User",
		"--requestheader-group-headers", "X-Remote-Group", "--requestheader-extra-headers-prefix", "X-Remote-Extra-",
		"--proxy-client-cert-file", in("front-proxy.crt"), "--proxy-client-key-file", in("front-proxy.key"),
	); err != nil {
		return err
	}
	if err := c.await(ctx, "the API server", func(ctx context.Context) error {
		return c.api.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}); err != nil {
		return err
	}
	if err := c.run("kube-controller-manager", "--kubeconfig", in("controller-manager.conf"), "--leader-elect=false",
		"--service-account-private-key-file", in("sa.key"), "--root-ca-file", c.ca.file(),
		"--use-service-account-credentials", "--bind-address", "127.0.0.1",
		"--horizontal-pod-autoscaler-sync-period", "1s", "--horizontal-pod-autoscaler-cpu-initialization-period", "0",
		"--horizontal-pod-autoscaler-initial-readiness-delay", "0",
	); err != nil {
		return err
	}
	return c.run("kube-scheduler", "--kubeconfig", in("scheduler.conf"), "--leader-elect=false",
		"--bind-address", "127.0.0.1")
}

// pretend lets kwok play three nodes, in three zones.
func (c *cluster) pretend(ctx context.Context) error {
	in := func(name string) string { return filepath.Join(c.dir, name) }
	stages := strings.Join([]string{
		node.DefaultNodeInit, lease.DefaultNodeHeartbeatWithLease,
		pod.DefaultPodReady, pod.DefaultPodComplete, pod.DefaultPodDelete,
	}, "\n---\n")
	if err := os.WriteFile(in("stages.yaml"), []byte(stages), 0o600); err != nil {
		return err
	}
	if err := c.run("kwok", "--kubeconfig", c.kubeconfig, "--config", in("stages.yaml"), "--manage-all-nodes",
		"--node-ip", address, "--cidr", "10.244.0.1/16", "--server-address", "127.0.0.1:10247",
		"--node-lease-duration-seconds", "40"); err != nil {
		return err
	}
	room := corev1.ResourceList{
		"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi"), "pods": resource.MustParse("200"),
	}
	names := []string{"node-a", "node-b", "node-c"}
	for _, name := range names {
		_, err := c.api.CoreV1().Nodes().Create(ctx, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "zone-" + name[5:], "pool": "api",
			}},
			Status: corev1.NodeStatus{Capacity: room, Allocatable: room},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return c.ready(ctx, len(names))
}

// ready waits until so many nodes take pods.
func (c *cluster) ready(ctx context.Context, want int) error {
	return c.await(ctx, "the nodes", func(ctx context.Context) error {
		nodes, err := c.api.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(nodes.Items) != want {
			return fmt.Errorf("%d nodes are registered, want %d", len(nodes.Items), want)
		}
		for _, n := range nodes.Items {
			ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			})
			if !ready || len(n.Spec.Taints) > 0 {
				return fmt.Errorf("node %s is ready: %v, taints: %v", n.Name, ready, n.Spec.Taints)
			}
		}
		return nil
	})
}

// run starts a program that was built.
func (c *cluster) run(name string, args ...string) error {
	return c.start(name, filepath.Join(c.bin, name), args...)
}

// start starts a program.
func (c *cluster) start(name, path string, args ...string) error {
	p := &program{name: name, log: filepath.Join(c.dir, name+".log"), ended: make(chan struct{})}
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = c.dir, file, file
	p.cmd.Env = append(os.Environ(), "HOME="+c.dir)
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // await says which program ended
	}()
	c.programs = append(c.programs, p)
	return nil
}

// restart ends a program and starts it again.
func (c *cluster) restart(name string) error {
	i := slices.IndexFunc(c.programs, func(p *program) bool { return p.name == name })
	p := c.programs[i]
	p.end()
	c.programs = slices.Delete(c.programs, i, i+1)
	return c.start(name, p.cmd.Args[0], p.cmd.Args[1:]...)
}

// end ends a program.
func (p *program) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(2 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// await waits until done returns nil. It fails at once when a program ended.
func (c *cluster) await(ctx context.Context, what string, done func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error
	err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		for _, p := range c.programs {
			select {
			case <-p.ended:
				return false, fmt.Errorf("%s ended: %v", p.name, p.cmd.ProcessState)
			default:
			}
		}
		last = done(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waited for %s: %w: %w", what, err, errors.Join(last))
	}
	return nil
}

// stop ends the programs, the last one first.
func (c *cluster) stop() {
	for _, p := range slices.Backward(c.programs) {
		p.end()
	}
}

// logs are the last lines of each program.
func (c *cluster) logs() string {
	var all strings.Builder
	for _, p := range c.programs {
		text, _ := os.ReadFile(p.log)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&all, "\n%s:\n%s", p.name, strings.Join(lines[max(len(lines)-20, 0):], "\n"))
	}
	return all.String()
}
