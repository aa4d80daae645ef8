package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/pkg/client"
)

// dead does what a connection to a node that is gone does from some point on: nothing, without an end of its own. The
// tries after the first one reach another node.
type dead struct {
	after string // where it stops
	tries int
	sent  int64 // bytes of the first try's body
}

func (d *dead) RoundTrip(r *http.Request) (*http.Response, error) {
	d.tries++
	if d.tries > 1 {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"id":"t1"}`))}, nil
	}
	switch d.after {
	case "the connection":
	case "a slow body":
		for part := make([]byte, 1); ; {
			<-time.After(50 * time.Second)
			n, err := r.Body.Read(part)
			if d.sent += int64(n); err != nil {
				break
			}
		}
	case "the header":
		body, write := io.Pipe()
		go func() {
			_, _ = write.Write([]byte(`{"id":`))
			<-r.Context().Done()
			write.CloseWithError(r.Context().Err())
		}()
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	case "a slow answer":
		body, write := io.Pipe()
		go func() {
			for r.Context().Err() == nil {
				_, _ = write.Write([]byte(" "))
				<-time.After(7 * time.Second)
			}
			write.CloseWithError(r.Context().Err())
		}()
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func listRegions(ctx context.Context, c *client.Client) error {
	_, err := c.ListRegions(ctx)
	return err
}

func updateBackfill(ctx context.Context, c *client.Client) error {
	return c.UpdateBackfill(ctx, client.BackfillTicket{ID: "b1"})
}

func TestNothingComesForAMinute(t *testing.T) {
	for _, test := range []struct {
		after string
		call  func(context.Context, *client.Client) error
		tries int
		takes time.Duration
	}{
		{"the connection", createOne, 2, time.Minute},
		{"the connection", getOne, 2, time.Minute},
		{"the header", getOne, 2, time.Minute},
		{"a slow answer", listRegions, 2, 5*time.Minute + time.Second}, // when the pipe is looked at next
		{"a slow answer", updateBackfill, 2, 5*time.Minute + time.Second},
		{"the connection", createConfig, 1, time.Minute}, // must not be repeated
		{"the connection", putArchive, 2, 130 * time.Second},
		// A body that is sent slowly is sent whole; the minute begins after its last part.
		{"a slow body", putMatching, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &dead{after: test.after}
			api, err := client.New(client.Options{URL: "http://mm", Project: "demo", HTTP: &http.Client{Transport: d},
				Retry: client.Retry{Sleep: func(context.Context, time.Duration) error { return nil }}})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			err = test.call(t.Context(), api)
			takes := test.takes
			if d.sent > 0 {
				takes = time.Minute + time.Duration(d.sent+1)*50*time.Second
			}
			if took := time.Since(began); took != takes || d.tries != test.tries {
				t.Errorf("after %s: %d tries in %v, want %d in %v", test.after, d.tries, took, test.tries, takes)
			}
			if (err == nil) != (test.tries > 1) || err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("after %s: got %v", test.after, err)
			}
		})
	}
}
