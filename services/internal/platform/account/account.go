// Package account names the users of Redis and NATS. Each service has its own user, with only the rights that it needs.
// Package state (Redis) and package bus (NATS) define the rights.
package account

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/platform/textfile"
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

// Login is how a process logs in to a server. The zero value has no user and no password.
type Login struct {
	User string
	// Password is called for every connection, so that the password can change while the process runs. nil means no
	// password.
	Password func() (string, error)
}

// ReadLogin makes a login from the settings --SERVER-user and --SERVER-password. The password is read again for every
// connection.
func ReadLogin(server, user, password string) (Login, error) {
	l := Login{User: user}
	if password != "" {
		if _, err := Secret(password); err != nil {
			return l, fmt.Errorf("--%s-password: %w", server, err)
		}
		l.Password = func() (string, error) { return Secret(password) }
	}
	if l.User != "" && l.Password == nil {
		return l, fmt.Errorf("--%s-user: a user without a password: give --%s-password", server, server)
	}
	return l, nil
}

// Given reports whether there is a user or a password.
func (l Login) Given() bool { return l.User != "" || l.Password != nil }

// Secret returns the present password.
func (l Login) Secret() (string, error) {
	if l.Password == nil {
		return "", nil
	}
	return l.Password()
}

// Secret reads a secret from a file, or from an environment variable where the source is env:NAME. Its errors name the
// source, never the secret.
func Secret(source string) (string, error) {
	var text string
	if name, ok := strings.CutPrefix(source, "env:"); ok {
		value, set := os.LookupEnv(name)
		if !set {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		text = value
	} else {
		data, err := textfile.Read(source)
		if err != nil {
			return "", err
		}
		text = string(data)
	}
	if text = strings.TrimRight(text, "\r\n"); text == "" {
		return "", fmt.Errorf("%s is empty", source)
	}
	return text, nil
}
