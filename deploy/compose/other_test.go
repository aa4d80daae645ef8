package compose

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// other is an image of another project, which is made of its program.
type other struct {
	image string // as docker-compose.yml names it
	program
	manifest string   // of the collector that the program, a builder, builds; "" for other programs
	changes  []string // lines of a Dockerfile
}

// Prometheus's module has a version for each of its own.
const prometheusModule, prometheusVersion = "github.com/prometheus/prometheus", "v0.307.3"

// others are images whose programs can be built. Their versions are the images' versions, or the newest patch of them.
// Redis is Debian's. Grafana's server is no Go module alone: its pages are built by another toolchain.
var others = map[string]other{
	"caddy": {
		image: "caddy:2.11.9-alpine", program: program{"github.com/caddyserver/caddy/v2", "v2.11.9", "cmd/caddy"},
		changes: []string{`CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]`,
			"ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config"},
	},
	"nats-server": {
		image: "nats:2.12-alpine", program: program{"github.com/nats-io/nats-server/v2", "v2.12.15", "."},
		changes: []string{`ENTRYPOINT ["nats-server"]`},
	},
	"prometheus": {
		image: "prom/prometheus:v3.7.3", program: program{prometheusModule, prometheusVersion, "cmd/prometheus"},
		changes: []string{`ENTRYPOINT ["prometheus"]`, "USER 65534", "WORKDIR /prometheus"},
	},
	"otelcol": {
		image:    "otel/opentelemetry-collector:0.138.0",
		program:  program{"go.opentelemetry.io/collector/cmd/builder", "v0.138.0", "."},
		manifest: "collector.yaml",
		changes:  []string{`ENTRYPOINT ["otelcol"]`, "USER 10001"},
	},
	"jaeger": { // whose 2.11.0 is the module's 1.74.0
		image: "jaegertracing/jaeger:2.11.0", program: program{"github.com/jaegertracing/jaeger", "v1.74.0", "cmd/jaeger"},
		changes: []string{`ENTRYPOINT ["jaeger"]`, "USER 10001", "ENV JAEGER_LISTEN_HOST=0.0.0.0"},
	},
}

// binary builds the program of the image, unless it was built before.
func (o other) binary(ctx context.Context, t *testing.T) string {
	t.Helper()
	built := o.build(ctx, t, "")
	if o.manifest == "" {
		return built
	}
	manifest, err := os.ReadFile(o.manifest)
	if err != nil {
		t.Fatal(err)
	}
	file := built + "-otelcol"
	if made, err := os.ReadFile(file + ".yaml"); err == nil && string(made) == string(manifest) {
		return file
	}
	step(t, "build the collector of "+o.manifest, func(t *testing.T) {
		source := t.TempDir()
		placed := strings.Replace(string(manifest), "dist: {", "dist: { output_path: "+source+",", 1)
		config := filepath.Join(t.TempDir(), o.manifest)
		if err := os.WriteFile(config, []byte(placed), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, line := range [][]string{
			{built, "--config", config, "--skip-compilation"},
			{"go", "build", "-C", source, "-trimpath", "-ldflags=-s -w", "-o", file, "."},
		} {
			cmd := exec.CommandContext(ctx, line[0], line[1:]...)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=mod")
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", line, err, tail(string(said)))
			}
		}
		if err := os.WriteFile(file+".yaml", manifest, 0o644); err != nil {
			t.Fatal(err)
		}
	})
	return file
}

// thirdParty makes the images of programs of others.
func (e *engine) thirdParty(ctx context.Context, t *testing.T, binaries map[string]string) {
	t.Helper()
	e.image(ctx, t, "redis:7.4", func(r root) error {
		return errors.Join(r.installed(ctx, "redis-server"), r.installed(ctx, "redis-cli"), r.folder("/data", 0o755),
			r.folder("/tmp", 0o1777), r.shell())
		// As the image of its makers, it serves others than its own machine.
	}, "WORKDIR /data", "VOLUME /data", "ENV PATH=/usr/bin:/bin",
		`ENTRYPOINT ["sh", "-c", "exec \"$@\" --protected-mode no", "--"]`)
	for name, other := range others {
		e.image(ctx, t, other.image, func(r root) error {
			return errors.Join(r.shell(), r.file(binaries[name], filepath.Join("/usr/bin", name)),
				r.folder("/data", 0o755), r.folder("/config", 0o755), r.folder("/tmp", 0o1777),
				r.owned("/prometheus", 65534))
		}, append(other.changes, "ENV PATH=/usr/bin:/bin")...)
	}
}
