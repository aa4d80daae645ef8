package e2e

import "testing"

// deleteIsFinal: a ticket is never matched after its DELETE was answered.
func deleteIsFinal(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	for range 3 {
		gone := p.ticket(t, "gone", attributes{"skill": 1200})
		gone.delete(t)
		ada := p.ticket(t, "ada", attributes{"skill": 1200})
		ada.mustWait(t)
		bob := p.ticket(t, "bob", attributes{"skill": 1200})
		server := together(t, ada, bob)
		ada.hello(t, server)
		gone.mustBeStranger(t, server)
		gone.mustNotExist(t)
	}
}

// deleteDuringMatch: a ticket is deleted while its match is made. It is gone in any case. The other ticket gets a
// server: alone, if the server had been asked for, else with the next ticket.
func deleteDuringMatch(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	p.match(t, attributes{"skill": 1200}) // from here on matches are made at once
	for range 10 {
		gone := p.ticket(t, "gone", attributes{"skill": 1200})
		left := p.ticket(t, "left", attributes{"skill": 1200})
		gone.delete(t)
		next := p.ticket(t, "next", attributes{"skill": 1200})
		server := left.connection(t)
		left.hello(t, server)
		gone.mustNotExist(t)
		switch got := next.now(t); {
		case got == nil:
			next.delete(t)
		case got.Connection != server:
			t.Errorf("next is assigned %+v, left plays at %s: want them together", got, server)
		}
	}
}
