package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var image = flag.String("image", "", "folder with the binaries of the image")

// TestImage runs the binaries of the image as the containers of docker-compose.yml do: as a user without rights, in a
// read-only file system with nothing else in it but a /tmp from which nothing can be executed.
func TestImage(t *testing.T) {
	if *image == "" {
		t.Skip("this is part of make image, which builds the binaries as the image has them")
	}
	made := build(t)
	dir := filepath.Dir(t.TempDir()) // it has all folders of this test
	made.matchmaker, made.instances = jail(t, dir, filepath.Join(*image, "matchmaker")), nil
	s := newServices(t, made, func(t *testing.T, s *system, log *slog.Logger) string {
		settings, err := os.ReadFile("../../deploy/settings.yaml")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(file, settings, 0o600); err != nil {
			t.Fatal(err)
		}
		s.settings = file
		return startBalancer(t, s, log)
	})
	t.Run("live-server", func(t *testing.T) { liveServer(t, s.project(t)) })
	t.Run("trap", func(t *testing.T) { trap(t, s.project(t)) })
	t.Run("health", func(t *testing.T) {
		for path, want := range map[string]int{"/readyz": 0, "/nothing": 1} {
			cmd := exec.CommandContext(t.Context(), made.matchmaker, "health", "http://"+s.address("ticket-1")+path)
			said, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != want {
				t.Errorf("health of %s: exit code %d, %v, want %d\n%s", path, code, err, want, said)
			}
		}
	})
	t.Run("held", func(t *testing.T) {
		if !mayMount(t) {
			return // jail has logged why
		}
		for _, name := range s.names() {
			checkConfinement(t, s.replica(name).PID())
		}
	})
	t.Run("drain", func(t *testing.T) {
		p := s.project(t)
		p.upload(t, "duel", p.s.made.duel)
		p.ranked(t, "ranked", 0)
		drain(t, p, p.ticket(t, "ada", attributes{"skill": 1200}))
	})
}

// jail writes a program that runs a binary as a container does. The folder dir is the same inside.
func jail(t *testing.T, dir, binary string) string {
	t.Helper()
	if !mayMount(t) {
		t.Log("WARNING: this user must not mount file systems: the image's binaries run without a container's limits")
		return binary
	}
	place, err := os.MkdirTemp("", "jail-") // it must not be in dir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(place) })
	root := filepath.Join(place, "root")
	for _, folder := range []string{"usr/local/bin", "proc", "tmp", "dev"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	devices := "null zero random urandom" // every container has them
	for device := range strings.FieldsSeq(devices) {
		if err := os.WriteFile(filepath.Join(root, "dev", device), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "usr/local/bin/matchmaker"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
set -e
[ "$1" = inside ] || exec unshare --mount "$0" inside "$@"
shift
mount --bind %[1]s %[1]s
mount -o remount,bind,ro,nosuid,nodev %[1]s
mount --rbind /proc %[1]s/proc
for device in %[3]s; do mount --bind /dev/$device %[1]s/dev/$device; done
mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 tmpfs %[1]s/tmp
mkdir -p %[1]s%[2]s
chmod 755 %[1]s%[2]s
mount --bind %[2]s %[1]s%[2]s
mount -o remount,bind,noexec,nosuid,nodev %[1]s%[2]s
chown -R 65532:65532 %[2]s
exec env -u TMPDIR setpriv --no-new-privs chroot --userspec=65532:65532 --groups= %[1]s /usr/local/bin/matchmaker "$@"
`, root, dir, devices)
	path := filepath.Join(place, "matchmaker")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// mayMount reports whether this user may mount file systems.
func mayMount(t *testing.T) bool {
	t.Helper()
	return os.Getuid() == 0 && exec.CommandContext(t.Context(), "unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs",
		t.TempDir()).Run() == nil
}

// checkConfinement: a process has no rights, and its root is the jail's.
func checkConfinement(t *testing.T, pid int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nUid:\t65532\t65532\t65532\t65532\n", "\nCapEff:\t0000000000000000\n",
		"\nNoNewPrivs:\t1\n"} {
		if !bytes.Contains(status, []byte(want)) {
			t.Errorf("process %d is not confined, want%s:\n%s", pid, want, status)
		}
	}
	inside, err := os.ReadDir(fmt.Sprintf("/proc/%d/root/usr/local/bin", pid))
	if err != nil || len(inside) != 1 {
		t.Errorf("process %d sees %v, %v", pid, inside, err)
	}
}
