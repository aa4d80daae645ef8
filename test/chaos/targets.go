package main

import (
	"slices"
	"strings"
	"time"

	"matchmaker.dev/services/test/chaos/schedule"
)

// restTime is how long servers of Redis with replicas have no fault after one: as long as one that was replaced may
// need to become a replica.
const restTime = 5 * time.Second

// slotsTarget are the places of projects in a cluster.
const slotsTarget = "slots"

// faults are the faults that a server can have.
func (st *stores) faults() []schedule.Kind {
	all := []schedule.Kind{
		schedule.Kill, schedule.Kill, schedule.Freeze, schedule.Freeze, schedule.Starve, schedule.FillMemory,
	}
	if st.disk != nil {
		all = append(all, schedule.FillDisk)
	}
	return all
}

// targets lists the targets of the nemesis.
func (s *system) targets() []schedule.Target {
	process := []schedule.Kind{
		schedule.Kill, schedule.Kill, schedule.Freeze, schedule.Freeze, schedule.Restart, schedule.Starve,
	}
	crash := []schedule.Kind{schedule.Kill, schedule.Freeze}
	cut := []schedule.Kind{schedule.Refuse, schedule.Silence, schedule.Deafen, schedule.Slow}
	var targets []schedule.Target
	add := func(name string, kinds []schedule.Kind, weight int, longest time.Duration) {
		t := schedule.Target{Name: name, Kinds: kinds, Weight: weight, Longest: longest}
		switch kind, _, _ := strings.Cut(name, "-"); {
		case slices.Contains(natsNodes, name), kind == sentinel:
			t.Group = kind // three of them work without one, not without two
		case slices.Contains(storeNames(s.stores.kind), name) && s.stores.kind != single:
			t.Group, t.Rest = "redis", restTime // a replica cannot take over when it has a fault itself
		}
		targets = append(targets, t)
	}
	for _, name := range s.names() {
		switch service, _, _ := strings.Cut(name, "-"); service {
		case "redis":
			add(name, s.stores.faults(), max(1, 6/len(s.stores.servers)), 5*time.Second)
		case sentinel:
			add(name, crash, 1, 4*time.Second)
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
	for _, p := range s.stores.pairs {
		add(p.name, []schedule.Kind{schedule.FailOver, schedule.Lose}, max(1, 4/len(s.stores.pairs)), 2*time.Second)
	}
	if s.stores.kind == cluster {
		add(slotsTarget, []schedule.Kind{schedule.Move}, 1, 2*time.Second)
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
