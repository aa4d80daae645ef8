package sandbox

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Parent and child talk over two pipes. The parent sends messages: a length of four bytes, then that many bytes. The
// first message is the settings as JSON, the others are requests. The child sends frames: a head, then the body. All
// integers are little-endian.
//
// Where the guest's memory is shared, long requests and answers do not go through the pipes. A length with the bit
// inMemory is the size of a buffer for requests, and only the length of the request follows. The child answers with a
// bufferFrame, the parent writes the request to that address and sends an empty message. With size 0 the request is
// already in the last buffer. With the length 0 the parent only asks for a buffer: the request, which it writes there,
// follows as a message of its own. An answerFrame may have the address of its body instead of the body.
//
// The code of a child may be taken over, so the parent does not rely on any of this: it bounds every length by the kind
// of the frame.

type kind uint32

const (
	logFrame    kind = iota + 1 // lines of log, each ended by a newline
	readyFrame                  // JSON of a Manifest: the child waits for requests, or has compiled
	answerFrame                 // the answer of a run
	failFrame                   // JSON of a failureReport: the child is about to end
	bufferFrame                 // where in the guest's memory the parent shall write the request
)

const (
	messageHead = 4
	headSize    = 32

	inMemory = 1 << 31
	// minShared is the size from which requests and answers go through memory, which costs one more round trip.
	minShared = 32 * kib

	// maxLogFrame is the largest logFrame. It holds several lines, each of at most maxLine.
	maxLogFrame = 16 * kib
	// maxReport is the largest readyFrame and failFrame.
	maxReport = 128 * kib
)

// head starts a frame.
type head struct {
	kind   kind
	length int
	nanos  uint64 // spent in the guest; answerFrame only
	memory uint64 // bytes of linear memory; answerFrame and readyFrame only
	at     uint64 // address in the guest's memory: placeFrame, and answerFrame when its bytes are there; then it is not 0
}

func (h head) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(h.kind))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.length))
	b = binary.LittleEndian.AppendUint64(b, h.nanos)
	b = binary.LittleEndian.AppendUint64(b, h.memory)
	return binary.LittleEndian.AppendUint64(b, h.at)
}

func parseHead(b []byte) head {
	return head{
		kind:   kind(binary.LittleEndian.Uint32(b)),
		length: int(binary.LittleEndian.Uint32(b[4:])),
		nanos:  binary.LittleEndian.Uint64(b[8:]),
		memory: binary.LittleEndian.Uint64(b[16:]),
		at:     binary.LittleEndian.Uint64(b[24:]),
	}
}

// bound is the longest body of a kind of frame.
func (k kind) bound(l Limits) (int, error) {
	switch k {
	case logFrame:
		return maxLogFrame, nil
	case readyFrame, failFrame:
		return maxReport, nil
	case answerFrame:
		return l.Answer, nil
	case bufferFrame:
		return 0, nil
	}
	return 0, fmt.Errorf("frame of unknown kind %d", k)
}

// readLength reads the length of a message. io.EOF means that the parent has ended.
func readLength(r io.Reader) (int, error) {
	var b [messageHead]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(b[:])), nil
}

// childSettings is the first message: all that a child gets to know.
type childSettings struct {
	Inspect bool // only try the walls; otherwise:
	// only compile Module into Compiled, and write the module that instances run there; otherwise serve runs
	Compile  bool
	Module   string // file
	Compiled string // folder of machine code
	Memory   int    // bytes of linear memory
	Shared   bool   // the linear memory is passed by the parent
	Data     int    // RLIMIT_DATA
	Log      int    // bytes a run
	Answer   int    // bytes
	Outside  string // for Inspect: a folder where the child must not write; empty where there is no ruleset
	// for Compile:
	Code       int  // bytes of machine code, the longest file that it may write
	Processor  int  // seconds of processor time
	Background bool // it has the lowest priority

	Nice int // for Inspect: the nice value that it should have at least
}

// failureReport is the body of a failFrame.
type failureReport struct {
	Cause  Cause
	Detail string
	Stack  string
}
