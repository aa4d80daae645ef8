package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

var (
	waiting  = reply{status: 200, body: `{"id":"t1","assignment":null}`}
	assigned = reply{status: 200, body: `{"id":"t1","assignment":{"connection":"10.0.0.1:7000"}}`}
)

// A service that answers at once is asked less and less often.
func TestWaitPolls(t *testing.T) {
	s := newService(t, waiting, waiting, waiting, waiting, waiting, waiting, waiting, assigned)
	c, clock := newClient(t, s)
	ticket, err := c.Wait(t.Context(), "t1")
	if err != nil || ticket.Assignment.Connection != "10.0.0.1:7000" {
		t.Fatalf("got %+v, %v", ticket, err)
	}
	ms := time.Millisecond
	want := []time.Duration{500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 5000 * ms, 5000 * ms, 5000 * ms}
	if !reflect.DeepEqual(clock.naps, want) {
		t.Errorf("waited %v, want %v", clock.naps, want)
	}
	if got := s.requests()[0].Header.Get("Prefer"); got != "wait=10" {
		t.Errorf("Prefer: %q", got)
	}
}

// A service that holds its answer is asked again at once; one that answers early now and then, as when it shuts down,
// is not asked in a tight loop.
func TestWaitLongPolls(t *testing.T) {
	clock := &clock{now: time.Unix(0, 0)}
	holds := []time.Duration{10 * time.Second, 10 * time.Second, 100 * time.Millisecond, 10 * time.Second, 0, 0}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clock.now = clock.now.Add(holds[asked])
		asked++
		body := waiting.body
		if asked == len(holds) {
			body = assigned.body
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{URL: server.URL, Project: "demo", Retry: client.Retry{
		Sleep: clock.Sleep, Now: clock.Now, Rand: func() float64 { return 0.5 }}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(t.Context(), "t1"); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{400 * time.Millisecond, 500 * time.Millisecond}
	if !reflect.DeepEqual(clock.naps, want) {
		t.Errorf("waited %v, want %v", clock.naps, want)
	}
}

func TestWaitEnds(t *testing.T) {
	t.Run("ticket gone", func(t *testing.T) {
		c, _ := newClient(t, newService(t, waiting, reply{status: 404}))
		if _, err := c.Wait(t.Context(), "t1"); client.Status(err) != 404 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an error is an assignment", func(t *testing.T) {
		c, _ := newClient(t, newService(t, reply{status: 200, body: `{"id":"t1","assignment":{"error":"PoolTimeout"}}`}))
		ticket, err := c.Wait(t.Context(), "t1")
		if err != nil || ticket.Assignment.Error != "PoolTimeout" {
			t.Errorf("got %+v, %v", ticket, err)
		}
	})
	t.Run("patience over while pausing", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		over := errors.New("patience is over")
		c, err := client.New(client.Options{URL: newService(t, waiting).URL, Project: "demo", Retry: client.Retry{
			Sleep: func(ctx context.Context, _ time.Duration) error { cancel(over); return context.Cause(ctx) }}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(ctx, "t1"); !errors.Is(err, over) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("patience over while asking", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		}))
		t.Cleanup(server.Close)
		c, err := client.New(client.Options{URL: server.URL, Project: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(ctx, "t1"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
