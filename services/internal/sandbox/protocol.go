package sandbox

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Parent and child talk over two pipes. The parent sends blocks: a length of
// four bytes and so many bytes; the first is the settings as JSON, the others
// are requests. The child sends frames: a head and so many bytes. All integers
// are little-endian.
//
// What is long does not travel through the pipes where the guest's memory is shared. A length with the bit inMemory is that of a room
// for requests, and only the request's own length is behind it: the child answers with a placeFrame, the parent writes the request there
// and sends an empty block. Without a room the request lies already where the last such one was. And an answerFrame may say where
// its bytes lie instead of having them behind it.
//
// The child is believed to follow this only as far as its code was not taken
// over: the parent bounds every length by the frame's kind.

type kind uint32

const (
	logFrame    kind = iota + 1 // lines of log, each ended by a newline
	readyFrame                  // JSON of a Manifest: the child waits for requests, or has compiled
	answerFrame                 // the answer of a run
	failFrame                   // JSON of a report: the child is about to end
	placeFrame                  // where in the guest's memory the request shall be
)

const (
	blockHead = 4
	frameHead = 32

	inMemory = 1 << 31
	// shareFrom is how many bytes of a request or an answer travel in memory: it takes a round trip more.
	shareFrom = 32 * kib

	// largest log frame: what fits is sent together, and a single line is at most maxLine.
	maxLog = 16 * kib
	// largest readyFrame and failFrame.
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

// bound is the longest frame of a kind that is read.
func (k kind) bound(l Limits) (int, error) {
	switch k {
	case logFrame:
		return maxLog, nil
	case readyFrame, failFrame:
		return maxReport, nil
	case answerFrame:
		return l.Answer, nil
	case placeFrame:
		return 0, nil
	}
	return 0, fmt.Errorf("frame of unknown kind %d", k)
}

// readLength reads the head of a block. io.EOF means that the parent is gone.
func readLength(r io.Reader) (int, error) {
	var b [blockHead]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(b[:])), nil
}

// settings is the first block: all that a child is told.
type settings struct {
	Inspect bool   // only try the walls, else:
	Compile bool   // only compile Module into Cache, and put there what instances run, else serve runs of that
	Module  string // file
	Cache   string // folder
	Memory  int    // bytes of linear memory
	Shared  bool   // which is passed
	Data    int    // RLIMIT_DATA
	Log     int    // bytes a run
	Answer  int    // bytes
	Outside string // for Inspect: a folder that is not the child's to write to; empty where there is no ruleset
}

// report is the contents of a failFrame.
type report struct {
	Cause  Cause
	Detail string
	Stack  string
}
