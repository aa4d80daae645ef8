package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// segmentRuns is how many runs an instance does at a time, and segmentTurns how often that is done. A run is over a
// part of --scan.
const (
	segmentPart  = 20
	segmentRuns  = 20
	segmentTurns = 5
)

// parallel measures runs of two instances at the same time, as over a config's segments, beside one instance's: the
// best of some turns, since other load on the machine only makes one worse.
func (s *testbed) parallel(ctx context.Context, r *round) error {
	r.report("instances side by side")
	n := r.Scan / segmentPart
	ix, err := queueOf(n, r.seed())
	if err != nil {
		return err
	}
	var workers [2]*worker
	for i := range workers {
		if workers[i], err = s.worker(ctx, ix); err != nil {
			return err
		}
		defer workers[i].instance.Close()
		if _, err := workers[i].work(ctx, workers[i].instance); err != nil {
			return err
		}
	}
	var rates [len(workers)]float64
	for range segmentTurns {
		for i := range workers {
			rate, err := side(ctx, workers[:i+1])
			if err != nil {
				return err
			}
			rates[i] = max(rates[i], rate)
		}
	}
	r.add(fmt.Sprintf("runs over %s tickets by two instances", count(n)), perSec, rates[1]).
		than("one instance", rates[0])
	return nil
}

// side is how many runs a second these workers do at the same time.
func side(ctx context.Context, workers []*worker) (rate float64, err error) {
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	began := time.Now()
	for i, w := range workers {
		all.Go(func() {
			for range segmentRuns {
				if _, errs[i] = w.work(ctx, w.instance); errs[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return float64(len(workers)*segmentRuns) / time.Since(began).Seconds(), first(errs)
}

// scan measures the selection of a tenth of many tickets, in turns with reading as many bytes.
func (r *round) scan(ctx context.Context) error {
	r.report("a pool of %d tickets", r.Scan)
	ix, err := queueOf(r.Scan, r.seed())
	if err != nil {
		return err
	}
	least, most := 20.0, 28.0 // of pings from 20 to 100
	pools := map[string]*pb.Pool{"near": {Filters: []*pb.Filter{{Attribute: "ping", Min: &least, Max: &most}}}}
	column := make([]uint64, r.Scan)
	for i := range column {
		column[i] = uint64(i) // pages without writes are all the same page
	}
	var scanned, read times
	var found int64
	var sum uint64
	for range 200 {
		began := time.Now()
		ix.View(func(v pool.View) { found = v.Count(pools)["near"] })
		scanned = append(scanned, time.Since(began))
		began = time.Now()
		sum += total(column)
		read = append(read, time.Since(began))
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	if sum == 0 || found == 0 {
		return fmt.Errorf("%d tickets were found", found)
	}
	r.add(fmt.Sprintf("selecting a tenth of %s tickets", count(r.Scan)), micros, in(micros, scanned.quantile(0.5))).
		than("reading the column", in(micros, read.quantile(0.5)))
	return nil
}

// total adds up a column in four sums, since one sum would be limited by the latency of an addition.
func total(column []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(column) >= 4; column = column[4:] {
		a, b, c, d = a+column[0], b+column[1], c+column[2], d+column[3]
	}
	return a + b + c + d
}
