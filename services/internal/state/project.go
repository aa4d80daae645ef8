package state

import (
	"context"

	"matchmaker.dev/services/internal/problem"
)

// addProject makes directors, runners and allocators find a project. It is called before the project's own keys are
// written, which are in another slot of a cluster. Errors: Invalid when there are as many projects as may be, and this
// is none of them.
func (s *Store) addProject(ctx context.Context, project string) error {
	verdict, err := s.run(ctx, s.call(projectAddScript, global, ids{},
		"project", project,
		"limit", s.limits.Projects))
	if err != nil {
		return err
	}
	if verdict == "full" {
		return problem.New(problem.Invalid, "the system has %d projects, the most it may have (--max-projects): ask its "+
			"operator to raise that", s.limits.Projects)
	}
	return nil
}
