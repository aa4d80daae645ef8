package main

import (
	"bytes"
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

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/catalog"
	"matchmaker.dev/services/internal/embedded"
	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/internal/process"
	"matchmaker.dev/services/test/launch"
)

// installation is a system of many processes.
type installation struct {
	dir    string
	tokens *issuer.Issuer
	redis  *embedded.Redis
	nats   *launch.Server
	// address is where a service listens, and processes are those of the services.
	address   map[string]string
	processes map[string]*process.Process
}

// sizeProject is the project of the measurement.
const sizeProject = "size"

// install starts all processes.
func (b *bench) install(ctx context.Context) (i *installation, err error) {
	dir, err := os.MkdirTemp("", "matchmaker-size-")
	if err != nil {
		return nil, err
	}
	i = &installation{dir: dir, address: map[string]string{}, processes: map[string]*process.Process{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.close())
		}
	}()
	quiet := slog.New(slog.NewTextHandler(b.errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if i.redis, err = embedded.StartRedis(ctx, embedded.RedisOptions{Dir: filepath.Join(dir, "redis"), AOF: true,
		Log: quiet}); err != nil {
		return nil, err
	}
	if i.redis.PID() == 0 {
		return nil, errors.New("a redis-server or a valkey-server is needed in the PATH")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if i.nats, err = launch.Start(ctx, b.errs, self, "nats", filepath.Join(dir, "nats")); err != nil {
		return nil, err
	}
	if i.tokens, err = issuer.Open(dir, time.Now); err != nil {
		return nil, err
	}
	trusted, err := json.Marshal([]auth.Issuer{i.tokens.Trust()}) // JSON is YAML
	if err != nil {
		return nil, err
	}
	issuers := filepath.Join(dir, "issuers.yaml")
	if err := os.WriteFile(issuers, trusted, 0o600); err != nil {
		return nil, err
	}
	for _, service := range catalog.Services() {
		if err := i.start(ctx, b, service, issuers); err != nil {
			return nil, err
		}
	}
	for name, address := range i.address {
		if err := ready(ctx, address); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return i, nil
}

// start starts a service.
func (i *installation) start(ctx context.Context, b *bench, service catalog.Service, issuers string) error {
	address, err := vacant(ctx)
	if err != nil {
		return err
	}
	args := []string{
		service.Name, "--listen", address, "--redis", i.redis.URL(), "--nats", "nats://" + hostOf(i.nats.URL),
		"--log-level", "warn",
	}
	if service.Issuers {
		args = append(args, "--issuers", issuers)
	}
	if service.Modules {
		args = append(args, "--modules", filepath.Join(i.dir, service.Name))
	}
	if service.Hosting {
		args = append(args, "--provider", "instant")
	}
	if service.Name == catalog.Ticket {
		args = append(args, "--player-rate", "1000", "--player-burst", "10000",
			"--project-rate", "1000000", "--project-burst", "1000000",
			"--read-rate", "100000", "--read-burst", "100000", "--max-waiting", "10000000")
	}
	cmd := exec.Command(b.Matchmaker, args...)
	cmd.Stderr = b.errs
	p, err := process.Start(cmd)
	if err != nil {
		return err
	}
	i.address[service.Name], i.processes[service.Name] = address, p
	return nil
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
func ready(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
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
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return errors.Join(errors.New("not ready in time"), err)
		}
	}
}

// close ends all processes.
func (i *installation) close() error {
	var errs []error
	for _, p := range i.processes {
		errs = append(errs, p.Stop(launch.StopTime))
	}
	if i.nats != nil {
		errs = append(errs, i.nats.Stop())
	}
	if i.redis != nil {
		errs = append(errs, i.redis.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(i.dir))...)
}

// studio returns a client of a service, with the token of the project's owner.
func (i *installation) studio(service string) (*client.Client, error) {
	token, err := i.tokens.Mint(issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: sizeProject,
		Role: "Owner"})
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: "http://" + i.address[service], Project: sizeProject,
		Token: client.StaticToken(token)})
}

// prepare uploads the function and starts matchmaking.
func (i *installation) prepare(ctx context.Context, function string) error {
	registry, err := i.studio("registry")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(function)
	if err != nil {
		return err
	}
	if err := registry.PutFunction(ctx, "duel", "", bytes.NewReader(text)); err != nil {
		return err
	}
	config, err := i.studio("config")
	if err != nil {
		return err
	}
	if err := putConfig(ctx, config, true); err != nil {
		return err
	}
	for {
		f, err := registry.GetFunction(ctx, "duel")
		if err != nil || f.Status.State == client.Running {
			return err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// players mints the tokens of the players.
func (i *installation) players() ([]string, error) {
	tokens := make([]string, players)
	for k := range tokens {
		var err error
		if tokens[k], err = i.tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: fmt.Sprintf("player-%d", k),
			Project: sizeProject}); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// nats is a hidden command: a NATS server as a process of its own, so that it can be measured.
type nats struct {
	Dir string `arg:"" help:"Where it keeps its streams."`
}

func (n *nats) run(ctx context.Context, out io.Writer) error {
	server, err := embedded.StartNATS(ctx, embedded.NATSOptions{Dir: n.Dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s\n", strings.TrimPrefix(server.URL(), "nats://")) // package launch reads it
	<-ctx.Done()
	return server.Close()
}
