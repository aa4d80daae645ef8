package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"
)

// volley sends requests, one after the other on each connection: each once, or for a time all of them over and over.
type volley struct {
	address     string
	connections int
	over        time.Duration // 0 for once, with the dials
	requests    [][]byte
}

// result is the result of a volley.
type result struct {
	rate    float64 // answers per second
	times   times
	answers int // including the warm-up's
}

// warmup is how long requests are sent over and over before they count. Connections are opened in this time.
const warmup = 500 * time.Millisecond

func (v *volley) run(ctx context.Context) (*result, error) {
	from := time.Now()
	if v.over > 0 {
		from = from.Add(warmup)
	}
	to := from.Add(cmp.Or(v.over, longest))
	parts := make([]result, v.connections)
	errs := make([]error, v.connections)
	var all sync.WaitGroup
	for i := range v.connections {
		all.Go(func() { parts[i], errs[i] = v.connection(ctx, i, from, to) })
	}
	all.Wait()
	r := &result{}
	for _, part := range parts {
		r.times = append(r.times, part.times...)
		r.answers += part.answers
	}
	r.rate = float64(len(r.times)) / cmp.Or(v.over, time.Since(from)).Seconds()
	err := first(errs)
	if err == nil && v.over == 0 && len(r.times) < len(v.requests) {
		err = fmt.Errorf("%d of %d requests were answered in %v", len(r.times), len(v.requests), longest)
	}
	return r, err
}

// longest is how long requests are sent that are sent once.
const longest = time.Minute

// connection sends requests until to. It measures the requests that are answered after from.
func (v *volley) connection(ctx context.Context, first int, from, to time.Time) (r result, err error) {
	w, err := dial(ctx, v.address)
	if err != nil {
		return r, err
	}
	defer w.close()
	w.patience(to.Add(10 * time.Second))
	began := time.Now()
	for i := first; began.Before(to) && (v.over > 0 || i < len(v.requests)); i += v.connections {
		status, body, err := w.do(v.requests[i%len(v.requests)])
		if err != nil {
			return r, err
		}
		if err := checkCreated(status, body); err != nil {
			return r, err
		}
		now := time.Now()
		if now.After(from) && now.Before(to) {
			r.times = append(r.times, now.Sub(began))
		}
		r.answers++
		began = now
	}
	return r, context.Cause(ctx)
}
