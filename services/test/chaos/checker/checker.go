// Package checker says what a history proves: which of the promises were tried in it, how often, and which were broken.
//
// It is pure: the same history, the same verdict. It believes what those outside of the system saw, and holds the
// system's event log against it and against itself.
package checker

import (
	"fmt"

	"matchmaker.dev/services/test/chaos/history"
)

// Result is what a history proves.
type Result struct {
	// Promises are those of the design, in their order, and after them what else must be true of every run.
	Promises []*Promise
	Sums     Sums
	Waits    Waits
	// Open is how many tickets are claimed or proposed still, and servers held that serve nobody: none when a system has come to rest.
	Open int
}

// Sums are what a whole run comes to, in numbers.
type Sums struct {
	Faults, Tickets, Matches int
	// Lost tickets were gone though nobody had ended them. Doubled ones were in two matches. Stranded ones were neither
	// matched nor could be in the end. Leaked servers served nobody and were not given back.
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

// Promise is one of them, and what became of it.
type Promise struct {
	// Number is that of the design; 0 for what is none of them.
	Number int
	Text   string
	Tried  []Tally
	// Broken says how, each time that it was.
	Broken []string
}

// Tally counts one way in which a promise was tried.
type Tally struct {
	What  string
	Count int
}

// Kept tells whether no promise was broken.
func (v *Result) Kept() bool {
	for _, p := range v.Promises {
		if len(p.Broken) > 0 {
			return false
		}
	}
	return true
}

// tried notes that the promise was tried in a way, so many times.
func (p *Promise) tried(what string, count int) { p.Tried = append(p.Tried, Tally{what, count}) }

// broken notes that the promise was.
func (p *Promise) broken(format string, args ...any) {
	p.Broken = append(p.Broken, fmt.Sprintf(format, args...))
}

// Check holds a history against the promises.
func Check(h *history.History) *Result {
	m := build(h)
	log := m.replay()
	v := &Result{Sums: Sums{Faults: len(h.Faults), Tickets: len(m.tickets), Matches: len(m.matches)}, Waits: m.waits()}
	for number, check := range []struct {
		text  string
		check func(*model, *Promise, *Sums)
	}{
		{"A ticket that was answered 201 is there until it is deleted, or expires.", existence},
		{"A ticket is in one live match at most, and never gets two connections.", once},
		{"A match's tickets get the same connection, all of them or none.", together},
		{"A DELETE answered 200 is the truth.", truth},
		{"A claimed ticket is assigned, or waits again at its old age, whichever process dies.", release},
		{"After a config's DELETE no match of it is claimed; after PUT the new one is used.", configs},
		{"A server that was allocated serves its match or is given back, and is the only one of its match.", servers},
		{"A proposal for a backfill ticket counts only against the version that its function saw.", backfills},
		{"A function that misbehaves hurts only the configs that use it.", enemies},
	} {
		p := &Promise{Number: number + 1, Text: check.text}
		p.Broken = log[number+1]
		check.check(m, p, &v.Sums)
		v.Promises = append(v.Promises, p)
	}
	for _, also := range []struct {
		text  string
		check func(*model, *Promise, *Sums)
	}{
		{"The event log is complete, in order, and says what the players saw.", events},
		{"No answer is an internal error.", answers},
	} {
		p := &Promise{Text: also.text}
		also.check(m, p, &v.Sums)
		v.Promises = append(v.Promises, p)
	}
	v.Open = m.open + v.Sums.Leaked
	v.Promises[len(v.Promises)-2].Broken = append(log[0], v.Promises[len(v.Promises)-2].Broken...)
	return v
}
