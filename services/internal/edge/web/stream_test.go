package web_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/wait"
)

// pipes is a listener whose connections are in memory: a write waits until it is read, and time is the bubble's.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// detach runs a test, in a bubble, against a server that answers all GETs with a stream.
func detach(
	t *testing.T, run func(context.Context, *web.Stream), test func(t *testing.T, conn net.Conn, log *bytes.Buffer),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		lines := new(bytes.Buffer)
		log := slog.New(slog.NewTextHandler(lines, nil))
		e := web.New(log, web.Options{})
		e.GET(web.TicketEvents, func(c echo.Context) error {
			c.Response().Header().Set("Content-Type", web.EventStream)
			return web.Detach(c, log, http.StatusOK, run)
		})
		web.NewCORS("*", "", "", "").Allow(e, web.TicketEvents)
		all := &pipes{make(chan net.Conn), make(chan struct{})}
		server := web.Server(e, log)
		go func() { _ = server.Serve(web.Listener(all)) }()
		near, far := net.Pipe()
		all.made <- far
		test(t, near, lines)
		near.Close()
		synctest.Wait()
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// ask asks for the stream.
func ask(t *testing.T, conn net.Conn, version string) *http.Response {
	t.Helper()
	_, err := io.WriteString(conn, "GET /demo/matchmaking/api/v1/tickets/events HTTP/"+version+"\r\nHost: x\r\n"+
		"X-Correlation-ID: one\r\nOrigin: https://game.example\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Headers of a client that loses packets may be late. One that does not end them does not keep its connection.
func TestLateHeaders(t *testing.T) {
	for after, served := range map[time.Duration]bool{15 * time.Second: true, 25 * time.Second: false} {
		detach(t, func(_ context.Context, s *web.Stream) { s.Close() }, func(t *testing.T, conn net.Conn, _ *bytes.Buffer) {
			_, err := io.WriteString(conn, "GET /demo/matchmaking/api/v1/tickets/events HTTP/1.1\r\nHost: x\r\n")
			if err != nil {
				t.Fatal(err)
			}
			_ = wait.For(t.Context(), after)
			if _, err := io.WriteString(conn, "\r\n"); (err == nil) != served {
				t.Errorf("after %s: %v", after, err)
				return
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if served && (err != nil || res.StatusCode != http.StatusOK) {
				t.Errorf("after %s: %v, %v", after, res, err)
			}
		})
	}
}

func TestStreamIsAnAnswer(t *testing.T) {
	for _, version := range []string{"1.1", "1.0"} {
		ended := false
		detach(t, func(ctx context.Context, s *web.Stream) {
			for _, text := range []string{"one\n\n", strings.Repeat("long ", 10_000)} {
				if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
					t.Errorf("%d, %v", n, err)
				}
				_ = wait.For(ctx, time.Hour) // longer than the server's times
			}
			if ctx.Err() != nil {
				t.Error("the client seems to be gone")
			}
			s.Close()
			ended = true
		}, func(t *testing.T, conn net.Conn, _ *bytes.Buffer) {
			res := ask(t, conn, version)
			if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != web.EventStream ||
				res.Header.Get("Cache-Control") != "no-store" || res.Header.Get("X-Correlation-ID") == "" || !res.Close ||
				res.Header.Get("Access-Control-Allow-Origin") != "https://game.example" {
				t.Errorf("HTTP/%s: got %d %v", version, res.StatusCode, res.Header)
			}
			text, err := io.ReadAll(res.Body)
			if len(text) != 50_005 || err != nil {
				t.Errorf("HTTP/%s: got %d bytes, %v", version, len(text), err)
			}
			_ = wait.For(t.Context(), time.Second) // the server waits no longer than that for the client to close
			synctest.Wait()
			if !ended {
				t.Errorf("HTTP/%s: the stream has not ended", version)
			}
		})
	}
}

func TestStreamLearnsThatTheClientLeft(t *testing.T) {
	left := false
	detach(t, func(ctx context.Context, _ *web.Stream) {
		<-ctx.Done()
		left = true
	}, func(t *testing.T, conn net.Conn, _ *bytes.Buffer) {
		ask(t, conn, "1.1")
		conn.Close()
		synctest.Wait()
		if !left {
			t.Error("the stream goes on")
		}
	})
}

// A client that does not read ends the stream once, not with each write.
func TestStreamOfASlowReader(t *testing.T) {
	var took time.Duration
	detach(t, func(_ context.Context, s *web.Stream) {
		start := time.Now()
		for range 2 {
			if _, err := s.Write([]byte("unread")); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
		s.Close()
		took = time.Since(start)
	}, func(t *testing.T, conn net.Conn, _ *bytes.Buffer) {
		ask(t, conn, "1.1")
		_ = wait.For(t.Context(), time.Minute)
		synctest.Wait()
		if took < 10*time.Second || took > 11*time.Second {
			t.Errorf("the stream ended after %v", took)
		}
	})
}

// What a client sends behind its request is no end, and takes no work.
func TestStreamIgnoresWhatIsSent(t *testing.T) {
	detach(t, func(ctx context.Context, s *web.Stream) {
		_ = wait.For(ctx, time.Minute)
		if ctx.Err() != nil {
			t.Error("the client seems to be gone")
		}
		_, _ = s.Write([]byte("told"))
	}, func(t *testing.T, conn net.Conn, _ *bytes.Buffer) {
		res := ask(t, conn, "1.1")
		go func() { _, _ = conn.Write([]byte("GET / HTTP/1.1\r\n")) }()
		if text, err := io.ReadAll(res.Body); string(text) != "told" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
}

// A bug costs one stream.
func TestStreamThatPanics(t *testing.T) {
	detach(t, func(context.Context, *web.Stream) {
		panic("a bug")
	}, func(t *testing.T, conn net.Conn, log *bytes.Buffer) {
		res := ask(t, conn, "1.1")
		if _, err := io.ReadAll(res.Body); err != nil {
			t.Error(err)
		}
		conn.Close()
		synctest.Wait()
		if !strings.Contains(log.String(), `cause="a bug"`) || !strings.Contains(log.String(), "correlationId=one") {
			t.Errorf("the log is %s", log)
		}
	})
}
