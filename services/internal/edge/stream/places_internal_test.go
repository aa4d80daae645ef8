package stream

import (
	"fmt"
	"testing"

	"matchmaker.dev/services/internal/observe/telemetry"
)

func TestPlacesAreBounded(t *testing.T) {
	m := telemetry.Meter{}
	h := NewPlaces(100, 4, m.UpDownCounter("open", "", ""), m.Counter("refused", "", ""))
	var leaves []func()
	// hold holds as many requests as there is room for, each of another player.
	hold := func(project string, name func(n int) string) (n int) {
		for ; n <= 100; n++ {
			leave := h.Take(t.Context(), project, name(n))
			if leave == nil {
				break
			}
			leaves = append(leaves, leave)
		}
		return n
	}
	if n := hold("one", func(int) string { return "alice" }); n != 4 {
		t.Errorf("one player holds %d, want 4", n)
	}
	if n := hold("one", func(n int) string { return fmt.Sprint("player-", n) }); n != 46 {
		t.Errorf("one project holds %d more, want 46: half of all places together", n)
	}
	if n := hold("two", func(int) string { return "" }); n != 25 { // a game service has no limit of its own
		t.Errorf("a second project holds %d, want 25: half of what is left", n)
	}
	if n := hold("three", func(n int) string { return fmt.Sprint("player-", n) }); n != 13 {
		t.Errorf("a third project holds %d, want 13", n)
	}
	for _, leave := range leaves {
		leave()
	}
	if taken, _ := h.projects.Used(); taken != 0 || len(h.players) != 0 {
		t.Errorf("%d are held, of %v, after all have left", taken, h.players)
	}
	if h.Take(t.Context(), "one", "alice") == nil {
		t.Error("there is no room after all have left")
	}
}
