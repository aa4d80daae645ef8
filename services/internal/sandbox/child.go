package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// The child's descriptors. 0 and 1 are /dev/null; 2 is a pipe for what a failing Go runtime prints.
const (
	requestsFD = 3
	framesFD   = 4
	memoryFD   = 5 // the memory of an instance's guest; closed after it is mapped
)

// Main is the main function of the binary when a [Supervisor] executes it again. It returns the exit code. Only the
// Supervisor configures it, over the pipes.
func Main() int {
	return runChild(allWalls())
}

// walls are the steps in which a child gives up its rights.
type walls struct {
	closeInherited func() // at once: descriptors that its parent inherited and passed on unknowingly
	limitResources func(childSettings) error
	startThreads   func(n int)  // all that it ever needs, before none can be started any more
	filterLoading  func() error // before it reads the module
	filterRunning  func() error // before it runs the module
}

func allWalls() walls {
	return walls{closeInherited: closeInherited, limitResources: limitResources, startThreads: startThreads,
		filterLoading: loadingFilter, filterRunning: runningFilter}
}

func runChild(w walls) int {
	w.closeInherited()
	c, err := openChild()
	if err != nil {
		fmt.Fprintln(os.Stderr, "this command is for the runner, which starts it to run a match function:", err)
		return 2
	}
	ctx := context.Background() //nolint:forbidigo // this is the main of the child
	if err := c.run(ctx, w); err != nil {
		c.reportFailure(err)
		return 1
	}
	return 0
}

// child is this process.
type child struct {
	settings   childSettings
	requests   *os.File
	frames     *os.File
	log        *guestLog
	head       []byte // scratch
	bufferSize int    // of the guest's buffer for requests in memory
}

