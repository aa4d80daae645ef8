package registry

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/problem"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/state"
)

const mib = 1 << 20

// The names of the budgets in the state.
const compileBucket, logBucket = "compile", "log"

// budget is processor time that a project may use within a window.
type budget struct {
	adhoc.Budget
	what string // used it, for the error
}

func (r *registry) compileBudget() budget {
	return budget{
		adhoc.Budget{Name: compileBucket, Budget: state.Budget{Amount: r.Settings.CompileBudget, Window: time.Hour},
			Store: r.Store, Log: r.Log},
		"file: the modules of this project took %v to compile within an hour",
	}
}

func (r *registry) logBudget() budget {
	return budget{
		adhoc.Budget{Name: logBucket, Budget: state.Budget{Amount: r.Settings.LogBudget, Window: time.Minute},
			Store: r.Store, Log: r.Log},
		"reads of this project's logs took %v within a minute",
	}
}

// allow refuses more work while nothing is left. Work is charged afterwards, so the last one may exceed the budget.
func (r *registry) allow(ctx context.Context, project string, b budget) error {
	again, err := b.Again(ctx, project)
	if err != nil || again == 0 {
		return err
	}
	r.metrics.overBudget(ctx, project, b.Name)
	e := problem.New(problem.ProjectLimited, b.what+", as many as allowed: try again later", b.Amount).After(again)
	e.Limit = &problem.Limit{Name: b.Name, Amount: int(b.Amount / time.Second), Window: b.Window}
	return e
}

// load checks a module as a runner will, in the lane of its project, and charges what that took.
func (r *registry) load(ctx context.Context, project string, module []byte) (*sandbox.Module, error) {
	budget := r.compileBudget()
	if err := r.allow(ctx, project, budget); err != nil {
		return nil, err
	}
	checked, cost, err := r.Sandbox.Load(ctx, project, module)
	r.metrics.compiled(ctx, project, cost, budget.Charge(ctx, project, cost.Processor))
	return checked, err
}

// checkRoom refuses an upload with which the project would have more machine code, or more bytes of modules, than it
// may. A race of uploads can exceed the limits by one module each, and no project has many at once. pinned are the
// uploads of the function that configs name, and inShadow is set if the one that runs goes on beside this one.
func (r *registry) checkRoom(
	ctx context.Context, project, name string, m *sandbox.Module, pinned map[int64]bool, inShadow bool,
) error {
	functions, err := r.Store.Functions(ctx, project)
	if err != nil {
		return err
	}
	code, modules := m.Code, int64(m.Size)
	for other, f := range functions {
		kept := f.GetVersions()
		switch {
		case other != name:
			code += machineCode(f)
		case inShadow:
			code += machineCodeOf(f, f.GetVersion())
		case f.GetShadow() != 0:
			code += machineCodeOf(f, f.GetShadow())
		}
		if other == name { // this upload drops what is too old
			next := proto.CloneOf(f)
			if !inShadow {
				next.Version = 0
			}
			kept = uploads.Retain(next, r.Settings.Versions-1, pinned)
		}
		for _, v := range kept {
			if other != name || !strings.HasPrefix(v.GetModule(), m.Hash) { // the same module is stored once
				modules += v.GetBytes()
			}
		}
	}
	if most := int64(r.Settings.MachineCode) * mib; code > most {
		return refuse("the functions of the project would have %d MiB of machine code together, at most %d are allowed: "+
			"delete a function or make one smaller", (code+mib-1)/mib, r.Settings.MachineCode).Exceeds("max-machine-code")
	}
	if most := int64(r.Settings.Modules) * mib; modules > most {
		return refuse("the modules of the project would have %d MiB together, earlier uploads included, at most %d are "+
			"allowed: delete a function or make one smaller", (modules+mib-1)/mib, r.Settings.Modules).Exceeds("max-modules")
	}
	return nil
}

// machineCode is the machine code of the version that runs, of its shadow and of its canary.
func machineCode(f *pb.Function) int64 {
	code := machineCodeOf(f, f.GetVersion())
	if f.GetShadow() != 0 && f.GetShadow() != f.GetVersion() {
		code += machineCodeOf(f, f.GetShadow())
	}
	if f.GetCanary() != nil {
		code += machineCodeOf(f, f.GetCanary().GetUpload())
	}
	return code
}

func machineCodeOf(f *pb.Function, number int64) int64 { return uploads.Of(f, number).GetMachineCode() }

// isTemporary reports whether an upload failed for a reason that is not its own.
func isTemporary(err error) bool {
	p, ours := errors.AsType[*problem.Error](err)
	return !ours || p.Kind != problem.Invalid
}
