package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// Stream is an answer that goes on when its request is over. It has the connection for itself, and keeps nothing of the
// request: net/http's buffers, and a stack that is as deep as all middleware, take several times as much.
type Stream struct {
	conn    net.Conn
	chunked bool
	// failed is the error of a write: nothing is written after it.
	failed error
	closed bool
	// heard is closed when nothing more is read from the client.
	heard chan struct{}
}

const (
	// slowReader is how long a client may take to make room for what is written.
	slowReader = 10 * time.Second
	// unconfirmed is for how long the other side may confirm nothing of what was sent to it. Then it is gone.
	unconfirmed = 30 * time.Second
	// lingering is for how long the end of a stream waits for the client to close the connection, as in net/http.
	lingering = 500 * time.Millisecond
)

// Detach answers a request with a status and the headers that are set, and lets run write the body while the request
// ends. The context of run ends when the client closes the connection, or is gone without a word: it confirms nothing
// of what is sent to it. When run returns, the answer is complete. run is not called, and no answer has begun, if there
// is an error.
//
// The HTTP server neither waits for a stream nor ends it. Its time for writing does not bound it.
func Detach(c echo.Context, log *slog.Logger, status int, run func(context.Context, *Stream)) error {
	conn, _, err := http.NewResponseController(c.Response()).Hijack()
	if err != nil {
		return fmt.Errorf("taking a connection over for a stream: %w", err)
	}
	limitUnconfirmed(conn, unconfirmed)
	r := c.Response()
	r.Writer = hijacked{r.Writer}
	r.WriteHeader(status) // steps before the handler set their headers now, such as CORS
	s := &Stream{conn: conn, chunked: c.Request().ProtoAtLeast(1, 1), heard: make(chan struct{})}
	id, route, head := CorrelationID(c), c.Path(), s.head(status, r.Header())
	// Its context ends with the client, and keeps nothing of the request's.
	base := context.Background() //nolint:forbidigo // as the comment says
	ctx, cancel := context.WithCancel(telemetry.WithCorrelationID(base, id))
	go s.listen(cancel)
	go func() {
		defer cancel()
		defer s.Close()
		defer func() {
			if cause := recover(); cause != nil {
				logPanic(ctx, log, route, id, cause)
			}
		}()
		_ = s.send(head) // run learns of an error when it writes
		run(ctx, s)
	}()
	return nil
}

// hijacked is an answer that a stream writes itself.
type hijacked struct{ http.ResponseWriter }

func (hijacked) WriteHeader(int) {}

// head is the status line and the headers.
func (s *Stream) head(status int, header http.Header) []byte {
	header.Set("Connection", "close")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	if s.chunked {
		header.Set("Transfer-Encoding", "chunked")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = header.Write(&b) // a buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

// listen reads until the client closes the connection, or sends what belongs to no request that is answered. Then
// only a write shows that it is gone.
func (s *Stream) listen(gone func()) {
	defer close(s.heard)
	var one [1]byte
	if _, err := s.conn.Read(one[:]); err != nil {
		gone()
	}
}

// Write sends a part of the body at once. A client that makes no room for it within a time fails it with
// os.ErrDeadlineExceeded.
func (s *Stream) Write(text []byte) (int, error) {
	part := text
	if s.chunked {
		part = strconv.AppendInt(make([]byte, 0, len(text)+12), int64(len(text)), 16)
		part = append(append(append(part, "\r\n"...), text...), "\r\n"...)
	}
	if err := s.send(part); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (s *Stream) send(part []byte) error {
	if s.failed == nil {
		_ = s.conn.SetWriteDeadline(time.Now().Add(slowReader)) // a connection that is closed fails the write
		_, s.failed = s.conn.Write(part)
	}
	return s.failed
}

// Close completes the answer, and returns when the client has it, or has had the time to read it. It is called when run
// returns, too.
func (s *Stream) Close() {
	if s.closed {
		return
	}
	s.closed = true
	if s.chunked {
		_ = s.send([]byte("0\r\n\r\n"))
	}
	if half, ok := s.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(lingering))
	<-s.heard
	_ = s.conn.Close()
}
