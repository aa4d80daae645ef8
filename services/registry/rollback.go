package registry

import (
	"context"
	"errors"
	"fmt"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/platform/wait"
)

// The proof that the upload before is better: so many of the failed runs succeed when it repeats them, more than half
// of its repeats, and runs of the new one fail so often. One run that fails by chance, or for a ticket that neither can
// take, is no proof.
const (
	provingRepeats = 3
	provingFailure = 20 // one run in so many
	// workedFailure is how seldom runs of an upload fail that works: one in so many.
	workedFailure = 10
)

// errUnchanged ends a change of a function that has nothing to change.
var errUnchanged = errors.New("nothing is to be changed")

// deadlineBeats is how many checks of runs there are for each check of canaries' deadlines.
const deadlineBeats = 10

// followRuns notes which uploads work, lets functions go back by themselves, and ends canaries whose time is over,
// until ctx ends. Every replica does that for all projects: the first one that writes a function did it.
func (r *registry) followRuns(ctx context.Context) {
	for beat := range wait.Every(ctx, r.Heartbeat/2) {
		if beat%deadlineBeats == 0 {
			r.endOverdue(ctx)
		}
		for key, u := range r.runners.generations() {
			var err error
			switch {
			case u.GetCanary() && provesRollback(u):
				err = r.withdraw(ctx, key.hosted, u)
			case u.GetCanary():
			case provesRollback(u):
				err = r.autoRollback(ctx, key.project, key.function, u)
			case provesWork(u):
				err = r.noteWorked(ctx, key.project, key.function, u, u.GetGeneration())
			case provesFailure(u):
				err = r.noteWorked(ctx, key.project, key.function, u, 0)
			}
			if err != nil && !errors.Is(err, errUnchanged) && ctx.Err() == nil {
				r.Log.WarnContext(ctx, "the health of an upload is not stored yet", "project", key.project,
					"function", key.function, "upload", key.upload, "error", err)
			}
		}
	}
}

// endOverdue ends canaries whose time is over.
func (r *registry) endOverdue(ctx context.Context) {
	for key := range r.runners.canaries() {
		if err := r.withdraw(ctx, key, nil); err != nil && !errors.Is(err, errUnchanged) && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "an overdue canary is not ended yet", "project", key.project, "function",
				key.function, "error", err)
		}
	}
}

func provesRollback(u *pb.UploadStatus) bool {
	return u.GetPassed() >= provingRepeats && 2*u.GetPassed() > u.GetRepeated() &&
		provingFailure*u.GetAllFailed() >= u.GetAllRuns()
}

func provesWork(u *pb.UploadStatus) bool {
	return !u.GetWorked() && u.GetUpload() > 0 && u.GetAllRuns() > u.GetAllFailed() &&
		workedFailure*u.GetAllFailed() <= u.GetAllRuns()
}

// provesFailure reports whether runs fail of an upload that seemed to work: its first run may have had a single ticket.
func provesFailure(u *pb.UploadStatus) bool {
	return u.GetWorked() && u.GetAllFailed() >= provingRepeats && workedFailure*u.GetAllFailed() > u.GetAllRuns()
}

// noteWorked notes in which generation the upload that runs works, 0 if it does not.
func (r *registry) noteWorked(
	ctx context.Context, project, name string, u *pb.UploadStatus, generation int64,
) error {
	return r.Store.ChangeFunction(ctx, project, name, func(current *pb.Function) (*pb.Function, error) {
		v := uploads.Of(current, u.GetUpload())
		if v == nil || !isCurrent(current, u) || v.GetWorked() == generation {
			return nil, errUnchanged
		}
		v.Worked = generation
		return current, nil
	})
}

// isCurrent reports whether the runs were of the upload that the function runs now.
func isCurrent(f *pb.Function, u *pb.UploadStatus) bool {
	return f != nil && f.GetVersion() == u.GetUpload() && f.GetGeneration() == u.GetGeneration()
}

