package registry

import (
	"context"
	"crypto/md5" //nolint:gosec // the contract's checksum, which protects nothing
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/sandbox"
)

// put takes an upload: PUT /functions/{name}?implementation={module}&note={text}&shadow=true. The contract has no note,
// and no upload that runs in the shadow.
func (r *registry) put(c echo.Context, name string) error {
	ctx, project := c.Request().Context(), c.Param("project")
	annotateSpan(ctx, project, name)
	if err := r.checkCount(ctx, project, name); err != nil {
		return err
	}
	if err := r.allowRestarts(ctx, project, 0); err != nil { // before the work; it is taken when the module is
		return err
	}
	query, err := web.Query(c, "implementation", "note", "shadow")
	if err != nil {
		return err
	}
	note, inShadow, err := uploadOptions(query)
	if err != nil {
		return err
	}
	pinned, err := r.pinned(ctx, project, name)
	if err != nil {
		return err
	}
	slot, err := r.admission.enter(project)
	if err != nil {
		return err
	}
	defer slot.leave()

	file, err := slot.receive(c.Request(), r.Archive)
	if err != nil {
		return err
	}
	sum := md5.Sum(file) //nolint:gosec // see the import
	limits := limits{archive: r.Archive, module: r.Module}
	module, implementation, err := slot.extract(ctx, limits, file, query.Get("implementation"))
	if err != nil {
		return err
	}
	var checked *sandbox.Module
	err = r.traceStep(ctx, "check module", func(ctx context.Context) (err error) {
		checked, err = r.check(ctx, project, module)
		return err
	}, attribute.Int("matchmaker.bytes", len(module)))
	r.metrics.uploaded(ctx, project, err)
	if err != nil {
		return err
	}
	if err := r.checkRoom(ctx, project, name, checked, pinned, inShadow); err != nil {
		return err
	}
	if err := r.allowRestarts(ctx, project, 1); err != nil {
		return err
	}
	upload := &upload{
		note: note, by: auth.From(c).Subject, inShadow: inShadow, trial: r.Settings.Trial,
		retain: func(f *pb.Function) []*pb.FunctionVersion { return uploads.Retain(f, r.Settings.Versions, pinned) },
		md5:    hex.EncodeToString(sum[:]), implementation: implementation,
		hash: checked.Hash, bytes: len(module), machineCode: checked.Code, manifest: manifest(checked.Manifest),
		store: sync.OnceValues(func() (string, error) {
			if err := r.checkShare(ctx, project, len(module)); err != nil {
				return "", err
			}
			stored := moduleName(checked.Hash, len(module))
			return stored, r.traceStep(ctx, "store module", func(ctx context.Context) error {
				if err := r.Store.NoteModule(ctx, project, stored); err != nil {
					return err
				}
				return r.Bus.PutModule(ctx, stored, module)
			})
		}),
	}
	var next *pb.Function
	err = r.Store.ChangeFunctionWith(ctx, project, name,
		func(current *pb.Function) (f *pb.Function, e *pb.Event, err error) {
			if next, err = upload.apply(current, name, r.Store.Now()); err != nil {
				return nil, nil, err
			}
			reason := uploadedReason
			if inShadow {
				reason = shadowReason
			}
			return next, functionEvent(next, reason, note, upload.by), nil
		})
	if err != nil {
		return err
	}
	r.Log.InfoContext(ctx, "function uploaded", "project", project, "function", name, "version",
		next.GetVersions()[0].GetVersion(), "shadow", inShadow, "bytes", len(module))
	r.tellChange(ctx, project)
	return c.JSON(http.StatusOK, r.describe(project, next))
}

// longestNote is how many bytes the note of an upload may have.
const longestNote = 256

// uploadOptions reads the options of an upload from a request.
func uploadOptions(query url.Values) (note string, inShadow bool, err error) {
	note = query.Get("note")
	switch {
	case len(note) > longestNote:
		return "", false, problem.New(problem.Invalid, "note: %d bytes, at most %d are allowed", len(note), longestNote).
			Exceeds("upload-note")
	case !utf8.ValidString(note) || strings.ContainsFunc(note, unicode.IsControl):
		return "", false, problem.New(problem.Invalid, "note: must be UTF-8 without control characters")
	}
	inShadow, err = web.Flag(query, "shadow")
	return note, inShadow, err
}

// maxPinned is how many uploads of a function configs may name before another one is taken: all of them are kept.
const maxPinned = 16

// pinned returns the uploads of a function that configs name.
func (r *registry) pinned(ctx context.Context, project, name string) (map[int64]bool, error) {
	configs, err := r.Store.Configs(ctx, project)
	if err != nil {
		return nil, err
	}
	pinned := uploads.Pinned(configs)[name]
	if len(pinned) > maxPinned {
		return nil, problem.New(problem.Invalid, "name: configs name %d uploads of this function, at most %d are kept for "+
			"them: let some name none, or the same", len(pinned), maxPinned).Exceeds("pinned-uploads")
	}
	return pinned, nil
}

// checkCount refuses a function that would exceed the project's limit, or for which Redis has no memory. Only the store
// can tell for sure, but it is asked after the work is done.
func (r *registry) checkCount(ctx context.Context, project, name string) error {
	functions, err := r.Store.Functions(ctx, project)
	if err != nil {
		return err
	}
	if functions[name] != nil {
		return nil
	}
	if err := r.Store.HasMemory(ctx, project); err != nil {
		return err
	}
	if len(functions) >= r.Settings.Functions {
		return problem.New(problem.Invalid,
			"name: the project has %d match functions, the most it may have: delete one first", len(functions)).
			Exceeds("max-functions")
	}
	return nil
}

// check starts the module once, as a runner will. The sandbox caches it, so that a runner with the same sandbox finds
// it compiled.
func (r *registry) check(ctx context.Context, project string, module []byte) (*sandbox.Module, error) {
	checked, err := r.load(ctx, project, module)
	if f, ours := errors.AsType[*problem.Error](err); ours && f.Kind == problem.Invalid {
		return nil, refuse("%s", f.Detail)
	}
	if err != nil {
		return nil, err
	}
	r.Sandbox.Release(checked)
	if err := checked.Manifest.Check(); err != nil {
		return nil, refuse("mm_manifest: %s", err)
	}
	return checked, nil
}

// manifest writes the sandbox's nil, for everything, as the flags of the record.
func manifest(m sandbox.Manifest) *pb.Manifest {
	return &pb.Manifest{
		Attributes: m.Attributes, EveryAttribute: m.EveryAttribute(), AttributeSettings: m.AttributeSettings,
		Properties: m.Properties, EveryProperty: m.EveryProperty(), PropertySettings: m.PropertySettings,
	}
}

// nextGeneration is the generation that follows a function's current one: the time in milliseconds, so that a function
// that was deleted and comes back has a generation of its own, but always more than before.
func nextGeneration(current *pb.Function, now time.Time) int64 {
	return max(current.GetGeneration()+1, now.UnixMilli())
}
