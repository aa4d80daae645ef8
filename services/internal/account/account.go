// Package account names those whom Redis and NATS tell apart: each service has a user of its own, with the rights that it needs and
// no others. What the rights are say package state (Redis) and package bus (NATS).
package account

import "errors"

// Those who have an account. All is the user of a process that runs all seven services.
const (
	Ticket    = "ticket"
	Config    = "config"
	Registry  = "registry"
	Runner    = "runner"
	Director  = "director"
	Allocator = "allocator"
	Backfill  = "backfill"
	All       = "all"

	// Events is whoever follows the events of projects on NATS, as a studio's own programs and 'mm event log' do.
	Events = "events"
	// Operator is whoever looks after the servers themselves: it may do everything.
	Operator = "operator"
)

// Services lists the seven.
func Services() []string {
	return []string{Ticket, Config, Registry, Runner, Director, Allocator, Backfill}
}

// User is the name by which Redis and NATS know an account.
func User(account string) string { return "matchmaker-" + account }

// Known tells whether there is an account of a name.
func Known(name string) bool {
	for _, one := range append(Services(), All, Events, Operator) {
		if one == name {
			return true
		}
	}
	return false
}

// Login is how a process proves to a server that it is its user; the zero value says nothing of it.
type Login struct {
	User string
	// Password is asked for whenever a connection is made, so that it can change under a process that runs. nil is no password.
	Password func() (string, error)
}

// Given tells whether there is a user or a password.
func (l Login) Given() bool { return l.User != "" || l.Password != nil }

// Check refuses half a login.
func (l Login) Check() error {
	if l.User != "" && l.Password == nil {
		return errors.New("a user without a password")
	}
	return nil
}

// Secret is the password now.
func (l Login) Secret() (string, error) {
	if l.Password == nil {
		return "", nil
	}
	return l.Password()
}
