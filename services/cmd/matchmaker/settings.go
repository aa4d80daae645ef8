package main

import (
	"errors"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/instant"
	"matchmaker.dev/services/allocator/local"
	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/backfill"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/insight"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/observe/telemetry/export"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
	"matchmaker.dev/services/registry"
	"matchmaker.dev/services/runner"
	"matchmaker.dev/services/ticket"
	"matchmaker.dev/services/ticket/seat"
	"matchmaker.dev/services/webhook"
)

// groups are the headings of the help.
var groups = []kong.Group{
	{Key: "process", Title: "Process:"},
	{Key: "connections", Title: "Connections:"},
	{Key: "tickets", Title: "Tickets:"},
	{Key: "cycle", Title: "Matchmaking cycles:"},
	{Key: "runner", Title: "Match functions:"},
	{Key: "allocator", Title: "Game servers:"},
	{Key: "events", Title: "Events:"},
	{Key: "backfill", Title: "Backfill:"},
	{Key: "parties", Title: "Parties:"},
	{Key: "beacon", Title: "Beacon:"},
	{Key: "console", Title: "Console:"},
	{Key: "project", Title: "Projects:"},
}

// common is what every process has.
type common struct {
	app.Settings
	Telemetry export.Settings `embed:""`
	app.Shutdown
}

func (c *common) checked() kong.Plugins { return kong.Plugins{&c.Settings, &c.Telemetry, &c.Shutdown} }

// settings are the settings of everything that a process can have in it. A command reads the settings of its services.
// The help lists them in this order.
type settings struct {
	State       state.Settings
	Rates       ratelimit.Settings
	Definitions definition.Limits
	Bus         bus.Settings
	Registry    registry.Settings
	Logs        bus.Logs

	Issuers   auth.Settings
	Fields    fields.Limits
	Ticket    ticket.Settings
	Regions   receipt.Settings
	Seats     seat.Settings
	Insight   insight.Settings
	Director  director.Settings
	Sandbox   sandbox.Settings
	Runner    runner.Settings
	Instances sandbox.InstanceSettings
	Hosting   hostingSettings
	Rules     hostingFileSettings
	Allocator allocator.Settings
	Backfill  backfill.Settings
	Party     party.Settings
	Webhooks  webhook.Settings
	Keys      keyring.Settings
	Results   state.Results
	Tokens    token.Settings
}

// hostingSettings say where game servers come from.
type hostingSettings struct {
	Provider string           `help:"Where game servers come from: local (processes on this machine, for development) or instant (no servers: every match gets --instant-connection)." enum:"local,instant" default:"local" group:"allocator"`
	Instant  instant.Settings `embed:""`
	Local    local.Settings   `embed:""`
}

// hostingFileSettings name the file that goes before them. The config service needs its rules alone: with them, it
// refuses a config whose project may not use the fleet.
type hostingFileSettings struct {
	File string `help:"YAML file with several providers, which matches are whose, and which projects may use which fleets; --provider and what belongs to it are without effect. The config service refuses configs that the rules in it refuse." name:"hosting" type:"existingfile" placeholder:"FILE" group:"allocator"`
}

// Validate names the flag that makes no sense.
func (h *hostingSettings) Validate() error { return h.Instant.Validate() }

// shared are the settings of every process: connections, and limits that all services of a system have in common.
func (s *settings) shared() kong.Plugins {
	return kong.Plugins{&s.State, &s.Rates, &s.Definitions, &s.Bus, &s.Registry, &s.Logs}
}

// limits are the shared settings but for the connections.
func (s *settings) limits() kong.Plugins {
	return kong.Plugins{&s.State.Limits, &s.Rates, &s.Definitions, &s.Bus.Events, &s.Registry, &s.Logs}
}

// of are the settings of services, each once.
func (s *settings) of(services []service) kong.Plugins {
	var wanted, all kong.Plugins
	for _, one := range services {
		wanted = append(wanted, one.settings(s)...)
	}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if one := v.Field(i).Addr().Interface(); slices.Contains(wanted, one) {
			all = append(all, one)
		}
	}
	return all
}

// fields bound what a ticket carries.
func (s *settings) fields() fields.Limits {
	f := s.Fields
	f.Name = s.Definitions.Name
	return f
}

// validate joins what is wrong with settings.
func validate(all kong.Plugins) error {
	var errs []error
	for _, one := range all {
		if checked, ok := one.(interface{ Validate() error }); ok {
			errs = append(errs, checked.Validate())
		}
	}
	return errors.Join(errs...)
}
