package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/ratelimit"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// cli is the command line.
type cli struct {
	Config  kong.ConfigFlag  `help:"YAML file with settings, one 'flag-name: value' a line." placeholder:"FILE" group:"process"`
	Version kong.VersionFlag `help:"Print the version and exit." env:"-"`

	Dev       devCmd       `cmd:"" help:"Run everything for development: the seven services, NATS, Redis, tokens and game servers."`
	All       allCmd       `cmd:"" help:"Run the seven services in one process."`
	Ticket    ticketCmd    `cmd:"" help:"Run the Tickets API."`
	Configs   configCmd    `cmd:"" name:"config" help:"Run the Configs API."`
	Registry  registryCmd  `cmd:"" help:"Run the Functions API."`
	Runner    runnerCmd    `cmd:"" help:"Run a runner: it executes match functions."`
	Director  directorCmd  `cmd:"" help:"Run a director: it leads the matchmaking cycles of projects."`
	Allocator allocatorCmd `cmd:"" help:"Run an allocator: it gets game servers for matches."`
	Backfill  backfillCmd  `cmd:"" help:"Run the Backfill API."`

	Keys        keysCmd        `cmd:"" help:"Make and change the keys that the services share."`
	Permissions permissionsCmd `cmd:"" help:"Print what each service may do in Redis and in NATS, as users for these servers."`

	Health healthCmd `cmd:"" help:"Ask a running service whether it is ready."`

	Gameserver gameserverCmd `cmd:"" hidden:""`
}

var groups = []kong.Group{
	{Key: "process", Title: "Process:"},
	{Key: "connections", Title: "Connections:"},
	{Key: "tickets", Title: "Tickets:"},
	{Key: "cycle", Title: "Matchmaking cycles:"},
	{Key: "runner", Title: "Match functions:"},
	{Key: "allocator", Title: "Game servers:"},
	{Key: "events", Title: "Events:"},
	{Key: "backfill", Title: "Backfill:"},
}

// process is what every process has.
type process struct {
	Listen    string        `help:"Address to serve HTTP on: the API, /healthz and /readyz." default:"${listen}" group:"process"`
	Name      string        `help:"Name that tells this process from its replicas; made up when empty." group:"process"`
	LogLevel  string        `help:"Least level to log: debug, info, warn or error. Requests that succeed are logged at debug." enum:"debug,info,warn,error" default:"info" group:"process"`
	LogFormat string        `help:"Format of the log on standard error: json or text." enum:"json,text" default:"${logformat}" group:"process"`
	Metrics   string        `help:"Address to serve /metrics for Prometheus on; nothing is served when empty. OTEL_METRICS_EXPORTER and the other OTEL_… variables work as well." name:"metrics-listen" default:"${metrics}" group:"process"`
	Values    int           `help:"How many projects, configs, functions and pools metrics tell apart, of each; those that come later are counted as 'other'." name:"metrics-values" default:"200" group:"process"`
	Drain     time.Duration `help:"How long a stopping process may take to finish what it has in hand." default:"15s" group:"process"`
	Grace     time.Duration `help:"How long a stopping process says it is not ready before it takes no more requests: as long as a load balancer needs to notice." default:"0s" group:"process"`
}

// connections are the servers that all services share, and the limits of what is kept there.
type connections struct {
	redisServer
	natsServer

	Limits limits `embed:""`
}

