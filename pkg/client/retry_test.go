package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"matchmaker.dev/pkg/client"
)

var (
	cut       = reply{}
	limited   = reply{status: 429}
	busy      = reply{status: 503}
	fine      = reply{status: 200, body: `{"id":"t1"}`}
	gone      = reply{status: 404, body: `{"code":"ticketNotFound"}`}
	createOne = func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateTicket(ctx, client.TicketRequest{})
		return err
	}
	createConfig = func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateConfig(ctx, client.Config{})
		return err
	}
	getOne    = func(ctx context.Context, c *client.Client) error { _, err := c.GetTicket(ctx, "t1"); return err }
	deleteOne = func(ctx context.Context, c *client.Client) error { return c.DeleteTicket(ctx, "t1", "p") }
	approve   = func(ctx context.Context, c *client.Client) error { _, err := c.ApproveBackfill(ctx, "b1"); return err }
	putEqual  = func(ctx context.Context, c *client.Client) error {
		_, err := c.PutConfig(ctx, "ranked", client.Config{}, "")
		return err
	}
	putArchive = func(ctx context.Context, c *client.Client) error {
		return c.PutFunction(ctx, "f", "", strings.NewReader("an archive"))
	}
	putMatching = func(ctx context.Context, c *client.Client) error {
		_, err := c.PutConfig(ctx, "ranked", client.Config{}, `"1"`)
		return err
	}
)

func after(seconds string) reply {
	return reply{status: 429, header: map[string]string{"Retry-After": seconds}}
}

func seconds(s ...int) []time.Duration {
	var d []time.Duration
	for _, s := range s {
		d = append(d, time.Duration(s)*time.Second)
	}
	return d
}

func TestRetry(t *testing.T) {
	type call func(context.Context, *client.Client) error
	tests := []struct {
		name    string
		call    call
		replies []reply
		naps    []time.Duration
		status  int // of the error; 0: none
	}{
		{"five times, then no more", getOne, []reply{limited}, seconds(2, 4, 8, 16, 32), 429},
		{"until it succeeds", getOne, []reply{limited, busy, cut, fine}, seconds(2, 4, 8), 0},
		{"as long as told", getOne, []reply{after("7"), limited, fine}, seconds(7, 4), 0},
		{"after what a proxy answers", getOne, []reply{{status: 502}, {status: 504}, fine}, seconds(2, 4), 0},
		{"not a creation after 502", createConfig, []reply{{status: 502}}, nil, 502},
		{"until the date told", getOne, []reply{{status: 429, header: map[string]string{
			"Retry-After": "Wed, 02 Jan 2030 07:00:30 GMT", "Date": "Wed, 02 Jan 2030 07:00:00 GMT"}}, fine}, seconds(30), 0},
		{"not when told to wait too long", getOne, []reply{after("61")}, nil, 429},
		{"creation after 429", createOne, []reply{limited, fine}, seconds(2), 0},
		{"creation of a ticket after 503", createOne, []reply{busy, fine}, seconds(2), 0},
		{"creation of a ticket after a lost answer", createOne, []reply{cut, fine}, seconds(2), 0},
		{"creation not after 503", createConfig, []reply{busy}, nil, 503},
		{"creation not after a lost answer", createConfig, []reply{cut}, nil, -1},
		{"not after 500", getOne, []reply{{status: 500}}, nil, 500},
		{"approval after 503", approve, []reply{busy, fine}, seconds(2), 0},
		{"put after a lost answer", putEqual, []reply{cut, fine}, seconds(2), 0},
		{"conditional put not after a lost answer", putMatching, []reply{cut}, nil, -1},
		{"delete that was not there", deleteOne, []reply{gone}, nil, 404},
		{"delete whose first answer was lost", deleteOne, []reply{cut, gone}, seconds(2), 0},
		{"delete whose path a gateway does not know", deleteOne, []reply{cut, {status: 404}}, seconds(2), 404},
		{"delete that was refused first", deleteOne, []reply{busy, gone}, seconds(2), 404},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newService(t, test.replies...)
			c, clock := newClient(t, s)
			err := test.call(t.Context(), c)
			if test.status == 0 && err != nil || test.status > 0 && client.Status(err) != test.status ||
				test.status < 0 && err == nil {
				t.Errorf("the call returned %v, want status %d", err, test.status)
			}
			if !reflect.DeepEqual(clock.naps, test.naps) {
				t.Errorf("waited %v, want %v", clock.naps, test.naps)
			}
			requests := s.requests()
			if got := len(requests); got != len(test.naps)+1 {
				t.Errorf("%d requests after %d waits", got, len(test.naps))
			}
			for _, again := range requests { // a repeated creation has the same key
				if got, want := again.Header.Get("Idempotency-Key"), requests[0].Header.Get("Idempotency-Key"); got != want {
					t.Errorf("the key %s after %s", got, want)
				}
			}
		})
	}
}

