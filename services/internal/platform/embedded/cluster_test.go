package embedded

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/platform/embedded/clustertest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

func TestNATSCluster(t *testing.T) {
	var servers []*NATS
	var options []NATSOptions
	routes := []string{clustertest.Nowhere} // the first knows of no other that is there
	for i := range 3 {
		o := NATSOptions{Dir: t.TempDir(), Settings: filepath.Join(t.TempDir(), "nats.conf")}
		if err := clustertest.Write(o.Settings, "embedded", fmt.Sprintf("server-%d", i), routes); err != nil {
			t.Fatal(err)
		}
		s := startNATS(t, o)
		if s.RoutesAddr() == "" {
			t.Error("a server of a cluster has no address for routes")
		}
		servers, options, routes = append(servers, s), append(options, o),
			append(routes[:len(routes):len(routes)], s.RoutesAddr())
	}
	waittest.Until(t, "a stream on all three", func() bool {
		answer := try(t, servers[0].URL(), "$JS.API.STREAM.CREATE.letters",
			`{"name":"letters","subjects":["letter"],"storage":"file","num_replicas":3}`)
		return strings.Contains(answer, `"num_replicas":3`)
	})
	if err := servers[2].Close(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "a message taken by the two that are left", func() bool {
		return strings.Contains(try(t, servers[1].URL(), "letter", "hello"), `"stream":"letters"`)
	})
	servers[2] = startNATS(t, options[2])
	if err := servers[0].Close(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the message at the one that had been away", func() bool {
		info := try(t, servers[2].URL(), "$JS.API.STREAM.INFO.letters", "")
		return strings.Contains(info, `"messages":`) && !strings.Contains(info, `"messages":0`)
	})
}

// try is what a server answers within a second, be it an error; "" when it says nothing.
func try(t *testing.T, url, subject, body string) string {
	t.Helper()
	conn := dial(t, strings.TrimPrefix(url, "nats://"))
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "CONNECT {\"verbose\":false}\r\nSUB reply 1\r\nPUB %s reply %d\r\n%s\r\n", subject,
		len(body), body); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	piece := make([]byte, 64<<10)
	for {
		n, err := conn.Read(piece)
		all.Write(piece[:n])
		if _, answer, ok := strings.Cut(all.String(), "MSG reply"); ok && strings.Count(answer, "\r\n") > 1 {
			return answer
		}
		if err != nil {
			t.Logf("%s: %v", subject, err)
			return ""
		}
	}
}
