package embedded

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"matchmaker.dev/services/internal/edge/problem"
)

func TestNATSKeepsItsStreamsOverARestart(t *testing.T) {
	dir := t.TempDir()
	first := startNATS(t, NATSOptions{Dir: dir})
	request(t, first.URL(), "$JS.API.STREAM.CREATE.letters", `{"name":"letters","subjects":["letter"],"storage":"file"}`)
	request(t, first.URL(), "letter", "hello")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil {
		t.Errorf("the streams are not in the folder: %v", err)
	}

	second := startNATS(t, NATSOptions{Dir: dir})
	if info := request(t, second.URL(), "$JS.API.STREAM.INFO.letters", ""); !strings.Contains(info, `"messages":1`) {
		t.Errorf("the stream after a restart: %s, want 1 message", info)
	}
}

func TestNATSFolderInUse(t *testing.T) {
	dir := t.TempDir()
	first := startNATS(t, NATSOptions{Dir: dir})
	_, err := StartNATS(t.Context(), NATSOptions{Dir: dir, Log: silent()})
	if problem.KindOf(err) != problem.Conflict || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second server on the folder: %v, want a conflict that names it", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	startNATS(t, NATSOptions{Dir: dir})
}

func TestNATSOnATakenPort(t *testing.T) {
	l, err := net.Listen("tcp", loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	_, err = StartNATS(t.Context(), NATSOptions{Dir: dir, Port: port, Log: silent()})
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(port)) {
		t.Errorf("StartNATS on a taken port: %v, want an error that names it", err)
	}
	startNATS(t, NATSOptions{Dir: dir})
}

func startNATS(t *testing.T, o NATSOptions) *NATS {
	t.Helper()
	o.Log = silent()
	n, err := StartNATS(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// request speaks just enough of the protocol to send a message and hear the answer.
func request(t *testing.T, url, subject, body string) string {
	t.Helper()
	conn := dial(t, strings.TrimPrefix(url, "nats://"))
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "CONNECT {\"verbose\":false}\r\nSUB reply 1\r\nPUB %s reply %d\r\n%s\r\n", subject,
		len(body), body); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(conn)
	for in.Scan() {
		if strings.HasPrefix(in.Text(), "MSG reply") && in.Scan() {
			if strings.Contains(in.Text(), `"error"`) {
				t.Fatalf("%s: %s", subject, in.Text())
			}
			return in.Text()
		}
	}
	t.Fatalf("%s: no answer: %v", subject, in.Err())
	return ""
}

// What streams may have is a limit, not a need: it is reserved beyond what the disk has free.
func TestNATSReservesBeyondTheDisk(t *testing.T) {
	n := startNATS(t, NATSOptions{Dir: t.TempDir()})
	c, err := nats.Connect(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	large := jetstream.StreamConfig{Name: "large", Subjects: []string{"large"}, MaxBytes: 1 << 49}
	if _, err = js.CreateStream(t.Context(), large); err != nil {
		t.Error(err)
	}
}
