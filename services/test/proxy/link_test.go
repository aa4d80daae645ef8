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

func TestOpen(t *testing.T) {
	l, heard := open(t)
	c := connect(t, l)
	c.say("one")
	c.hears("ONE")
	if got := <-heard; got != "one" {
		t.Errorf("the far end heard %q", got)
	}
}

func TestRefusedEndsWhatThereIs(t *testing.T) {
	l, _ := open(t)
	c := connect(t, l)
	c.say("one")
	c.hears("ONE")
	l.Set(Refused)
	c.ends()
	if c, err := net.Dial("tcp", l.Address()); err == nil {
		(&conn{t, c, bufio.NewReader(c)}).ends()
	}
	l.Set(Open)
	c = connect(t, l)
	c.say("two")
	c.hears("TWO")
}

func TestSilentDeliversLate(t *testing.T) {
	l, heard := open(t)
	c := connect(t, l)
	c.say("one")
	c.hears("ONE")
	<-heard
	l.Set(Silent)
	c.say("two")
	c.nothing()
	select {
	case got := <-heard:
		t.Errorf("the far end heard %q over a silent link", got)
	default:
	}
	late := connect(t, l)
	late.say("three")
	late.nothing()
	l.Set(Open)
	c.hears("TWO")
	late.hears("THREE")
}

func TestDeafKeepsAnswersBack(t *testing.T) {
	l, heard := open(t)
	c := connect(t, l)
	c.say("one")
	c.hears("ONE")
	<-heard
	l.Set(Deaf)
	c.say("two")
	if got := <-heard; got != "two" {
		t.Errorf("the far end heard %q", got)
	}
	c.nothing()
	l.Set(Open)
	c.hears("TWO")
}

func TestSlowIsLate(t *testing.T) {
	l, _ := open(t)
	l.lag = time.Hour
	l.Set(Slow)
	c := connect(t, l)
	c.say("one")
	c.nothing()
	l.Set(Open)
	c.hears("ONE")
	l.lag = time.Millisecond
	l.Set(Slow)
	c.say("two")
	c.hears("TWO")
}

func TestFarEndThatIsNotThere(t *testing.T) {
	l, err := Listen(func(context.Context) (net.Conn, error) { return nil, errors.New("nobody") })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := net.Dial("tcp", l.Address()); err == nil {
		(&conn{t, c, bufio.NewReader(c)}).ends()
	}
}

func TestCloseEndsEverything(t *testing.T) {
	l, _ := open(t)
	c := connect(t, l)
	c.say("one")
	c.hears("ONE")
	l.Set(Silent)
	c.say("two")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c.ends()
}

// open is a link to a far end that says everything again, louder. The channel gets what it heard.
func open(t *testing.T) (*Link, <-chan string) {
	t.Helper()
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	heard := make(chan string, 10)
	go func() {
		for {
			c, err := far.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					heard <- lines.Text()
					fmt.Fprintln(c, strings.ToUpper(lines.Text()))
				}
			}()
		}
	}()
	l, err := Listen(func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", far.Addr().String())
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, heard
}

type conn struct {
	t *testing.T
	net.Conn
	lines *bufio.Reader
}

func connect(t *testing.T, l *Link) *conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &conn{t, c, bufio.NewReader(c)}
}

func (c *conn) say(text string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conn) hears(want string) {
	c.t.Helper()
	c.within(time.Minute)
	if got, err := c.lines.ReadString('\n'); got != want+"\n" {
		c.t.Fatalf("heard %q, %v, want %q", got, err, want)
	}
}

// nothing comes for a moment.
func (c *conn) nothing() {
	c.t.Helper()
	c.within(50 * time.Millisecond)
	if got, err := c.lines.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("heard %q, %v, want nothing", got, err)
	}
}

func (c *conn) ends() {
	c.t.Helper()
	c.within(time.Minute)
	if got, err := io.ReadAll(c.lines); len(got) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("heard %q, %v, want an end", got, err)
	}
}

func (c *conn) within(d time.Duration) {
	c.t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		c.t.Fatal(err)
	}
}
