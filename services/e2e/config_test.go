package e2e

import "testing"

// configDeleted: nobody is matched by a config that was deleted, while another's
// cycles go on, until it is there again.
func configDeleted(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "short-lived", 1)
	p.ranked(t, "steady", 2)
	p.match(t, attributes{"skill": 1, "side": 1})

	if err := p.developer(t).DeleteConfig(within(t), "short-lived"); err != nil {
		t.Fatal(err)
	}
	ada := p.ticket(t, "ada", attributes{"skill": 1, "side": 1})
	bob := p.ticket(t, "bob", attributes{"skill": 1, "side": 1})
	for range 3 {
		p.match(t, attributes{"skill": 1, "side": 2})
	}
	ada.waiting(t)
	bob.waiting(t)

	p.ranked(t, "short-lived", 1)
	together(t, ada, bob)
}
