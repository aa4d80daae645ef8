// Package account names the users of Redis and NATS. Each service has its own user, with only the rights that it needs.
// Package state (Redis) and package bus (NATS) define the rights.
package account

import (
	"slices"

	"matchmaker.dev/services/internal/platform/catalog"
)

// A service's account has the service's name. These are the other accounts.
const (
	// All is the user of a process that runs all services.
	All = "all"
	// Events is for programs that read the events of projects on NATS, such as 'mm event log' and a studio's own.
	Events = "events"
	// Operator is for the administrator of Redis and NATS: it may do everything.
	Operator = "operator"
	// Replica is for the replicas of Redis, and Sentinel for its Sentinels: the user that they log in to a server as.
	Replica  = "replica"
	Sentinel = "sentinel"
)

// Names are all accounts but All.
func Names() []string { return append(catalog.Names(), Events, Replica, Sentinel, Operator) }

// User returns an account's user name in Redis and NATS.
func User(account string) string { return "matchmaker-" + account }

// Known reports whether there is an account of this name.
func Known(name string) bool {
	return slices.Contains(append(Names(), All), name)
}
