package simulate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// store is the state store. Only the gate's goroutine uses it, but for the links.
type store struct {
	gate  *gate
	redis redis

	mu    sync.Mutex
	links []*link
}

// cut breaks all connections. What is on its way is lost.
func (s *store) cut() {
	s.mu.Lock()
	links := s.links
	s.links = nil
	s.mu.Unlock()
	for _, l := range links {
		l.cut.Store(true)
		l.give(nil, errLost)
	}
}

// exec carries out a command and returns the reply.
func exec(s session, command []string) []byte {
	reply, err := s.exec(command)
	if err != nil {
		return fmt.Appendf(nil, "-ERR %v\r\n", err)
	}
	return reply
}

// link is a connection of a process to the store, at the client's end. A request is on its way when the client begins
// to read its answer.
type link struct {
	store   *store
	process *process
	session session     // of the gate's goroutine
	cut     atomic.Bool // its server is gone

	mu       sync.Mutex
	request  []byte
	asked    bool // a request is on its way
	reply    []byte
	broken   error
	changed  chan struct{} // closed when reply or broken changed
	deadline time.Time
}

func newLink(s *store, p *process) (*link, error) {
	session, err := s.redis.open()
	l := &link{store: s, process: p, session: session, changed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, l)
	return l, err
}

// Write implements net.Conn. A client that writes before it has read what it asked for takes one answer for another.
func (l *link) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return 0, l.broken
	}
	if l.asked || len(l.reply) > 0 {
		panic(fmt.Sprintf("%s: %q is written to a connection with an answer that was not read", l.process.name, b))
	}
	l.request = append(l.request, b...)
	return len(b), nil
}

// Read implements net.Conn.
func (l *link) Read(b []byte) (int, error) {
	for {
		l.mu.Lock()
		switch {
		case len(l.reply) > 0:
			n := copy(b, l.reply)
			l.reply = l.reply[n:]
			l.mu.Unlock()
			return n, nil
		case l.broken != nil:
			l.mu.Unlock()
			return 0, l.broken
		case len(l.request) > 0 && !l.asked:
			if err := l.ask(); err != nil {
				l.broken = err
				l.mu.Unlock()
				return 0, err
			}
		}
		changed, deadline := l.changed, l.deadline
		l.mu.Unlock()
		if !waitFor(changed, l.process.killed.Done(), deadline) {
			if l.process.dead() {
				return 0, errLost
			}
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// waitFor waits until changed is closed; false when the process died or the deadline came before.
func waitFor(changed, dead <-chan struct{}, deadline time.Time) bool {
	var over <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-changed:
		return true
	case <-dead:
	case <-over:
	}
	return false
}

// ask sends the request on its way. The caller holds mu.
func (l *link) ask() error {
	commands, err := parseCommands(l.request)
	if err != nil {
		return err
	}
	l.request, l.asked = nil, true
	if l.process.dead() {
		return errLost
	}
	l.store.gate.add(&step{from: l.process, label: labelOf(commands), faults: calls, do: func(f fault) {
		l.answer(commands, f)
	}})
	return nil
}

// answer carries the commands out. Of a pipeline whose answer is lost only the first commands may happen.
func (l *link) answer(commands [][]string, f fault) {
	if f == lose || l.cut.Load() {
		l.give(nil, errLost)
		return
	}
	n := len(commands)
	if f == mute && n > 1 {
		n = 1 + l.store.gate.pick(n)
	}
	var reply []byte
	for _, c := range commands[:n] {
		reply = append(reply, exec(l.session, c)...)
	}
	if f == mute {
		l.session.close() // a transaction that is not complete is dropped
		l.give(nil, errLost)
		return
	}
	l.give(reply, nil)
}

func (l *link) give(reply []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reply, l.asked = append(l.reply, reply...), false
	if err != nil {
		l.broken = err
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// Close implements net.Conn. A request that is on its way may still be carried out.
func (l *link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		l.broken = net.ErrClosed
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return nil
}

// SetDeadline, SetReadDeadline, SetWriteDeadline, LocalAddr and RemoteAddr implement net.Conn.
func (l *link) SetDeadline(t time.Time) error { return l.SetReadDeadline(t) }

// SetReadDeadline counts from the next Read.
func (l *link) SetReadDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = t
	return nil
}

// SetWriteDeadline does nothing: no Write waits.
func (l *link) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr returns an address of no host.
func (l *link) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr returns an address of no host.
func (l *link) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// labelOf names commands: for a script its first keys, which tell the project.
func labelOf(commands [][]string) string {
	var label strings.Builder
	for i, c := range commands {
		if i == 3 {
			fmt.Fprintf(&label, " … %d", len(commands))
			break
		}
		words := c
		if strings.HasPrefix(strings.ToLower(c[0]), "eval") && len(c) > 3 {
			words = append([]string{c[0], c[1][:min(8, len(c[1]))]}, c[3:]...)
			if keys, err := strconv.Atoi(c[2]); err == nil {
				words = words[:min(len(words), 2+keys)]
			}
		}
		for n, word := range words[:min(len(words), 12)] {
			if i+n > 0 {
				label.WriteByte(' ')
			}
			label.WriteString(word[:min(len(word), 64)])
		}
	}
	return label.String()
}

// parseCommands reads commands as clients send them.
func parseCommands(request []byte) (commands [][]string, err error) {
	in := bufio.NewReader(bytes.NewReader(request))
	for {
		words, err := number(in, '*')
		if errors.Is(err, io.EOF) {
			return commands, nil
		}
		if err != nil {
			return nil, err
		}
		command := make([]string, words)
		for i := range command {
			size, err := number(in, '$')
			if err != nil {
				return nil, err
			}
			word := make([]byte, size+2)
			if _, err := io.ReadFull(in, word); err != nil {
				return nil, err
			}
			command[i] = string(word[:size])
		}
		commands = append(commands, command)
	}
}

func number(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("a request has %q where %q is expected", line, kind)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}
