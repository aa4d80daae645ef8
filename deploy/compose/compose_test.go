package compose

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

var tools = flag.String("tools", "", "folder that keeps the programs of others that go into images")

// suite is the binary of the contract suite, in the copy of the repository.
const suite = "bin/contract.test"

// dockerCompose is what runs the file.
var dockerCompose = program{"github.com/docker/compose/v2", "v2.40.3", "cmd"}

// TestCompose runs docker-compose.yml as the README says.
func TestCompose(t *testing.T) {
	if *tools == "" {
		t.Skip("this is part of make compose, which starts a container engine")
	}
	ctx := bounded(t)
	source := checkout(ctx, t)
	step(t, "make build", func(t *testing.T) { work(ctx, t, source, "make", "build") })
	step(t, "build the contract suite", func(t *testing.T) {
		work(ctx, t, source, "go", "test", "-c", "-o", suite, "./test/contract")
	})
	binaries := map[string]string{}
	for name, other := range others {
		binaries[name] = other.binary(ctx, t)
	}
	plugin := dockerCompose.build(ctx, t, "-X github.com/docker/compose/v2/internal.Version="+dockerCompose.version)
	e := start(ctx, t)
	e.link(t, plugin)
	e.bases(ctx, t, source)
	step(t, "image matchmaker, as its Dockerfile says", func(t *testing.T) {
		e.must(ctx, t, source, "docker", "build", "--file", "deploy/Dockerfile", "--tag", "matchmaker",
			"--build-arg", "VERSION=v1.2.3-compose", ".")
		said := e.must(ctx, t, "", "docker", "run", "--rm", "matchmaker", "--version")
		if strings.TrimSpace(said) != "v1.2.3-compose" {
			t.Errorf("the image says that it is %s", said)
		}
	})
	e.thirdParty(ctx, t, binaries)
	step(t, "keys", func(t *testing.T) {
		e.makeKeys(ctx, t, source)
		hosting := filepath.Join(e.folder, "hosting-keys")
		work(ctx, t, source, "bin/matchmaker", "keys", "hosting", hosting)
		if err := os.Chown(hosting, 65532, 65532); err != nil {
			t.Fatal(err)
		}
	})
	s := &system{engine: e, source: source, services: e.runnable(ctx, t, source)}
	defer func() {
		if t.Failed() {
			said, _ := e.run(ctx, source, "docker", append(composed, "logs", "--no-color", "--tail", "40")...)
			t.Log(said)
		}
	}()
	step(t, "docker compose up", func(t *testing.T) {
		up := []string{"up", "--no-build", "--pull", "never", "--detach", "--wait", "--wait-timeout", "300"}
		s.compose(ctx, t, append(up, s.services...)...)
	})
	step(t, "quick start", func(t *testing.T) { s.quickStart(ctx, t) })
	part(t, "restart and kill", func(t *testing.T) { s.disturb(ctx, t) })
	part(t, "contract", func(t *testing.T) { s.contract(ctx, t) })
	part(t, "traces", func(t *testing.T) { s.monitor(ctx, t).traces(ctx, t) })
	part(t, "backup and restore", func(t *testing.T) { s.restore(ctx, t) })
	part(t, "alerts", func(t *testing.T) { s.monitor(ctx, t).alerts(ctx, t) })
	part(t, "dashboards", func(t *testing.T) { s.monitor(ctx, t).dashboards(ctx, t) })
	part(t, "stop", func(t *testing.T) { s.stop(ctx, t) })
}

// system is what docker-compose.yml describes, or what of it can be run here.
type system struct {
	engine   *engine
	source   string
	services []string
}

// composed begins every command of docker compose, as deploy/README.md has it.
var composed = []string{"compose", "--env-file", "deploy/development.env", "--profile", "monitoring"}

func (s *system) compose(ctx context.Context, t *testing.T, arguments ...string) string {
	t.Helper()
	return s.engine.must(ctx, t, s.source, "docker", append(slices.Clone(composed), arguments...)...)
}

// checkout copies what git knows of the repository, changes included, to a folder of its own.
func checkout(ctx context.Context, t *testing.T) string {
	t.Helper()
	listed, err := exec.CommandContext(ctx, "git", "-C", "../..", "ls-files", "-z", "--cached", "--others",
		"--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimRight(string(listed), "\x00"), "\x00") {
		from := filepath.Join("../..", name)
		info, err := os.Stat(from)
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), content, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	// Containers run as another user, which must reach the files that are mounted.
	for folder := to; folder != os.TempDir(); folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// outside is the environment of commands that work in the copy.
func outside() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GOWORK=") || strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") ||
			strings.HasPrefix(v, "MM_")
	})
}

// work runs a command in the copy.
func work(ctx context.Context, t *testing.T, source, name string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir, cmd.Env = source, outside()
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, tail(string(said)))
	}
}

