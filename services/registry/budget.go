package registry

import (
	"context"
	"errors"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/state"
)

const (
	mib = 1 << 20
	// compileBucket is the name of the budget of compile time in the state, which all replicas share.
	compileBucket = "compile"
	compileWindow = time.Hour
)

func (r *registry) compileBudget() state.Budget {
	return state.Budget{Amount: r.Settings.CompileBudget, Window: compileWindow}
}

// load checks a module as a runner will, in the lane of its project, and charges what that took. The budget is looked
// at before, and charged after the work, so the last module may exceed it.
func (r *registry) load(ctx context.Context, project string, module []byte) (*sandbox.Module, error) {
	budget := r.compileBudget()
	left, empty, err := r.Store.Charge(ctx, project, compileBucket, 0, budget)
	if err != nil {
		return nil, err
	}
	if budget.Amount > 0 && left == 0 {
		e := problem.New(problem.Limited, "file: the modules of this project took %v to compile within an hour, as many as "+
			"allowed: try again later", budget.Amount)
		e.RetryAfter = max(empty, time.Second).Round(time.Second)
		e.Limit = &problem.Limit{Name: compileBucket, Amount: int(budget.Amount / time.Second), Window: budget.Window}
		r.metrics.overBudget(ctx, project)
		return nil, e
	}
	checked, cost, err := r.Box.LoadFor(ctx, project, module)
	if cost.Processor > 0 && budget.Amount > 0 {
		// Also when the client has left.
		charge, cancel := context.WithTimeout(context.WithoutCancel(ctx), chargeTimeout)
		defer cancel()
		var failed error
		left, _, failed = r.Store.Charge(charge, project, compileBucket, cost.Processor, budget)
		if failed != nil {
			r.Log.WarnContext(ctx, "compile time not charged", "project", project, "took", cost.Processor, "error", failed)
		}
	}
	r.metrics.compiled(ctx, project, cost, left)
	return checked, err
}

// chargeTimeout is how long the state may take to charge a project.
const chargeTimeout = 10 * time.Second

// checkRoom refuses an upload with which the project would have more machine code, or more bytes of modules, than it
// may. A race of uploads can exceed the limits by one module each, and no project has many at once.
func (r *registry) checkRoom(ctx context.Context, project, name string, m *sandbox.Module) error {
	functions, err := r.Store.Functions(ctx, project)
	if err != nil {
		return err
	}
	code, modules := m.Code, int64(m.Size)
	for other, f := range functions {
		if other != name {
			code += machineCode(f)
		}
		kept := f.GetVersions()
		if other == name { // this upload drops what is too old
			kept = kept[:min(len(kept), r.Settings.Versions-1)]
		}
		for _, v := range kept {
			if other != name || !strings.HasPrefix(v.GetModule(), m.Hash) { // the same module is stored once
				modules += v.GetBytes()
			}
		}
	}
	r.metrics.stored(ctx, project, code, modules)
	if most := int64(r.Settings.MachineCode) * mib; code > most {
		return refuse("the functions of the project would have %d MiB of machine code together, at most %d are allowed: "+
			"delete a function or make one smaller", (code+mib-1)/mib, r.Settings.MachineCode)
	}
	if most := int64(r.Settings.Modules) * mib; modules > most {
		return refuse("the modules of the project would have %d MiB together, earlier uploads included, at most %d are "+
			"allowed: delete a function or make one smaller", (modules+mib-1)/mib, r.Settings.Modules)
	}
	return nil
}

// perModuleByte is how many bytes of machine code a byte of a module makes at most in functions by Go, C or Rust. It is
// for records that do not say.
const perModuleByte = 5

// machineCode is that of the version that runs.
func machineCode(f *pb.Function) int64 {
	for _, v := range f.GetVersions() {
		if v.GetVersion() != f.GetVersion() {
			continue
		}
		if v.GetMachineCode() > 0 {
			return v.GetMachineCode()
		}
		return perModuleByte * v.GetBytes()
	}
	return 0
}

// isTemporary returns whether an upload failed for a reason that is not its own.
func isTemporary(err error) bool {
	p, ours := errors.AsType[*problem.Error](err)
	return !ours || p.Kind != problem.Invalid
}
