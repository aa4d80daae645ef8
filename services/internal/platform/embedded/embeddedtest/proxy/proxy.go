// Package proxy makes connections that a test can cut: a TCP proxy on the loopback interface between two processes.
//
// A proxy forwards bytes and does not look at them. What it holds while it is silent or deaf arrives when it is open
// again, as on a network that sends lost packets again.
package proxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// State is what a proxy does with its connections.
type State uint8

// The states.
const (
	// Open forwards everything.
	Open State = iota
	// Refused resets all connections, and new ones at once.
	Refused
	// Silent holds everything, in both directions.
	Silent
	// Deaf forwards requests and holds the answers: the server does what it is asked to do, and the client does not learn
	// it.
	Deaf
	// Slow forwards everything, with a delay.
	Slow
)

// delay is the delay of a slow proxy.
const delay = 100 * time.Millisecond

// Dial connects to the server.
type Dial func(ctx context.Context) (net.Conn, error)

// Proxy forwards connections from an address of its own to a server.
type Proxy struct {
	listener net.Listener
	dial     Dial
	delay    time.Duration
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu    sync.Mutex
	state State
	// changed is closed when the state changes.
	changed chan struct{}
	conns   map[net.Conn]struct{}
}

// Listen opens a proxy. It ends with Close, not with ctx.
func Listen(ctx context.Context, dial Dial) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, dial: dial, delay: delay, changed: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.running.Go(p.accept)
	return p, nil
}

// Address is where the proxy listens, host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Set changes the state.
func (p *Proxy) Set(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = s
	close(p.changed)
	p.changed = make(chan struct{})
	if s == Refused {
		p.drop()
	}
}

// drop resets all connections; mu is held.
func (p *Proxy) drop() {
	for c := range p.conns {
		reset(c)
	}
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.cancel()
	p.mu.Lock()
	p.drop()
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		if !p.add(near) {
			reset(near)
			continue
		}
		p.running.Go(func() { p.forward(near) })
	}
}

// add adds a connection. It returns false when the proxy refuses connections.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == Refused || p.ctx.Err() != nil {
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) remove(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

// forward connects to the server and forwards both directions until one side closes.
func (p *Proxy) forward(near net.Conn) {
	defer p.remove(near)
	if !p.pass(true) {
		return
	}
	far, err := p.dial(p.ctx)
	if err != nil || !p.add(far) {
		reset(near)
		if err == nil {
			reset(far)
		}
		return
	}
	defer p.remove(far)
	var both sync.WaitGroup
	both.Go(func() { p.copy(far, near, true) })
	both.Go(func() { p.copy(near, far, false) })
	both.Wait()
}

// copy forwards one direction: requests, or answers.
func (p *Proxy) copy(to, from net.Conn, requests bool) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if !p.pass(requests) {
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
	// No protocol here uses a connection that is half closed.
	_, _ = to.Close(), from.Close()
}

// pass waits until the proxy forwards in a direction. It returns false when the proxy is closed or refuses connections.
func (p *Proxy) pass(requests bool) bool {
	waited := false
	for {
		p.mu.Lock()
		state, changed := p.state, p.changed
		p.mu.Unlock()
		switch {
		case state == Refused || p.ctx.Err() != nil:
			return false
		case state == Open, state == Deaf && requests, state == Slow && waited:
			return true
		}
		var timer <-chan time.Time
		if state == Slow {
			timer = time.After(p.delay)
		}
		select {
		case <-timer:
			waited = true
		case <-changed:
		case <-p.ctx.Done():
		}
	}
}

// reset closes a connection with a TCP reset.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