// link gives the client its plug-in.
func (e *engine) link(t *testing.T, plugin string) {
	t.Helper()
	folder := filepath.Join(e.folder, "client", "cli-plugins")
	err := errors.Join(os.MkdirAll(folder, 0o755), os.Symlink(plugin, filepath.Join(folder, "docker-compose")))
	if err != nil {
		t.Fatal(err)
	}
}

// runnable are the services whose images there are, and says which others there are.
func (e *engine) runnable(ctx context.Context, t *testing.T, source string) (services []string) {
	t.Helper()
	said := e.must(ctx, t, source, "docker", append(slices.Clone(composed), "config", "--format", "json")...)
	var missing []string
	for name, image := range images(t, said) {
		if _, err := e.run(ctx, "", "docker", "image", "inspect", image); err == nil {
			services = append(services, name)
		} else {
			missing = append(missing, name+" ("+image+")")
		}
	}
	slices.Sort(services)
	slices.Sort(missing)
	t.Logf("runs: %s", strings.Join(services, ", "))
	t.Logf("NOT run, because nothing here makes their images: %s", strings.Join(missing, ", "))
	for _, must := range []string{
		"allocator", "backfill", "collector", "config", "director", "gateway", "nats", "party", "prometheus", "redis",
		"registry", "runner", "ticket", "traces",
	} {
		if !slices.Contains(services, must) {
			t.Fatalf("%s has no image", must)
		}
	}
	return services
}

// makeKeys makes the development keys in .matchmaker, as the README says: it starts a dev, where the gateway will be,
// and ends it.
func (e *engine) makeKeys(ctx context.Context, t *testing.T, source string) {
	t.Helper()
	cmd := e.command(ctx, source, "nsenter", "--net="+e.namespace(), "--", "bin/matchmaker", "dev")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, patience, "the keys are there, and mm knows where to ask", func(context.Context) error {
		_, keys := os.Stat(filepath.Join(source, ".matchmaker", "jwks.json"))
		_, url := os.Stat(filepath.Join(source, ".matchmaker", "url"))
		return errors.Join(keys, url)
	})
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
}

// quickStart runs the commands of deploy/README.md and of the README's quick start. Both players of a match get the
// connection in deploy/settings.yaml.
func (s *system) quickStart(ctx context.Context, t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(s.source, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(readme), "\n## Quick start\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)```\n").FindAllStringSubmatch(chapter, -1) {
		// What `make sdk` packs is not in the copy.
		if block[1] != "make dev\n" && !strings.Contains(block[1], "npm install") {
			script.WriteString(block[1])
		}
	}
	said, err := s.engine.inside(ctx, s.source, "bash", "-euo", "pipefail", "-c", script.String())
	if err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`(?m)^connection +(\S+)$`).FindAllStringSubmatch(said, -1)
	waits := regexp.MustCompile(`--player [a-z]+ .*--wait`).FindAllString(script.String(), -1)
	if len(waits) < 2 || len(got) != len(waits) {
		t.Errorf("%d players have a connection, want one for each of %q:\n%s", len(got), waits, said)
	}
	for _, c := range got {
		if c[1] != "127.0.0.1:7777" {
			t.Errorf("a player is sent to %s", c[1])
		}
	}
}

// contract runs the contract suite, as make contract does, through the gateway.
func (s *system) contract(ctx context.Context, t *testing.T) {
	said, err := s.engine.inside(ctx, filepath.Join(s.source, "test", "contract"),
		filepath.Join(s.source, suite), "-test.v",
		"-test.run", "^TestContract$", "-url", "http://127.0.0.1:8080", "-data", filepath.Join(s.source, ".matchmaker"),
		"-project", "contract")
	if err != nil {
		t.Fatal(err)
	}
	if passed := strings.Count(said, "--- PASS"); passed < 20 {
		t.Errorf("the suite passed %d tests only:\n%s", passed, tail(said))
	} else {
		t.Logf("%d passed, %d skipped", passed, strings.Count(said, "--- SKIP"))
	}
}

// stop ends all containers in good order: each service exits with 0 within its time.
func (s *system) stop(ctx context.Context, t *testing.T) {
	s.compose(ctx, t, "stop")
	for _, service := range s.services {
		text := s.engine.must(ctx, t, "", "docker", "inspect", "--format", "{{.State.ExitCode}} {{.State.OOMKilled}}",
			"matchmaker-"+service+"-1")
		// NATS ends with 1 when it is asked to end.
		if want := "0 false"; strings.TrimSpace(text) != want && service != "nats" {
			t.Errorf("%s ended with %s, want %s", service, strings.TrimSpace(text), want)
		}
	}
	s.compose(ctx, t, "down", "--volumes")
	if left := s.engine.must(ctx, t, "", "docker", "ps", "--all", "--quiet"); left != "" {
		t.Errorf("containers that are left: %s", left)
	}
}
