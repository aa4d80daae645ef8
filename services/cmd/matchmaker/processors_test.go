package main

import (
	"testing"
	"time"
)

// A process that is almost idle has one processor, and all of them at the first look after it had much to do.
func TestProcessorsFollowTheWork(t *testing.T) {
	var p processors
	looks := func(busy float64, n int) (changes int, next time.Duration) {
		for range n {
			var change bool
			if change, next = p.look(busy); change {
				changes++
			}
		}
		return changes, next
	}
	for _, step := range []struct {
		name    string
		busy    float64
		looks   int
		changes int
		few     bool
	}{
		{"it begins with all", 0.1, calmLooks - 1, 0, false},
		{"it is busy once", 0.6, 1, 0, false},
		{"it is calm again, not for long enough", 0.4, calmLooks - 1, 0, false},
		{"it is calm", 0.4, 1, 1, true},
		{"it is less calm", 0.6, 2 * calmLooks, 0, true},
		{"it is crowded", 0.8, 1, 1, false},
		{"it stays crowded", 3, 2 * calmLooks, 0, false},
		{"it is calm for the second time", 0, calmLooks, 1, true},
	} {
		if changes, _ := looks(step.busy, step.looks); changes != step.changes || p.few != step.few {
			t.Errorf("%s: %d changes, few: %v", step.name, changes, p.few)
		}
	}
	if _, next := p.look(0.01); next != quietLook {
		t.Errorf("an idle process is looked at after %v", next)
	}
	if _, next := p.look(0.6); next != busyLook {
		t.Errorf("a busy process is looked at after %v", next)
	}
}
