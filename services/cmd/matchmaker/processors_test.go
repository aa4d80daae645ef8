package main

import (
	"testing"
	"time"
)

// A process that was almost idle for a while has one processor, and all of them at the first look after it had much to
// do.
func TestProcessorsFollowTheWork(t *testing.T) {
	var p processors
	const step = 100 * time.Millisecond
	calm := int(calmTime / step)
	for _, one := range []struct {
		name    string
		busy    float64
		looks   int
		changes int
		few     bool
	}{
		{"it begins with all", 0.1, calm - 1, 0, false},
		{"it is busy once", 0.6, 1, 0, false},
		{"it is calm again, not for long enough", 0.4, calm - 1, 0, false},
		{"it is calm", 0.4, 1, 1, true},
		{"it is less calm", 0.6, 2 * calm, 0, true},
		{"it is crowded", 0.8, 1, 1, false},
		{"it stays crowded", 3, 2 * calm, 0, false},
		{"it is calm for the second time", 0, calm, 1, true},
	} {
		changes := 0
		for range one.looks {
			if p.look(time.Duration(one.busy*float64(step)), step) {
				changes++
			}
		}
		if changes != one.changes || p.few != one.few {
			t.Errorf("%s: %d changes, few: %v", one.name, changes, p.few)
		}
	}
	if !p.look(2*time.Hour, 2*time.Hour) || p.look(0, time.Hour) != true {
		t.Error("one long look does not count for as long as it was")
	}
}