// openChild takes the pipes and reads the settings.
func openChild() (*child, error) {
	requests, err := inherit(requestsFD, "requests")
	if err != nil {
		return nil, err
	}
	frames, err := inherit(framesFD, "frames")
	if err != nil {
		return nil, err
	}
	n, err := readLength(requests)
	if err != nil {
		return nil, err
	}
	if n > maxReport {
		return nil, fmt.Errorf("settings of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(requests, b); err != nil {
		return nil, err
	}
	c := &child{requests: requests, frames: frames}
	if err := json.Unmarshal(b, &c.settings); err != nil {
		return nil, err
	}
	c.log = &guestLog{limit: c.settings.Log, send: func(lines []byte) { _ = c.send(head{kind: logFrame}, lines) }}
	return c, nil
}

func (c *child) run(ctx context.Context, w walls) error {
	if c.settings.Inspect {
		return c.inspect(w)
	}
	if err := w.limitResources(c.settings); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if !c.settings.Compile {
		w.startThreads(spareThreads)
	}
	if err := w.filterLoading(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	e, err := newEngine(ctx, c.settings, c.log)
	if err != nil {
		return err
	}
	if !c.settings.Compile {
		if err := e.checkCompiled(); err != nil {
			return err
		}
	}
	if err := e.compile(); err != nil {
		return err
	}
	if c.settings.Compile {
		if err := e.check(); err != nil {
			return err
		}
		return c.send(head{kind: readyFrame}, nil)
	}
	if c.settings.Shared {
		if err := e.memory.share(memoryFD); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
	}
	awaitThreads()
	// From here on the module's code runs. No file and no other thread is needed any more.
	if err := w.filterRunning(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return c.serve(e)
}

// serve starts the guest and runs it on requests until the parent ends.
func (c *child) serve(e *engine) error {
	c.log.startRun()
	g, err := e.start()
	if err != nil {
		return err
	}
	manifest, err := g.manifest()
	if err != nil {
		return err
	}
	c.log.endRun()
	if err := c.send(head{kind: readyFrame, memory: g.memory()}, manifest); err != nil {
		return nil //nolint:nilerr // the parent has ended
	}
	debug.FreeOSMemory() // loading leaves garbage of twice the module's size

	for runs := 1; ; runs++ {
		n, took, err := c.receiveRequest(g)
		if errors.Is(err, errParentExited) {
			return nil
		} else if err != nil {
			return err
		}
		began := time.Now()
		at, answer, err := g.run(n)
		if err != nil {
			return err
		}
		spent := took + time.Since(began)
		c.log.endRun()
		h := head{kind: answerFrame, length: len(answer), nanos: uint64(spent), memory: g.memory()}
		if c.settings.Shared && at != 0 && len(answer) >= minShared { // 0 means the pipe
			h.at, answer = uint64(at), nil
		}
		if err := c.write(h, answer); err != nil {
			return nil //nolint:nilerr // likewise
		}
		if runs%collectEvery == 0 {
			runtime.GC() // between two runs, and not when the memory limit is reached in the middle of one
		}
	}
}

// collectEvery is after how many runs the garbage is collected: each leaves about 100 bytes, so that it is less than
// 2 MiB.
const collectEvery = 16384

var errParentExited = errors.New("the parent has ended")

// receiveRequest waits for a request and gets it into the guest's memory. It returns the request's length, and the time
// that the guest took to allocate memory.
func (c *child) receiveRequest(g *guest) (n int, took time.Duration, err error) {
	for reserved := false; ; {
		n, spent, err := c.receive(g, reserved)
		took += spent
		if err != nil || n >= 0 {
			return n, took, err
		}
		reserved = true
	}
}

// receive is receiveRequest for one message. After one that asks for a buffer only, n is negative, and the run goes on
// with the next message.
func (c *child) receive(g *guest, goesOn bool) (n int, took time.Duration, err error) {
	size, err := readLength(c.requests)
	if err != nil {
		return 0, 0, errParentExited
	}
	if !goesOn {
		c.log.startRun()
	}
	n = size
	shared := size&inMemory != 0
	if shared {
		size &^= inMemory
		if n, err = readLength(c.requests); err != nil || !c.settings.Shared {
			return 0, 0, errParentExited
		}
		if size == 0 && n <= c.bufferSize {
			return n, 0, nil
		}
	}
	began := time.Now()
	at, buffer, err := g.alloc(size)
	took, c.bufferSize = time.Since(began), 0
	if err != nil {
		return 0, 0, err
	}
	if shared {
		c.bufferSize = size
		if err = c.send(head{kind: bufferFrame, at: uint64(at)}, nil); err == nil && n == 0 {
			return -1, took, nil
		}
		if err == nil {
			_, err = readLength(c.requests)
		}
	} else {
		_, err = io.ReadFull(c.requests, buffer)
	}
	if err != nil {
		return 0, 0, errParentExited
	}
	return n, took, nil
}

// send writes a frame. An error means that the parent has ended.
func (c *child) send(h head, body []byte) error {
	h.length = len(body)
	return c.write(h, body)
}

func (c *child) write(h head, body []byte) error {
	c.head = h.append(c.head[:0])
	if len(body) <= maxLogFrame { // one write, so that the parent wakes up once
		_, err := c.frames.Write(append(c.head, body...))
		return err
	}
	if _, err := c.frames.Write(c.head); err != nil {
		return err
	}
	_, err := c.frames.Write(body)
	return err
}

// reportFailure tells the parent why this process ends.
func (c *child) reportFailure(err error) {
	c.log.endRun()
	r := failureReport{Cause: Died, Detail: err.Error()}
	if e, ok := errors.AsType[*Error](err); ok {
		r = failureReport{Cause: e.Cause, Detail: truncate(e.Detail, maxLine), Stack: truncate(e.Stack, maxLine)}
	}
	if b, err := json.Marshal(r); err == nil {
		_ = c.send(head{kind: failFrame}, b)
	}
}

func truncate(s string, n int) string {
	if len(s) > n {
		return s[:n] + " …"
	}
	return s
}
