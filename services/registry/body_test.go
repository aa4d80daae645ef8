package registry

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"matchmaker.dev/services/internal/edge/problem"
)

func TestReceiveRefusesUnread(t *testing.T) {
	for contentType, length := range map[string]int64{"": 101, "multipart/form-data; boundary=b": 101 + formOverhead} {
		body := iotest.ErrReader(errors.New("read"))
		req := httptest.NewRequestWithContext(t.Context(), "PUT", "/", body)
		req.ContentLength = length
		req.Header.Set("Content-Type", contentType)
		if _, err := receive(req, 100); problem.KindOf(err) != problem.Invalid || errors.Unwrap(err) != nil {
			t.Errorf("%q: %v", contentType, err)
		}
	}
}

func TestReceiveFromAClientThatLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	body := io.MultiReader(iotest.ErrReader(errors.New("connection reset")))
	req := httptest.NewRequestWithContext(ctx, "PUT", "/", body)
	if _, err := receive(req, 100); problem.KindOf(err) != problem.Invalid {
		t.Errorf("a body that broke off: %v", err)
	}
	cancel()
	// The server gives a client up that is too slow, which is not the client's doing.
	slow := httptest.NewRequestWithContext(ctx, "PUT", "/",
		iotest.ErrReader(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}))
	if _, err := receive(slow, 100); problem.KindOf(err) != problem.Invalid ||
		!strings.Contains(err.Error(), "file: came too slowly: a request must be here within 1m") {
		t.Errorf("a client that is slow: %v", err)
	}
	if _, err := receive(req, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
}
