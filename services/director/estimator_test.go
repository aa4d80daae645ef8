package director_test

import (
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// matchedLately is about how many tickets were matched lately, of each class, as the leader stored it.
func (w *world) matchedLately() map[uint64]float64 {
	w.Helper()
	stored, err := w.store.Waits(w.Context(), project)
	if err != nil {
		w.Fatal(err)
	}
	all := map[uint64]float64{}
	for _, class := range stored.GetClasses() {
		for _, n := range class.GetSeen()[len(class.GetSeen())-1].GetMatched() {
			all[class.GetClass()] += float64(n)
		}
	}
	return all
}

// What a leader learned of waits is what the next one goes on from, which also learns of tickets that waited before it
// led.
func TestLeadersLearnHowLongTicketsWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open := make(chan bool)
	w.runner("r", map[string]function{"f": func(_ *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
		select {
		case <-open:
		default:
			if len(tickets) > 2 {
				return nil
			}
		}
		if len(tickets) > 1 {
			part(of("game:1", tickets...))
		}
		return nil
	}})
	w.put(project, "c", &pb.Config{Function: "f"})
	stop := w.director("a", times())
	w.results(w.create(2)...)
	count := func(least float64) func() bool {
		return func() bool {
			all := w.matchedLately()
			if len(all) > 1 {
				t.Fatalf("tickets that the same pools have are of %d classes", len(all))
			}
			for _, n := range all {
				return n > least
			}
			return false
		}
	}
	w.until("the leader has stored what it learned", count(1.9))
	waiting := w.create(3) // which are not matched yet
	stop()
	until := func() int64 {
		stored, err := w.store.Waits(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		return stored.GetAt()
	}
	before := until()
	w.director("b", times())
	w.until("the next leader follows the tickets that wait", func() bool { return until() > before })
	w.create(1)
	close(open)
	w.results(waiting...)
	w.until("the next leader has stored more", count(4.8))
}