// redisServer is which Redis, and who this process is to it.
type redisServer struct {
	Redis         string `help:"Redis URL: redis://[user:password@]host:port[/db], unix:///path, redis-cluster://host:port of a cluster, or redis-sentinel://host:port?master_name=NAME of Sentinels (more of them with &addr=host:port); rediss for redis means TLS." default:"redis://127.0.0.1:6379" group:"connections"`
	RedisUser     string `help:"User of Redis, where the URL names none. 'matchmaker permissions redis' prints what each service's user needs." name:"redis-user" placeholder:"NAME" group:"connections"`
	RedisPassword string `help:"File with that user's password, or env:NAME for an environment variable that holds it. It is read again for every connection, so that it can be changed." name:"redis-password" placeholder:"FILE" group:"connections"`
	RedisCA       string `help:"PEM file of the authorities that Redis's certificate may come from; the machine's when empty." name:"redis-ca" type:"existingfile" placeholder:"FILE" group:"connections"`
	RedisCert     string `help:"PEM file of the certificate that Redis is shown." name:"redis-cert" type:"existingfile" placeholder:"FILE" group:"connections"`
	RedisKey      string `help:"PEM file of that certificate's key." name:"redis-key" type:"existingfile" placeholder:"FILE" group:"connections"`
}

// natsServer is which NATS, and who this process is to it.
type natsServer struct {
	NATS            string `help:"NATS URL; several servers of a cluster with commas between. tls:// means TLS." name:"nats" default:"nats://127.0.0.1:4222" group:"connections"`
	NATSUser        string `help:"User of NATS, where the URL names none. 'matchmaker permissions nats' prints what each service's user needs." name:"nats-user" placeholder:"NAME" group:"connections"`
	NATSPassword    string `help:"File with that user's password, or env:NAME for an environment variable that holds it. It is read again for every connection, so that it can be changed." name:"nats-password" placeholder:"FILE" group:"connections"`
	NATSCredentials string `help:"NATS credentials file: what a user of NATS has instead of a password where accounts are decentralized." name:"nats-credentials" type:"existingfile" placeholder:"FILE" group:"connections"`
	NATSNKey        string `help:"File with the seed of a user's NKey: what a user of NATS has instead of a password where its configuration names public keys." name:"nats-nkey" type:"existingfile" placeholder:"FILE" group:"connections"`
	NATSCA          string `help:"PEM file of the authorities that the NATS servers' certificates may come from; the machine's when empty. A tls:// URL asks for TLS." name:"nats-ca" type:"existingfile" placeholder:"FILE" group:"connections"`
	NATSCert        string `help:"PEM file of the certificate that NATS is shown." name:"nats-cert" type:"existingfile" placeholder:"FILE" group:"connections"`
	NATSKey         string `help:"PEM file of that certificate's key." name:"nats-key" type:"existingfile" placeholder:"FILE" group:"connections"`
	StreamReplicas  int    `help:"Replicas of the JetStream streams: 1, 3 or 5." default:"1" group:"connections"`
}

// limits are those of what is kept for a project, and of how often it is read and changed. All services of a
// system must have the same ones.
type limits struct {
	MaxWaiting   int                `help:"Most tickets of a project that may wait; a create beyond it is answered 429 until some were matched. 0 means no limit. A runner needs about 200 bytes for each." default:"1000000" group:"tickets"`
	PlayerRate   float64            `help:"How many tickets a second one player may create in the long run; 0 means no limit. A person starts matchmaking a few times a minute." default:"1" group:"tickets"`
	PlayerBurst  int                `help:"How many tickets one player may create at once." default:"20" group:"tickets"`
	ProjectRate  float64            `help:"How many tickets a second a project may create in the long run; 0 means no limit. One Redis stores about 50,000." default:"20000" group:"tickets"`
	ProjectBurst int                `help:"How many tickets a project may create at once." default:"100000" group:"tickets"`
	Rates        ratelimit.Settings `kong:"embed"`

	MaxBackfills int `help:"Most backfill tickets of a project; a create beyond it is answered 429." default:"100000" group:"backfill"`

	Definitions definition.Limits `kong:"embed"`

	EventAge   time.Duration `help:"How long events, which say what happened to tickets and matches, can be read. 0 means that there are none." default:"24h" group:"events"`
	EventBytes int64         `help:"Most bytes of events that can be read, of all projects; beyond it the oldest go." default:"1073741824" group:"events"`

	MaxFunctions int           `help:"Most match functions of a project." default:"20" group:"runner"`
	KeepVersions int           `help:"How many uploads of a function are kept, to go back to; the one that runs is one of them." default:"5" name:"function-versions" group:"runner"`
	ModuleGrace  time.Duration `help:"How long a module stays stored that no version of a function has any more." default:"1h" group:"runner"`
	LogAge       time.Duration `help:"How long the log of a function is kept." default:"24h" group:"runner"`
	LogSize      int64         `help:"Most MiB of the log of one function; then the oldest lines go." default:"64" group:"runner" name:"log-size"`
	LogTotal     int64         `help:"Most MiB of the logs of all functions together." default:"1024" group:"runner" name:"log-total"`
}

