package director_test

import (
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// The leader of a project deletes old versions of its configs, some time after they changed.
func TestLeaderForgetsOldChangesOfConfigs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(project, "c", nil)
	w.put(project, "c", nil)
	kept := func() int {
		changes, err := w.store.ConfigHistory(w.Context(), project, "c")
		if err != nil {
			w.Fatal(err)
		}
		return len(changes)
	}
	if kept() != 2 {
		w.Fatal("the change before is not kept")
	}
	settings := times()
	settings.ConfigHistory = time.Millisecond
	w.director("one", settings)
	w.until("the leader has forgotten the change before", func() bool {
		w.poke(project, &pb.Poke{Configs: true}) // a quiet project is looked at seldom
		return kept() == 1
	})
}

// The leader of a project notes the feed's position, and trims the feed to it a minute later.
func TestLeaderTrimsTheFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(3)
	isDue := func() bool {
		due, err := w.store.DueWork(w.Context(), project, state.Ages{})
		if err != nil {
			w.Fatal(err)
		}
		return due.Feed
	}
	if !isDue() {
		w.Fatal("a feed that was not trimmed is not due")
	}
	w.director("one", times())
	w.until("the leader has looked at the feed", func() bool { return !isDue() })
}
