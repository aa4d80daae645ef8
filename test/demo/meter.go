package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// meter shows the progress: on a terminal in one line that changes, elsewhere in a line a second.
type meter struct {
	out      io.Writer
	line     func() string
	terminal bool
	stop     chan struct{}
	stopped  sync.WaitGroup
}

func newMeter(out io.Writer, line func() string) *meter {
	m := &meter{out: out, line: line, stop: make(chan struct{})}
	every := time.Second
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		m.terminal, every = true, 100*time.Millisecond
	}
	m.stopped.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				m.show()
			case <-m.stop:
				m.show()
				return
			}
		}
	})
	return m
}

func (m *meter) show() {
	if m.terminal {
		fmt.Fprint(m.out, "\r"+m.line())
		return
	}
	fmt.Fprintln(m.out, m.line())
}

// done shows the last state and ends the meter.
func (m *meter) done() {
	close(m.stop)
	m.stopped.Wait()
	if m.terminal {
		fmt.Fprintln(m.out)
	}
}

// step does something that takes a while, and shows how long.
func step(out io.Writer, what string, do func() error) error {
	began := time.Now()
	m := newMeter(out, func() string { return fmt.Sprintf("%s: %.1f s", what, time.Since(began).Seconds()) })
	defer m.done()
	return do()
}

// tally counts the players of the first act.
type tally struct {
	mu               sync.Mutex
	waiting, matched int
	servers          map[string]bool
}

func (c *tally) arrived() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting++
}

func (c *tally) served(connection string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
	if connection != "" {
		c.matched++
		c.servers[connection] = true
	}
}

func (c *tally) line() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("  waiting %3d   matched %3d   servers %3d", c.waiting, c.matched, len(c.servers))
}
