package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"strings"
	"unsafe"
)

// sendMessage writes a message.
func (p *process) sendMessage(message []byte) error {
	if len(message) <= 4*kib { // one write, so that the child wakes up once
		head := make([]byte, 0, messageHead+len(message))
		_, err := p.requests.Write(append(binary.LittleEndian.AppendUint32(head, uint32(len(message))), message...))
		return err
	}
	head := binary.LittleEndian.AppendUint32(p.head[:0], uint32(len(message)))
	if _, err := p.requests.Write(head); err != nil {
		return err
	}
	_, err := p.requests.Write(message)
	return err
}

// requestBuffer is where in the guest's memory requests are written, one after another, as long as they fit.
type requestBuffer struct {
	at   uint64
	size int    // 0 when there is none
	held []byte // the buffer, while the caller writes there
}

// holdBuffer returns the buffer, nil when there is none. It is valid until releaseBuffer.
func (p *process) holdBuffer() []byte {
	p.releaseBuffer()
	if p.buffer.size > 0 {
		p.buffer.held, _ = p.memory.lock(p.buffer.at, p.buffer.size) // an error means that the process ended
	}
	return p.buffer.held
}

// releaseBuffer gives up the buffer that is held, if any.
func (p *process) releaseBuffer() {
	if p.buffer.held != nil {
		p.buffer.held = nil
		p.memory.unlock()
	}
}

// inBuffer reports whether a request lies in the buffer that is held.
func (p *process) inBuffer(request []byte) bool {
	return len(request) > 0 && unsafe.SliceData(request) == unsafe.SliceData(p.buffer.held)
}

// sendRequest sends the child a request, or only its length when it lies in the buffer. A failure to send is no error:
// the child's report is there to be received.
func (p *process) sendRequest(request []byte, inBuffer bool) error {
	if inBuffer {
		_ = p.announceRequest(len(request), 0)
		return nil
	}
	p.buffer.size = 0 // the guest is asked for another one
	if p.memory == nil || len(request) < minShared {
		_ = p.sendMessage(request)
		return nil
	}
	size := bufferSize(len(request), p.limits.Memory)
	if p.announceRequest(len(request), size) != nil {
		return nil //nolint:nilerr // likewise
	}
	h, _, err := p.receive(bufferFrame, nil)
	if err != nil {
		return err
	}
	if err := p.memory.write(h.at, request, size); err != nil {
		return err
	}
	if h.at%8 == 0 {
		p.buffer.at, p.buffer.size = h.at, size
	}
	_ = p.sendMessage(nil)
	return nil
}

// reserve asks the guest for a buffer for requests of size bytes.
func (p *process) reserve(size int) error {
	p.buffer.size = 0
	if p.announceRequest(0, size) != nil {
		return nil //nolint:nilerr // as in sendRequest
	}
	h, _, err := p.receive(bufferFrame, nil)
	if err != nil {
		return err
	}
	if h.at%8 == 0 {
		p.buffer.at, p.buffer.size = h.at, size
	}
	return nil
}

// announceRequest tells the child the length of a request in memory. Its guest has to give a buffer of that size; with
// size 0 the request lies in the last buffer.
func (p *process) announceRequest(length, size int) error {
	head := binary.LittleEndian.AppendUint32(p.head[:0], uint32(size)|inMemory)
	_, err := p.requests.Write(binary.LittleEndian.AppendUint32(head, uint32(length)))
	return err
}

// bufferSize is the size of a buffer for a request of n bytes. It has a little more than n, because pools grow a little
// from run to run, and less of that if n is much of the memory limit.
func bufferSize(n, memory int) int {
	if n > memory/8 {
		return max(n, min(n+n/64, memory)&^7)
	}
	return (n + n/8 + 7) &^ 7
}

// receive waits for the frame that ends a run or a start, and passes on the log frames before it. The body is read into
// buf, which is grown when it is too short.
func (p *process) receive(want kind, buf []byte) (head, []byte, error) {
	// The child enforces the limit of the log. This is for a child whose code was taken over. Each line counts as there,
	// and each frame what it takes to read it.
	quota := 2*p.limits.Log + maxLogFrame
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
			quota -= headSize
			for line := range strings.Lines(string(buf)) {
				if quota -= len(line) + lineCost; quota < 0 {
					break
				}
				p.log(strings.ToValidUTF8(strings.TrimSuffix(line, "\n"), "\ufffd"))
			}
			if quota < 0 || h.length == 0 {
				return head{}, buf, failure(Died, "its process exceeded the limit of its log")
			}
		case failFrame:
			var r failureReport
			if err := json.Unmarshal(buf, &r); err != nil {
				return head{}, buf, failure(Died, "its process sent nonsense: %v", err)
			}
			return head{}, buf, &Error{Cause: r.Cause, Detail: r.Detail, Stack: r.Stack}
		default:
			return head{}, buf, failure(Died, "its process sent frame %d out of turn", h.kind)
		}
	}
}
