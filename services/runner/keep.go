package runner

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/wait"
	"matchmaker.dev/services/runner/snapshot"
)

// keepTime is how long it may take to keep the index of a project.
const keepTime = 5 * time.Second

// snapshots are where a runner keeps the indexes of large projects while it is restarted. A nil one keeps nothing.
type snapshots struct {
	folder  *snapshot.Folder
	from    int
	metrics *metrics
}

// openSnapshots opens the folder of snapshots. A runner works without one.
func openSnapshots(o *Options, m *metrics) *snapshots {
	if o.Snapshots == "" || o.Settings.Snapshots == 0 {
		return nil
	}
	folder, err := snapshot.Open(o.Snapshots, int64(o.Settings.Snapshots)<<20, o.Store, o.Now)
	if err != nil {
		o.Log.Warn("the folder for snapshots of waiting tickets cannot be used", "folder", o.Snapshots, "error", err)
		return nil
	}
	return &snapshots{folder: folder, from: o.Settings.KeptFrom, metrics: m}
}

// sweepSnapshots removes what was kept of projects that this runner does not host any more.
func (r *Runner) sweepSnapshots(ctx context.Context) {
	if r.env.snapshots == nil || wait.For(ctx, 2*snapshot.MaxAge) != nil {
		return
	}
	if err := r.env.snapshots.folder.Sweep(); err != nil {
		r.env.Log.WarnContext(ctx, "snapshots of waiting tickets cannot be removed", "error", err)
	}
}

// keep keeps the index of a project that this runner no longer hosts, for its next start.
func (e *env) keep(ctx context.Context, f *feed) {
	if e.snapshots == nil || f == nil {
		return
	}
	f.mu.Lock()
	complete, position, origin := f.complete, f.position, f.origin
	f.mu.Unlock()
	n := f.index.Len()
	if !complete || position == 0 || n < e.snapshots.from || !origin.Known() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	began := time.Now()
	bytes, err := e.snapshots.folder.Write(ctx, f.project, origin, position, f.index.Save)
	if err != nil {
		e.metrics.recordSnapshot(ctx, snapshotFailed)
		e.Log.WarnContext(ctx, "the waiting tickets are not kept for the next start, which reads them from Redis",
			"project", f.project, "tickets", n, "error", err)
		return
	}
	e.metrics.recordSnapshot(ctx, snapshotKept)
	e.Log.InfoContext(ctx, "the waiting tickets are kept for the next start", "project", f.project, "tickets", n,
		"bytes", bytes, "seconds", time.Since(began).Seconds())
}

// Resume fills the index with the tickets that the runner before this one kept of the feed.
func (f *feed) Resume(ctx context.Context, origin state.Origin) uint64 {
	f.mu.Lock()
	f.origin = origin
	f.mu.Unlock()
	if f.snapshots == nil {
		return 0
	}
	began := time.Now()
	position, err := f.snapshots.folder.Take(ctx, f.project, origin, f.index.Load)
	if err != nil {
		f.index.Reset()
		f.snapshots.metrics.recordSnapshot(ctx, snapshotVoid)
		f.log.WarnContext(ctx, "the tickets that were kept before the start are of no use: they are read from Redis",
			"project", f.project, "reason", err)
		return 0
	}
	if position > 0 {
		f.snapshots.metrics.recordSnapshot(ctx, snapshotUsed)
		f.log.InfoContext(ctx, "the waiting tickets are those that were kept before the start, and what changed since",
			"project", f.project, "tickets", f.index.Len(), "seconds", time.Since(began).Seconds())
	}
	return position
}
