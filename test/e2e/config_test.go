package e2e

import (
	"fmt"
	"strconv"
	"testing"
)

// deleteConfig: a deleted config makes no match until it is put again. Another config goes on.
func deleteConfig(t *testing.T, p *project) {
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
	ada.mustWait(t)
	bob.mustWait(t)

	p.ranked(t, "short-lived", 1)
	together(t, ada, bob)
}

// changeConfigDuringRun: a config is replaced or deleted while its function runs. Tickets that were not matched when
// the request was answered are matched by the config that was put then or later.
func changeConfigDuringRun(t *testing.T, p *project) {
	p.upload(t, "actor", p.s.made.actor)
	put := func(number, work int) {
		p.put(t, "raced", rules{function: "actor", settings: map[string]any{"part": "pair", "work": work,
			"connection": strconv.Itoa(number)}})
	}
	put(0, 0)
	p.match(t, attributes{"number": 0}) // from here on a run begins at once
	// A round in which the change comes too early or too late proves nothing.
	const enough = 5
	for round, inTime := 0, 0; inTime < enough && !t.Failed(); round++ {
		before, after := strconv.Itoa(2*round), strconv.Itoa(2*round+1)
		put(2*round, 10_000_000)
		ada := p.ticket(t, fmt.Sprint("ada-", round), attributes{"number": 1})
		bob := p.ticket(t, fmt.Sprint("bob-", round), attributes{"number": 2})
		ada.now(t) // by then the function may run
		if round%2 == 0 {
			if err := p.developer(t).DeleteConfig(within(t), "raced"); err != nil {
				t.Fatal(err)
			}
		} else {
			put(2*round+1, 0)
		}
		matched := ada.now(t) != nil || bob.now(t) != nil
		if round%2 == 0 {
			put(2*round+1, 0)
		}
		switch by := together(t, ada, bob); {
		case by == after:
			inTime++
		case by != before || !matched:
			t.Errorf("round %d: tickets that waited when the change was answered got %s, from the config before", round, by)
		}
	}
}
