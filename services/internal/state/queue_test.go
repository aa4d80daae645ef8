package state_test

import (
	"slices"
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// serving returns a config that serves a queue.
func serving(id, queue string) *pb.Config { return &pb.Config{Id: id, Function: "duel", Queue: queue} }

func TestQueuesAreThoseOfTheConfigs(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		put := func(id, queue string) {
			t.Helper()
			config := serving(id, queue)
			config.ChangedBy = "olga"
			must(t, third(s.PutConfig(t.Context(), project, config, state.AnyRevision)))
		}
		remove := func(id string) {
			t.Helper()
			must(t, second(s.DeleteConfig(t.Context(), project, id, state.AnyRevision, "hugo")))
		}
		// Before the change of a config, and after.
		for _, step := range []struct {
			change func()
			served []string
		}{
			{func() {}, nil},
			{func() { put("a", "ranked") }, []string{"ranked"}},
			{func() { put("a", "ranked") }, []string{"ranked"}},
			{func() { put("b", "ranked") }, []string{"ranked"}},
			{func() { put("none", "") }, []string{"ranked"}},
			{func() { put("c", "ünïcode") }, []string{"ranked", "ünïcode"}},
			{func() { put("a", "") }, []string{"ranked", "ünïcode"}},
			{func() { put("b", "casual") }, []string{"casual", "ünïcode"}},
			{func() { remove("c") }, []string{"casual"}},
			{func() { remove("c"); remove("none"); remove("a") }, []string{"casual"}},
			{func() { remove("b") }, nil},
		} {
			step.change()
			got, err := s.ServedQueues(t.Context(), project)
			if err != nil || !slices.Equal(got, step.served) {
				t.Fatalf("served are %q, %v, want %q", got, err, step.served)
			}
			asked := []string{"casual", "nobody", "ranked", "ünïcode"}
			want := slices.DeleteFunc(slices.Clone(asked), func(q string) bool { return slices.Contains(step.served, q) })
			if got, err := s.UnservedQueues(t.Context(), project, asked); err != nil || !slices.Equal(got, want) {
				t.Fatalf("unserved are %q, %v, want %q", got, err, want)
			}
		}
		var told []string
		entries, err := s.History(t.Context(), project, nil, 100)
		must(t, err)
		for _, entry := range entries {
			for _, e := range entry.Events {
				words := []string{e.GetKind().String(), e.GetReason(), e.GetConfig(), e.GetQueue(), e.GetBy()}
				told = append(told, strings.Join(words, " "))
				if len(e.GetTickets()) > 0 || e.GetTime() == 0 {
					t.Errorf("%v has tickets, or no time", e)
				}
			}
		}
		want := []string{"KIND_UNSERVED changed b ranked olga", "KIND_UNSERVED deleted c ünïcode hugo",
			"KIND_UNSERVED deleted b casual hugo"}
		if !slices.Equal(told, want) {
			t.Errorf("told is %q, want %q", told, want)
		}
		if keys, err := s.AllKeys(t.Context(), "*queues"); err != nil || len(keys) > 0 {
			t.Errorf("%v is left, %v", keys, err)
		}
	})
}

// A config of a version that knew no queues serves none, and one that was refused changes nothing.
func TestQueueOfARefusedConfigIsNotServed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Configs: state.ConfigLimits{Configs: 1}}})
		must(t, third(s.PutConfig(t.Context(), project, serving("a", "ranked"), state.AnyRevision)))
		for _, c := range []*pb.Config{serving("b", "casual"), serving("A", "casual")} {
			if _, _, err := s.PutConfig(t.Context(), project, c, state.AnyRevision); err == nil {
				t.Fatalf("%v is taken", c)
			}
		}
		if _, _, err := s.PutConfig(t.Context(), project, serving("a", "casual"), 77); err == nil {
			t.Fatal("a config of another revision is changed")
		}
		if _, err := s.DeleteConfig(t.Context(), project, "a", 77, ""); err == nil {
			t.Fatal("a config of another revision is deleted")
		}
		if got, err := s.ServedQueues(t.Context(), project); err != nil || !slices.Equal(got, []string{"ranked"}) {
			t.Errorf("served are %q, %v", got, err)
		}
	})
}

func TestQueueOfABackfillTicketStaysUntilItsServerChangesIt(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		m := follow(t, s)
		shown := func(want string) {
			t.Helper()
			for range 2 { // from the feed, and from a snapshot
				m.until(t, func() (any, bool) {
					return m.shown["g"].GetQueue(), m.shown["g"] != nil && m.shown["g"].GetQueue() == want
				}, want)
				m = follow(t, s)
			}
			if got := approve(t, s, "g", 1).Backfill.GetQueue(); got != want {
				t.Fatalf("the approval answers the queue %q, want %q", got, want)
			}
		}
		one := game("g", 1)
		one.Queue = new("ranked")
		createGame(t, s, one)
		shown("ranked")
		replace := func(queue *string, want string) {
			t.Helper()
			b := game("g", 2)
			b.Queue = queue
			must(t, second(s.At(at(1)).ReplaceBackfill(t.Context(), project, b)))
			if b.GetQueue() != want {
				t.Fatalf("the answer has the queue %q, want %q", b.GetQueue(), want)
			}
			shown(want)
		}
		replace(nil, "ranked")
		replace(new(strings.Repeat("q", 64)), strings.Repeat("q", 64))
		replace(new(""), "")
		replace(nil, "")
		replace(new("casual"), "casual")
	})
}
