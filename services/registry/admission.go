package registry

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/platform/quota"
)

const (
	// maxUploads is how many uploads may be under way in this process, of which a project has its fair share and at most
	// maxProjectUploads.
	maxUploads, maxProjectUploads = 1024, 32
	// uploadMemory bounds the bytes that uploads hold: the received parts of files, and modules. So an upload that comes
	// slowly holds next to nothing, until the server's web.ReadTimeout ends it.
	uploadMemory = 256 << 20
	// unpackPatience is how long an upload waits for its turn to be unpacked.
	unpackPatience = 30 * time.Second
	// logReads is how many logs are read at a time, projectLogReads of one project. Each read goes through the lines of
	// the function in the stream, and holds an answer.
	logReads, projectLogReads = 16, 4
)

// admission bounds the uploads of this process by number and memory. Unpacking takes turns.
type admission struct {
	uploads, memory *quota.Shares[string]
	unpacking       *quota.Queue
}

func newAdmission() *admission {
	return &admission{
		uploads: quota.NewShares[string](maxUploads), memory: quota.NewShares[string](uploadMemory),
		unpacking: quota.NewQueue(quota.Options{Places: max(1, runtime.GOMAXPROCS(0)/2), Now: time.Now}),
	}
}

// newLogReads makes the turns of reads of logs.
func newLogReads() *quota.Queue {
	return quota.NewQueue(quota.Options{Places: logReads, Each: projectLogReads, Waiting: maxUploads, Now: time.Now})
}

// uploadSlot is an upload under way, and what it holds of the memory.
type uploadSlot struct {
	*admission
	project string
	held    int64
}

// enter admits an upload until leave.
func (a *admission) enter(project string) (*uploadSlot, error) {
	if a.uploads.Of(project) >= maxProjectUploads || !a.uploads.Take(project, 1) {
		return nil, tooManyUploads()
	}
	return &uploadSlot{admission: a, project: project}, nil
}

func tooManyUploads() error {
	return problem.New(problem.Limited, "too many uploads at the same time: try again later").After(10 * time.Second)
}

// hold takes memory for n more bytes.
func (s *uploadSlot) hold(n int) error {
	if !s.memory.Take(s.project, int64(n)) {
		return tooManyUploads()
	}
	s.held += int64(n)
	return nil
}

// free gives memory back.
func (s *uploadSlot) free(n int) {
	s.memory.Give(s.project, int64(n))
	s.held -= int64(n)
}

func (s *uploadSlot) leave() {
	s.free(int(s.held))
	s.uploads.Give(s.project, 1)
}

// receive is receive for an upload that holds the received bytes.
func (s *uploadSlot) receive(req *http.Request, most int) ([]byte, error) {
	req.Body = &ratelimit.Counted{ReadCloser: req.Body, Take: s.hold}
	return receive(req, most)
}

// extract is limits.extract for an upload, which then holds its module instead of the file.
func (s *uploadSlot) extract(
	ctx context.Context, l limits, file []byte, implementation string,
) (module []byte, name string, err error) {
	waiting, cancel := context.WithTimeout(ctx, unpackPatience)
	defer cancel()
	turn, err := s.unpacking.Enter(waiting, s.project)
	if err != nil {
		return nil, "", turnError(ctx, tooManyUploads())
	}
	defer turn.Leave(0)
	if module, name, err = l.extract(file, implementation); err != nil {
		return nil, "", err
	}
	s.free(len(file))
	return module, name, s.hold(len(module))
}

// readLog waits for the turn of a read of logs.
func (r *registry) readLog(ctx context.Context, project string) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	turn, err := r.logReads.Enter(waiting, project)
	if err != nil {
		e := problem.New(problem.Limited, "too many reads of logs at the same time: try again later").After(logPatience)
		e.Limit = &problem.Limit{Name: "log-reads", Amount: projectLogReads}
		return nil, turnError(ctx, e)
	}
	return func() { turn.Leave(0) }, nil
}

// turnError is why no turn came: the request of ctx ended, or it waited for too long.
func turnError(ctx context.Context, busy error) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return busy
}
