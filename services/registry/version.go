package registry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/edge/web"
)

// versions answers GET /functions/{name}/versions: the uploads that the function can go back to, the newest first.
func (r *registry) versions(c echo.Context, name string) error {
	project := c.Param("project")
	f, err := r.Store.Function(c.Request().Context(), project, name)
	if err != nil {
		return err
	}
	answer := response.FunctionVersionList{Versions: []response.FunctionVersion{}}
	for _, v := range f.GetVersions() {
		answer.Versions = append(answer.Versions, response.FunctionVersion{
			Version: v.GetVersion(), Current: v.GetVersion() == f.GetVersion(),
			MD5: v.GetMd5(), Implementation: v.GetImplementation(), Size: v.GetBytes(), Uploaded: iso8601(v.GetUploaded()),
			By: v.GetBy(), Note: v.GetNote(), Worked: v.GetWorked() > 0, Shadow: v.GetVersion() == f.GetShadow(),
			Canary: v.GetVersion() == f.GetCanary().GetUpload(),
			Health: healthOf(r.runners.uploadOf(project, name, v.GetVersion())),
		})
	}
	return c.JSON(http.StatusOK, answer)
}

// target is the body of a request that names the version that is to run.
type target struct {
	Version int64 `json:"version"`
}

// rollback answers POST /functions/{name}/actions/rollback: it makes a version that is kept the one that runs, an
// earlier one or a later one. Its module is checked again, since limits may have changed, and takes over as an
// upload does. To go to the version that runs already changes nothing.
func (r *registry) rollback(c echo.Context, name string) error {
	return r.switchAsAsked(c, name, rollbackReason, "to go back to")
}

// switchAsAsked makes the version run that a request names. which describes it in errors.
func (r *registry) switchAsAsked(c echo.Context, name, reason, which string) error {
	var to target
	if err := web.Decode(c, &to); err != nil {
		return err
	}
	if to.Version < 1 {
		return problem.New(problem.Invalid, "version: missing or less than 1: name the version %s", which)
	}
	return r.switchTo(c, name, to.Version, reason)
}

// switchTo makes a kept version the one that runs. reason is the reason in events.
func (r *registry) switchTo(c echo.Context, name string, number int64, reason string) error {
	ctx, project := c.Request().Context(), c.Param("project")
	f, err := r.Store.Function(ctx, project, name)
	if err != nil {
		return err
	}
	v, err := versionOf(f, number)
	if err != nil {
		return err
	}
	if f.GetVersion() == number {
		return c.JSON(http.StatusOK, r.describe(project, f))
	}
	if err := isPromoted(f, number, reason); err != nil {
		return err
	}
	if err := r.allowRestarts(ctx, project, 1); err != nil {
		return err
	}
	slot, err := r.admission.enter(project)
	if err != nil {
		return err
	}
	defer slot.leave()
	if err := slot.hold(int(v.GetBytes())); err != nil {
		return err
	}
	says, err := r.checkStored(ctx, project, name, v)
	if err != nil {
		return err
	}
	var next *pb.Function
	err = r.Store.ChangeFunctionWith(ctx, project, name,
		func(current *pb.Function) (*pb.Function, *pb.Event, error) {
			v, err := versionOf(current, number) // it may have been pushed out, or deleted with the function
			if err == nil {
				err = isPromoted(current, number, reason)
			}
			if err != nil {
				return nil, nil, err
			}
			next = withVersion(current, v, says, r.Store.Now())
			// mistake backward: next.Module = current.GetModule()
			if reason == promotedReason {
				next.TrialUntil = trialUntil(next, r.Store.Now(), r.Settings.Trial)
			}
			return next, functionEvent(next, reason, "", auth.From(c).Subject), nil
		})
	if err != nil {
		return err
	}
	r.Log.InfoContext(ctx, "function runs another upload", "project", project, "function", name, "from", f.GetVersion(),
		"to", number, "reason", reason)
	switch {
	case f.GetCanary() == nil:
	case next.GetCanaryEnded().GetPromoted():
		r.metrics.canaryChanged(ctx, project, promotedReason)
	default:
		r.metrics.canaryChanged(ctx, project, withdrawnReason)
	}
	r.tellChange(ctx, project)
	return c.JSON(http.StatusOK, r.describe(project, next))
}

