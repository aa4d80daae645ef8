package state

import (
	"context"
	"strconv"
	"time"
)

// feedAge is how long entries stay in the feed at least, unless they are too many or too large: a reader that was away
// for no longer goes on where it was. They stay for twice as long at most. Then a reader starts from a snapshot, which
// takes seconds.
const feedAge = time.Minute

// trimBatch is the most entries that one script removes: 3 ms when each is as large as it may be. trimCalls is how many
// scripts follow each other: the leader does nothing else meanwhile.
const (
	trimBatch = 200
	trimCalls = 20
)

// TrimFeed removes entries of the feed that no reader needs any more. Of the feed of an idle project, the last entry
// stays. more is true when there are more to remove.
func (s *Store) TrimFeed(ctx context.Context, project string) (more bool, err error) {
	for range trimCalls {
		if err := s.eval(ctx, s.call("feed_trim", keysOf(project), ids{},
			"age", feedAge.Milliseconds(),
			"batch", trimBatch), &more); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// feedIsDue reports whether TrimFeed has something to do: position is the feed's, and state what it noted last. It has
// not when the feed is trimmed to its last entry.
func feedIsDue(position string, state []any, now time.Time) bool {
	if position == "" || len(state) != 2 || state[1] == position {
		return false
	}
	noted, _ := state[0].(string)
	since, err := strconv.ParseInt(noted, 10, 64)
	return err != nil || since > millis(now) || since+feedAge.Milliseconds() <= millis(now)
}
