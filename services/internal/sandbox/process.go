package sandbox

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"matchmaker.dev/services/internal/problem"
)

// process is the parent's end of a child.
type process struct {
	cmd      *exec.Cmd
	requests *os.File
	frames   *os.File
	in       *bufio.Reader // of frames
	memory   *shared       // the guest's, nil when it is the child's alone
	room     room          // in memory
	words    *lastWords
	limits   Limits
	log      func(line string)

	killed atomic.Pointer[Error] // why we killed it, nil when we did not
	gone   chan struct{}         // closed when it was reaped
	wide   bool                  // the pipes were widened
	head   [frameHead]byte       // scratch
}

// processMemory is what a child may use besides the guest's linear memory, in
// bytes: the Go runtime counts 64-128 MiB that it mapped and did not touch, the
// wasm stack may grow to 84 MB, and two of them exist while it grows. A memory in common does not count
// against RLIMIT_DATA: it is bounded by the size of its file.
const processMemory = 256 * mib

// environment is all of a child's: settings of the Go runtime, which would cost
// time to make later. A guest computes on one thread; there is next to no
// garbage in its process, so that it is collected only when it gets large.
func environment(s settings) []string {
	const noControlGroup = "GODEBUG=containermaxprocs=0" // its files would stay open
	if s.Compile {
		return []string{noControlGroup, "GOMAXPROCS=2"}
	}
	return []string{noControlGroup, "GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=64MiB"}
}

// spawn creates a child that may do some things to files, and tells it its settings.
func (b *Box) spawn(s settings, log func(line string), files ...rule) (*process, error) {
	requestsIn, requests, err := os.Pipe()
	if err != nil {
		return nil, notCreated(err)
	}
	frames, framesOut, err := os.Pipe()
	if err != nil {
		requestsIn.Close()
		requests.Close()
		return nil, notCreated(err)
	}
	var memory *shared
	extra := []*os.File{requestsIn, framesOut}
	if s.Shared {
		if memory = b.share(s.Memory); memory != nil {
			extra = append(extra, memory.file)
		}
		s.Shared = memory != nil
	}
	p := &process{
		memory: memory, requests: requests, frames: frames, in: bufio.NewReaderSize(frames, 32*kib),
		words: &lastWords{}, limits: b.limits, log: log, gone: make(chan struct{}),
	}
	p.cmd = &exec.Cmd{
		Path: b.binary, Args: b.args, Env: environment(s), Dir: "/",
		// Given, since the thread that starts the command may open nothing.
		Stdin: b.null, Stdout: b.null,
		Stderr: p.words, ExtraFiles: extra,
	}
	err = launch(p.cmd, b.rules.with(files...), p.gone)
	requestsIn.Close()
	framesOut.Close()
	if err != nil {
		p.release()
		return nil, notCreated(err)
	}
	b.adopt(p)
	go func() {
		_ = p.cmd.Wait() // its state is kept in cmd
		p.memory.close()
		b.bury(p)
		close(p.gone)
	}()
	block, err := json.Marshal(s)
	if err == nil {
		err = p.send(block)
	}
	if err != nil {
		err = p.end(err)
		p.release()
		return nil, err
	}
	return p, nil
}

func notCreated(err error) error {
	return problem.Wrap(problem.Unavailable, err, "no process for the function could be created")
}

// within does work, which talks to the child, and kills the child when that
// takes longer than d or ctx ends before. After an error, an *Error, it is gone.
func (p *process) within(ctx context.Context, d time.Duration, what string, work func() error) error {
	timer := time.AfterFunc(d, func() { p.kill(failure(Deadline, "%s took longer than %v", what, d)) })
	unwatch := context.AfterFunc(ctx, func() { p.kill(canceled(ctx)) })
	err := work()
	timed, watched := timer.Stop(), unwatch()
	if err == nil && timed && watched {
		return nil
	}
	return p.end(err)
}

// send writes a block.
func (p *process) send(block []byte) error {
	if len(block) <= 4*kib { // one write, so that the child wakes up once
		head := make([]byte, 0, blockHead+len(block))
		_, err := p.requests.Write(append(binary.LittleEndian.AppendUint32(head, uint32(len(block))), block...))
		return err
	}
	if len(block) > 64*kib && !p.wide { // what a pipe holds
		widen(p.requests)
		widen(p.frames)
		p.wide = true
	}
	head := binary.LittleEndian.AppendUint32(p.head[:0], uint32(len(block)))
	if _, err := p.requests.Write(head); err != nil {
		return err
	}
	_, err := p.requests.Write(block)
	return err
}

// room is where in the guest's memory requests are written, one after another, as long as they are short enough.
type room struct {
	at   uint64
	size int    // 0 when there is none
	held []byte // it, while somebody writes there
}

// enter holds the room; nil when there is none.
func (p *process) enter() []byte {
	p.leave()
	if p.room.size > 0 {
		p.room.held, _ = p.memory.hold(p.room.at, p.room.size) // an error means that it is gone
	}
	return p.room.held
}

// leave lets go of the room.
func (p *process) leave() {
	if p.room.held != nil {
		p.room.held = nil
		p.memory.leave()
	}
}

// inRoom tells whether a request lies in the room that is held.
func (p *process) inRoom(request []byte) bool {
	return len(request) > 0 && unsafe.SliceData(request) == unsafe.SliceData(p.room.held)
}

