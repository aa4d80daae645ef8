// Package proxy is a stretch of network that can be cut: a proxy on loopback between two processes.
//
// It carries bytes and knows nothing of them. What cannot be delivered while it is cut is
// delivered when it is mended, as a network does whose packets are sent again.
package proxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// State is what a link does to what it carries.
type State uint8

// The states.
const (
	// Open carries everything.
	Open State = iota
	// Refused ends the connections there are, and every new one at once.
	Refused
	// Silent carries nothing in either direction, and says nothing.
	Silent
	// Deaf carries what the one who connected says, and keeps the answers back: what was asked for is done, and nobody hears of it.
	Deaf
	// Slow carries every piece late.
	Slow
)

// late is how late the pieces of a slow link are.
const late = 100 * time.Millisecond

// Dial connects to the far end of a link, wherever that is now.
type Dial func(ctx context.Context) (net.Conn, error)

// Link is a proxy from an address of its own to a far end.
type Link struct {
	listener net.Listener
	dial     Dial
	lag      time.Duration
	ctx      context.Context
	cancel   context.CancelFunc
	under    sync.WaitGroup

	mu    sync.Mutex
	state State
	// changed is closed when the state changes.
	changed chan struct{}
	conns   map[net.Conn]struct{}
}

// Listen opens a link, which lives until Close.
func Listen(dial Dial) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{listener: listener, dial: dial, lag: late, changed: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.under.Go(l.accept)
	return l, nil
}

// Address is where the link begins, host:port.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Set changes the state.
func (l *Link) Set(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = s
	close(l.changed)
	l.changed = make(chan struct{})
	if s == Refused {
		l.drop()
	}
}

// drop resets all connections; mu is held.
func (l *Link) drop() {
	for c := range l.conns {
		reset(c)
	}
}

// Close ends the link and everything on it.
func (l *Link) Close() error {
	err := l.listener.Close()
	l.cancel()
	l.mu.Lock()
	l.drop()
	l.mu.Unlock()
	l.under.Wait()
	return err
}

func (l *Link) accept() {
	for {
		near, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		if !l.enrol(near) {
			reset(near)
			continue
		}
		l.under.Go(func() { l.carry(near) })
	}
}

// enrol notes a connection, unless it is to be refused.
func (l *Link) enrol(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == Refused || l.ctx.Err() != nil {
		return false
	}
	l.conns[c] = struct{}{}
	return true
}

func (l *Link) leave(c net.Conn) {
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
	_ = c.Close()
}

// carry connects to the far end and carries until one end closes.
func (l *Link) carry(near net.Conn) {
	defer l.leave(near)
	if !l.pass(true) {
		return
	}
	far, err := l.dial(l.ctx)
	if err != nil || !l.enrol(far) {
		reset(near)
		if err == nil {
			reset(far)
		}
		return
	}
	defer l.leave(far)
	var both sync.WaitGroup
	both.Go(func() { l.pump(far, near, true) })
	both.Go(func() { l.pump(near, far, false) })
	both.Wait()
}

// pump carries one direction. forth is that of the one who connected.
func (l *Link) pump(to, from net.Conn, forth bool) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if !l.pass(forth) {
			break
		}
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	// A closed end closes the other: nothing here speaks over half a connection.
	_, _ = to.Close(), from.Close()
}

// pass waits until the link carries in a direction; false when the link is closed or refuses.
func (l *Link) pass(forth bool) bool {
	waited := false
	for {
		l.mu.Lock()
		state, changed := l.state, l.changed
		l.mu.Unlock()
		switch {
		case state == Refused || l.ctx.Err() != nil:
			return false
		case state == Open, state == Deaf && forth, state == Slow && waited:
			return true
		}
		var timer <-chan time.Time
		if state == Slow {
			timer = time.After(l.lag)
		}
		select {
		case <-timer:
			waited = true
		case <-changed:
		case <-l.ctx.Done():
		}
	}
}

// reset closes a connection without a farewell.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
