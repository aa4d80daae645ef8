package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/allocator/provider/conformance"
)

// mute is a connection that can lose all that is written to it.
type mute struct {
	net.Conn
	silent atomic.Bool
}

func (m *mute) Write(text []byte) (int, error) {
	if m.silent.Load() {
		return len(text), nil
	}
	return m.Conn.Write(text)
}

// queue is a listener whose connections are made in the process.
type queue chan net.Conn

func (q queue) Accept() (net.Conn, error) {
	if c, ok := <-q; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (q queue) Close() error {
	close(q)
	return nil
}

func (q queue) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// A call over a connection that died has no answer. Nor have the calls after it, as long as the connection is in use. A
// new one may take most of the time of a call.
func TestConnectionThatDiesSilentlyIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := conformance.NewAuthority(t)
		connections := make(queue)
		server := &http.Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }),
			TLSConfig: &tls.Config{
				MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{authority.Server(t, time.Now().Add(time.Hour))},
			},
			ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
		}
		done := make(chan error)
		go func() { done <- server.ServeTLS(connections, "", "") }()
		client, err := New(Options{CA: authority.File, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		var dialled []*mute
		client.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				<-time.After(4 * time.Second)
				connections <- there
			}()
			m := &mute{Conn: here}
			dialled = append(dialled, m)
			return m, nil
		}
		call := func() (string, error) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://127.0.0.1/", nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Do(t.Context(), r)
			if err != nil {
				return "", err
			}
			return string(answer.Body), nil
		}
		if got, err := call(); err != nil || got != "HTTP/2.0" {
			t.Fatal(got, err)
		}
		dialled[0].silent.Store(true)
		if _, err := call(); err == nil {
			t.Error("an answer over a dead connection")
		}
		<-time.After(45 * time.Second)
		if got, err := call(); err != nil || got != "HTTP/2.0" || len(dialled) != 2 {
			t.Errorf("%q, %v, %d connections", got, err, len(dialled))
		}
		client.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}
