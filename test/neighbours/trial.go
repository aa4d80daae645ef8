package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/platform/process"
	"matchmaker.dev/services/test/launch"
	"matchmaker.dev/services/test/workload"
)

// attack is one way to harm others.
type attack struct {
	name, says string
	// shared is the attacker's own function, which behaves for the config victim; nil: that has a function of its own.
	shared func(*arsenal) []byte
	// fleet says that the project victim has servers of its own fleet.
	fleet bool
	// prepare does what comes before the baseline, such as creating tickets; it may be nil.
	prepare func(context.Context, *attacker) error
	// hold attacks. It calls ready when the attack stands, and goes on until its context ends; it may return before when
	// nothing is left to do. nil: there is nothing to do.
	hold func(ctx context.Context, a *attacker, ready func()) error
}

// trial is one attack on a system of its own.
type trial struct {
	*launch.Installation
	options *options
	attack  attack
	http    *http.Client
	made    *arsenal
	hosting *fleets
}

// Projects of a trial. The attacker may have more.
const (
	victimProject    = "victim"
	attackerProject  = "attacker"
	bystanderProject = "bystander"
)

// try measures an attack.
func (o *options) try(ctx context.Context, a attack, made *arsenal) (_ *result, err error) {
	logs, err := os.Create(o.log(a))
	if err != nil {
		return nil, err
	}
	defer func() { _ = logs.Close() }()
	hosting, err := newFleets(ctx)
	if err != nil {
		return nil, err
	}
	defer hosting.close()
	rules, key := filepath.Join(made.dir, "hosting.yaml"), filepath.Join(made.dir, "fleet.key")
	if err := os.WriteFile(key, []byte(rand.Text()), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(rules, hosting.rules(key), 0o600); err != nil {
		return nil, err
	}
	install := launch.InstallOptions{Matchmaker: o.Matchmaker, NATS: "nats",
		Errs:      process.Lines(func(line string) { fmt.Fprintln(logs, line) }),
		Arguments: func(s catalog.Service) []string { return o.arguments(s, rules) }}
	system, err := launch.Install(ctx, install)
	for n := 1; n < tries && err != nil && ctx.Err() == nil; n++ {
		progress("  again: %.300v", err) // another program of the machine may have taken a port
		system, err = launch.Install(ctx, install)
	}
	if err != nil {
		return nil, err
	}
	t := &trial{Installation: system, options: o, attack: a, made: made, hosting: hosting,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}}
	defer func() {
		t.http.CloseIdleConnections()
		if ended := system.Close(); ended != nil {
			progress("  a process did not end in good order: %.300v", ended)
		}
	}()
	return t.run(ctx)
}

func (o *options) arguments(s catalog.Service, rules string) (args []string) {
	if s.Hosting {
		args = append(args, "--hosting", rules)
	}
	for _, more := range o.Service {
		if name, arg, ok := strings.Cut(more, "="); ok && name == s.Name {
			args = append(args, arg)
		}
	}
	return args
}

// tries is how often a system is started that does not start.
const tries = 3

// client makes a client of a service.
func (t *trial) client(project, service string) (*client.Client, error) {
	return workload.Client(t.Tokens, service, "http://"+t.Address(service), project, t.http.Transport)
}

// Attributes of the victims' configs, and the attacker's.
const (
	victimAttribute    = "skill"
	neighbourAttribute = "value"
	attackerAttribute  = "prey"
)

// run runs the phases.
func (t *trial) run(ctx context.Context) (*result, error) {
	a, err := newAttacker(t)
	if err != nil {
		return nil, err
	}
	victims, err := t.victims(ctx)
	if err != nil {
		return nil, err
	}
	uploads, err := t.client(bystanderProject, catalog.Registry)
	if err != nil {
		return nil, err
	}
	b, w := &bystander{functions: uploads}, &watch{system: t.Installation}
	playing, enough := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer func() {
		enough()
		all.Wait()
	}()
	for _, v := range victims {
		all.Go(func() { v.play(playing, ctx, t.options.Pairs) })
	}
	all.Go(func() { b.run(playing, ctx) })
	all.Go(func() { w.run(playing) })
	r := &result{Name: t.attack.name, Says: t.attack.says}
	if t.attack.prepare != nil {
		if err := t.attack.prepare(ctx, a); err != nil {
			return nil, fmt.Errorf("preparing: %w", err)
		}
	}
	pause(ctx, warming)
	r.Load = launch.Load()
	w.reset()
	from, used := time.Now(), w.used()
	pause(ctx, t.options.Baseline)
	to := time.Now()
	r.CoresAtRest, used = cores(w.used(), used, to.Sub(from)), w.used()
	r.Rest = w.reset()
	began, ended, err := t.hold(ctx, a)
	if err != nil {
		return nil, err
	}
	r.Cores = cores(w.used(), used, ended.Sub(began))
	progress("  deleting")
	deleted := a.delete(ctx)
	r.Attack = w.reset()
	pause(ctx, t.options.Recovery)
	over := time.Now()
	r.After = w.reset()
	enough()
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for _, v := range victims {
		s := suffering{Victim: v.name, Baseline: v.between(from, to), Attack: v.between(began, ended)}
		s.Back, s.Recovered = v.back(deleted, over, s.Baseline)
		r.Victims = append(r.Victims, s)
	}
	r.Upload, r.UploadsFailed, r.UploadFault = b.between(began, ended)
	r.UploadBaseline, _, _ = b.between(from, to)
	r.Held, r.Notes = ended.Sub(began), a.said()
	for _, service := range catalog.Names() {
		if !t.Running(service) {
			r.Died = append(r.Died, service)
		}
	}
	r.Servers, r.Strangers = t.hosting.of(victimProject), t.hosting.strangers()
	r.judge(t.attack)
	return r, nil
}

