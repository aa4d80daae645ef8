package runner

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/state"
)

// feed is a project's indexes, of waiting tickets and of backfill tickets, and how far they have come. It is the sink of
// state.Store.Follow, whose one goroutine calls Reset and Apply.
type feed struct {
	project string
	index   *pool.Index
	// backfills are those that functions may be shown.
	backfills *pool.Backfills
	log       *slog.Logger

	mu       sync.Mutex
	complete bool // the snapshot is
	position uint64
	wanted   uint64        // the greatest position that a run asked for
	moved    chan struct{} // closed at the next move; nil when nobody waits
}

func newFeed(project string, log *slog.Logger) *feed {
	return &feed{project: project, index: pool.New(), backfills: pool.NewBackfills(), log: log}
}

// Reset empties the index. Runs wait until it is complete again.
func (f *feed) Reset() {
	f.move(false, 0)
	f.index.Reset()
	f.backfills.Reset()
}

// Apply brings changes into the index, then wakes those who waited for them.
func (f *feed) Apply(changes []state.Change, position uint64) {
	for _, c := range changes {
		if c.Backfill != "" {
			f.show(&c)
		} else if c.Body == "" {
			f.index.Drop(c.Ticket)
		} else if err := f.index.Put(c.Ticket, []byte(c.Body)); err != nil {
			f.log.Error("a ticket cannot be read and is left out", "project", f.project, "ticket", c.Ticket, "error", err)
		}
	}
	if len(changes) == 0 || position > 0 { // the end of a snapshot, or past it
		f.move(true, position)
	}
}

// show brings a change of a backfill ticket into its index.
func (f *feed) show(c *state.Change) {
	shown, err := c.DecodeBackfill()
	if err == nil && shown != nil {
		err = f.backfills.Put(shown)
	}
	if err != nil {
		f.log.Error("a backfill ticket cannot be read and is left out", "project", f.project, "backfill", c.Backfill, "error", err)
	}
	if err != nil || shown == nil {
		f.backfills.Drop(c.Backfill)
	}
}

func (f *feed) move(complete bool, position uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.complete, f.position = complete, position
	if f.moved != nil {
		close(f.moved)
		f.moved = nil
	}
}

// behind is how many changes that a run asked for are not in the index yet, and how many tickets are.
func (f *feed) behind() (changes uint64, tickets int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wanted > f.position {
		changes = f.wanted - f.position
	}
	return changes, f.index.Len()
}

// await returns when the index is complete and has reached a position.
func (f *feed) await(ctx context.Context, position uint64) error {
	for {
		f.mu.Lock()
		f.wanted = max(f.wanted, position)
		if f.complete && f.position >= position {
			f.mu.Unlock()
			return nil
		}
		if f.moved == nil {
			f.moved = make(chan struct{})
		}
		moved, complete, at := f.moved, f.complete, f.position
		f.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			if !complete {
				return fmt.Errorf("the runner's index of waiting tickets is still being read: %w", context.Cause(ctx))
			}
			return fmt.Errorf("the runner's index of waiting tickets is at position %d, not yet at %d: %w", at, position, context.Cause(ctx))
		}
	}
}
