package main

import (
	"sync"
)

// workerPool has goroutines that wait for work, each with a connection. New goroutines for each player would spend more
// time on growing their stacks than on requests.
type workerPool struct {
	mu      sync.Mutex
	idle    []chan<- func(*wire) *wire
	all     int
	stopped bool
}

// take gives work to an idle worker, or to a new one. The work gets the connection that the work before returned.
func (i *workerPool) take(work func(*wire) *wire) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := len(i.idle); n > 0 {
		i.idle[n-1] <- work // it has room for one
		i.idle = i.idle[:n-1]
		return
	}
	works := make(chan func(*wire) *wire, 1)
	works <- work
	i.all++
	go i.work(works)
}

func (i *workerPool) work(works chan func(*wire) *wire) {
	var w *wire
	for work := range works {
		w = work(w)
		i.mu.Lock()
		if i.stopped {
			close(works)
		} else {
			i.idle = append(i.idle, works)
		}
		i.mu.Unlock()
	}
	if w != nil {
		w.close()
	}
}

// busy is how many workers work.
func (i *workerPool) busy() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.all - len(i.idle)
}

// stop ends all workers when their work is done.
func (i *workerPool) stop() {
	i.mu.Lock()
	i.stopped = true
	i.mu.Unlock()
	i.shrink()
}

// shrink ends the workers that are idle.
func (i *workerPool) shrink() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, works := range i.idle {
		close(works)
	}
	i.all -= len(i.idle)
	i.idle = nil
}
