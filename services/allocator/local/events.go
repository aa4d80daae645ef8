package local

import (
	"slices"

	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/provider"
)

// handle handles an event of a process.
func (f *Fleet) handle(h *host, e gameserver.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := h.servers[e.ID]
	switch {
	case !ok:
	case e.Connection != "":
		s.settle(e.Connection, nil)
	case e.Error != "":
		f.remove(s, provider.Fail(provider.Contention, "the game server did not start: %s", e.Error))
	case e.Ended != "":
		f.remove(s, provider.Fail(provider.Contention, "the game server ended before it was ready: %s", e.Ended))
	}
}

// removeHost removes a process that ended, and its servers. The next match gets a new process.
func (f *Fleet) removeHost(h *host, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hosts = slices.DeleteFunc(f.hosts, func(other *host) bool { return other == h })
	if !f.closed {
		f.options.Log.Warn("a process of game servers ended", "servers", len(h.servers), "error", cause)
	}
	for _, s := range h.servers {
		f.remove(s, provider.Fail(provider.Contention, "the game server's process ended").Because(cause))
	}
}

// remove removes a server that ended. Calls that still wait for it return err.
func (f *Fleet) remove(s *server, err error) {
	delete(f.servers, s.key)
	delete(s.host.servers, s.id)
	s.settle("", err)
	close(s.ended)
}

// settle ends the wait for the server, once.
func (s *server) settle(connection string, err error) {
	select {
	case <-s.ready:
	default:
		s.connection, s.err = connection, err
		close(s.ready)
	}
}
