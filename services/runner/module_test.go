package runner_test

import (
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/runner"
)

// TestFunctionWaitsForRoomOnTheDisk: what runs takes no more of the disk than it may, over all projects. A function for
// which there is no room says so, and starts when another project's function is deleted.
func TestFunctionWaitsForRoomOnTheDisk(t *testing.T) {
	w := newWorld(t)
	large, _, err := w.box.Load(t.Context(), "", w.guest)
	w.must(err)
	defer w.box.Release(large)
	b, err := sandbox.New(sandbox.Options{
		Dir: t.TempDir(), Code: sandbox.UserCode(), Binary: w.child, Log: discard(),
		// Half of it for the first project, and too little for the next.
		Cache: sandbox.CacheLimits{Held: 2*(int64(large.Size)+large.Code) + 1000},
	})
	w.must(err)
	t.Cleanup(b.Close)
	w.startRunner("runner-1", quickSettings(), func(o *runner.Options) { o.Engine = runner.Processes(b) })
	w.put("other", "f", w.guest)
	w.waitUntil("the first to run", allRunning(1, 1))
	w.put(project, "g", w.duel)
	w.waitUntil("the second to wait", func(all []*pb.InstanceStatus) bool {
		for _, s := range all {
			if s.GetProject() == project && s.GetState() == "Waiting" && strings.Contains(s.GetReason(), "--max-module-disk") {
				return true
			}
		}
		return false
	})
	if use := b.DiskUse(); use.Held == 0 || use.Held > use.Limits.Held {
		t.Errorf("in use are %+v", use)
	}
	w.deleteFunction("other", "f")
	w.waitUntil("the second to run", func(all []*pb.InstanceStatus) bool {
		return len(all) == 1 && all[0].GetProject() == project && all[0].GetState() == "Running"
	})
}
