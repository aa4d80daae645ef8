package e2e

import (
	"flag"
	"testing"
)

var previous = flag.String("previous", "", "matchmaker of the version before")

// TestUpgrade replaces the processes of the version before by this one's, and these again by the ones before,
// while players come. On the way both versions work side by side. Redis and NATS have the rights of this version.
func TestUpgrade(t *testing.T) {
	if *previous == "" {
		t.Skip("this is part of make upgrade, which builds the version before")
	}
	made := build(t)
	made.matchmaker, made.newest = *previous, made.matchmaker
	s := newServices(t, made, startBalancer)
	s.project(t).lives(t)
	for _, step := range []struct{ name, to string }{{"forward", made.newest}, {"back", *previous}} {
		t.Run(step.name, func(t *testing.T) {
			beside := s.project(t)
			beside.name += "-beside"
			s.project(t).whileReplaced(t, func(first, second []string) {
				made.matchmaker = step.to
				for _, name := range first {
					s.stop(t, name)
					s.start(t, name)
				}
				beside.lives(t)
				s.stop(t, second...)
				s.start(t, second...)
			})
			after := s.project(t)
			after.name += "-after"
			after.lives(t)
		})
	}
	checkPermissions(t, s)
}

// lives: players are matched, and their game is filled up.
func (p *project) lives(t *testing.T) {
	t.Helper()
	p.actor(t)
	p.crowd(t, 40, nil).paired(t)
	filled := &project{s: p.s, name: p.name + "-filled"}
	refillGame(t, filled)
}
