package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestPage(t *testing.T) {
	r := &record{Started: time.Date(2026, 11, 23, 23, 0, 0, 0, time.FixedZone("", 3600)), Rounds: 3,
		Machine: machine{Processors: 2, Model: "Some Processor", MemoryMiB: 8192, System: "linux/amd64, Linux 6.1",
			Go: "go1.26.0", Redis: "Redis 8.0", NATS: "2.12.0", Load: "0.10"},
		Binaries: []*binary{{Version: "v1", Lines: []*line{
			{Shape: "steady", Name: "500/s: p50", Unit: millis, Values: numbers{8, 9, 7}},
			lineOf([]float64{12, 11, 10}, []float64{10, 10, 10}),
		}}}}
	got, err := r.page(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `2026-11-23, version v1, 2 processors (Some Processor), 8.0 GiB, linux/amd64, Linux 6.1, Go 1.26.0, Redis 8.0, NATS
2.12.0, load 0.10.

| measure | median of 3 | range | beside | times | range | aim |
| --- | --- | --- | --- | --- | --- | --- |
| steady: 500/s: p50 | 8.00 ms | 7.00–9.00 |  |  |  |  |
| load: p50 | 11.0 ms | 10.0–12.0 | an empty pool: 10.0 ms | 1.10 | 1.00–1.20 | ≤ 1.3: met |
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, err = r.page([]string{"load: p50"}); err != nil || strings.Contains(got, "500/s") ||
		!strings.Contains(got, "| load: p50 |") {
		t.Errorf("%s %v", got, err)
	}
	if _, err = r.page([]string{"load: p51"}); err == nil || !strings.Contains(err.Error(), `"load: p51"`) {
		t.Errorf("a name that there is not: %v", err)
	}
	r.Binaries[0].Lines[0].Busy = []string{"others"}
	if got, err = r.page(nil); err != nil || strings.Contains(got, "500/s") || !strings.Contains(got, "| load: p50 |") ||
		!strings.HasSuffix(got, "\nNot here, since the machine was too busy meanwhile: lines of steady.\n") {
		t.Errorf("lines of a busy machine: %s %v", got, err)
	}
	if got, err = r.page([]string{"steady: 500/s: p50"}); err == nil {
		t.Errorf("a line of a busy machine: %s", got)
	}
	r.Binaries[0].Lines[1].Busy = []string{"others"}
	if got, err = r.page(nil); err == nil {
		t.Errorf("a page of a busy machine: %s", got)
	}
}

// A million players that come again after 20 minutes are 833 tickets a second.
func TestPlayersAreTicketsTimesTheirStay(t *testing.T) {
	cost := func(rate string, values ...float64) *line {
		return &line{Shape: "steady", Name: rate + "/s, a server each: processor time a ticket", Unit: micros, Values: values}
	}
	b := &binary{Lines: []*line{cost("500", 3000, 2000, 2500), cost("2,000", 800), cost("5,000", math.Inf(1))}}
	got := b.players(20*time.Minute, 2)
	for _, row := range []string{
		"| 10,000 | 8.33 | 2,500 µs | 0.02 | 2 |",
		"| 1,000,000 | 833 | 2,500 µs | 2.08 | 3 |",
		"| 5,000,000 | 4,167 | 800 µs | 3.33 | 4 |",
	} {
		if !strings.Contains(got, row+"\n") {
			t.Errorf("no %q in %s", row, got)
		}
	}
	if got := b.players(5*time.Minute, 8); !strings.Contains(got, "| 5,000,000 | 16,667 | 800 µs | 13.3 | 4 |\n") ||
		!strings.Contains(got, "after 5 minutes") {
		t.Errorf("four times as often: %s", got)
	}
	b.Lines[0].Busy, b.Lines[1].Busy = []string{"others"}, []string{"others"}
	if got := b.players(time.Minute, 8); got != "" {
		t.Errorf("nothing was measured on a quiet machine: %s", got)
	}
}

func TestPageReplacesWhatIsBetweenTheMarks(t *testing.T) {
	document := "before\n" + beginMark + "old\n" + endMark + "after\n"
	got, err := replace(document, "new\n")
	if want := "before\n" + beginMark + "new\n" + endMark + "after\n"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, document := range []string{"", beginMark, endMark, endMark + beginMark} {
		if _, err := replace(document, "new\n"); err == nil {
			t.Errorf("%q has no place for numbers", document)
		}
	}
}
