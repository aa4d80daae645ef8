package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// The child's descriptors; 0, 1 and 2 are /dev/null, /dev/null and the pipe
// that catches the last words of a dying Go runtime.
const (
	requestsFD = 3
	framesFD   = 4
	memoryFD   = 5 // the guest's memory, of an instance; closed once it is mapped
)

// Main is the child's whole life: what the re-executed binary runs instead of
// its own main. It returns the exit code. Nothing it does is configurable but
// by the [Box] at the other end of its pipes.
func Main() int {
	return lead(walls{shed: shed, confine: confine, loading: loadingFilter, running: runningFilter})
}

// walls are what a child gives up, step by step.
type walls struct {
	shed    func() // at once: descriptors that its parent had, and did not know of
	confine func(settings) error
	loading func() error // before it reads the module
	running func() error // before it runs the module
}

func lead(w walls) int {
	w.shed()
	c, err := open()
	if err != nil {
		fmt.Fprintln(os.Stderr, "this command is for the runner, which starts it to run a match function:", err)
		return 2
	}
	if err := c.live(context.Background(), w); err != nil {
		c.fail(err)
		return 1
	}
	return 0
}

// child is this process.
type child struct {
	settings settings
	requests *os.File
	frames   *os.File
	journal  *journal
	head     []byte // scratch
	room     int    // bytes that the guest gave for requests in memory
}

// open takes the pipes and reads the settings.
func open() (*child, error) {
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
	c.journal = &journal{quota: c.settings.Log, send: c.sendLog}
	return c, nil
}

func (c *child) live(ctx context.Context, w walls) error {
	if c.settings.Inspect {
		return c.inspect(w)
	}
	if err := w.confine(c.settings); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if err := w.loading(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	e, err := newEngine(ctx, c.settings, c.journal)
	if err != nil {
		return err
	}
	if !c.settings.Compile {
		if err := e.compiled(); err != nil {
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
		if err := e.linear.share(memoryFD); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
	}
	// From here on the module's code runs: no file is needed any more.
	if err := w.running(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return c.serve(e)
}

// serve starts the guest and runs it on requests until the parent goes away.
func (c *child) serve(e *engine) error {
	c.journal.begin()
	g, err := e.start()
	if err != nil {
		return err
	}
	manifest, err := g.manifest()
	if err != nil {
		return err
	}
	c.journal.end()
	if err := c.send(head{kind: readyFrame, memory: g.memory()}, manifest); err != nil {
		return nil //nolint:nilerr // the parent is gone: nobody is left to be told
	}
	debug.FreeOSMemory() // loading left twice the module's size behind

	for {
		n, took, err := c.accept(g)
		if errors.Is(err, errGone) {
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
		c.journal.end()
		h := head{kind: answerFrame, length: len(answer), nanos: uint64(spent), memory: g.memory()}
		if c.settings.Shared && at != 0 && len(answer) >= shareFrom { // 0 stands for the pipe
			h.at, answer = uint64(at), nil
		}
		if err := c.write(h, answer); err != nil {
			return nil //nolint:nilerr // likewise
		}
	}
}

// errGone says that nobody is left to be told anything.
var errGone = errors.New("the parent is gone")

// accept waits for a request and gets it into its place. It returns the request's length, and how long the guest took to find the place.
func (c *child) accept(g *guest) (n int, took time.Duration, err error) {
	size, err := readLength(c.requests)
	if err != nil {
		return 0, 0, errGone
	}
	c.journal.begin()
	n = size
	shares := size&inMemory != 0
	if shares {
		size &^= inMemory
		if n, err = readLength(c.requests); err != nil || !c.settings.Shared {
			return 0, 0, errGone
		}
		if size == 0 && n <= c.room {
			return n, 0, nil
		}
	}
	began := time.Now()
	at, place, err := g.alloc(size)
	took, c.room = time.Since(began), 0
	if err != nil {
		return 0, 0, err
	}
	if shares {
		c.room = size
		if err = c.send(head{kind: placeFrame, at: uint64(at)}, nil); err == nil {
			_, err = readLength(c.requests)
		}
	} else {
		_, err = io.ReadFull(c.requests, place)
	}
	if err != nil {
		return 0, 0, errGone
	}
	return n, took, nil
}

// send writes a frame. An error means that the parent is gone.
func (c *child) send(h head, body []byte) error {
	h.length = len(body)
	return c.write(h, body)
}

func (c *child) write(h head, body []byte) error {
	c.head = h.append(c.head[:0])
	if len(body) <= maxLog { // one write, so that the parent wakes up once
		_, err := c.frames.Write(append(c.head, body...))
		return err
	}
	if _, err := c.frames.Write(c.head); err != nil {
		return err
	}
	_, err := c.frames.Write(body)
	return err
}

func (c *child) sendLog(lines []byte) { _ = c.send(head{kind: logFrame}, lines) }

// fail tells the parent why this is the end.
func (c *child) fail(err error) {
	c.journal.end()
	r := report{Cause: Died, Detail: err.Error()}
	if e, ok := errors.AsType[*Error](err); ok {
		r = report{Cause: e.Cause, Detail: cut(e.Detail, maxLine), Stack: cut(e.Stack, maxLine)}
	}
	if b, err := json.Marshal(r); err == nil {
		_ = c.send(head{kind: failFrame}, b)
	}
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n] + " …"
	}
	return s
}
