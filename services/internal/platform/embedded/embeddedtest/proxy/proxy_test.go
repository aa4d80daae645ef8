package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestOpenForwards(t *testing.T) {
	l, received := open(t)
	c := connect(t, l)
	c.write("one")
	c.reads("ONE")
	if got := <-received; got != "one" {
		t.Errorf("the server got %q", got)
	}
}

func TestRefusedEndsConnections(t *testing.T) {
	l, _ := open(t)
	c := connect(t, l)
	c.write("one")
	c.reads("ONE")
	l.Set(Refused)
	c.closed()
	if c, err := net.Dial("tcp", l.Address()); err == nil {
		(&conn{t, c, bufio.NewReader(c)}).closed()
	}
	l.Set(Open)
	c = connect(t, l)
	c.write("two")
	c.reads("TWO")
}

func TestSilentForwardsLater(t *testing.T) {
	l, received := open(t)
	c := connect(t, l)
	c.write("one")
	c.reads("ONE")
	<-received
	l.Set(Silent)
	c.write("two")
	c.nothing()
	select {
	case got := <-received:
		t.Errorf("the server got %q through a silent proxy", got)
	default:
	}
	late := connect(t, l)
	late.write("three")
	late.nothing()
	l.Set(Open)
	c.reads("TWO")
	late.reads("THREE")
}

func TestDeafHoldsAnswers(t *testing.T) {
	l, received := open(t)
	c := connect(t, l)
	c.write("one")
	c.reads("ONE")
	<-received
	l.Set(Deaf)
	c.write("two")
	if got := <-received; got != "two" {
		t.Errorf("the server got %q", got)
	}
	c.nothing()
	l.Set(Open)
	c.reads("TWO")
}

func TestSlowForwardsWithADelay(t *testing.T) {
	l, _ := open(t)
	l.delay = time.Hour
	l.Set(Slow)
	c := connect(t, l)
	c.write("one")
	c.nothing()
	l.Set(Open)
	c.reads("ONE")
	l.delay = time.Millisecond
	l.Set(Slow)
	c.write("two")
	c.reads("TWO")
}

func TestNobodyIsConnectedToAServerThatIsAway(t *testing.T) {
	l, err := Listen(t.Context(), func(context.Context) (net.Conn, error) { return nil, errors.New("nobody") })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := net.Dial("tcp", l.Address()); err == nil {
		(&conn{t, c, bufio.NewReader(c)}).closed()
	}
}

func TestCloseEndsConnections(t *testing.T) {
	l, _ := open(t)
	c := connect(t, l)
	c.write("one")
	c.reads("ONE")
	l.Set(Silent)
	c.write("two")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c.closed()
}

// open opens a proxy to a server that answers each line in upper case. The channel gets what the server read.
func open(t *testing.T) (*Proxy, <-chan string) {
	t.Helper()
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	received := make(chan string, 10)
	go func() {
		for {
			c, err := far.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					received <- lines.Text()
					fmt.Fprintln(c, strings.ToUpper(lines.Text()))
				}
			}()
		}
	}()
	l, err := Listen(t.Context(), func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", far.Addr().String())
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, received
}

type conn struct {
	t *testing.T
	net.Conn
	lines *bufio.Reader
}

func connect(t *testing.T, l *Proxy) *conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &conn{t, c, bufio.NewReader(c)}
}

func (c *conn) write(text string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conn) reads(want string) {
	c.t.Helper()
	c.within(time.Minute)
	if got, err := c.lines.ReadString('\n'); got != want+"\n" {
		c.t.Fatalf("read %q, %v, want %q", got, err, want)
	}
}

// nothing fails when something arrives within a moment.
func (c *conn) nothing() {
	c.t.Helper()
	c.within(50 * time.Millisecond)
	if got, err := c.lines.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("read %q, %v, want nothing", got, err)
	}
}

func (c *conn) closed() {
	c.t.Helper()
	c.within(time.Minute)
	if got, err := io.ReadAll(c.lines); len(got) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("read %q, %v, want the end", got, err)
	}
}

func (c *conn) within(d time.Duration) {
	c.t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		c.t.Fatal(err)
	}
}
