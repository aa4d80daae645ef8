package state_test

import (
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// TestCountsOfUnpublishedEvents: what is in the history and not published yet is counted, tickets included. A bookmark
// of another history counts nothing.
func TestCountsOfUnpublishedEvents(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 100})
		wants := func(want int64) {
			t.Helper()
			if now, err := s.Counts(t.Context(), project); err != nil || now.Unpublished != want {
				t.Errorf("%d are not published, want %d; %v", now.Unpublished, want, err)
			}
		}
		wants(0)
		create(t, s, "a", "b", "c")
		if _, err := s.DeleteTicket(t.Context(), project, "a", ""); err != nil {
			t.Fatal(err)
		}
		entries, err := s.History(t.Context(), project, nil, 100)
		if err != nil || len(entries) == 0 {
			t.Fatal(entries, err)
		}
		last := entries[len(entries)-1].Bookmark
		wants(int64(last.GetPosition()))
		must(t, s.SetBookmark(t.Context(), project, entries[0].Bookmark))
		wants(int64(last.GetPosition() - entries[0].Bookmark.GetPosition()))
		must(t, s.SetBookmark(t.Context(), project, last))
		wants(0)
		must(t, s.SetBookmark(t.Context(), project, &pb.Bookmark{Position: last.GetPosition() + 100}))
		wants(0)
	})
}

// TestConnectionsAreCounted: a store that was used has connections for commands.
func TestConnectionsAreCounted(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		must(t, s.Ping(t.Context()))
		commands, feeds := s.Connections()
		if commands.Open < 1 || commands.Busy > commands.Open || feeds.Busy > feeds.Open {
			t.Errorf("for commands %+v, for feeds %+v", commands, feeds)
		}
	})
}
