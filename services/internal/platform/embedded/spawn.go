package embedded

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/internal/platform/process"
)

// attempts bounds how often another free port is tried. Another process may take a port after it was found free.
const attempts = 5

var errTaken = errors.New("port is taken")

func (r *Redis) start(ctx context.Context, path string, o RedisOptions) error {
	if o.Password != "" {
		o.Users = filepath.Join(o.Dir, "users.acl")
		hash := sha256.Sum256([]byte(o.Password))
		if err := os.WriteFile(o.Users, fmt.Appendf(nil, "user default on #%x ~* &* +@all\n", hash), 0o600); err != nil {
			return err
		}
	}
	if o.Port != 0 {
		return r.spawn(ctx, path, o.Port, o)
	}
	var err error
	for range attempts {
		port, e := freePort()
		if e != nil {
			return e
		}
		if err = r.spawn(ctx, path, port, o); !errors.Is(err, errTaken) {
			return err
		}
	}
	return err
}

func (r *Redis) spawn(ctx context.Context, path string, port int, o RedisOptions) error {
	cmd := exec.Command(path, arguments(port, o)...)
	cmd.ExtraFiles = []*os.File{r.lock}
	process.EndOrderly(cmd) // it may have answered writes that are not in its file yet, while the disk is busy
	log := &redisLog{log: o.Log}
	cmd.Stdout = process.Lines(log.add)
	cmd.Stderr = cmd.Stdout
	child, err := process.Start(cmd)
	if err != nil {
		return err
	}
	r.addr = loopback(port)
	if err := child.Wait(ctx, func() bool { return answers(r.addr, o.Password, child.PID()) }); err != nil {
		child.Kill()
		if strings.Contains(err.Error(), "Address already in use") {
			return fmt.Errorf("%w: %w", errTaken, err)
		}
		return err
	}
	log.warn.Store(true)
	r.child, r.log = child, log
	return nil
}

func arguments(port int, o RedisOptions) []string {
	appendonly := "no"
	if o.AOF {
		appendonly = "yes"
	}
	args := []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port),
		"--dir", o.Dir, "--save", "", "--appendonly", appendonly, "--appendfsync", "everysec",
		// Rewriting the file takes a core for seconds, which other processes need under load. Redis's default of 64 MB is
		// reached within 5 s.
		"--auto-aof-rewrite-min-size", "256mb",
		"--maxmemory", strconv.FormatInt(o.MaxMemory, 10), "--maxmemory-policy", "noeviction", "--daemonize", "no",
	}
	if o.Users != "" {
		args = append(args, "--aclfile", o.Users)
	}
	return args
}

// answers reports whether the server at addr has loaded its data and is process pid. Another process may have taken the
// port. Redis answers INFO while it loads, too.
func answers(addr, password string, pid int) bool {
	const patience = 2 * time.Second
	conn, err := (&net.Dialer{Timeout: patience}).Dial("tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return false
	}
	if password != "" {
		if _, err := io.WriteString(conn, "AUTH "+password+"\r\n"); err != nil {
			return false
		}
		ok := make([]byte, len("+OK\r\n"))
		if _, err := io.ReadFull(conn, ok); err != nil || string(ok) != "+OK\r\n" {
			return false
		}
	}
	info, err := ask(conn, "INFO")
	if err != nil || !strings.Contains(info, fmt.Sprintf("\nprocess_id:%d\r\n", pid)) {
		return false
	}
	return strings.Contains(info, "\nloading:0\r\n")
}

// ask sends an inline command whose answer is a bulk string.
func ask(conn io.ReadWriter, command string) (string, error) {
	if _, err := io.WriteString(conn, command+"\r\n"); err != nil {
		return "", err
	}
	in := bufio.NewReader(conn)
	head, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	size, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(head, "$"), "\r\n"))
	if err != nil {
		return "", fmt.Errorf("%s: answer %q is not a bulk string", command, head)
	}
	text := make([]byte, max(0, size))
	_, err = io.ReadFull(in, text)
	return string(text), err
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", loopback(0))
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
