package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// projectCmd lists and deletes projects.
type projectCmd struct {
	List   projectListCmd   `cmd:"" help:"List all projects and what they have."`
	Delete projectDeleteCmd `cmd:"" help:"Delete everything of a project."`
}

type projectListCmd struct {
	Redis state.Server `embed:""`
}

// openState opens the state for a command that works on it and ends.
func openState(server state.Server) (*state.Store, error) {
	return state.Open(state.Options{Server: server, Log: slog.New(slog.DiscardHandler)})
}

// Run lists the projects by name.
func (c *projectListCmd) Run(ctx context.Context, s streams) error {
	store, err := openState(c.Redis)
	if err != nil {
		return err
	}
	defer store.Close()
	names, err := store.Projects(ctx)
	if err != nil {
		return err
	}
	slices.Sort(names)
	has, err := store.Inventories(ctx, names)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROJECT\tCONFIGS\tFUNCTIONS\tWAITING\tMATCHES\tRETURNS\tBACKFILLS\tLED BY")
	for i, name := range names {
		p := has[i]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", name, p.Configs, p.Functions, p.Waiting, p.Claims, p.Returns,
			p.Backfills, p.Leader)
	}
	return table.Flush()
}

type projectDeleteCmd struct {
	Name   string        `arg:"" help:"The project."`
	Yes    bool          `help:"Delete it. Without it the command says what it would delete." env:"-" group:"project"`
	Force  bool          `help:"Delete it also while matches are under way, servers are to be given back or games run. The hosting system's own rules end these servers." env:"-" group:"project"`
	Settle time.Duration `help:"How long to wait until all processes have let go of the project: more than --lease of the directors." default:"5s" env:"-" bounds:">0" group:"project"`
	Redis  state.Server  `embed:""`
	NATS   bus.Server    `embed:""`
}

// Help is called by kong.
func (projectDeleteCmd) Help() string {
	return `It deletes the configs, functions, modules, tickets, results, matches, backfill tickets, events and logs of a
project, and its name. First take away its tokens and stop its game servers: a request brings the project back. The
command says when one did. It may be interrupted and repeated. It needs the rights of the operator in Redis and
NATS.`
}

// Validate is called by kong.
func (c *projectDeleteCmd) Validate() error {
	if !auth.IsProject(c.Name) {
		return fmt.Errorf("%q: no project has a name like this", c.Name)
	}
	return nil
}

// Run deletes the project, or says what it would delete.
func (c *projectDeleteCmd) Run(ctx context.Context, s streams) error {
	store, err := openState(c.Redis)
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := store.Inventories(ctx, []string{c.Name})
	if err != nil {
		return err
	}
	has := all[0]
	c.describe(s.out, has)
	if has.Claims+has.Returns+has.Backfills > 0 && !c.Force {
		return errors.New("matches are under way, servers are to be given back, or games run: delete the project's " +
			"configs, stop its games and wait, or give --force")
	}
	if !c.Yes {
		fmt.Fprintln(s.out, "nothing was deleted: --yes deletes it")
		return nil
	}
	b, err := bus.Connect(ctx, bus.Options{Server: c.NATS, Name: "matchmaker project delete", Service: account.Operator,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { _ = b.Close(context.WithoutCancel(ctx)) }()
	answering, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	if err := b.Ping(answering); err != nil {
		return err
	}
	return c.delete(ctx, removal{store: store, bus: b, project: c.Name, settle: c.Settle, out: s.out})
}

// connectTime is how long the bus may take to answer.
const connectTime = 10 * time.Second

func (c *projectDeleteCmd) describe(w io.Writer, has state.Inventory) {
	fmt.Fprintf(w, "project %s: configs %d, functions %d, unused modules %d, waiting tickets %d, matches under way %d, "+
		"servers to give back %d, backfill tickets %d\n", c.Name, has.Configs, has.Functions, has.Unused, has.Waiting,
		has.Claims, has.Returns, has.Backfills)
	if !has.Listed {
		fmt.Fprintln(w, "it is not listed as a project")
	}
}

func (c *projectDeleteCmd) delete(ctx context.Context, r removal) error {
	deleted, err := r.run(ctx)
	fmt.Fprintf(r.out, "%d keys were deleted\n", deleted)
	if err != nil {
		return fmt.Errorf("project %s was not deleted completely, repeat the command: %w", c.Name, err)
	}
	return nil
}

// removal deletes a project. Each of its steps may be done twice.
type removal struct {
	store   *state.Store
	bus     *bus.Bus
	project string
	// settle is until all processes have let go of the project.
	settle time.Duration
	out    io.Writer
}

// run deletes what makes others work for the project, waits until they have noticed, and deletes the rest.
func (r removal) run(ctx context.Context) (deleted int, err error) {
	if err := r.deleteDefinitions(ctx); err != nil {
		return 0, err
	}
	if err := r.store.WithdrawProject(ctx, r.project); err != nil {
		return 0, err
	}
	if err := wait.For(ctx, r.settle); err != nil {
		return 0, err
	}
	if err := r.deleteModules(ctx); err != nil {
		return 0, err
	}
	if deleted, err = r.deleteRest(ctx); err != nil {
		return deleted, err
	}
	if err := wait.For(ctx, r.settle); err != nil {
		return deleted, err
	}
	again, err := r.deleteRest(ctx)
	if err == nil && again > 0 {
		err = fmt.Errorf("the project is in use: %d keys were written meanwhile. Take away its tokens and stop its game "+
			"servers first", again)
	}
	return deleted + again, err
}

// deleteDefinitions deletes configs and functions. The modules of functions become unused ones.
func (r removal) deleteDefinitions(ctx context.Context) error {
	configs, err := r.store.Configs(ctx, r.project)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(configs)) {
		if _, err := r.store.DeleteConfig(ctx, r.project, id, state.AnyRevision, ""); err != nil {
			return err
		}
	}
	functions, err := r.store.Functions(ctx, r.project)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		err := r.store.ChangeFunction(ctx, r.project, name, func(*pb.Function) (*pb.Function, error) {
			return nil, nil //nolint:nilnil // no function: deleted
		})
		if err != nil {
			return err
		}
	}
	r.bus.Poke(ctx, r.project, &pb.Poke{Configs: true, Functions: true})
	return nil
}

// deleteModules removes the modules of the project. Uploads that are under way fail.
func (r removal) deleteModules(ctx context.Context) error {
	unused, err := r.store.UnusedModules(ctx, []string{r.project}, 0)
	if err != nil {
		return err
	}
	for _, module := range unused[r.project].All {
		if err := r.bus.DeleteModule(ctx, module); err != nil {
			return err
		}
		if err := r.store.ForgetModules(ctx, r.project, []string{module}); err != nil {
			return err
		}
	}
	return nil
}

func (r removal) deleteRest(ctx context.Context) (deleted int, err error) {
	if err := r.bus.PurgeProject(ctx, r.project); err != nil {
		return 0, err
	}
	return r.store.RemoveProject(ctx, r.project)
}
