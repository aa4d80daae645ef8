package runner

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// TestSightingsCountRuns: any runner knows of a run that was there, and how many came after it, on all runners and for
// all directors.
func TestSightingsCountRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newRunCounts()
		var all []int64 // when each run was asked for
		now, epoch, number, here := int64(1_000_000), uint64(1), int64(0), false
		for range rapid.IntRange(1, 600).Draw(t, "runs") {
			now += rapid.SampledFrom([]int64{1, 10, 700, 2000, 60_000}).Draw(t, "pause")
			if here && rapid.IntRange(0, 50).Draw(t, "another director") == 0 {
				epoch, number = epoch+1, 0
			}
			number++
			all = append(all, now)
			here = len(all) == 1 || rapid.IntRange(0, 3).Draw(t, "runner") < 3
			if !here {
				continue // another runner has it
			}
			s.note(&pb.RunRequest{Config: "c", Epoch: epoch, Number: number, Now: now})
			// Answers may come late and twice.
			s.note(&pb.RunRequest{Config: "c", Epoch: epoch, Number: max(1, number-1), Now: now})
		}
		created := rapid.Int64Range(999_000, now+1).Draw(t, "created")
		seen := s.since(&pb.RunRequest{Config: "c", SeenSince: created})
		if len(s.configs["c"].marks) > maxRunMarks {
			t.Fatalf("%d marks", len(s.configs["c"].marks))
		}
		if seen == nil {
			if created <= all[0] {
				t.Fatal("the first run was not noted")
			}
			return
		}
		first, found := slices.BinarySearch(all, seen.GetSince())
		want := s.configs["c"].count - int64(first) // those behind the last one here are not known
		if !found || seen.GetSince() < created || seen.GetRuns() != want {
			t.Fatalf("created at %d: %v, want %d runs", created, seen, want)
		}
	})
}

// TestSightingsMissLittle: of a ticket's runs few are left out, however long it waited and its config ran before.
func TestSightingsMissLittle(t *testing.T) {
	s := newRunCounts()
	const runs, pause, start = 20_000, 50, 1_000_000
	for i := range int64(runs) {
		s.note(&pb.RunRequest{Config: "c", Epoch: 1, Number: i + 1, Now: start + i*pause})
	}
	for _, had := range []int64{1, 2, 5, 20, 100, 1000, 10_000, runs} {
		first := start + (runs-had)*pause
		seen := s.since(&pb.RunRequest{Config: "c", SeenSince: first - 1})
		if seen.GetRuns() > had || float64(seen.GetRuns()) < 0.75*float64(had) ||
			seen.GetSince() < first || float64(seen.GetSince()-first) > 0.25*float64(had*pause) {
			t.Errorf("of %d runs from %d on it tells %v", had, first, seen)
		}
	}
}

// TestSightingsEnd: what is kept has a bound, and goes with its config.
func TestSightingsEnd(t *testing.T) {
	s := newRunCounts()
	for i := range maxRunCounts + 10 {
		s.note(&pb.RunRequest{Config: string(rune('a' + i)), Now: 1000})
	}
	if len(s.configs) != maxRunCounts {
		t.Errorf("%d configs", len(s.configs))
	}
	s.forget("a")
	if s.since(&pb.RunRequest{Config: "a", SeenSince: 1}) != nil || s.since(&pb.RunRequest{Config: "b"}) != nil {
		t.Error("a config that was deleted, or was not asked for")
	}
	if seen := s.since(&pb.RunRequest{Config: "b", SeenSince: 1}); seen.GetRuns() != 1 || seen.GetSince() != 1000 {
		t.Errorf("%v", seen)
	}
}
