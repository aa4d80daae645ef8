// Package catalog lists the services of a system, and what each of them needs. Commands, accounts, the gateway, the
// chart, docker-compose.yml and Prometheus' settings are made from this list, or a test compares them with it.
//
// permission.go of package state and of package bus says what a service may do in Redis and NATS.
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
	Party     = "party"
)

// Service is one row of the list.
type Service struct {
	Name string
	// Help is the command's line in the help text.
	Help string
	// Port is its port in the documents' example without containers.
	Port int
	// Routes are the paths that the gateway sends to it.
	Routes []Route
	// Issuers is true when it verifies the tokens of issuers.
	Issuers bool
	// HostingKeys is true when it encrypts or decrypts the hosting keys of configs.
	HostingKeys bool
	// Modules is true when it compiles or runs match functions. It caches their modules in a folder.
	Modules bool
	// Seats is true when it signs seat passes.
	Seats bool
	// Regions is true when it believes receipts of beacons.
	Regions bool
	// Webhooks is true when it sends events to URLs of studios.
	Webhooks bool
	// Hosting is true when it calls hosting systems and issues the tokens of game servers.
	Hosting bool
}

// Route is one path, with Below also all paths below it.
type Route struct {
	// Path is a regular expression for the path, without anchors. It begins with a slash.
	Path  string
	Below bool
}

// The beginnings of paths, see web.Base. The project may be any segment.
const (
	matchmaking = "/[^/]+/matchmaking"
	base        = matchmaking + "/api/v1"
)

// Port is where each service serves HTTP in containers.
const Port = 8080

// Services lists all services, in the order in which they are shown.
func Services() []Service {
	return []Service{
		{
			Name: Ticket, Help: "Run the Tickets API.", Port: 8081, Issuers: true, Seats: true, Regions: true,
			// Game servers read the public keys of seat passes.
			Routes: []Route{
				{Path: base + "/tickets(/events|/waiting|/[^/]+/explanation(/capture)?)?"},
				{Path: base + "/(events|regions|queues|matches(/[^/]+(/result)?)?|" +
					"players/[^/]+/(match|ratings(/history)?|standing)|ratings/[^/]+/leaderboard)"},
				{Path: `/\.well-known/seat-keys\.json`},
			},
		},
		{
			Name: Config, Help: "Run the Configs API.", Port: 8082, Issuers: true, HostingKeys: true,
			Webhooks: true,
			Routes: []Route{{Path: base + "/configs", Below: true}, {Path: base + "/settings", Below: true},
				{Path: base + "/changes"}, {Path: base + "/simulations", Below: true},
				{Path: base + "/webhooks", Below: true}},
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
			// The first two routes are the three paths of API generation 2, see package backfill. The last one is generation 1.
			// Kubernetes accepts no path of an Ingress that does not begin with a slash, so they are not one expression.
			Routes: []Route{
				{Path: matchmaking + "(/api/v1)?/api/v2/backfill", Below: true}, {Path: "/api/v2/backfill", Below: true},
				{Path: base + "/backfill"},
			},
		},
		{
			Name: Party, Help: "Run the Parties API.", Port: 8088, Issuers: true, Regions: true,
			// What is kept of a player is served here, since leaving a party is part of erasing it.
			Routes: []Route{{Path: base + "/parties", Below: true}, {Path: base + "/players/[^/]+"}},
		},
	}
}

// Names lists the names of all services.
func Names() []string { return With(func(Service) bool { return true }) }

// With lists the names of the services that meet a condition.
func With(condition func(Service) bool) []string {
	var names []string
	for _, s := range Services() {
		if condition(s) {
			names = append(names, s.Name)
		}
	}
	return names
}