// hand gives the child a request, unless it lies in its room. That it cannot be sent is no error: the child's report waits to be read.
func (p *process) hand(request []byte, inRoom bool) error {
	if inRoom {
		_ = p.announce(len(request), 0)
		return nil
	}
	p.room.size = 0 // the guest is about to be asked for another
	if p.memory == nil || len(request) < shareFrom {
		_ = p.send(request)
		return nil
	}
	size := spacious(len(request), p.limits.Memory)
	if p.announce(len(request), size) != nil {
		return nil //nolint:nilerr // likewise
	}
	h, _, err := p.receive(placeFrame, nil)
	if err != nil {
		return err
	}
	if err := p.memory.write(h.at, request, size); err != nil {
		return err
	}
	if h.at%8 == 0 {
		p.room.at, p.room.size = h.at, size
	}
	_ = p.send(nil)
	return nil
}

// announce tells the child of a request in memory, for which it is to give a room of that size, or which lies where the last one was.
func (p *process) announce(length, size int) error {
	head := binary.LittleEndian.AppendUint32(p.head[:0], uint32(size)|inMemory)
	_, err := p.requests.Write(binary.LittleEndian.AppendUint32(head, uint32(length)))
	return err
}

// spacious is how much room is asked for, for a request of n bytes: a little more, because pools grow a little from run to run, unless
// that is much of the memory that there may be.
func spacious(n, memory int) int {
	if n > memory/8 {
		return n
	}
	return (n + n/8 + 7) &^ 7
}

// receive waits for the frame that ends a run or a start, and passes on the log
// before it. The body is read into buf, which is grown when it is too short.
func (p *process) receive(want kind, buf []byte) (head, []byte, error) {
	// The child keeps the quota; this is for one that does not any more.
	quota := 2*p.limits.Log + maxLog
	for {
		if _, err := io.ReadFull(p.in, p.head[:]); err != nil {
			return head{}, buf, err
		}
		h := parseHead(p.head[:])
		bound, err := h.kind.bound(p.limits)
		if err != nil || h.length > bound {
			return head{}, buf, failure(Died, "its process sent nonsense: %d bytes, %v", h.length, err)
		}
		if cap(buf) < h.length {
			buf = make([]byte, h.length)
		}
		buf = buf[:h.length]
		if h.kind == answerFrame && h.at != 0 && p.memory != nil {
			err = p.memory.read(buf, h.at)
		} else {
			_, err = io.ReadFull(p.in, buf)
		}
		if err != nil {
			return head{}, buf, err
		}
		switch h.kind {
		case want:
			return h, buf, nil
		case logFrame:
			if quota -= h.length; quota < 0 {
				return head{}, buf, failure(Died, "its process broke the quota of its log")
			}
			for line := range strings.Lines(string(buf)) {
				p.log(strings.ToValidUTF8(strings.TrimSuffix(line, "\n"), "\ufffd"))
			}
		case failFrame:
			var r report
			if err := json.Unmarshal(buf, &r); err != nil {
				return head{}, buf, failure(Died, "its process sent nonsense: %v", err)
			}
			return head{}, buf, &Error{Cause: r.Cause, Detail: r.Detail, Stack: r.Stack}
		default:
			return head{}, buf, failure(Died, "its process sent frame %d out of turn", h.kind)
		}
	}
}

// kill ends the process; the first reason counts.
func (p *process) kill(why *Error) {
	p.killed.CompareAndSwap(nil, why)
	_ = p.cmd.Process.Kill() // an error means that it is gone already
}

// end makes sure that the process is gone and says why: because we killed it,
// or the child's own report, or how its process ended.
func (p *process) end(err error) *Error {
	_ = p.cmd.Process.Kill()
	<-p.gone
	if why := p.killed.Load(); why != nil {
		return why
	}
	if reported, ok := errors.AsType[*Error](err); ok {
		return reported
	}
	return p.autopsy()
}

// starved are the words of runtimes that got no memory: Go's, and C's below it where a build has that. Go's
// collector does not look at what it got before it writes there: it ends on the stack of the scheduler, where
// none of a module's code ever runs.
var starved = regexp.MustCompile(`out of memory|cannot allocate memory|pthread_create failed|failed to create new OS thread|failed to allocate|^SIGSEGV: [^\n]*\nPC=[^\n]*\n\ngoroutine 0 `)

// autopsy judges by what the runtime of a child wrote when it gave up.
func (p *process) autopsy() *Error {
	words := p.words.String()
	if starved.MatchString(words) {
		return failure(Memory, "its process needed more memory than it may have")
	}
	first, _, _ := strings.Cut(words, "\n")
	return failure(Died, "its process ended: %v %s", p.cmd.ProcessState, first)
}

// release closes what this side holds.
func (p *process) release() {
	p.memory.close()
	p.requests.Close()
	p.frames.Close()
}

// lastWords keeps the beginning of what a child writes to its standard error:
// nothing, unless its runtime dies.
type lastWords struct {
	kept []byte
}

func (w *lastWords) Write(b []byte) (int, error) {
	w.kept = append(w.kept, b[:min(len(b), 4*kib-len(w.kept))]...)
	return len(b), nil
}

// String is valid UTF-8, whoever wrote it: errors travel in messages that must be.
func (w *lastWords) String() string { return strings.ToValidUTF8(string(w.kept), "\ufffd") }
