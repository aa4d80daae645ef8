// Package transporttest tests transports of HTTP.
package transporttest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
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

// ReplacesSilent tests that a transport does not use a connection for long that died without notice: one of HTTP/2
// takes all requests until the kernel gives it up, which takes a quarter of an hour. It changes the transport that open
// makes.
func ReplacesSilent(t *testing.T, open func() *http.Transport) {
	t.Helper()
	known := httptest.NewTLSServer(http.NotFoundHandler())
	defer known.Close()
	synctest.Test(t, func(t *testing.T) {
		connections, used := make(queue), open()
		server := &http.Server{
			Handler:   http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
			TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: known.TLS.Certificates},
			ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo), ReadHeaderTimeout: time.Minute,
		}
		done := make(chan error)
		go func() { done <- server.ServeTLS(connections, "", "") }()
		if used.TLSClientConfig == nil {
			used.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		used.TLSClientConfig.RootCAs = x509.NewCertPool()
		used.TLSClientConfig.RootCAs.AddCert(known.Certificate())
		var dialled []*mute
		used.DialContext = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			connections <- there
			dialled = append(dialled, &mute{Conn: here})
			return dialled[len(dialled)-1], nil
		}
		call := func() (string, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1/", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := used.RoundTrip(r)
			if err != nil {
				return "", err
			}
			return answer.Proto, answer.Body.Close()
		}
		got, err := call()
		if err != nil || got != "HTTP/2.0" {
			t.Fatal(got, err)
		}
		dialled[0].silent.Store(true)
		tries := 0
		for err = io.EOF; err != nil && tries < 12; tries++ { // for a minute
			got, err = call()
		}
		if err != nil || got != "HTTP/2.0" || tries == 1 || len(dialled) != 2 {
			t.Errorf("%q, %v after %d tries, %d connections", got, err, tries, len(dialled))
		}
		used.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		for _, one := range dialled {
			_ = one.Close()
		}
	})
}
