package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/test/launch"
	"matchmaker.dev/services/test/workload"
)

// installation is a system of many processes.
type installation struct {
	*launch.Installation
	// players is how many a load comes from. A player that comes again while its ticket waits would not be shown to
	// functions.
	players int
}

// install starts all processes of a system. The rate limits are on, but too high to be reached: a thousand players
// stand for millions. more are arguments that a service has beside the usual ones; nil for none.
func install(ctx context.Context, matchmaker string, errs io.Writer, more func(catalog.Service) []string) (
	*installation, error) {
	i, err := launch.Install(ctx, launch.InstallOptions{Matchmaker: matchmaker, NATS: "nats", Errs: errs,
		Providers: trust, Arguments: func(service catalog.Service) (args []string) {
			if service.Hosting {
				args = append(args, "--provider", "instant")
			}
			if service.Name == catalog.Ticket {
				args = append(args, "--player-rate", "1000", "--player-burst", "10000",
					"--project-rate", "1000000", "--project-burst", "1000000",
					"--read-rate", "100000", "--read-burst", "100000", "--max-waiting", "10000000",
					"--max-held", "100000", "--max-held-player", "1000")
			}
			if more != nil {
				args = append(args, more(service)...)
			}
			return args
		}})
	if err != nil {
		return nil, err
	}
	return &installation{i, players}, nil
}

// project is a project of an installation and its players.
type project struct {
	*installation
	name string
	// tokens are the tokens of players, and lobby is the token of a game service, which acts for any player.
	tokens []string
	lobby  string
}

// players is how many players a load comes from. They stand for millions.
const players = 10_000

// tokenTime is longer than any measurement.
const tokenTime = 7 * 24 * time.Hour

// newProject begins a project: it uploads the match function and returns when it runs.
func (i *installation) newProject(ctx context.Context, name, function string) (*project, error) {
	p := &project{installation: i, name: name}
	var err error
	if p.tokens, err = p.mint("player", i.players); err != nil {
		return nil, err
	}
	if p.lobby, err = i.Tokens.Mint(issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct,
		Project: name}); err != nil {
		return nil, err
	}
	if function == "" {
		return p, nil
	}
	registry, err := p.studio(catalog.Registry)
	if err != nil {
		return nil, err
	}
	module, err := os.Open(function)
	if err != nil {
		return nil, err
	}
	defer func() { _ = module.Close() }()
	return p, workload.Start(ctx, registry, duel, module)
}

// mint makes the tokens of players.
func (p *project) mint(role string, n int) ([]string, error) {
	tokens := make([]string, n)
	for k := range tokens {
		var err error
		if tokens[k], err = p.Tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: fmt.Sprintf("%s-%d", role, k),
			Project: p.name, TTL: tokenTime}); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// upload uploads the match function in a file.
func upload(ctx context.Context, registry *client.Client, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return registry.PutFunction(ctx, duel, "", bytes.NewReader(text))
}

// studio returns a client of a service, with the token of the project's owner.
func (p *project) studio(service string) (*client.Client, error) {
	token, err := p.Tokens.Mint(issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: p.name, Role: "Owner",
		TTL: tokenTime})
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: "http://" + p.Address(service), Project: p.name,
		Token: client.StaticToken(token)})
}

// put puts a config.
func (p *project) put(ctx context.Context, id string, config client.Config) error {
	studio, err := p.studio(catalog.Config)
	if err != nil {
		return err
	}
	_, err = studio.PutConfig(ctx, id, config, "")
	return err
}

// spent is processor time of the parts of a system and, as generator, of this process.
type spent map[string]time.Duration

const generator = "generator"

// used is what has been spent until now.
func (i *installation) used() spent {
	s := spent{generator: processorTime(os.Getpid())}
	parts, times := i.times()
	for n, part := range parts {
		s[part] = times[n]
	}
	return s
}

// times are the processor times of the parts until now.
func (i *installation) times() (parts []string, all []time.Duration) {
	parts = i.Parts()
	pids := make([]int, len(parts))
	for n, part := range parts {
		pids[n] = i.PID(part)
	}
	return parts, familyTimes(pids...)
}

func (s spent) since(before spent) spent {
	less := spent{}
	for part, used := range s {
		less[part] = used - before[part]
	}
	return less
}

// system is everything but the generator.
func (s spent) system() (sum time.Duration) {
	for part, used := range s {
		if part != generator {
			sum += used
		}
	}
	return sum
}

// parts are the names of the parts that spent something.
func (s spent) parts() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for part := range maps.Keys(s) {
			if s[part] > 0 && !yield(part) {
				return
			}
		}
	})
}

// together lets players of one or more projects arrive at the same time. It returns what was spent while the measured
// ones played.
func (i *installation) together(ctx context.Context, loads ...*arrivals) (spent, error) {
	each := func(do func(*arrivals)) {
		var all sync.WaitGroup
		for _, a := range loads {
			all.Go(func() { do(a) })
		}
		all.Wait()
	}
	each(func(a *arrivals) { a.begin(ctx) })
	before := i.used()
	each(func(a *arrivals) { a.play(ctx, a.tickets) })
	used := i.used().since(before)
	var errs []error
	for _, a := range loads {
		a.pool.stop()
		a.leave(ctx)
		errs = append(errs, a.err())
	}
	return used, first(errs)
}

// arguments are the arguments of --with for a service.
func arguments(with []string) func(catalog.Service) []string {
	return func(s catalog.Service) (args []string) {
		for _, more := range with {
			if name, arg, ok := strings.Cut(more, "="); ok && name == s.Name {
				args = append(args, arg)
			}
		}
		return args
	}
}
