package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

const grace = 20 * time.Second

// enter creates a ticket where a queue must be served.
func enter(t *testing.T, s *state.Store, id, key string, queues ...string) (string, error) {
	t.Helper()
	made, err := s.Creator(nil).CreateAs(t.Context(), project, state.Creation{
		Ticket:   &pb.Ticket{Id: id, Owner: "ada", Created: 1, Queues: queues},
		Settings: &pb.ProjectSettings{Tickets: &pb.TicketRules{EndsTold: true, RefuseUnserved: true}},
		Readable: time.Minute, Key: key,
	})
	return made.ID, err
}

func serve(t *testing.T, s *state.Store, config, queue string) {
	t.Helper()
	must(t, third(s.PutConfig(t.Context(), project, serving(config, queue), state.AnyRevision)))
}

func removeConfig(t *testing.T, s *state.Store, config string) {
	t.Helper()
	must(t, second(s.DeleteConfig(t.Context(), project, config, state.AnyRevision, "")))
}

// endUnserved looks at all tickets, a few at a time, and returns the tickets whose end is told.
func endUnserved(t *testing.T, s *state.Store) (told []string) {
	t.Helper()
	for from := uint64(0); ; {
		found, err := s.EndUnserved(t.Context(), project, from, 2, grace, time.Minute)
		must(t, err)
		if found.Ended > 0 != (found.Position > 0) {
			t.Fatalf("found %+v", found)
		}
		if told, from = append(told, found.Told...), found.Next; from == 0 {
			slices.Sort(told)
			return told
		}
	}
}

// unserved returns the number of queues whose tickets may wait in vain.
func unserved(t *testing.T, s *state.Store) int64 {
	t.Helper()
	due, err := s.DueWork(t.Context(), project, state.Ages{Unserved: grace})
	must(t, err)
	return due.Unserved
}

func TestTicketInAQueueThatNobodyServesIsRefused(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		refuses := func(says string, queues ...string) {
			t.Helper()
			_, err := enter(t, s, "refused", "", queues...)
			kindOf(t, err, problem.Invalid)
			if text := err.Error(); !strings.Contains(text, "queues: ") || !strings.Contains(text, says) {
				t.Errorf("%q is refused with %q, want %q", queues, text, says)
			}
		}
		refuses(`serves "nobody"; no queue is served`, "nobody")
		serve(t, s, "a", "ranked")
		serve(t, s, "b", "casual")
		refuses(`serves "nobody"; the queues that there are: "casual", "ranked"`, "nobody", "ranked")
		must(t, second(enter(t, s, "both", "", "casual", "ranked")))
		must(t, second(enter(t, s, "plain", "")))
		must(t, second(enter(t, s, "once", "key", "ranked")))
		removeConfig(t, s, "a")
		refuses(`serves "ranked"; the queues that there are: "casual"`, "casual", "ranked")
		// A create that is repeated names its ticket.
		if id, err := enter(t, s, "again", "key", "ranked"); err != nil || id != "once" {
			t.Errorf("the repeated create names %q, %v", id, err)
		}
		create(t, s, "lenient") // of a project that does not want it
		isWaiting(t, s, "both", "lenient", "once", "plain")
		for i := range 20 {
			serve(t, s, fmt.Sprint("c", i), fmt.Sprint("q", i))
		}
		if _, err := enter(t, s, "refused", "", "nobody"); err == nil || !strings.HasSuffix(err.Error(), " and 5 more") {
			t.Errorf("many queues: %v", err)
		}
	})
}

// Refusals cost what tickets cost.
func TestRefusedTicketsCountToTheRateOfThePlayer(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{PlayerRate: 1, PlayerBurst: 2}})
		for i, want := range []problem.Code{problem.Invalid, problem.Invalid, problem.Limited} {
			if _, err := enter(t, s, "ada", "", "nobody"); problem.KindOf(err) != want {
				t.Errorf("create %d: %v", i, err)
			}
		}
	})
}

