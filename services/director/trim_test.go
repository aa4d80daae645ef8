package director_test

import (
	"testing"

	"matchmaker.dev/services/internal/state"
)

// Whoever leads a project notes the feed's position, and trims the feed to it a minute later.
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
		w.Fatal("a feed that nobody trims is not due")
	}
	w.director("one", times())
	w.until("the leader has looked at the feed", func() bool { return !isDue() })
}
