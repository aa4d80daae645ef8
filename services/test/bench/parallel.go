package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
)

// segmentTickets is how many tickets a run has, segmentRuns how many runs an instance does in a round, and
// segmentRounds how many rounds there are.
const (
	segmentTickets = 50_000
	segmentRuns    = 20
	segmentRounds  = 12
)

// parallel measures runs of several instances at the same time, as over a config's segments. It shows the best of many
// rounds, since other load on the machine only makes a round worse.
func (b *bench) parallel(ctx context.Context, s *testbed) error {
	b.progress("function: instances side by side")
	ix, err := queueOf(segmentTickets, b.Seed)
	if err != nil {
		return err
	}
	numbers := []int{1, 2, 4}
	workers := make([]*worker, slices.Max(numbers))
	for i := range workers {
		if workers[i], err = s.worker(ctx, ix); err != nil {
			return err
		}
		defer workers[i].instance.Close()
		if _, err := workers[i].work(ctx, workers[i].instance); err != nil {
			return err
		}
	}
	rates, costs := make([]float64, len(numbers)), make([]time.Duration, len(numbers))
	for round := range segmentRounds {
		for i, n := range numbers {
			rate, each, err := side(ctx, workers[:n])
			if err != nil {
				return err
			}
			rates[i] = max(rates[i], rate)
			if round == 0 || each < costs[i] {
				costs[i] = each
			}
		}
	}
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"instances side by side", fmt.Sprintf("runs/s of %d tickets", segmentTickets), "times one",
		"processor a run", "times one"})
	for i, n := range numbers {
		t.AppendRow(table.Row{
			n, fmt.Sprintf("%.1f", rates[i]), fmt.Sprintf("%.2f", rates[i]/rates[0]), ms(costs[i]), fmt.Sprintf("%.2f",
				float64(costs[i])/float64(costs[0])),
		})
	}
	t.Render()
	return nil
}

// side is how many runs a second these workers do at the same time, and the processor time of a run. Waiting for each
// other lowers the first, disturbing each other raises the second.
func side(ctx context.Context, workers []*worker) (rate float64, each time.Duration, err error) {
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	used := func() time.Duration {
		sum := processorTime(os.Getpid())
		for _, w := range workers {
			sum += processorTime(w.instance.Pid())
		}
		return sum
	}
	began, before := time.Now(), used()
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
	runs := len(workers) * segmentRuns
	return float64(runs) / time.Since(began).Seconds(), (used() - before) / time.Duration(runs), first(errs)
}

// scanTickets is how many tickets a pool is selected from.
const scanTickets = 1_000_000

// scan measures the selection of a tenth of many tickets, in turns with reading as many bytes.
func (b *bench) scan(ctx context.Context) error {
	b.progress("function: a pool of %d tickets", scanTickets)
	ix, err := queueOf(scanTickets, b.Seed)
	if err != nil {
		return err
	}
	least, most := 20.0, 28.0 // of pings from 20 to 100
	pools := map[string]*pb.Pool{"near": {Filters: []*pb.Filter{{Attribute: "ping", Min: &least, Max: &most}}}}
	column := make([]uint64, scanTickets)
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
	fmt.Fprintf(b.out, "function: selecting %d of %d tickets takes %d µs, reading the column %d µs: ratio %.2f\n",
		found, scanTickets, scanned.quantile(0.5).Microseconds(), read.quantile(0.5).Microseconds(),
		float64(scanned.quantile(0.5))/float64(read.quantile(0.5)))
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
