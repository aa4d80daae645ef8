package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/state"
)

// urlFile is the file that says where dev listens, for mm.
const urlFile = "url"

// redisFile is the file that says where the Redis of dev is, with its password.
const redisFile = "redis.url"

// devCmd runs the same services as all, beside servers of its own.
type devCmd struct {
	Process common       `kong:"embed,set='listen=127.0.0.1:8080',set='logformat=text',set='metrics=127.0.0.1:0'"`
	Data    string       `help:"Folder for everything that is kept: state, streams, keys, modules." default:".matchmaker" type:"path" placeholder:"DIR" group:"process"`
	Memory  bool         `help:"Keep the state in memory even if there is a redis-server." group:"process"`
	Own     kong.Plugins `kong:"embed,set='sandbox=prefer'"`
	Limits  kong.Plugins `kong:"embed"`

	services []service
	settings *settings
}

func newDev(services []service) devCmd {
	s := new(settings)
	own := slices.DeleteFunc(s.of(services), func(one any) bool { return one == any(&s.Issuers) })
	return devCmd{Own: own, Limits: s.limits(), services: services, settings: s}
}

// Validate is called by kong.
func (c *devCmd) Validate() error {
	return validate(slices.Concat(c.Process.checked(), c.Own, c.Limits))
}

func (c *devCmd) Run(ctx context.Context, s streams) (err error) {
	log, err := app.Logger(s.err, c.Process.LogLevel, c.Process.LogFormat)
	if err != nil {
		return err
	}
	tokens, err := issuer.Open(c.Data, time.Now)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	// Another user of the machine that finds the ports cannot log in.
	nats, err := embedded.StartNATS(
		ctx, embedded.NATSOptions{Dir: filepath.Join(c.Data, "nats"), Password: rand.Text(), Log: log},
	)
	if err != nil {
		return err
	}
	defer nats.Close()
	redis, err := c.redis(
		ctx, embedded.RedisOptions{Dir: filepath.Join(c.Data, "redis"), AOF: true, Password: rand.Text(), Log: log},
	)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, redis.Close()) }()
	for name, url := range map[string]string{bus.URLFile: nats.URL(), redisFile: redis.URL()} {
		if err := keyfile.Replace(filepath.Join(c.Data, name), []byte(url+"\n"), 0o600); err != nil {
			return fmt.Errorf("--data: %w", err)
		}
	}
	if !redis.Persistent() {
		fmt.Fprintln(s.out, "State is kept in memory and will not survive a restart: "+
			"install redis-server or valkey-server to keep it.")
	}

	if err := c.keys(); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	// Its uploads run as the developer's, like the files that mm tests: the developer has the token for them.
	c.settings.Instances.Code = cmp.Or(c.settings.Instances.Code, sandbox.UserCode())
	c.settings.Sandbox.Modules = cmp.Or(c.settings.Sandbox.Modules, filepath.Join(c.Data, "modules"))
	if len(c.settings.Webhooks.Networks) == 0 {
		c.settings.Webhooks.Networks = []string{"127.0.0.0/8", "::1/128"}
	}
	c.settings.State.Server = state.Server{URL: redis.URL()}
	c.settings.Bus.Server = bus.Server{URL: nats.URL(), Replicas: 1}
	pages, listens, err := c.localConsole(tokens, log)
	if err != nil {
		return err
	}
	return c.Process.run(ctx, log,
		setup{
			settings: c.settings, services: c.services,
			issuers: []auth.Issuer{tokens.Trust()},
			started: func(addr, metrics net.Addr) {
				listens(addr)
				if err := c.noteURL(addr); err != nil {
					log.Warn("mm does not find this service by its data folder", "error", err)
				}
				c.greet(s.out, addr, metrics)
			},
		},
		app.Part{Name: "redis", Run: redis.Watch},
		app.Part{Name: "issuer", Routes: tokens.Routes},
		pages,
	)
}

func (c *devCmd) redis(ctx context.Context, o embedded.RedisOptions) (*embedded.Redis, error) {
	if c.Memory {
		return embedded.StartMemory(0, o.Password)
	}
	return embedded.StartRedis(ctx, o)
}

// keys makes the files of keys that were not given, at the first start.
func (c *devCmd) keys() error {
	rotate := func(path string) error {
		_, err := keyfile.Rotate(path, time.Now())
		return err
	}
	for _, file := range []struct {
		setting *string
		name    string
		create  func(path string) error
	}{
		{&c.settings.Keys.HostingKeys, "hosting-keys", func(path string) error {
			_, err := keyring.Add(path, time.Now())
			return err
		}},
		{&c.settings.Tokens.Keys, "server-keys.json", rotate},
		{&c.settings.Seats.Keys, "seat-keys.json", rotate},
	} {
		if *file.setting != "" {
			continue
		}
		*file.setting = filepath.Join(c.Data, file.name)
		_, err := os.Stat(*file.setting)
		if errors.Is(err, fs.ErrNotExist) {
			err = file.create(*file.setting)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteURL writes where dev listens into the data folder.
func (c *devCmd) noteURL(addr net.Addr) error {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("it listens on %s", addr)
	}
	return keyfile.Replace(filepath.Join(c.Data, urlFile), []byte(localURL(tcp)+"\n"), 0o644)
}

// greet tells a newcomer what is there and what to do next.
func (c *devCmd) greet(w io.Writer, addr, metrics net.Addr) {
	fmt.Fprintf(w, `Matchmaker listens on http://%s, and keeps its data in %s.
Tokens: mm token player NAME | developer | server | service, with --data %s unless it is .matchmaker here.
Console: http://%s/console, on this machine without a login.
`, addr, c.Data, c.Data, addr)
	if metrics != nil {
		fmt.Fprintf(w, "Metrics for Prometheus: http://%s/metrics.\n", metrics)
	}
	fmt.Fprintln(w, "Ctrl-C stops it.")
}