// autoRollback lets a function go back to the upload that passes the failed runs.
func (r *registry) autoRollback(ctx context.Context, project, name string, u *pb.UploadStatus) error {
	f, err := r.Store.Function(ctx, project, name)
	if problem.KindOf(err) == problem.NotFound {
		return errUnchanged
	}
	if err != nil {
		return err
	}
	says, err := r.manifestOf(ctx, project, name, uploads.Of(f, u.GetRepeatedOn()))
	if err != nil {
		return err
	}
	// mistake unreverted: return errUnchanged
	var back *pb.FunctionReturn
	err = r.Store.ChangeFunctionWith(ctx, project, name,
		func(current *pb.Function) (*pb.Function, *pb.Event, error) {
			now := r.Store.Now()
			to := uploads.TrialTarget(current, now)
			if !isCurrent(current, u) || to == nil || to.GetVersion() != u.GetRepeatedOn() {
				return nil, nil, errUnchanged
			}
			back = &pb.FunctionReturn{
				Time: now.UnixMilli(), From: u.GetUpload(), To: to.GetVersion(), Failed: u.GetAllFailed(), Runs: u.GetAllRuns(),
				Repeated: u.GetRepeated(), Passed: u.GetPassed(), Error: u.GetError(),
			}
			next := withVersion(current, to, says, now)
			next.Returned = back
			uploads.Of(next, u.GetUpload()).Worked = 0
			return next, functionEvent(next, returnedReason, proofText(u), ""), nil
		})
	if err != nil {
		return err
	}
	r.Log.WarnContext(ctx, "function went back by itself", "project", project, "function", name, "from", back.GetFrom(),
		"to", back.GetTo(), "failed", back.GetFailed(), "runs", back.GetRuns(), "repeated", back.GetRepeated(),
		"passed", back.GetPassed())
	r.metrics.wentBack(ctx, project)
	r.tellChange(ctx, project)
	return nil
}

// proofText describes the proof that an upload fails.
func proofText(u *pb.UploadStatus) string {
	return fmt.Sprintf("%d of %d runs of upload %d failed, and %d of the %d that were repeated on upload %d did not",
		u.GetAllFailed(), u.GetAllRuns(), u.GetUpload(), u.GetPassed(), u.GetRepeated(), u.GetRepeatedOn())
}

// withdraw ends the canary of a function if its runs prove that it fails; if there is no proof, if its time is over.
func (r *registry) withdraw(ctx context.Context, key hosted, proof *pb.UploadStatus) error {
	var upload int64
	var reason, end string // end is what the function said, which no log has
	change := func(current *pb.Function) (*pb.Function, *pb.Event, error) {
		c, now := current.GetCanary(), r.Store.Now()
		// mistake outlived: now = now.AddDate(-1, 0, 0)
		switch {
		case c == nil:
			return nil, nil, errUnchanged
		case now.UnixMilli() >= c.GetUntil():
			reason, end = "its time is over", ""
		case isCanary(current, proof) && proof.GetRepeatedOn() == current.GetVersion() && !current.GetNoReturn() &&
			r.Settings.Trial > 0:
			reason, end = proofText(proof), ": "+proof.GetError()
		default:
			return nil, nil, errUnchanged
		}
		upload = c.GetUpload()
		endCanary(current, now, reason+end)
		return current, functionEvent(current, withdrawnReason, reason, ""), nil
	}
	if err := r.Store.ChangeFunctionWith(ctx, key.project, key.function, change); err != nil {
		return err
	}
	r.Log.InfoContext(ctx, "canary withdrawn", "project", key.project, "function", key.function, "upload", upload,
		"reason", reason)
	r.metrics.canaryChanged(ctx, key.project, withdrawnReason)
	r.tellChange(ctx, key.project)
	return nil
}

// isCanary reports whether the runs were of the function's canary.
func isCanary(f *pb.Function, u *pb.UploadStatus) bool {
	c := f.GetCanary()
	return c != nil && u.GetCanary() && c.GetUpload() == u.GetUpload() && c.GetGeneration() == u.GetGeneration()
}

// manifestOf is the manifest of an upload. One that is not kept beside it is read from its module.
func (r *registry) manifestOf(
	ctx context.Context, project, name string, v *pb.FunctionVersion,
) (*pb.Manifest, error) {
	switch {
	case v == nil:
		return nil, errUnchanged
	case v.GetManifest() != nil:
		return v.GetManifest(), nil
	}
	return r.checkStored(ctx, project, name, v)
}

// The reasons of events about functions.
const (
	uploadedReason   = "uploaded"
	rollbackReason   = "rollback"
	returnedReason   = "returned"
	shadowReason     = "shadow"
	unshadowedReason = "unshadowed"
	promotedReason   = "promoted"
	canaryReason     = "canary"
	withdrawnReason  = "withdrawn"
	deletedReason    = "deleted"
)

// functionEvent returns the event of a change of a function. by is its author, "" for the service.
func functionEvent(f *pb.Function, reason, detail, by string) *pb.Event {
	number := f.GetVersion()
	switch reason {
	case shadowReason:
		number = f.GetShadow()
	case canaryReason:
		number = f.GetCanary().GetUpload()
	case withdrawnReason:
		number = f.GetCanaryEnded().GetUpload()
	}
	return &pb.Event{
		Kind: pb.Event_KIND_FUNCTION, Function: f.GetName(), Upload: number, Reason: reason, Detail: detail, By: by,
	}
}
