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
	terminal bool
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu               sync.Mutex
	waiting, matched int
	servers          map[string]bool
}

func newMeter(out io.Writer) *meter {
	m := &meter{out: out, stop: make(chan struct{}), servers: map[string]bool{}}
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

func (m *meter) arrived() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting++
}

func (m *meter) served(connection string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting--
	if connection != "" {
		m.matched++
		m.servers[connection] = true
	}
}

func (m *meter) show() {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := fmt.Sprintf("  waiting %3d   matched %3d   servers %3d", m.waiting, m.matched, len(m.servers))
	if m.terminal {
		fmt.Fprint(m.out, "\r"+line)
		return
	}
	fmt.Fprintln(m.out, line)
}

// done shows the last state and ends the meter.
func (m *meter) done() {
	close(m.stop)
	m.stopped.Wait()
	if m.terminal {
		fmt.Fprintln(m.out)
	}
}
