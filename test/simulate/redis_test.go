package simulate

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// redis is a server.
type redis interface {
	open() (session, error)
	close()
}

// session is a connection to a server, with what the server keeps for it, like a transaction that has begun.
type session interface {
	// exec carries out a command and returns the reply, which is valid until the next call.
	exec(command []string) ([]byte, error)
	close()
}

// memory is a Redis in this process. Nothing of it works beside its caller.
type memory struct {
	redis   *miniredis.Miniredis
	scripts *scripts
	// takeovers counts the servers that there were, which tells them apart.
	takeovers int
}

// local is a session of it.
type local struct {
	*memory
	peer *server.Peer
	out  bytes.Buffer
}

func newMemory() (*memory, error) {
	m := &memory{redis: miniredis.NewMiniRedis()}
	conn, err := m.redis.Dial() // starts it, without a listener
	if err != nil {
		return nil, err
	}
	if m.scripts, err = newScripts(m.redis); err != nil {
		return nil, err
	}
	m.takeOver()
	return m, conn.Close()
}

// takeOver makes it another server.
func (m *memory) takeOver() {
	m.takeovers++
	m.scripts.replica = fmt.Sprintf("%040x", m.takeovers)
}

func (m *memory) open() (session, error) {
	l := &local{memory: m}
	l.peer = server.NewPeer(bufio.NewWriter(&l.out))
	return l, nil
}

func (m *memory) close() {
	m.scripts.close()
	m.redis.Close()
}

func (l *local) exec(command []string) ([]byte, error) {
	l.out.Reset()
	switch {
	case l.scripts.run(command, &l.out):
	case len(command) == 2 && strings.EqualFold(command[0], "INFO") && command[1] == "replication":
		text := "master_replid:" + l.scripts.replica + "\r\n"
		fmt.Fprintf(&l.out, "$%d\r\n%s\r\n", len(text), text)
	default:
		l.redis.Server().Dispatch(l.peer, command)
		l.peer.Flush()
	}
	return l.out.Bytes(), nil
}

func (l *local) close() {}

// real is the address of a real Redis.
type real string

// newReal empties a Redis.
func newReal(addr string) (real, error) {
	s, err := real(addr).open()
	if err != nil {
		return "", err
	}
	defer s.close()
	_, err = s.exec([]string{"FLUSHALL"})
	return real(addr), err
}

func (r real) open() (session, error) {
	conn, err := net.Dial("tcp", string(r))
	return &remote{conn: conn, in: bufio.NewReader(conn)}, err
}

func (r real) close() {}

// remote is a session of a real Redis. Its answers come at once by the time of the bubble, since a bubble's time stands
// still while a client waits for a network.
type remote struct {
	conn net.Conn
	in   *bufio.Reader
}

func (r *remote) exec(command []string) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := r.conn.Write(out.Bytes()); err != nil {
		return nil, err
	}
	return r.reply(nil)
}

// reply appends the next reply to a text.
func (r *remote) reply(to []byte) ([]byte, error) {
	line, err := r.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	to = append(to, line...)
	if line[0] != '*' && line[0] != '$' {
		return to, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	if err != nil || n < 0 {
		return to, err
	}
	if line[0] == '$' {
		text := make([]byte, n+2)
		_, err = io.ReadFull(r.in, text)
		return append(to, text...), err
	}
	for range n {
		if to, err = r.reply(to); err != nil {
			return nil, err
		}
	}
	return to, nil
}

func (r *remote) close() { _ = r.conn.Close() }
