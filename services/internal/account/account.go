// Package account names the users of Redis and NATS: each service has a user of its own, with the rights that it needs
// and no others. Package state (Redis) and package bus (NATS) have the rights.
package account

import (
	"slices"

	"matchmaker.dev/services/internal/catalog"
)

// The accounts besides those of the services, which have the services' names.
const (
	// All is the user of a process that runs all services.
	All = "all"
	// Events is for programs that follow the events of projects on NATS, as those of a studio and 'mm event log' do.
	Events = "events"
	// Operator is for the administrator of Redis and NATS: it may do everything.
	Operator = "operator"
)

// User is the name by which Redis and NATS know an account.
func User(account string) string { return "matchmaker-" + account }

// Known tells whether there is an account of a name.
func Known(name string) bool {
	return slices.Contains(append(catalog.Names(), All, Events, Operator), name)
}