// warming is how long the victims play before the baseline.
const warming = 3 * time.Second

// hold holds the attack. The time until it stands counts as well.
func (t *trial) hold(ctx context.Context, a *attacker) (began, ended time.Time, err error) {
	if t.attack.hold == nil {
		began = time.Now()
		pause(ctx, t.options.For)
		return began, time.Now(), nil
	}
	holding, stop := context.WithCancel(ctx)
	defer stop()
	stands := make(chan struct{})
	ready := sync.OnceFunc(func() { close(stands) })
	done := make(chan error, 1)
	began = time.Now()
	go func() {
		err := t.attack.hold(holding, a, ready)
		ready()
		done <- err
	}()
	select {
	case <-stands:
	case <-time.After(setupTime):
		a.note("the attack did not stand after %s", setupTime)
	case <-ctx.Done():
	}
	progress("  the attack stands after %s", time.Since(began).Round(100*time.Millisecond))
	pause(ctx, t.options.For)
	ended = time.Now()
	stop()
	if err := <-done; err != nil && ctx.Err() == nil {
		a.note("it ended: %v", err)
	}
	return began, ended, nil
}

// setupTime is how long an attack may take until it stands.
const setupTime = 2 * time.Minute

// victims prepares the victims: a project of its own, and a config of the attacker's project.
func (t *trial) victims(ctx context.Context) (all []*victim, err error) {
	text, err := os.ReadFile(t.options.Function)
	if err != nil {
		return nil, err
	}
	for _, v := range []struct{ name, project, attribute, function string }{
		{"project", victimProject, victimAttribute, "duel"}, {"config", attackerProject, neighbourAttribute, "duel"},
	} {
		functions, err := t.client(v.project, catalog.Registry)
		if err != nil {
			return nil, err
		}
		module, settings := text, map[string]any{"attribute": v.attribute, "window": 5000}
		if v.name == "config" && t.attack.shared != nil {
			v.function, module, settings = hostileName, t.attack.shared(t.made), map[string]any{"how": "pair"}
		}
		if err := workload.Start(ctx, functions, v.function, bytes.NewReader(module)); err != nil {
			return nil, err
		}
		configs, err := t.client(v.project, catalog.Config)
		if err != nil {
			return nil, err
		}
		c := configOf(v.function, v.attribute, settings)
		c.Hosting = &client.Hosting{Profile: "good", FleetID: "good"}
		if t.attack.fleet && v.project == victimProject {
			c.Hosting.FleetID = theirs
		}
		if _, err := configs.PutConfig(ctx, "good", c, ""); err != nil {
			return nil, err
		}
		tickets, err := t.client(v.project, catalog.Ticket)
		if err != nil {
			return nil, err
		}
		all = append(all, &victim{name: v.name, tickets: tickets, attribute: v.attribute})
	}
	return all, nil
}

// configOf is a config of a function over the tickets that have an attribute.
func configOf(function, attribute string, settings map[string]any) client.Config {
	return workload.Config(function, attribute, 5000, settings)
}

// judge says which goals were missed.
func (r *result) judge(a attack) {
	miss := func(format string, args ...any) { r.Missed = append(r.Missed, fmt.Sprintf(format, args...)) }
	for _, v := range r.Victims {
		p50, p95 := v.Attack.times(v.Baseline)
		if !(p50 <= mostP50) {
			miss("%s: p50 is %.1f times the baseline", v.Victim, p50)
		}
		if !(p95 <= mostP95) {
			miss("%s: p95 is %.1f times the baseline", v.Victim, p95)
		}
		if v.Attack.Lost > 0 {
			miss("%s: %d of %d players had no match in %s (%.150s)", v.Victim, v.Attack.Lost, v.Attack.Players, patience,
				v.Attack.Fault)
		}
		if !v.Recovered || v.Back > mostBack {
			miss("%s: not back in %s", v.Victim, mostBack)
		}
	}
	if r.Attack.Runner > mostMemory+r.Attack.Index {
		miss("the runner holds %.0f MiB", r.Attack.Runner)
	}
	if r.Upload > mostUpload || r.UploadsFailed > 0 {
		miss("an upload of another project took %.1f s, %d failed %.150s", r.Upload.Seconds(), r.UploadsFailed, r.UploadFault)
	}
	if a.fleet && r.Servers == 0 {
		miss("the project had no servers of its fleet")
	}
	for project, n := range r.Strangers {
		miss("%s got %d servers of the fleet of another project", project, n)
	}
	for _, service := range r.Died {
		miss("%s died", service)
	}
	slices.Sort(r.Missed)
}

// Goals besides the victims'.
const (
	mostMemory = 512 // MiB of the runner, without its index and its instances
	mostUpload = 5 * time.Second
	mostBack   = 5 * time.Second
)
