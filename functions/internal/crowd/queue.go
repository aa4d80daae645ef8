package crowd

// queue is tickets by a time, in Unix milliseconds.
type queue struct{ heap []event }

type event struct {
	at     float64
	number uint32
}

// push adds a ticket. It may be there several times.
func (q *queue) push(at float64, number uint32) {
	q.heap = append(q.heap, event{at, number})
	h := q.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].at <= h[i].at {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// pop returns a ticket whose time is not after now, the earliest first, and removes it.
func (q *queue) pop(now float64) (number uint32, ok bool) {
	h := q.heap
	if len(h) == 0 || h[0].at > now {
		return 0, false
	}
	number = h[0].number
	last := len(h) - 1
	h[0] = h[last]
	q.heap = h[:last]
	q.sink(0)
	return number, true
}

// sink moves an event down to its place.
func (q *queue) sink(i int) {
	h := q.heap
	for {
		least := i
		for down := 2*i + 1; down <= 2*i+2 && down < len(h); down++ {
			if h[down].at < h[least].at {
				least = down
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
