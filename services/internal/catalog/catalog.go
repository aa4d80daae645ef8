// Package catalog lists the services that a system consists of, and what each of them needs. Everything that
// enumerates services is made from this list or is compared with it by a test: commands, accounts, the gateway, the
// chart, docker-compose.yml and Prometheus' settings.
//
// What a service may do in Redis and NATS stands in permission.go of package state and of package bus.
package catalog

// The names of the services. A service's name is its command, its package and its account.
const (
	Ticket    = "ticket"
	Config    = "config"
	Registry  = "registry"
	Runner    = "runner"
	Director  = "director"
	Allocator = "allocator"
	Backfill  = "backfill"
)

// Service is one row of the list.
type Service struct {
	Name string
	// Help is what the command line says of its command.
	Help string
	// Port is where it listens in the documents' example without containers.
	Port int
	// Routes are the paths that a gateway sends to it.
	Routes []Route
	// Issuers tells that it verifies the tokens of issuers.
	Issuers bool
	// HostingKeys tells that it encrypts or decrypts the hosting keys of configs.
	HostingKeys bool
	// Modules tells that it compiles or runs match functions, whose modules it keeps in a folder.
	Modules bool
	// Hosting tells that it calls hosting systems and issues the tokens of game servers.
	Hosting bool
}

// Route is one path, or a path and all paths below it.
type Route struct {
	// Path is a regular expression for the path from its first slash on, without anchors.
	Path  string
	Below bool
}

// What paths begin with, see web.Base. The project may be any segment.
const (
	matchmaking = "/[^/]+/matchmaking"
	base        = matchmaking + "/api/v1"
)

// In containers each service serves HTTP on Port, and its metrics on MetricsPort.
const (
	Port        = 8080
	MetricsPort = 9464
)

// Services lists all services, in the order in which they are shown.
func Services() []Service {
	return []Service{
		{
			Name: Ticket, Help: "Run the Tickets API.", Port: 8081, Issuers: true,
			Routes: []Route{{Path: base + "/tickets"}},
		},
		{
			Name: Config, Help: "Run the Configs API.", Port: 8082, Issuers: true, HostingKeys: true,
			Routes: []Route{{Path: base + "/configs", Below: true}},
		},
		{
			Name: Registry, Help: "Run the Functions API.", Port: 8083, Issuers: true, Modules: true,
			Routes: []Route{{Path: base + "/functions", Below: true}},
		},
		{
			Name: Runner, Help: "Run a runner: it executes match functions.", Port: 8085, Modules: true,
		},
		{
			Name: Director, Help: "Run a director: it leads the matchmaking cycles of projects.", Port: 8086,
		},
		{
			Name: Allocator, Help: "Run an allocator: it gets game servers for matches.", Port: 8087,
			HostingKeys: true, Hosting: true,
			// Game servers renew their tokens, and verifiers read the public keys.
			Routes: []Route{{Path: base + "/servers", Below: true}, {Path: `/\.well-known/server-keys\.json`}},
		},
		{
			Name: Backfill, Help: "Run the Backfill API.", Port: 8084, Issuers: true,
			// The second generation is in three places, see package backfill. The last route is the first generation.
			Routes: []Route{{Path: "(" + matchmaking + "(/api/v1)?)?/api/v2/backfill", Below: true}, {Path: base + "/backfill"}},
		},
	}
}

// Names lists the names of all services.
func Names() []string { return With(func(Service) bool { return true }) }

// With lists the names of the services that a condition holds for.
func With(condition func(Service) bool) []string {
	var names []string
	for _, s := range Services() {
		if condition(s) {
			names = append(names, s.Name)
		}
	}
	return names
}
