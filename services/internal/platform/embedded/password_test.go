package embedded

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRedisPassword(t *testing.T) {
	const password = "only-for-clients"
	dir := t.TempDir()
	memory, err := StartMemory(0, password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	for name, r := range map[string]*Redis{
		"child":  startRedis(t, RedisOptions{Dir: dir, AOF: true, Password: password}),
		"memory": memory,
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, r.Addr())
			defer conn.Close()
			in := bufio.NewReader(conn)
			for _, tt := range []struct{ command, want string }{
				{"GET a", "-NOAUTH"}, {"AUTH wrong", "-WRONGPASS"}, {"SET a 1", "-NOAUTH"},
				{"AUTH " + password, "+OK"}, {"SET a 1", "+OK"},
			} {
				words := strings.Fields(tt.command)
				fmt.Fprintf(conn, "*%d\r\n", len(words))
				for _, w := range words {
					fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(w), w)
				}
				if got, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(got, tt.want) {
					t.Errorf("%s: %q, %v, want %s", tt.command, got, err, tt.want)
				}
			}
			if u, err := url.Parse(r.URL()); err != nil || u.Host != r.Addr() || u.User.String() != "default:"+password {
				t.Errorf("the URL is %s, %v", r.URL(), err)
			}
		})
	}
	info, err := os.Stat(filepath.Join(dir, "users.acl"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("users.acl: %v, %v, want a file for its owner only", info, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "users.acl"))
	if err != nil || strings.Contains(string(text), password) {
		t.Errorf("the password stands in users.acl: %s, %v", text, err)
	}
}

func TestNATSPassword(t *testing.T) {
	n := startNATS(t, NATSOptions{Dir: t.TempDir(), Password: "only-for-clients"})
	for login, want := range map[string]string{
		"": "-ERR 'Authorization Violation'", `,"user":"matchmaker","pass":"wrong"`: "-ERR 'Authorization Violation'",
		`,"user":"matchmaker","pass":"only-for-clients"`: "PONG",
	} {
		conn := dial(t, n.ClientsAddr())
		in := bufio.NewReader(conn)
		if info, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(info, "INFO ") {
			t.Fatalf("%q, %v", info, err)
		}
		if _, err := fmt.Fprintf(conn, "CONNECT {\"verbose\":false%s}\r\nPING\r\n", login); err != nil {
			t.Fatal(err)
		}
		if got, err := in.ReadString('\n'); err != nil || strings.TrimSpace(got) != want {
			t.Errorf("CONNECT with %q: %q, %v, want %s", login, got, err, want)
		}
		conn.Close()
	}
	if want := "nats://matchmaker:only-for-clients@" + n.ClientsAddr(); n.URL() != want {
		t.Errorf("the URL is %s, want %s", n.URL(), want)
	}
}