func (l *limits) player() state.Rate {
	return state.Rate{PerSecond: l.PlayerRate, Burst: l.PlayerBurst}
}
func (l *limits) project() state.Rate {
	return state.Rate{PerSecond: l.ProjectRate, Burst: l.ProjectBurst}
}
func (l *limits) check() error {
	var errs []error
	for _, r := range []struct {
		name string
		rate state.Rate
	}{{"player", l.player()}, {"project", l.project()}} {
		if err := r.rate.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("--%s-rate, --%s-burst: %w", r.name, r.name, err))
		}
	}
	errs = append(errs, l.Rates.Validate(), l.Definitions.Validate())
	if l.MaxWaiting < 0 || l.MaxFunctions < 1 || l.KeepVersions < 1 || l.LogSize < 1 || l.LogTotal < 1 {
		errs = append(errs, errors.New("--max-waiting must not be negative, --max-functions, --function-versions, --log-size and --log-total must be more than 0"))
	}
	if l.MaxBackfills < 1 {
		errs = append(errs, errors.New("--max-backfills must be more than 0"))
	}
	errs = append(errs, positive(map[string]time.Duration{"module-grace": l.ModuleGrace, "log-age": l.LogAge}))
	if l.EventAge < 0 || l.EventBytes < 1 {
		errs = append(errs, errors.New("--event-age must not be negative, --event-bytes must be more than 0"))
	}
	return errors.Join(errs...)
}

// backlog is how much of what happened is kept until it is published: with tickets of 36 bytes about 250 MB, which
// is what 10,000 tickets a second make in two minutes.
const backlog = 5_000_000

// history is how much of what happened is kept for those who publish it; nothing when nobody does.
func (l *limits) history() int {
	if l.EventAge == 0 {
		return 0
	}
	return backlog
}

// trust says whose tokens an API believes.
type trust struct {
	Issuers string `help:"YAML file with the list of trusted token issuers." type:"existingfile" required:"" placeholder:"FILE" group:"connections"`
}

// secrets are what the services share and nobody else may know.
type secrets struct {
	HostingKeys string `help:"File with the keys that encrypt the hosting keys of configs, or env:NAME for an environment variable that holds them; configs and allocators need the same ones. 'matchmaker keys hosting FILE' makes it. Without it configs cannot have hosting keys." placeholder:"FILE" group:"connections"`
}

// serverTokens are the tokens that game servers get with their allocation.
type serverTokens struct {
	Keys  string        `help:"File with the private keys that sign the tokens of game servers; all allocators share it. 'matchmaker keys server FILE' makes it. Without it servers get no tokens." name:"server-keys" placeholder:"FILE" group:"allocator"`
	Time  time.Duration `help:"How long a token of a game server is good; the server renews it before." name:"server-token-time" default:"30m" group:"allocator"`
	Limit time.Duration `help:"How long after its allocation a game server may renew its token where its hosting system does not tell whether it lives." name:"server-token-limit" default:"24h" group:"allocator"`
}

func (t *serverTokens) check() error {
	if t.Time > token.MostTime {
		return fmt.Errorf("--server-token-time: at most %s: keys are published no longer", token.MostTime)
	}
	return positive(map[string]time.Duration{"server-token-time": t.Time, "server-token-limit": t.Limit})
}