// Promise 1.
func TestTicketsEndWhenNobodyServesTheirQueues(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, s *state.Store){
		"deleted": func(t *testing.T, s *state.Store) { removeConfig(t, s, "a") },
		"changed": func(t *testing.T, s *state.Store) { serve(t, s, "a", "other") },
	} {
		suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
			s := open(state.Options{History: 1000})
			serve(t, s, "a", "ranked")
			serve(t, s, "b", "casual")
			for id, queues := range map[string][]string{"ranked": {"ranked"}, "casual": {"casual"},
				"both": {"casual", "ranked"}, "plain": nil} {
				must(t, second(enter(t, s, id, "", queues...)))
			}
			must(t, s.Creator(nil).Create(t.Context(), project, &pb.Ticket{Id: "lenient", Owner: "eve", Created: 1,
				Queues: []string{"ranked"}}))
			leave(t, s)
			if told := endUnserved(t, s.At(at(39))); len(told) > 0 || unserved(t, s.At(at(39))) != 0 {
				t.Fatalf("%s: %q end before the time", name, told)
			}
			later := s.At(at(41))
			if n := unserved(t, later); n != 1 {
				t.Fatalf("%s: %d queues are due, want 1", name, n)
			}
			if told := endUnserved(t, later); !slices.Equal(told, []string{"ranked"}) {
				t.Fatalf("%s: the end of %q is told, want ranked", name, told)
			}
			ends(t, s, "ranked", "unserved")
			isWaiting(t, s, "both", "casual", "lenient", "plain")
			removeConfig(t, s, "b")
			if told := endUnserved(t, s.At(at(82))); !slices.Equal(told, []string{"both", "casual"}) {
				t.Fatalf("%s: the end of %q is told, want both and casual", name, told)
			}
			must(t, s.At(at(82)).ForgetUnserved(t.Context(), project, time.Hour))
			if n := unserved(t, s.At(at(82))); n != 2 {
				t.Errorf("%d queues are due, want 2", n)
			}
			must(t, s.At(at(82)).ForgetUnserved(t.Context(), project, grace))
			if n := unserved(t, s.At(at(1000))); n != 0 {
				t.Errorf("%d queues are due", n)
			}
		})
	}
}

// Only what is noted proves that no config serves a queue.
// Promise 1.
func TestLostQueuesEndNobody(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, s *state.Store){
		"configs and queues are lost": func(t *testing.T, s *state.Store) {
			must(t, s.Do(t.Context(), "DEL", "mm:{demo}:queues", "mm:{demo}:configs", "mm:{demo}:revisions"))
		},
		"what was noted is lost": func(t *testing.T, s *state.Store) {
			removeConfig(t, s, "a")
			must(t, s.Do(t.Context(), "DEL", "mm:{demo}:unserved"))
		},
		"the queue is served again": func(t *testing.T, s *state.Store) {
			removeConfig(t, s, "a")
			serve(t, s, "b", "ranked")
			must(t, s.Do(t.Context(), "DEL", "mm:{demo}:queues"))
		},
		"a process of an older version serves it again": func(t *testing.T, s *state.Store) {
			removeConfig(t, s, "a")
			must(t, s.Do(t.Context(), "HSET", "mm:{demo}:queues", "q:ranked", 1))
		},
	} {
		suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
			s := open(state.Options{})
			serve(t, s, "a", "ranked")
			must(t, second(enter(t, s, "ada", "", "ranked")))
			lose(t, s)
			if told := endUnserved(t, s.At(at(1000))); len(told) > 0 {
				t.Errorf("%s: %q end", name, told)
			}
			isWaiting(t, s, "ada")
		})
	}
}

func TestQueuesThatNobodyServesAreBounded(t *testing.T) {
	longSuite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		for i := range 300 {
			serve(t, s, "a", fmt.Sprint("q", i))
		}
		if n := unserved(t, s.At(at(1000))); n != 256 {
			t.Errorf("%d queues are noted, want 256", n)
		}
	})
}
