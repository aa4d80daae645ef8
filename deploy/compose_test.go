package deploy

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"sigs.k8s.io/yaml"
)

// compose reads docker-compose.yml as `docker compose --env-file deploy/development.env --profile monitoring --profile console` does.
func compose(t *testing.T) *types.Project {
	t.Helper()
	environment, err := dotenv.Read("development.env")
	if err != nil {
		t.Fatal(err)
	}
	project, err := readCompose(t, environment)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func readCompose(t *testing.T, environment types.Mapping) (*types.Project, error) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  root,
		ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(root, "docker-compose.yml")}},
		Environment: environment,
	}, loader.WithProfiles([]string{monitoring, "console"}))
}

// TestComposeTrustsNobodyByDefault: the user of the file must say whose tokens are trusted.
func TestComposeTrustsNobodyByDefault(t *testing.T) {
	if _, err := readCompose(t, types.Mapping{}); err == nil || !strings.Contains(err.Error(), "ISSUERS") {
		t.Errorf("without ISSUERS: %v, want an error that names it", err)
	}
	project, err := readCompose(t, types.Mapping{"ISSUERS": "./mine.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range project.Services["ticket"].Volumes {
		want := map[string]string{
			"/etc/matchmaker/issuers.yaml": "mine.yaml", "/etc/matchmaker/jwks.json": "null",
			"/etc/matchmaker/settings.yaml": "settings.yaml",
		}[v.Target]
		if filepath.Base(v.Source) != want {
			t.Errorf("%s is %s, want %s", v.Target, v.Source, want)
		}
	}
}

// TestComposeGivesServicesTheirKeys: seat passes, and keys of hosting systems in configs, need files that only the user
// can name. No other service gets them.
func TestComposeGivesServicesTheirKeys(t *testing.T) {
	for _, kind := range []struct {
		variable, setting string
		services          []string
	}{
		{"SEAT_KEYS", "MATCHMAKER_SEAT_KEYS", []string{"ticket"}},
		{"HOSTING_KEYS", "MATCHMAKER_HOSTING_KEYS", []string{"allocator", "config"}},
	} {
		without, err := readCompose(t, types.Mapping{"ISSUERS": "./mine.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		with, err := readCompose(t, types.Mapping{"ISSUERS": "./mine.yaml", kind.variable: "./keys.json"})
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, name := range slices.Sorted(maps.Keys(with.Services)) {
			s := with.Services[name]
			keys := s.Environment[kind.setting]
			if keys == nil {
				continue
			}
			have = append(have, name)
			if unset := without.Services[name].Environment[kind.setting]; unset == nil || *unset != "" {
				t.Errorf("without %s, %s has the keys %v", kind.variable, name, unset)
			}
			if len(s.Secrets) != 1 {
				t.Fatalf("%s has the secrets %+v, want one", name, s.Secrets)
			}
			target := cmp.Or(s.Secrets[0].Target, s.Secrets[0].Source)
			if path.Join("/run/secrets", target) != *keys && target != *keys ||
				filepath.Base(with.Secrets[s.Secrets[0].Source].File) != "keys.json" {
				t.Errorf("%s has the keys %s and the secrets %+v of %+v", name, *keys, s.Secrets, with.Secrets)
			}
		}
		if !slices.Equal(have, kind.services) {
			t.Errorf("%v have the file of %s, want %v", have, kind.variable, kind.services)
		}
	}
	project, err := readCompose(t, types.Mapping{"ISSUERS": "./mine.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range project.Services {
		if len(s.Secrets) > 0 && !slices.Contains([]string{"ticket", "allocator", "config"}, name) {
			t.Errorf("%s has the secrets %+v", name, s.Secrets)
		}
	}
}

// monitoring is the profile of what watches the others.
const monitoring = "monitoring"

// TestComposeProfile: nothing needs what watches it, and all of that is in one profile. The console has its own.
func TestComposeProfile(t *testing.T) {
	project := compose(t)
	for _, name := range slices.Sorted(maps.Keys(project.Services)) {
		s := project.Services[name]
		watches := slices.Contains([]string{"collector", "traces", "prometheus", "grafana"}, name)
		var want []string
		switch {
		case watches:
			want = []string{monitoring}
		case name == "console":
			want = []string{"console"}
		}
		if !slices.Equal(s.Profiles, want) {
			t.Errorf("%s has the profiles %v", name, s.Profiles)
		}
		for other := range s.DependsOn {
			if !watches && len(project.Services[other].Profiles) > 0 {
				t.Errorf("%s needs %s, which watches it", name, other)
			}
		}
	}
}

// mute are services whose images have no program for a health check.
var mute = []string{"collector", "traces"}

func TestCompose(t *testing.T) {
	project := compose(t)
	for _, name := range slices.Concat(services(t),
		[]string{"gateway", "console", "redis", "nats", "collector", "traces", "prometheus", "grafana"}) {
		if _, ok := project.Services[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	if len(project.Networks) != 1 {
		t.Errorf("%d networks, want one", len(project.Networks))
	}
	secret := regexp.MustCompile(`(?i)(password|secret|token|api_?key)`)
	for _, name := range slices.Sorted(maps.Keys(project.Services)) {
		s := project.Services[name]
		if s.Restart != types.RestartPolicyUnlessStopped {
			t.Errorf("%s is not restarted: %q", name, s.Restart)
		}
		if (s.HealthCheck == nil) != slices.Contains(mute, name) {
			t.Errorf("%s: health check %+v", name, s.HealthCheck)
		}
		if s.Deploy == nil || s.Deploy.Resources.Limits == nil || s.Deploy.Resources.Limits.MemoryBytes == 0 ||
			s.Deploy.Resources.Limits.Pids == 0 {
			t.Errorf("%s has no limits", name)
		} else if cpus := s.Deploy.Resources.Limits.NanoCPUs.Value(); max(cpus, s.CPUS) > 1 {
			t.Errorf("%s: an engine on a machine with fewer than %v processors refuses it", name, max(cpus, s.CPUS))
		}
		// What studios upload uses the processor time that the others leave. 1,024 is the default.
		if uploads := name == "runner" || name == "registry"; uploads != (s.CPUShares > 0 && s.CPUShares < 1024) {
			t.Errorf("%s has %d shares of the processors", name, s.CPUShares)
		}
		if s.Image == "" || strings.HasSuffix(s.Image, ":latest") || (s.Build == nil && !strings.Contains(s.Image, ":")) {
			t.Errorf("%s: image %q is not pinned", name, s.Image)
		}
		for key, value := range s.Environment {
			if secret.MatchString(key) || value == nil {
				t.Errorf("%s has %s in the file", name, key)
			}
		}
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to the world", name, p.Published)
			}
		}
		if (name == "console" || slices.Contains(services(t), name)) &&
			(!s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || s.Command[0] != name || s.User == "root" || s.Privileged) {
			t.Errorf("%s may more than it needs: %+v", name, s)
		}
		for _, v := range s.Volumes {
			_, err := os.Stat(v.Source)
			if v.Type == types.VolumeTypeBind && filepath.Base(v.Source) != "jwks.json" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for other := range s.DependsOn {
			if d := s.DependsOn[other]; d.Condition == types.ServiceConditionHealthy &&
				project.Services[other].HealthCheck == nil {
				t.Errorf("%s waits until %s is healthy, which nobody asks", name, other)
			}
		}
	}
}

// TestWhatIsNamedIsThere: the files that go into containers name existing services and ports.
func TestWhatIsNamedIsThere(t *testing.T) {
	project := compose(t)
	hosts := regexp.MustCompile(`\b([a-z]+):(4317|4318|4222|6379|8080|9090|9464|16686)\b`)
	for _, file := range []string{
		"settings.yaml", "Caddyfile", "../docker-compose.yml", "observability/collector.yaml",
		"observability/grafana/datasources.yaml",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range hosts.FindAllStringSubmatch(string(text), -1) {
			if _, ok := project.Services[m[1]]; !ok {
				t.Errorf("%s names %s, which is no service", file, m[0])
			}
		}
	}
	var scraped struct {
		Scrape []struct {
			DNS []struct {
				Names []string `json:"names"`
				Port  int      `json:"port"`
			} `json:"dns_sd_configs"`
		} `json:"scrape_configs"`
	}
	text, err := os.ReadFile("observability/prometheus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &scraped); err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(slices.Values(scraped.Scrape[0].DNS[0].Names)); !slices.Equal(names, services(t)) {
		t.Errorf("Prometheus reads %v, want %v", names, services(t))
	}
	settings, err := os.ReadFile("settings.yaml")
	if err != nil || !strings.Contains(string(settings), `metrics-listen: ":9464"`) ||
		scraped.Scrape[0].DNS[0].Port != 9464 {
		t.Errorf("the services' metrics are not where Prometheus reads them: %v", err)
	}
	_ = filepath.WalkDir("observability", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var any map[string]any
		if err := yaml.UnmarshalStrict(text, &any); err != nil || len(any) == 0 {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
}

// TestGateway: the compose file uses the gateway that `make gateway` tests.
func TestGateway(t *testing.T) {
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	tested := regexp.MustCompile(`caddy/v2/cmd/caddy@v([0-9.]+)`).FindSubmatch(text)
	if tested == nil {
		t.Fatal("the Makefile does not say which gateway it tests")
	}
	if image, want := compose(t).Services["gateway"].Image, "caddy:"+string(tested[1])+"-alpine"; image != want {
		t.Errorf("the gateway is %s, and %s is what is tested", image, want)
	}
}

// TestDockerfile: BuildKit parses the Dockerfile without a warning, and the image does not run as root.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range file.Warnings {
		t.Errorf("Dockerfile: %s", w.Short)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
		t.Errorf("Dockerfile: %s: %s, %v", rule, message, at)
	}})
	stages, _, err := instructions.Parse(file.AST, lint)
	if err != nil {
		t.Fatal(err)
	}
	last := stages[len(stages)-1]
	if len(stages) != 2 || !strings.HasSuffix(last.BaseName, ":nonroot") {
		t.Errorf("the image is made of %s", last.BaseName)
	}
	for _, c := range last.Commands {
		if _, runs := c.(*instructions.RunCommand); runs {
			t.Errorf("the image has no shell, and yet %v runs in it", c)
		}
	}
	// Each module's go.mod is copied before the code: one that is forgotten breaks the build in the image alone.
	work, err := os.ReadFile("../go.work")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\./([a-z/]+)`).FindAllStringSubmatch(string(work), -1) {
		if !strings.Contains(string(text), m[1]+"/go.mod") {
			t.Errorf("the Dockerfile does not copy %s/go.mod", m[1])
		}
	}
}
