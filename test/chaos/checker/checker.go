// Package checker checks a history against the promises: how often each was exercised, and how it was broken.
//
// It is pure: the same history gives the same result. It trusts what clients and the hosting system saw, and checks the
// system's event log against that and against itself.
package checker

import (
	"fmt"

	"matchmaker.dev/services/test/chaos/history"
)

// Result is the result of a check.
type Result struct {
	// Promises are ARCHITECTURE.md's promises in their order, and then what else must be true of every run.
	Promises []*Promise
	Sums     Sums
	Waits    Waits
	// Open counts tickets that are still claimed or proposed, and servers that no ticket uses. It is 0 when the system is
	// at rest.
	Open int
}

// Sums are the totals of a run.
type Sums struct {
	Faults, Tickets, Matches int
	// Lost tickets were gone without a DELETE. Doubled ones were in two matches. Stranded ones were neither matched nor
	// deleted. Leaked servers are used by no ticket and were not given back.
	Lost, Doubled, Stranded, Leaked int
}

func (s Sums) String() string {
	return fmt.Sprintf("faults: %s, tickets: %s, matches: %s, lost %d, doubled %d, stranded %d, servers leaked %d",
		grouped(s.Faults), grouped(s.Tickets), grouped(s.Matches), s.Lost, s.Doubled, s.Stranded, s.Leaked)
}

// grouped is a number with commas between its thousands.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Promise is one promise and what became of it.
type Promise struct {
	// Number is the promise's number in ARCHITECTURE.md; 0 for what else must be true.
	Number int
	Text   string
	// Counts say how often the promise was exercised, and in which ways.
	Counts []Count
	// Broken describes each time that it was broken.
	Broken []string
}

// Count is how often a promise was exercised in one way.
type Count struct {
	What  string
	Count int
	// Most: it is a highest count. Counts of several runs are not added.
	Most bool
}

// Add adds the count of another run.
func (c *Count) Add(other Count) {
	if c.Most = other.Most; c.Most {
		c.Count = max(c.Count, other.Count)
	} else {
		c.Count += other.Count
	}
}

// Kept reports whether no promise was broken.
func (r *Result) Kept() bool {
	for _, p := range r.Promises {
		if len(p.Broken) > 0 {
			return false
		}
	}
	return true
}

func (p *Promise) count(what string, count int) {
	p.Counts = append(p.Counts, Count{What: what, Count: count})
}

func (p *Promise) most(what string, count int) {
	p.Counts = append(p.Counts, Count{What: "at the most: " + what, Count: count, Most: true})
}

func (p *Promise) fail(format string, args ...any) {
	p.Broken = append(p.Broken, fmt.Sprintf(format, args...))
}

// check is one promise and the function that checks it.
type check struct {
	number int
	text   string
	check  func(*model, *Promise, *Sums)
}

// checks lists what is checked. Each promise has a file that begins with its number.
func checks() []check {
	return []check{
		{1, "A ticket that was answered 201 is there until it is deleted, or expires.", exists},
		{2, "A ticket is in one live match at most, and never gets two connections.", once},
		{3, "A match's tickets get the same connection, all of them or none.", together},
		{4, "A DELETE answered 200 is the truth.", deleteIsFinal},
		{5, "A claimed ticket is assigned, or waits again at its old age, whichever process dies.", claimsEnd},
		{6, "After a config's DELETE no match of it is claimed; after PUT the new one is used.", configsAreCurrent},
		{7, "A server that was allocated serves its match or is given back, and is the only one of its match.",
			serversAreUsed},
		{8, "A proposal for a backfill ticket counts only against the version that its function saw.", backfills},
		{9, "A function that misbehaves hurts only the configs that use it.", enemies},
		{10, "No server is asked for before each player accepted a match that asks them; who accepted waits again when " +
			"others did not.", matchesAreAccepted},
		{11, "A player is in one party; a search is one ticket with its members, who were ready, and ends before one of " +
			"them leaves; the oldest member follows a leader.", partiesHold},
		{12, "The result of a match counts once, however often it is sent.", resultsCountOnce},
		{0, "The event log is complete, in order, and says what the players saw.", eventLog},
		{0, "No answer is an internal error.", answers},
	}
}

// Check checks a history.
func Check(h *history.History) *Result {
	m := build(h)
	broken := m.replay()
	r := &Result{Sums: Sums{Faults: len(h.Faults), Tickets: len(m.tickets), Matches: len(m.matches)}, Waits: m.waits()}
	for _, c := range checks() {
		p := &Promise{Number: c.number, Text: c.text, Broken: broken[c.number]}
		delete(broken, c.number) // what the replay found in the event log itself counts once
		c.check(m, p, &r.Sums)
		r.Promises = append(r.Promises, p)
	}
	r.Open = m.open + r.Sums.Leaked
	return r
}
