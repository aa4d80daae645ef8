package simulate

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// answer is what a process answers. It is sent when it has ended, or in two parts when the process flushes it.
type answer struct {
	*httptest.ResponseRecorder
	to chan<- *http.Response
	// mute is whether nothing of the answer arrives.
	mute bool

	mu   sync.Mutex
	body *io.PipeWriter // of an answer that has begun
	over bool           // whether the connection is broken
}

// Flush sends what there is of the answer.
func (a *answer) Flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mute || a.over || a.body != nil {
		return
	}
	begun := a.Result()
	rest, body := io.Pipe()
	begun.Body, a.body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(begun.Body, rest), rest}, body
	a.to <- begun
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.mu.Lock()
	body := a.body
	a.mu.Unlock()
	if body == nil {
		return a.ResponseRecorder.Write(b)
	}
	return body.Write(b)
}

// WriteString implements io.StringWriter.
func (a *answer) WriteString(s string) (int, error) { return a.Write([]byte(s)) }

// breakOff ends an answer whose client has left.
func (a *answer) breakOff() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if a.body != nil {
		_ = a.body.CloseWithError(errLost)
	}
}

// end sends the rest of the answer, unless it is lost.
func (a *answer) end(lost bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.body == nil && lost:
		a.to <- nil
	case a.body == nil:
		a.to <- a.Result()
	case lost:
		_ = a.body.CloseWithError(errLost)
	default:
		_ = a.body.Close()
	}
}