// checkStored reads the module of a version and checks it as an upload's, and returns its manifest.
func (r *registry) checkStored(
	ctx context.Context, project, name string, v *pb.FunctionVersion,
) (*pb.Manifest, error) {
	gone := func() error {
		return problem.New(problem.Conflict, "version: the module of version %d is not stored any more: upload it again",
			v.GetVersion())
	}
	module, err := r.Bus.Module(ctx, v.GetModule())
	if errors.Is(err, bus.ErrNoModule) {
		return nil, gone()
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(module); !strings.HasPrefix(v.GetModule(), hex.EncodeToString(sum[:])) {
		return nil, gone()
	}
	checked, err := r.check(ctx, project, module)
	if err != nil {
		return nil, err
	}
	if err := r.checkRoom(ctx, project, name, checked, nil, false); err != nil {
		return nil, err
	}
	return manifest(checked.Manifest), nil
}

// versionOf finds a version of a function; NotFound when it is not kept.
func versionOf(f *pb.Function, number int64) (*pb.FunctionVersion, error) {
	if f == nil {
		return nil, problem.New(problem.FunctionNotFound, "the function was deleted meanwhile")
	}
	var kept []string
	for _, v := range f.GetVersions() {
		if v.GetVersion() == number {
			return v, nil
		}
		kept = append(kept, strconv.FormatInt(v.GetVersion(), 10))
	}
	return nil, problem.New(problem.NotFound, "version: %d of function %q is not kept, those that are: %s", number,
		f.GetName(), strings.Join(kept, ", "))
}

// withVersion returns the function with one of its versions as the one to run. It goes back to none by itself, and runs
// in no shadow. If that is another one than before, a canary ends.
func withVersion(f *pb.Function, v *pb.FunctionVersion, says *pb.Manifest, now time.Time) *pb.Function {
	next := proto.CloneOf(f)
	next.Version, next.Md5, next.Module, next.Implementation = v.GetVersion(), v.GetMd5(), v.GetModule(),
		v.GetImplementation()
	next.Manifest = says
	next.Updated = max(now.UnixMilli(), f.GetCreated())
	next.Generation = nextGeneration(f, now)
	next.TrialUntil, next.Returned = 0, nil
	if next.GetShadow() == v.GetVersion() {
		next.Shadow = 0
	}
	if v.GetVersion() != f.GetVersion() {
		endCanary(next, now, fmt.Sprintf("upload %d runs for all", v.GetVersion()))
	}
	return next
}

// upload is a file that passed all checks.
type upload struct {
	md5, implementation string
	hash                string // of the module
	bytes               int    // of the module
	machineCode         int64
	manifest            *pb.Manifest
	note, by            string
	inShadow            bool
	trial               time.Duration
	// retain returns the versions that are kept.
	retain func(*pb.Function) []*pb.FunctionVersion
	// store puts the module into the object store under a name of its own, once.
	store func() (name string, err error)
}

// apply returns the function after the upload; current is nil if there was none. The upload becomes a new version,
// which runs from now on, or in the shadow of the one that runs, and the oldest ones are dropped. A file that runs
// already makes no new version: uploading after every build would drop the versions worth going back to.
func (u *upload) apply(current *pb.Function, name string, now time.Time) (*pb.Function, error) {
	if current == nil && u.inShadow {
		return nil, problem.New(problem.Invalid, "shadow: no upload of this function runs, in whose shadow it could: upload "+
			"it without")
	}
	if current == nil {
		current = &pb.Function{Name: name, Created: now.UnixMilli()}
	}
	latest, module := int64(0), ""
	for _, v := range current.GetVersions() {
		same := strings.HasPrefix(v.GetModule(), u.hash)
		if same && v.GetVersion() == current.GetVersion() && v.GetMd5() == u.md5 &&
			v.GetImplementation() == u.implementation {
			if u.inShadow {
				return nil, problem.New(problem.Invalid, "shadow: the file is the same as in upload %d, which runs", v.GetVersion())
			}
			next := withVersion(current, v, u.manifest, now)
			next.TrialUntil, next.Returned = current.GetTrialUntil(), current.GetReturned()
			return next, nil
		}
		if same {
			module = v.GetModule() // kept as long as this record says so
		}
		latest = max(latest, v.GetVersion())
	}
	if n := current.GetCanary().GetUpload(); n != 0 && !u.inShadow {
		return nil, problem.New(problem.Conflict, "name: upload %d of function %q is a canary, and is compared with the one "+
			"that runs: promote it or end it first (actions/canary), or upload with shadow=true", n, name)
	}
	if module == "" {
		var err error
		if module, err = u.store(); err != nil {
			return nil, err
		}
	}
	v := &pb.FunctionVersion{
		Version: latest + 1, Uploaded: max(now.UnixMilli(), current.GetCreated()),
		Md5: u.md5, Module: module, Implementation: u.implementation, Bytes: int64(u.bytes),
		MachineCode: u.machineCode, Note: u.note, By: u.by,
	}
	if proto.Size(u.manifest) <= keptManifest {
		v.Manifest = u.manifest
	}
	var next *pb.Function
	if u.inShadow {
		next = proto.CloneOf(current)
		next.Shadow = v.GetVersion()
	} else {
		next = withVersion(current, v, u.manifest, now)
	}
	next.Versions = slices.Insert(next.GetVersions(), 0, v)
	next.Versions = u.retain(next)
	if !u.inShadow {
		next.TrialUntil = trialUntil(next, now, u.trial)
	}
	return next, nil
}

// keptManifest is how many bytes the manifest of a version may have to be kept beside it. Runners read all of them
// every second; a longer one is read from the module when it is needed.
const keptManifest = 4 << 10

// trialUntil returns the time until which a function goes back by itself from an upload that runs from now on.
func trialUntil(f *pb.Function, now time.Time, trial time.Duration) int64 {
	if trial == 0 || f.GetNoReturn() || uploads.LastGood(f) == nil {
		return 0
	}
	return now.Add(trial).UnixMilli()
}

// moduleName is a name for a module in the object store that no other upload has. A name that no version has any more
// is not in use again. It has the size, which the list of unused modules has nowhere else.
func moduleName(hash string, size int) string {
	return hash + "." + strings.ToLower(rand.Text()[:8]) + "." + strconv.Itoa(size) + ".wasm"
}
