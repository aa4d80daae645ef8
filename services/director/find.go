package director

import (
	"context"
	"slices"
	"time"
)

// findEvery is how often a director looks for projects that are not listed. It also looks when it starts, and when the
// list lost some.
const findEvery = time.Hour

// completed returns the list of projects with the projects that this replica leads, whose leases it has just renewed.
// Missing projects were lost: a project that is deleted has no leader. completed lists them again.
func (s *service) completed(ctx context.Context, listed []string) []string {
	lost := without(s.leading(), listed)
	if len(lost) == 0 {
		return listed
	}
	s.Log.ErrorContext(ctx, "the state store lost projects from their list: those that are led here are listed again",
		"count", len(lost), "first", lost[0])
	s.errorLog.Check(ctx, "listing projects again", s.Store.AddProjects(ctx, lost))
	s.search.Notify() // the others may have no leader
	return slices.Concat(listed, lost)
}

// findProjects looks for projects that have keys and are not listed, until ctx ends.
func (s *service) findProjects(ctx context.Context) {
	for ctx.Err() == nil {
		found, err := s.Store.FindProjects(ctx)
		s.errorLog.Check(ctx, "looking for projects that are not listed", err)
		if len(found) > 0 {
			s.Log.ErrorContext(ctx, "projects were found that were not listed: they are listed again", "count", len(found),
				"first", found[0])
			s.wake.Notify()
		}
		again := findEvery
		if err != nil {
			again = min(again, s.Settings.Lease)
		}
		s.search.Await(ctx, again, nil)
	}
}