// tickets are the settings that the Tickets API and the Backfill API have in common.
type tickets struct {
	Fields   fields.Limits   `embed:""`
	Settings ticket.Settings `embed:""`
}

// fields are the limits of what a ticket carries.
func (t *tickets) fields(l limits) fields.Limits {
	f := t.Fields
	f.Name = l.Definitions.Name
	return f
}

// readable is what the director and the allocator have in common.
type readable struct {
	Readable time.Duration `help:"How long a ticket's result can be read." default:"10m" group:"tickets"`
}

// cycle are the settings of the director.
type cycle struct {
	MinInterval time.Duration `help:"Least time between two runs of a config." default:"10ms" group:"cycle"`
	MaxInterval time.Duration `help:"A config runs at least this often, since functions widen with time." default:"1s" group:"cycle"`
	Window      time.Duration `help:"How long proposals wait for those of other configs that were started with theirs." default:"20ms" group:"cycle"`
	RunTime     time.Duration `help:"How long a run of a function may take." default:"5s" group:"cycle"`
	Lease       time.Duration `help:"How long a project stays with a director that says nothing." default:"3s" group:"cycle"`
	Claim       time.Duration `help:"How long a claimed ticket waits for its allocation to begin before it may be matched again." default:"30s" group:"cycle"`
	Approval    time.Duration `help:"How long tickets that were proposed to a running game wait for the approval of its server before they wait for others again." name:"approval-time" default:"20s" group:"backfill"`
	Silence     time.Duration `help:"A backfill ticket whose server has said nothing for this long is deleted." name:"backfill-silence" default:"1h" group:"backfill"`
	Backfill    bool          `help:"Fill running games before new ones are opened, whatever the scores; without it the scores decide." name:"backfill-first" negatable:"" default:"true" group:"backfill"`
	WaitLimit   time.Duration `help:"A ticket that has waited this long is taken for abandoned and deleted." default:"1h" group:"tickets"`
}

func (c *cycle) times(r readable) director.Times {
	return director.Times{
		MinInterval: c.MinInterval, MaxInterval: c.MaxInterval, Window: c.Window, Run: c.RunTime,
		Lease: c.Lease, Claim: c.Claim, Readable: r.Readable, Waiting: c.WaitLimit,
		Approval: c.Approval, Silence: c.Silence,
	}
}

// functions are the settings of what executes uploaded functions.
type functions struct {
	Sandbox      string        `help:"Whether to start where match functions cannot be walled in completely, as on systems other than Linux: require it, or prefer it and warn." enum:"require,prefer" default:"${sandbox}" group:"runner"`
	Modules      string        `help:"Private folder for modules and their machine code, not shared with another process; a temporary one when empty." placeholder:"DIR" group:"runner"`
	CacheSize    int           `help:"Most MiB that modules and their machine code may take in --modules; those that are used stay in any case." default:"1024" name:"module-cache" group:"runner"`
	CacheAge     time.Duration `help:"How long a module that is not used any more stays in --modules." default:"168h" name:"module-cache-age" group:"runner"`
	Hosts        int           `help:"How many runners host each project; more under load." default:"2" group:"runner"`
	MaxHosts     int           `help:"Most runners that host a project under load; 0 is all there are." default:"0" group:"runner"`
	MinInstances int           `help:"Fewest instances of a function on a runner." default:"1" group:"runner"`
	MaxInstances int           `help:"Most instances of a function on a runner, under load; 0 is the number of cores." default:"0" group:"runner"`
	Memory       int           `help:"Most MiB of memory of one instance of a function, up to 1024." default:"256" name:"function-memory" group:"runner"`
	// A binary with the race detector cannot hold instances: the detector takes more memory than they may have.
	Instances string `help:"Binary whose processes hold the instances of functions; this one when empty." name:"instance-binary" type:"existingfile" hidden:""`
}

