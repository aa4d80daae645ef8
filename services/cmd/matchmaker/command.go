package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/allocator/devserver"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/catalog"
)

// cli is the command line. The commands that it has not as fields are in commands.
type cli struct {
	Config  kong.ConfigFlag  `help:"YAML file with settings, one 'flag-name: value' a line." placeholder:"FILE" group:"process"`
	Version kong.VersionFlag `help:"Print the version and exit." env:"-"`

	Dev devCmd  `cmd:"" help:"Run everything for development: all services, NATS, Redis, tokens and game servers."`
	All command `cmd:"" help:"Run all services in one process."`

	services map[string]*command
}

func newCLI() *cli {
	all := services()
	c := &cli{Dev: newDev(all), All: *newCommand(account.All, all), services: map[string]*command{}}
	for _, s := range all {
		c.services[s.name] = newCommand(s.name, []service{s})
	}
	return c
}

// commands are those after dev and all, in the order of the help.
func (c *cli) commands() []kong.Option {
	var options []kong.Option
	for _, s := range catalog.Services() {
		options = append(options, kong.DynamicCommand(s.Name, s.Help, "", c.services[s.Name]))
	}
	return append(options,
		kong.DynamicCommand("beacon", "Run a beacon: it measures how far clients are from a region.", "", new(beaconCmd)),
		kong.DynamicCommand("console", "Run the console: pages for people, over the API.", "", new(consoleCmd)),
		kong.DynamicCommand("keys", "Make and change the keys that the services share.", "", new(keysCmd)),
		kong.DynamicCommand("project", "List projects, and delete them.", "", new(projectCmd)),
		kong.DynamicCommand("permissions",
			"Print what each service may do in Redis and in NATS, as users for these servers.", "", new(permissionsCmd)),
		kong.DynamicCommand("health", "Ask a running service whether it is ready.", "", new(healthCmd)),
		kong.DynamicCommand("gameserver", "", "", new(gameserverCmd), `hidden:""`),
	)
}

// service is how a process gets a service of the catalog.
type service struct {
	name string
	// add adds it to a process.
	add func(*builder) error
	// settings are the settings that it takes, besides what every process has.
	settings func(*settings) kong.Plugins
}

// services lists all services. Services that others wait for come first.
func services() []service {
	return []service{
		{catalog.Registry, (*builder).registry, func(s *settings) kong.Plugins {
			return kong.Plugins{&s.Issuers, &s.Sandbox, &s.Runner, &s.Instances}
		}},
		{catalog.Runner, (*builder).runner, func(s *settings) kong.Plugins {
			return kong.Plugins{&s.Sandbox, &s.Runner, &s.Instances}
		}},
		{catalog.Director, (*builder).director, func(s *settings) kong.Plugins {
			return kong.Plugins{&s.Director, &s.Results}
		}},
		{catalog.Allocator, (*builder).allocator, func(s *settings) kong.Plugins {
			return kong.Plugins{&s.Hosting, &s.Rules, &s.Allocator, &s.Keys, &s.Results, &s.Tokens}
		}},
		{catalog.Config, (*builder).config, func(s *settings) kong.Plugins {
			return kong.Plugins{&s.Issuers, &s.Rules, &s.Keys, &s.Webhooks}
		}},
		{catalog.Backfill, (*builder).backfill, func(s *settings) kong.Plugins {
			return kong.Plugins{&s.Issuers, &s.Fields, &s.Ticket, &s.Backfill, &s.Results}
		}},
		{catalog.Ticket, (*builder).ticket, func(s *settings) kong.Plugins {
			return kong.Plugins{&s.Issuers, &s.Fields, &s.Ticket, &s.Regions, &s.Seats, &s.Insight, &s.Results}
		}},
		{catalog.Party, (*builder).party, func(s *settings) kong.Plugins {
			return kong.Plugins{&s.Issuers, &s.Fields, &s.Ticket, &s.Regions, &s.Party, &s.Results}
		}},
	}
}

// command runs services in one process. kong does not descend into its settings to validate them: Validate does.
type command struct {
	Process common       `kong:"embed,set='listen=:8080',set='logformat=json',set='metrics='"`
	Shared  kong.Plugins `kong:"embed"`
	Own     kong.Plugins `kong:"embed,set='sandbox=require'"`

	account  string
	services []service
	settings *settings
}

func newCommand(account string, services []service) *command {
	s := new(settings)
	return &command{Shared: s.shared(), Own: s.of(services), account: account, services: services, settings: s}
}

// Validate is called by kong.
func (c *command) Validate() error {
	return validate(slices.Concat(c.Process.checked(), c.Shared, c.Own))
}

func (c *command) Run(ctx context.Context, s streams) error {
	log, err := app.Logger(s.err, c.Process.LogLevel, c.Process.LogFormat)
	if err != nil {
		return err
	}
	how := setup{settings: c.settings, account: c.account, services: c.services}
	if slices.Contains(c.Own, any(&c.settings.Issuers)) {
		if how.issuers, err = c.settings.Issuers.Read(); err != nil {
			return err
		}
	}
	return c.Process.run(ctx, log, how)
}

// gameserverCmd is a process of the local provider's fleet; it is told what to do on standard input.
type gameserverCmd struct {
	Command string `help:"What to run for each match, instead of the game server for demonstrations." env:"-"`
}

func (c *gameserverCmd) Run(ctx context.Context, s streams) error {
	log, err := app.Logger(s.err, "info", "text")
	if err != nil {
		return err
	}
	if c.Command != "" {
		return devserver.Main(ctx, s.in, s.out, devserver.Options{Command: c.Command, Env: os.Environ(), Log: log})
	}
	return gameserver.Main(ctx, s.in, s.out, gameserver.Options{Log: log})
}

// add adds services to a process.
func add(b *builder, services []service) error {
	var errs []error
	for _, s := range services {
		errs = append(errs, s.add(b))
	}
	return errors.Join(errs...)
}
