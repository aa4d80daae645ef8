// Package waiting is what the ready-made match functions do alike with the tickets that wait: which ones they look
// at, how far they look after what wait, and when they give up.
package waiting

import "matchmaker.dev/pkg/matchfn"

// Window is how far from its own value a ticket looks: Start, and Widen more with every second of waiting, up to Most.
type Window struct{ Start, Widen, Most float64 }

// After is the window after a wait in seconds.
func (w Window) After(wait float64) float64 {
	window := w.Start + w.Widen*wait
	if window > w.Most { // min would be a call in WebAssembly
		return w.Most
	}
	return window
}

// AfterEach is the windows after waits.
func (w Window) AfterEach(waits []float64) []float64 {
	windows := make([]float64, len(waits))
	for i, wait := range waits {
		windows[i] = w.After(wait)
	}
	return windows
}

// In is the tickets and the running games that are in a pool, all of them when pool is "".
func In(r *matchfn.Run, pool string) (tickets, games []uint32) {
	if pool != "" {
		return r.Pool(pool), r.BackfillPool(pool)
	}
	return all(r.Tickets()), all(r.Backfills())
}

// all returns the numbers from 0 to n-1.
func all(n int) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return numbers
}

// Left is the tickets that are not taken.
func Left(tickets []uint32, taken []bool) []uint32 {
	free := make([]uint32, 0, len(tickets))
	for _, t := range tickets {
		if !taken[t] {
			free = append(free, t)
		}
	}
	return free
}

// Order is the tickets that have a value, in the order of the values, and these.
func Order(tickets []uint32, values []float64) (order []uint32, sorted []float64) {
	order = matchfn.SortPool(tickets, values)
	sorted = matchfn.Gather(values, order)
	n := len(order)
	for n > 0 && sorted[n-1] != sorted[n-1] {
		n-- // NaN, which comes last
	}
	return order[:n], sorted[:n]
}

// Expire ends the waiting of tickets that nobody was found for within timeout seconds; 0 is no end. Its
// score is below that of any match, so that a match of another config goes first.
func Expire(r *matchfn.Run, timeout float64, tickets []uint32, taken []bool) {
	if timeout <= 0 {
		return
	}
	wait := r.Wait()
	for _, t := range tickets {
		if !taken[t] && wait[t] >= timeout {
			r.Propose(-1, t).Error("PoolTimeout")
		}
	}
}
