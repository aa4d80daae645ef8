package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// machine is a real node: a network, and in it containerd, a kubelet, kube-proxy, and kube-router, which enforces
// network policies.
type machine struct {
	name, address, pods string
	apart               bool // its network is not the control plane's
}

var machines = []machine{
	{name: "node-a", address: address, pods: "10.244.0.0/24"},
	{name: "node-b", address: "192.0.2.2", pods: "10.244.1.0/24", apart: true},
}

// links joins the networks of the two nodes.
const links = `ip netns add node-b
ip link add to-b type veth peer name to-a netns node-b
ip link set to-b up
ip route add 192.0.2.2 dev to-b src 192.0.2.1
ip route add 10.244.1.0/24 via 192.0.2.2 dev to-b src 192.0.2.1
ip -n node-b link set lo up
ip -n node-b address add 192.0.2.2/32 dev to-a
ip -n node-b link set to-a up
ip -n node-b route add 192.0.2.1 dev to-a src 192.0.2.2
ip -n node-b route add default via 192.0.2.1 dev to-a src 192.0.2.2`

// issuer is the address of the identity provider.
const issuer = "192.0.2.3"

// filters lets a node send packets on, and look also at those that stay on its bridge.
const filters = `echo 1 >/proc/sys/net/ipv4/ip_forward && echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables`

// command runs in the network of the node.
func (m *machine) command(name string, args ...string) []string {
	all := append([]string{name}, args...)
	if m.apart { // ip netns exec would hide the cgroups
		all = append([]string{"nsenter", "--net=/run/netns/" + m.name}, all...)
	}
	return all
}

// join joins the nodes, and waits until they are ready.
func (c *cluster) join(ctx context.Context) error {
	for line := range strings.Lines(links) {
		if err := execute(ctx, strings.Fields(line)...); err != nil {
			return err
		}
	}
	for _, at := range append([]string{issuer}, homes...) {
		if err := execute(ctx, "ip", "address", "add", at+"/32", "dev", "lo"); err != nil {
			return err
		}
	}
	for _, m := range machines {
		if err := c.add(ctx, &m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	if err := c.ready(ctx, len(machines)); err != nil {
		return err
	}
	for _, m := range machines { // it looks for the node when it starts
		if err := c.on(&m, "kube-router", filepath.Join(c.bin, "kube-router"), "--kubeconfig", c.kubeconfig,
			"--hostname-override", m.name, "--run-firewall", "--run-router=false", "--run-service-proxy=false",
			"--service-cluster-ip-range", "10.96.0.0/16"); err != nil {
			return err
		}
	}
	return nil
}

// add starts the programs of a node.
func (c *cluster) add(ctx context.Context, m *machine) error {
	dir := filepath.Join(c.dir, m.name)
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := execute(ctx, m.command("sh", "-c", filters)...); err != nil {
		return err
	}
	if err := c.ca.client(m.name, "system:node:"+m.name, "system:nodes"); err != nil {
		return err
	}
	kubeconfig, err := c.ca.kubeconfig(m.name)
	if err != nil {
		return err
	}
	settings, err := c.kubelet(m, in)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"resolv.conf": "nameserver " + address + "\n", "kubelet.json": settings,
		"containerd.toml": fmt.Sprintf(`version = 2
root = %q
state = %q
[grpc]
  address = %q
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  # A root without CAP_SYS_RESOURCE, as in some virtual machines, may not make itself less likely to be killed.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %q
`, in("containerd"), in("state"), in("sock"), tinyImage, in("cni")),
		"cni/10-bridge.conflist": fmt.Sprintf(`{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true, "ipam": {"type": "host-local",
   "dataDir": %q, "ranges": [[{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}]}}
]}`, in("addresses"), m.pods),
	} {
		if err := os.MkdirAll(filepath.Dir(in(name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := c.on(m, "containerd", "containerd", "--config", in("containerd.toml")); err != nil {
		return err
	}
	ctr := func(ctx context.Context, args ...string) error {
		return execute(ctx, append([]string{"ctr", "--address", in("sock"), "--namespace", "k8s.io"}, args...)...)
	}
	if err := c.await(ctx, "containerd", func(ctx context.Context) error { return ctr(ctx, "version") }); err != nil {
		return err
	}
	for _, name := range []string{"tiny.tar", "main.tar", "dns.tar"} {
		if err := ctr(ctx, "images", "import", filepath.Join(c.dir, name)); err != nil {
			return err
		}
	}
	for _, line := range [][]string{
		{"kubelet", "--config", in("kubelet.json"), "--kubeconfig", kubeconfig, "--root-dir", in("data"),
			"--cert-dir", in("pki"), "--hostname-override", m.name, "--node-ip", m.address, "--v", "2"},
		{"kube-proxy", "--kubeconfig", c.kubeconfig, "--proxy-mode", "iptables", "--cluster-cidr", "10.244.0.0/16",
			"--hostname-override", m.name, "--conntrack-max-per-core", "0", "--conntrack-min", "0",
			"--conntrack-tcp-timeout-established", "0", "--conntrack-tcp-timeout-close-wait", "0"},
	} {
		if err := c.on(m, line[0], filepath.Join(c.bin, line[0]), line[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// kubelet is the configuration of a node's kubelet.
func (c *cluster) kubelet(m *machine, in func(string) string) (string, error) {
	settings, err := json.Marshal(map[string]any{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"failCgroupV1": false, "cgroupDriver": "cgroupfs", "cgroupRoot": "/" + group(c.dir) + "/" + m.name,
		"containerRuntimeEndpoint": "unix://" + in("sock"), "failSwapOn": false, "podPidsLimit": pidsLimit,
		"authentication": map[string]any{"anonymous": map[string]any{"enabled": false},
			"webhook": map[string]any{"enabled": false}, "x509": map[string]any{"clientCAFile": c.ca.file()}},
		"authorization": map[string]any{"mode": "AlwaysAllow"}, "address": m.address, "clusterDomain": "cluster.local",
		"clusterDNS": []string{"10.96.0.10"}, // as dns.yaml has it
		"resolvConf": in("resolv.conf"), "podLogsDir": in("pods"), "volumePluginDir": in("plugins"),
		"evictionHard":                map[string]any{"memory.available": "50Mi"},
		"imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
	})
	return string(settings), err
}

// on starts a program of a node.
func (c *cluster) on(m *machine, name, path string, args ...string) error {
	line := m.command(path, args...)
	return c.start(name+" of "+m.name, line[0], line[1:]...)
}

// execute runs a command.
func execute(ctx context.Context, line ...string) error {
	if out, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, out)
	}
	return nil
}
