// Package transporttest tests transports of HTTP in bubbles of testing/synctest.
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

// Network has connections in the process to a server.
type Network struct {
	server  *http.Server
	delay   time.Duration
	queue   queue
	dialled []*mute
	done    chan error
}

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

// Serve starts a server, whose answers are the protocol of their requests. It accepts a connection after a delay.
func Serve(delay time.Duration, certificates ...tls.Certificate) *Network {
	n := &Network{delay: delay, queue: make(queue), done: make(chan error), server: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Proto) //nolint:gosec // no browser shows it
		}),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: certificates},
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo), ReadHeaderTimeout: time.Minute,
	}}
	go func() { n.done <- n.server.ServeTLS(n.queue, "", "") }()
	return n
}

// DialContext is for a transport.
func (n *Network) DialContext(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	go func() {
		<-time.After(n.delay)
		n.queue <- there
	}()
	m := &mute{Conn: here}
	n.dialled = append(n.dialled, m)
	return m, nil
}

// Silence lets the connections die without notice.
func (n *Network) Silence() {
	for _, one := range n.dialled {
		one.silent.Store(true)
	}
}

// Dialled is how many connections there were.
func (n *Network) Dialled() int { return len(n.dialled) }

// Close ends the server and all connections.
func (n *Network) Close(t *testing.T) {
	t.Helper()
	if err := n.server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-n.done; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	for _, one := range n.dialled {
		_ = one.Close()
	}
}

// ReplacesSilent tests that a transport does not use a connection for long that died without notice: one of HTTP/2
// takes all requests until the kernel gives it up, which takes a quarter of an hour. It changes the transport that open
// makes.
func ReplacesSilent(t *testing.T, open func() *http.Transport) {
	t.Helper()
	known := httptest.NewTLSServer(http.NotFoundHandler())
	defer known.Close()
	synctest.Test(t, func(t *testing.T) {
		network, used := Serve(0, known.TLS.Certificates...), open()
		defer network.Close(t)
		if used.TLSClientConfig == nil {
			used.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		used.TLSClientConfig.RootCAs = x509.NewCertPool()
		used.TLSClientConfig.RootCAs.AddCert(known.Certificate())
		used.DialContext = network.DialContext
		defer used.CloseIdleConnections()
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
		network.Silence()
		tries := 0
		for err = io.EOF; err != nil && tries < 12; tries++ { // for a minute
			got, err = call()
		}
		if err != nil || got != "HTTP/2.0" || tries == 1 || network.Dialled() != 2 {
			t.Errorf("%q, %v after %d tries, %d connections", got, err, tries, network.Dialled())
		}
	})
}
