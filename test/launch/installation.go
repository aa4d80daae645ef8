package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/process"
)

// Installation is a system of many processes: one of each service, a Redis that writes its append-only file, and a NATS
// server.
type Installation struct {
	// Tokens signs the tokens that the services trust.
	Tokens *issuer.Issuer
	// Issuers is the file of the issuers that the services trust.
	Issuers string

	options InstallOptions
	dir     string
	redis   *embedded.Redis
	nats    *Server
	// services are their processes by name. There may be several of a service.
	services map[string]*service
}

// service is a process of a service.
type service struct {
	*process.Process
	args []string
	// address is where it listens, metrics where it serves its metrics.
	address, metrics string
}

// InstallOptions say what to install.
type InstallOptions struct {
	// Matchmaker is the server binary.
	Matchmaker string
	// NATS is a command of the running program that runs [NATS].
	NATS string
	// Providers puts the keys of more issuers into a folder, which the services trust besides; nil for none.
	Providers func(dir string) ([]auth.Issuer, error)
	// Arguments are more arguments of a service; nil for none.
	Arguments func(catalog.Service) []string
	// Errs gets the logs of all processes.
	Errs io.Writer
}

// Install starts all processes and returns when they are ready.
func Install(ctx context.Context, o InstallOptions) (*Installation, error) {
	dir, err := os.MkdirTemp("", "matchmaker-")
	if err != nil {
		return nil, err
	}
	i := &Installation{options: o, dir: dir, services: map[string]*service{}}
	if err := i.install(ctx); err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

func (i *Installation) install(ctx context.Context) (err error) {
	o := &i.options
	quiet := slog.New(slog.NewTextHandler(o.Errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if i.redis, err = embedded.StartRedis(ctx, embedded.RedisOptions{Dir: filepath.Join(i.dir, "redis"), AOF: true,
		Log: quiet}); err != nil {
		return err
	}
	if i.redis.PID() == 0 {
		return errors.New("a redis-server or a valkey-server is needed in the PATH")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if i.nats, err = Start(ctx, o.Errs, self, o.NATS, filepath.Join(i.dir, "nats")); err != nil {
		return err
	}
	if i.Tokens, err = issuer.Open(i.dir, time.Now); err != nil {
		return err
	}
	issuers := []auth.Issuer{i.Tokens.Trust()}
	if o.Providers != nil {
		more, err := o.Providers(i.dir)
		if err != nil {
			return err
		}
		issuers = append(issuers, more...)
	}
	trusted, err := json.Marshal(issuers) // JSON is YAML
	if err != nil {
		return err
	}
	i.Issuers = filepath.Join(i.dir, "issuers.yaml")
	if err := os.WriteFile(i.Issuers, trusted, 0o600); err != nil {
		return err
	}
	services, err := Services(ctx, o.Matchmaker)
	if err != nil {
		return err
	}
	for _, s := range services {
		if err := i.add(ctx, s, s.Name); err != nil {
			return err
		}
	}
	for name, s := range i.services {
		if err := s.ready(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Add starts one more process of a service, under a name of its own, and returns when it is ready.
func (i *Installation) Add(ctx context.Context, service, name string) error {
	for _, s := range catalog.Services() {
		if s.Name != service {
			continue
		}
		if err := i.add(ctx, s, name); err != nil {
			return err
		}
		return i.services[name].ready(ctx)
	}
	return fmt.Errorf("there is no service %q", service)
}

// Restart ends a process, starts it again, and returns how long it then took until it was ready.
func (i *Installation) Restart(ctx context.Context, name string) (time.Duration, error) {
	s := i.services[name]
	if err := s.Stop(StopTime); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := i.start(s); err != nil {
		return 0, err
	}
	err := s.ready(ctx)
	return time.Since(began), err
}

// add starts a process of a service.
func (i *Installation) add(ctx context.Context, of catalog.Service, name string) error {
	address, err := Vacant(ctx)
	if err != nil {
		return err
	}
	metrics, err := Vacant(ctx)
	if err != nil {
		return err
	}
	args := []string{
		of.Name, "--listen", address, "--metrics-listen", metrics, "--redis", i.redis.URL(),
		"--nats", i.NATS(), "--log-level", "warn",
	}
	if of.Issuers {
		args = append(args, "--issuers", i.Issuers)
	}
	if of.Modules {
		args = append(args, "--modules", filepath.Join(i.dir, name))
	}
	if i.options.Arguments != nil {
		args = append(args, i.options.Arguments(of)...)
	}
	s := &service{args: args, address: address, metrics: metrics}
	if err := i.start(s); err != nil {
		return err
	}
	i.services[name] = s
	return nil
}

func (i *Installation) start(s *service) (err error) {
	cmd := exec.Command(i.options.Matchmaker, s.args...)
	cmd.Stderr = i.options.Errs
	cmd.Stdout = i.options.Errs
	s.Process, err = process.Start(cmd)
	return err
}

// Address is where a process of a service serves its API, host:port.
func (i *Installation) Address(name string) string { return i.services[name].address }

// Metrics is the URL of a process's metrics.
func (i *Installation) Metrics(name string) string {
	return "http://" + i.services[name].metrics + "/metrics"
}

// Parts lists the names of all processes.
func Parts() []string { return append(catalog.Names(), "redis", "nats") }

// Parts lists the names of its processes: of an older version there may be fewer.
func (i *Installation) Parts() []string {
	return slices.DeleteFunc(Parts(), func(part string) bool {
		return slices.Contains(catalog.Names(), part) && i.services[part] == nil
	})
}

// PID is the process of a part.
func (i *Installation) PID(part string) int {
	switch part {
	case "redis":
		return i.redis.PID()
	case "nats":
		return i.nats.PID()
	default:
		return i.services[part].PID()
	}
}

// Dir is the folder of all processes' files. Below it, a service that has modules keeps them in a folder of its name.
func (i *Installation) Dir() string { return i.dir }

// Redis is the address of the Redis server, host:port.
func (i *Installation) Redis() string { return i.redis.Addr() }

// NATS is the URL of the NATS server.
func (i *Installation) NATS() string { return "nats://" + strings.TrimPrefix(i.nats.URL, "http://") }

// Running reports whether a process of a service runs.
func (i *Installation) Running(name string) bool { return i.services[name].Running() }

// Close ends all processes.
func (i *Installation) Close() error {
	var errs []error
	for _, s := range i.services {
		if s.Process != nil {
			errs = append(errs, s.Stop(StopTime))
		}
	}
	if i.nats != nil {
		errs = append(errs, i.nats.Stop())
	}
	if i.redis != nil {
		errs = append(errs, i.redis.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(i.dir))...)
}

// ready waits until the process is ready.
func (s *service) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("not ready in time"))
	defer cancel()
	for {
		in, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/readyz", http.NoBody)
		if err != nil {
			return err
		}
		out, err := http.DefaultClient.Do(in)
		if err == nil {
			_ = out.Body.Close()
			if out.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-s.Done():
			return s.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// NATS is a hidden command of programs that install a system: a NATS server as a process of its own, so that it can be
// measured.
type NATS struct {
	Dir string `arg:"" help:"Where it keeps its streams."`
}

// Run serves until ctx ends.
func (n *NATS) Run(ctx context.Context, out io.Writer) error {
	server, err := embedded.StartNATS(ctx, embedded.NATSOptions{Dir: n.Dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s\n", strings.TrimPrefix(server.URL(), "nats://")) // Start reads it
	<-ctx.Done()
	return server.Close()
}
