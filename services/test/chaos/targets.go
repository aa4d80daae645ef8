package main

import (
	"slices"
	"strings"
	"time"

	"matchmaker.dev/services/test/chaos/schedule"
)

// targets lists the targets of the nemesis.
func (s *system) targets() []schedule.Target {
	process := []schedule.Kind{schedule.Kill, schedule.Kill, schedule.Freeze, schedule.Freeze, schedule.Restart}
	crash := []schedule.Kind{schedule.Kill, schedule.Freeze}
	cut := []schedule.Kind{schedule.Refuse, schedule.Silence, schedule.Deafen, schedule.Slow}
	var targets []schedule.Target
	add := func(name string, kinds []schedule.Kind, weight int, longest time.Duration) {
		t := schedule.Target{Name: name, Kinds: kinds, Weight: weight, Longest: longest}
		if slices.Contains(natsNodes, name) {
			t.Group = "nats" // the cluster of three works without one, not without two
		}
		targets = append(targets, t)
	}
	for _, name := range s.names() {
		switch service, _, _ := strings.Cut(name, "-"); service {
		case "redis":
			add(name, crash, 4, 4*time.Second)
		case "nats":
			add(name, crash, 3, 8*time.Second)
		case "director":
			add(name, process, 8, 3*leaseTime)
		case "allocator":
			add(name, process, 6, 14*time.Second) // longer than the work queue waits for it
		case "runner":
			add(name, process, 4, 4*time.Second)
		case "ticket":
			add(name, process, 3, 3*time.Second)
		default:
			add(name, process, 1, 3*time.Second)
		}
	}
	for name := range s.proxies {
		from, to, _ := strings.Cut(name, ">")
		switch from, _, _ = strings.Cut(from, "-"); {
		case name == uncut:
		case from == "director" && to == "redis":
			add(name, cut, 6, 3*leaseTime)
		case from == "allocator":
			add(name, cut, 3, 5*time.Second)
		default:
			add(name, cut, 1, 5*time.Second)
		}
	}
	slices.SortFunc(targets, func(a, b schedule.Target) int { return strings.Compare(a.Name, b.Name) })
	return targets
}
