package main

import (
	"testing"

	"matchmaker.dev/services/test/chaos/history"
)

// A watch sees one moment after the other what two servers say.
func TestWatchTellsWhatMayBeLost(t *testing.T) {
	type says struct {
		is    role
		there bool
	}
	primary := func(offset int64, written string) says {
		return says{role{primary: true, offset: offset, written: written, run: "a"}, true}
	}
	replica := func(offset int64) says { return says{role{linked: true, offset: offset, run: "b"}, true} }
	started := func(s says) says { s.is.run = "c"; return s }
	silent := says{}
	tests := []struct {
		name string
		sees [][2]says
		want []history.Span
	}{
		{"nothing happens", [][2]says{
			{primary(10, "1"), replica(10)}, {primary(20, "2"), replica(20)}, {primary(30, "3"), replica(20)},
		}, nil},
		{"the primary is away for a while", [][2]says{
			{primary(10, "1"), replica(10)}, {silent, replica(10)}, {started(primary(10, "1")), replica(10)},
		}, nil},
		// At 20 it had 20 bytes, which the replica is seen to have at 30. From then on it lags. It is gone at 60.
		{"the replica lags and takes over", [][2]says{
			{primary(10, "1"), replica(10)}, {primary(20, "2"), replica(10)}, {primary(30, "3"), replica(20)},
			{primary(40, "4"), replica(20)}, {primary(50, "5"), replica(20)}, {silent, replica(20)},
			{silent, primary(20, "1")}, {started(primary(40, "0")), primary(60, "9")},
			{started(replica(60)), primary(60, "9")},
		}, []history.Span{{From: 20, To: 61}}},
		// It stood still, and accepts writes while the other one is the primary already.
		{"a former primary writes on", [][2]says{
			{primary(10, "1"), replica(10)}, {primary(20, "2"), replica(20)}, {silent, replica(20)},
			{silent, primary(30, "1")}, {primary(50, "7"), primary(30, "2")}, {replica(30), primary(30, "2")},
			{replica(30), primary(30, "2")},
		}, []history.Span{{From: 10, To: 51}}},
		{"there and back", [][2]says{
			{primary(10, "1"), replica(10)}, {primary(20, "2"), primary(20, "1")}, {primary(20, "2"), replica(20)},
		}, []history.Span{{From: 10, To: 31}}},
	}
	for _, test := range tests {
		w := watch{primary: -1}
		var got []history.Span
		for n, now := range test.sees {
			at := history.Moment(10 * (n + 1))
			for i, s := range now {
				w.servers[i].look(s.is, s.there, at+1)
			}
			if span, ok := w.step(at, at+1); ok {
				got = append(got, span)
			}
		}
		if len(got) != len(test.want) || len(got) > 0 && got[0] != test.want[0] {
			t.Errorf("%s: lost %v, want %v", test.name, got, test.want)
		}
	}
}
