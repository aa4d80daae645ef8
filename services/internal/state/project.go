package state

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// listAgain is how often a process lists a project again in which tickets are created: it may have been deleted
// meanwhile, or the list lost.
const listAgain = time.Minute

// keepListed lists the project of a new ticket, so that a director leads it, and the ticket expires if nothing else
// happens to it. It asks Redis once in listAgain, and only the first ticket waits for the answer. Errors: the errors of
// addProject, unless Redis did not answer: then the ticket's own script fails, or the next ticket asks.
func (s *Store) keepListed(ctx context.Context, project string) error {
	now := s.measured.host()
	last, known := s.listed.Load(project)
	if known {
		if passed := now.Sub(last.(time.Time)); passed >= 0 && passed < listAgain {
			return nil
		}
		if s.listed.CompareAndSwap(project, last, now) {
			go func() { _ = s.addProject(telemetry.Detach(ctx), project) }()
		}
		return nil
	}
	switch err := s.addProject(ctx, project); {
	case err == nil:
		s.listed.Store(project, now)
	case problem.KindOf(err) == problem.Invalid:
		return err
	}
	return nil
}

// addProject makes directors, runners and allocators find a project. It is called before the project's own keys are
// written, which are in another slot of a cluster. Errors: Invalid when the system has too many projects without this
// one.
func (s *Store) addProject(ctx context.Context, project string) error {
	var verdict string
	if err := s.eval(ctx, s.call("project_add", global, ids{},
		"project", project,
		"limit", s.limits.Projects,
		"may_create", s.mayAdd(ctx, global, keysOf(project))), &verdict); err != nil {
		return err
	}
	if verdict == "short" {
		return shortOfMemory(nil)
	}
	if verdict == "full" {
		return problem.New(problem.Invalid, "the system has %d projects, the most it may have (--max-projects): ask its "+
			"operator to raise that", s.limits.Projects).Exceeds("max-projects")
	}
	return nil
}
