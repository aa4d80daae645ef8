package web_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sys/unix"

	"matchmaker.dev/services/internal/edge/web"
)

// accepted passes on the connections of a listener.
type accepted struct {
	net.Listener
	made chan *net.TCPConn
}

func (a accepted) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		a.made <- tcp
	}
	return c, err
}

// The system ends the connection of a client that is gone without a word. Nothing else notices it.
func TestStreamEndsWithAClientThatConfirmsNothing(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	e := web.New(log, web.Options{})
	e.GET(web.TicketEvents, func(c echo.Context) error {
		return web.Detach(c, log, http.StatusOK, func(ctx context.Context, _ *web.Stream) { <-ctx.Done() })
	})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	all := accepted{l, make(chan *net.TCPConn, 1)}
	server := web.Server(e, log)
	go func() { _ = server.Serve(web.Listener(all)) }()
	defer server.Close()
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const asked = "GET /demo/matchmaking/api/v1/tickets/events HTTP/1.1\r\nHost: x\r\n\r\n"
	if _, err := io.WriteString(client, asked); err != nil {
		t.Fatal(err)
	}
	if _, err := http.ReadResponse(bufio.NewReader(client), nil); err != nil {
		t.Fatal(err)
	}
	raw, err := (<-all.made).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var after int
	controlled := raw.Control(func(fd uintptr) {
		after, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	})
	if controlled != nil || err != nil || after <= 0 || after > int(time.Minute.Milliseconds()) {
		t.Errorf("the system ends it after %d ms, %v, %v", after, controlled, err)
	}
}
