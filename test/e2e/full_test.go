package e2e

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
)

// operate sends Redis a command whose answer is +OK.
func (s *system) operate(t *testing.T, command string) {
	t.Helper()
	if answer := s.command(t, command); answer != "+OK" {
		t.Fatalf("%s: Redis answers %q", command, answer)
	}
}

// readiness is what a replica's /readyz answers, "" when it cannot be asked.
func (s *system) readiness(name string) string {
	answer, err := s.http.Get("http://" + s.address(name) + "/readyz")
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return string(text)
}

// redisFull: when Redis is full, creates are answered 503. Tickets that wait are matched and get servers, others leave,
// and creates are accepted again when there is memory.
func redisFull(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 1) // matches none of these tickets
	ada, bob := p.ticket(t, "ada", attributes{"skill": 1200}), p.ticket(t, "bob", attributes{"skill": 1200})
	eve := p.ticket(t, "eve", attributes{"skill": 3000})
	ada.now(t)

	defer p.s.operate(t, "CONFIG SET maxmemory 4gb")
	p.s.operate(t, "CONFIG SET maxmemory 1mb")
	eventually(t, "every process knows that Redis is full", func() bool {
		for _, name := range []string{"ticket-1", "ticket-2", "config-1", "config-2", "registry-1", "registry-2"} {
			if !strings.Contains(p.s.readiness(name), "short of memory") {
				return false
			}
		}
		return true
	})
	_, creating := p.create(within(t), "joe", attributes{"skill": 1200})
	_, writing := p.developer(t).PutConfig(within(t), "new", client.Config{Matchmaking: client.Matchmaking{
		TargetFunction: client.FunctionTarget{Name: "duel", Version: "1"}}}, "")
	for what, err := range map[string]error{"a ticket": creating, "a config": writing} {
		e, is := errors.AsType[*client.Error](err)
		if !is || e.Status != http.StatusServiceUnavailable || e.RetryAfter <= 0 || !strings.Contains(e.Detail, "memory") {
			t.Errorf("%s is created when Redis is full: %v", what, err)
		}
	}
	eve.delete(t)
	p.ranked(t, "ranked", 0)
	if one, other := ada.connection(t), bob.connection(t); one != other {
		t.Errorf("a full Redis: players are sent to %s and %s", one, other)
	}

	p.s.operate(t, "CONFIG SET maxmemory 4gb")
	eventually(t, "creates are accepted again", func() bool {
		_, err := p.create(within(t), "joe", attributes{"skill": 1200})
		return err == nil
	})
	// The scenarios after this one find no process that still refuses.
	eventually(t, "every process knows that Redis has memory", func() bool {
		return !slices.ContainsFunc(p.s.names(), func(name string) bool {
			return strings.Contains(p.s.readiness(name), "short of memory")
		})
	})
}
