package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/catalog"
	"matchmaker.dev/services/internal/embedded"
	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/internal/process"
)

// Installation is a system of many processes: one of each service, a Redis that writes its append-only file, and a NATS
// server.
type Installation struct {
	// Tokens signs the tokens that the services trust.
	Tokens *issuer.Issuer

	dir   string
	redis *embedded.Redis
	nats  *Server
	// address is where a service listens, metrics where it serves its metrics, and processes are those of the services.
	address, metrics map[string]string
	processes        map[string]*process.Process
}

// InstallOptions say what to install.
type InstallOptions struct {
	// Matchmaker is the server binary.
	Matchmaker string
	// NATS is a command of the running program that runs [NATS].
	NATS string
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
	i := &Installation{dir: dir, address: map[string]string{}, metrics: map[string]string{},
		processes: map[string]*process.Process{}}
	if err := i.install(ctx, &o); err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

func (i *Installation) install(ctx context.Context, o *InstallOptions) (err error) {
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
	trusted, err := json.Marshal([]auth.Issuer{i.Tokens.Trust()}) // JSON is YAML
	if err != nil {
		return err
	}
	issuers := filepath.Join(i.dir, "issuers.yaml")
	if err := os.WriteFile(issuers, trusted, 0o600); err != nil {
		return err
	}
	for _, service := range catalog.Services() {
		if err := i.start(ctx, o, service, issuers); err != nil {
			return err
		}
	}
	for name, address := range i.address {
		if err := ready(ctx, i.processes[name], address); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// start starts a service.
func (i *Installation) start(ctx context.Context, o *InstallOptions, service catalog.Service, issuers string) error {
	address, err := vacant(ctx)
	if err != nil {
		return err
	}
	metrics, err := vacant(ctx)
	if err != nil {
		return err
	}
	args := []string{
		service.Name, "--listen", address, "--metrics-listen", metrics, "--redis", i.redis.URL(),
		"--nats", "nats://" + strings.TrimPrefix(i.nats.URL, "http://"), "--log-level", "warn",
	}
	if service.Issuers {
		args = append(args, "--issuers", issuers)
	}
	if service.Modules {
		args = append(args, "--modules", filepath.Join(i.dir, service.Name))
	}
	if o.Arguments != nil {
		args = append(args, o.Arguments(service)...)
	}
	cmd := exec.Command(o.Matchmaker, args...)
	cmd.Stderr = o.Errs
	cmd.Stdout = o.Errs
	p, err := process.Start(cmd)
	if err != nil {
		return err
	}
	i.address[service.Name], i.metrics[service.Name], i.processes[service.Name] = address, metrics, p
	return nil
}

// Address is where a service serves its API, host:port.
func (i *Installation) Address(service string) string { return i.address[service] }

// Metrics is the URL of a service's metrics.
func (i *Installation) Metrics(service string) string {
	return "http://" + i.metrics[service] + "/metrics"
}

// Parts lists the names of all processes.
func Parts() []string { return append(catalog.Names(), "redis", "nats") }

// PID is the process of a part.
func (i *Installation) PID(part string) int {
	switch part {
	case "redis":
		return i.redis.PID()
	case "nats":
		return i.nats.PID()
	default:
		return i.processes[part].PID()
	}
}

// Dir is the folder of all processes' files. Below it, a service that has modules keeps them in a folder of its name.
func (i *Installation) Dir() string { return i.dir }

// Redis is the address of the Redis server, host:port.
func (i *Installation) Redis() string { return i.redis.Addr() }

// Running tells whether the process of a service runs.
func (i *Installation) Running(service string) bool { return i.processes[service].Running() }

// Close ends all processes.
func (i *Installation) Close() error {
	var errs []error
	for _, p := range i.processes {
		errs = append(errs, p.Stop(StopTime))
	}
	if i.nats != nil {
		errs = append(errs, i.nats.Stop())
	}
	if i.redis != nil {
		errs = append(errs, i.redis.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(i.dir))...)
}

// vacant is a free address of this machine.
func vacant(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// ready waits until a service is ready.
func ready(ctx context.Context, p *process.Process, address string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("not ready in time"))
	defer cancel()
	for {
		in, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", http.NoBody)
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
		case <-p.Done():
			return p.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
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
