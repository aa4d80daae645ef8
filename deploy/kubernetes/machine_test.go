package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// The images of TestNode. localhost is no registry: what is not imported is not there.
const (
	tinyImage = "localhost/tiny:1"
	mainImage = "localhost/matchmaker:test"
	dnsImage  = "localhost/coredns:test"
)

// pidsLimit is the kubelet's podPidsLimit.
const pidsLimit = 1024

// hierarchies is where the kernel shows cgroups.
const hierarchies = "/sys/fs/cgroup"

// group is the cgroup of a run, in which all pods are.
func group(dir string) string { return filepath.Base(dir) }

// arrange makes the images, and the cgroup.
func arrange(ctx context.Context, dir string) error {
	began := time.Now()
	// As the Dockerfile builds them, without libraries.
	for _, line := range [][]string{
		{".", "GOWORK=off", "./tiny"}, {"../..", "GOWORK=", "./services/cmd/matchmaker", "./services/cmd/mm"},
	} {
		arguments := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", dir + "/"}, line[2:]...)
		cmd := exec.CommandContext(ctx, "go", arguments...)
		cmd.Dir, cmd.Env = line[0], append(os.Environ(), line[1], "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %v: %w: %s", line[2:], err, out)
		}
	}
	tiny := picture{name: tinyImage, entrypoint: []string{"/tiny"}, user: "65532:65532",
		files: []copied{{to: "tiny", from: filepath.Join(dir, "tiny"), mode: 0o755}, {to: "proc", mode: 0o755}}}
	// As the Dockerfile has it.
	whole := picture{name: mainImage, entrypoint: []string{"/usr/local/bin/matchmaker"}, user: "65532:65532",
		files: []copied{
			{to: "etc/passwd", text: "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n", mode: 0o644},
			{to: "etc/group", text: "nonroot:x:65532:\n", mode: 0o644},
			{to: "etc/ssl/certs/ca-certificates.crt", from: "/etc/ssl/certs/ca-certificates.crt", mode: 0o644},
			{to: "tmp", mode: 0o1777},
			{to: "usr/local/bin/matchmaker", from: filepath.Join(dir, "matchmaker"), mode: 0o755},
			{to: "usr/local/bin/mm", from: filepath.Join(dir, "mm"), mode: 0o755},
		}}
	dns := picture{name: dnsImage, entrypoint: []string{"/coredns"}, user: "0:0", // for port 53
		files: []copied{{to: "coredns", from: filepath.Join(*binaries, "coredns"), mode: 0o755}}}
	for name, p := range map[string]picture{"tiny.tar": tiny, "main.tar": whole, "dns.tar": dns} {
		if err := p.write(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	fmt.Printf("three images are made after %.1f s\n", time.Since(began).Seconds())
	mounted, err := os.ReadDir(hierarchies)
	if err != nil {
		return err
	}
	for _, m := range mounted { // one hierarchy for each controller, or one for all
		if _, err := os.Stat(filepath.Join(hierarchies, m.Name(), "cgroup.procs")); err != nil || !m.IsDir() {
			continue
		}
		for _, below := range []string{"", machines[0].name, machines[1].name} {
			at := filepath.Join(hierarchies, m.Name(), group(dir), below)
			if err := os.Mkdir(at, 0o755); err != nil {
				return err
			}
			for _, name := range []string{"cpuset.cpus", "cpuset.mems"} { // empty ones take no process
				value, err := os.ReadFile(filepath.Join(hierarchies, m.Name(), name))
				if err == nil && m.Name() == "cpuset" {
					err = os.WriteFile(filepath.Join(at, name), value, 0o600)
				}
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
	}
	return nil
}

// sweep removes the cgroups of a run. Its processes have ended: they were in its PID namespace.
func sweep(dir string) error {
	roots, err := filepath.Glob(filepath.Join(hierarchies, "*", group(dir)))
	if err != nil {
		return err
	}
	for _, root := range roots {
		var all []string
		err = errors.Join(err, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				all = append(all, path)
			}
			return err
		}))
		for _, path := range slices.Backward(all) {
			var failed error
			// The kernel may still be about to end the last processes.
			late := wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, 5*time.Second, true,
				func(context.Context) (bool, error) {
					failed = unix.Rmdir(path)
					return !errors.Is(failed, unix.EBUSY), nil
				})
			if failed = errors.Join(failed, late); failed != nil {
				err = errors.Join(err, fmt.Errorf("remove the cgroup %s: %w", path, failed))
			}
		}
	}
	return err
}

// wanted are the settings of the kernel that a kubelet changes for the whole machine.
var wanted = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}

// hide gives this mount namespace folders of its own where containerd, CNI and the kubelet write, and shows the kubelet
// the kernel's settings as it wants them, so that it changes none.
func hide(dir string) error {
	for _, path := range []string{"/run", "/var/lib", "/var/log"} {
		if err := unix.Mount("tmpfs", path, "tmpfs", 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", path, err)
		}
	}
	for name, value := range wanted {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
			return err
		}
		if err := unix.Mount(file, filepath.Join("/proc/sys", name), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s: %w", name, err)
		}
	}
	return nil
}

// said are the last lines of each container.
func (c *cluster) said() string {
	files, _ := filepath.Glob(filepath.Join(c.dir, "node-*", "pods", "*", "*", "*.log"))
	var all strings.Builder
	for _, file := range files {
		text, _ := os.ReadFile(file)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&all, "\n%s:\n%s", file, strings.Join(lines[max(len(lines)-6, 0):], "\n"))
	}
	return all.String()
}

// cgroup is the folder of a pod's first process of a program in the hierarchy of a controller, and that process.
func cgroup(dir, controller, uid, program string) (string, int, error) {
	var found string
	var process int
	root := filepath.Join(hierarchies, controller, group(dir))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || !strings.Contains(path, uid) {
			return err
		}
		text, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return err
		}
		for line := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(line)
			if err != nil {
				return err
			}
			name, err := os.Readlink(filepath.Join("/proc", line, "exe"))
			if err == nil && filepath.Base(name) == program && (process == 0 || pid < process) {
				found, process = path, pid
			}
		}
		return nil
	})
	if err == nil && found == "" {
		err = fmt.Errorf("no process of the pod %s in %s", uid, root)
	}
	return found, process, err
}
