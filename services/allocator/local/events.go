package local

import (
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/provider"
)

// hear takes an event of a process.
func (f *Fleet) hear(h *host, e gameserver.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := h.servers[e.ID]
	switch {
	case !ok:
	case e.Connection != "":
		s.settle(e.Connection, nil)
	case e.Error != "":
		f.forget(s, provider.Fail(provider.Contention, "the game server did not start: %s", e.Error))
	case e.Ended != "":
		f.forget(s, provider.Fail(provider.Contention, "the game server ended before it was ready: %s", e.Ended))
	}
}

// bury takes note of a process that ended, and of its servers. The next match gets a new process.
func (f *Fleet) bury(h *host, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.hosts {
		if f.hosts[i] == h {
			f.hosts = append(f.hosts[:i], f.hosts[i+1:]...)
			break
		}
	}
	if !f.closed {
		f.options.Log.Warn("a process of game servers ended", "servers", len(h.servers), "error", cause)
	}
	for _, s := range h.servers {
		f.forget(s, provider.Fail(provider.Contention, "the game server's process ended").Because(cause))
	}
}

// forget drops a server that is no more. Who still waits for it gets err.
func (f *Fleet) forget(s *server, err error) {
	delete(f.servers, s.key)
	delete(s.host.servers, s.id)
	s.settle("", err)
	close(s.gone)
}

// settle answers those who wait for the server, once.
func (s *server) settle(connection string, err error) {
	select {
	case <-s.ready:
	default:
		s.connection, s.err = connection, err
		close(s.ready)
	}
}