// fleet are the settings of the allocator.
type fleet struct {
	Provider   string        `help:"Where game servers come from: local (processes on this machine, for development) or instant (no servers: every match gets --instant-connection)." enum:"local,instant" default:"local" group:"allocator"`
	Hosting    string        `help:"YAML file with several providers, and which matches are whose; --provider and what belongs to it are without effect." type:"existingfile" placeholder:"FILE" group:"allocator"`
	Connection string        `help:"Connection that the instant provider answers." name:"instant-connection" default:"127.0.0.1:7777" group:"allocator"`
	Servers    int           `help:"Most game servers of the local provider." name:"max-servers" default:"256" group:"allocator"`
	Lifetime   time.Duration `help:"How long a game server of the local provider runs." name:"server-lifetime" default:"10m" group:"allocator"`
	API        string        `help:"Where game servers of the local provider reach the Backfill API, to keep their games filled. This process when it serves all APIs; otherwise nowhere." name:"server-api" placeholder:"URL" group:"allocator"`
	Stay       time.Duration `help:"How long a player stays in a game of the local provider that is kept filled, on average; 0 is for ever." name:"player-stay" default:"2m" group:"allocator"`
	Parallel   int           `help:"How many matches one allocator has in hand at once; fleets that are slow leave each other a share." name:"parallel-allocations" default:"2048" group:"allocator"`
	Fleet      int           `help:"How many servers of one fleet one allocator asks for at once." name:"fleet-allocations" default:"64" group:"allocator"`
	Allocation time.Duration `help:"How long a provider may take, retries included, before the tickets get an error, or wait again as their config has it." name:"allocation-time" default:"30s" group:"allocator"`
	Call       time.Duration `help:"How long one call of a hosting system may take." name:"hosting-call-time" default:"10s" group:"allocator"`
}

func (f *fleet) settings(r readable, t serverTokens) allocator.Settings {
	s := allocator.DefaultSettings()
	s.Parallel, s.Fleet, s.Deadline, s.Call = f.Parallel, f.Fleet, f.Allocation, f.Call
	s.Slack, s.Readable, s.Renewable = f.Allocation/2, r.Readable, t.Limit
	return s
}

// positive says which settings must be more than 0 and are not.
func positive(settings map[string]time.Duration) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if settings[name] <= 0 {
			errs = append(errs, errors.New("--"+name+": must be more than 0"))
		}
	}
	return errors.Join(errs...)
}

func (t *tickets) check() error { return errors.Join(t.Fields.Validate(), t.Settings.Validate()) }

func (c *cycle) check() error {
	return positive(map[string]time.Duration{
		"min-interval": c.MinInterval, "max-interval": c.MaxInterval, "run-time": c.RunTime,
		"lease": c.Lease, "claim": c.Claim, "wait-limit": c.WaitLimit,
		"approval-time": c.Approval, "backfill-silence": c.Silence,
	})
}

func (f *functions) check() error {
	if f.CacheSize < 1 || f.CacheAge <= 0 {
		return errors.New("--module-cache and --module-cache-age: must be more than 0")
	}
	if f.Hosts < 1 || f.MinInstances < 1 || f.MaxHosts < 0 || f.MaxInstances < 0 {
		return errors.New("--hosts and --min-instances: must be 1 or more, --max-hosts and --max-instances not negative")
	}
	return nil
}

func (f *fleet) check() error {
	if f.Parallel < 1 || f.Fleet < 1 || f.Servers < 1 {
		return errors.New("--parallel-allocations, --fleet-allocations and --max-servers: must be 1 or more")
	}
	if f.Stay < 0 {
		return errors.New("--player-stay: must not be negative")
	}
	return positive(map[string]time.Duration{"server-lifetime": f.Lifetime, "allocation-time": f.Allocation, "hosting-call-time": f.Call})
}

// hostname is a replica's name where none is given.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "matchmaker"
	}
	return name
}