// The jitter is within ±attempt seconds.
func TestRetryJitter(t *testing.T) {
	for _, test := range []struct {
		rand float64
		want []time.Duration
	}{
		{0, seconds(1, 2, 5, 12, 27)},
		{0.75, []time.Duration{2500e6, 5000e6, 9500e6, 18000e6, 34500e6}},
	} {
		var naps []time.Duration
		c, err := client.New(client.Options{URL: newService(t, limited).URL, Project: "demo", Retry: client.Retry{
			Rand:  func() float64 { return test.rand },
			Sleep: func(_ context.Context, d time.Duration) error { naps = append(naps, d); return nil },
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := getOne(t.Context(), c); client.Status(err) != 429 {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(naps, test.want) {
			t.Errorf("with %v waited %v, want %v", test.rand, naps, test.want)
		}
	}
}

// A wait that would outlast the caller's patience is not begun.
func TestRetryDeadline(t *testing.T) {
	s := newService(t, after("30"))
	c, clock := newClient(t, s)
	ctx, cancel := context.WithDeadline(t.Context(), clock.now.Add(29*time.Second))
	defer cancel()
	if err := getOne(ctx, c); client.Status(err) != 429 {
		t.Errorf("got %v, want the 429", err)
	}
	if clock.naps != nil {
		t.Errorf("waited %v", clock.naps)
	}
}

func TestRetryCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	enough := errors.New("had enough")
	var told []time.Duration
	c, err := client.New(client.Options{URL: newService(t, limited).URL, Project: "demo", Retry: client.Retry{
		Notify: func(_ error, wait time.Duration) { told = append(told, wait); cancel(enough) },
		Rand:   func() float64 { return 0.5 },
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := getOne(ctx, c); !errors.Is(err, enough) || client.Status(err) != 429 {
		t.Errorf("got %v, want the cause and the 429", err)
	}
	if !reflect.DeepEqual(told, seconds(2)) {
		t.Errorf("told of %v", told)
	}
}

// A server that is not there may be about to start, but only if one has the patience.
func TestRetryReconnects(t *testing.T) {
	s := newService(t, fine)
	s.URL = "http://127.0.0.1:1"
	c, clock := newClient(t, s)
	if err := getOne(t.Context(), c); err == nil || len(clock.naps) != 5 {
		t.Errorf("got %v after %v", err, clock.naps)
	}
	clock.naps = nil
	c, err := client.New(client.Options{URL: s.URL, Project: "demo",
		Retry: client.Retry{Reconnects: -1, Sleep: clock.Sleep}})
	if err != nil {
		t.Fatal(err)
	}
	if err := getOne(t.Context(), c); err == nil || len(clock.naps) != 0 {
		t.Errorf("got %v after %v", err, clock.naps)
	}
}

// An upload is sent whole each time, from where the file stood, whatever kind of reader it is.
func TestRetryUpload(t *testing.T) {
	seekable := bytes.NewReader([]byte("skip archive"))
	if _, err := seekable.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	for name, archive := range map[string]io.Reader{
		"seekable": seekable,
		"stream":   iotest.OneByteReader(bytes.NewReader([]byte("archive"))),
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, cut, busy, limited, reply{status: 200})
			c, _ := newClient(t, s)
			if err := c.PutFunction(t.Context(), "duel", "", archive); err != nil {
				t.Fatal(err)
			}
			for i, r := range s.requests() {
				if r.Body != "archive" || r.Header.Get("Content-Length") != "7" {
					t.Errorf("try %d sent %q", i+1, r.Body)
				}
			}
		})
	}
}

// The transport may take another connection for a POST when the idle one it took was closed before anything was
// written, if it can get the body again.
func TestBodyCanBeReadAgain(t *testing.T) {
	s := newService(t, fine)
	c, err := client.New(client.Options{URL: s.URL, Project: "demo", HTTP: &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return nil, err
			}
			again := r.Clone(r.Context())
			again.Body, _ = r.GetBody()
			return http.DefaultTransport.RoundTrip(again)
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := createOne(t.Context(), c); err != nil || s.requests()[0].Body != "{}" {
		t.Errorf("error %v, heard %+v", err, s.requests())
	}
}

func TestHTTPClientIsUsed(t *testing.T) {
	var used bool
	c, err := client.New(client.Options{URL: newService(t, fine).URL, Project: "demo", UserAgent: "me/1",
		HTTP: &http.Client{
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				used = r.Header.Get("User-Agent") == "me/1"
				return http.DefaultTransport.RoundTrip(r)
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := getOne(t.Context(), c); err != nil || !used {
		t.Errorf("error %v, used %v", err, used)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
