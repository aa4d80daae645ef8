package runner

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/runner/lasthour"
)

// feed keeps a project's indexes of waiting tickets and of backfill tickets, and the position that they have reached.
// state.Store.Follow calls Reset and Apply from one goroutine.
type feed struct {
	project   string
	index     *pool.Index
	backfills *pool.Backfills // those that functions may see
	recorder  *lasthour.Recorder
	log       *slog.Logger
	wake      notify.Signal // the feed has entries that are not in the indexes

	mu       sync.Mutex
	complete bool          // the snapshot was read
	position uint64        // 0 while they are read
	readings int           // how often they were read anew, at least
	wanted   uint64        // the greatest position that a run asked for
	moved    chan struct{} // closed when the position changes; nil when no run waits
	stale    bool          // the indexes are to be read anew: changes are ignored until Reset
	again    func()        // makes follow begin anew; nil before it began
}

// newFeed makes empty indexes with columns for so many names of attributes each.
func newFeed(project string, names int, log *slog.Logger) *feed {
	return &feed{project: project, index: pool.NewSized(names), backfills: pool.NewBackfillsSized(names), log: log,
		wake: notify.New()}
}

// follow calls a function that follows the feed, until ctx ends. needOwners makes it begin anew.
func (f *feed) follow(ctx context.Context, reads func(context.Context)) {
	for ctx.Err() == nil {
		reading, cancel := context.WithCancel(ctx)
		f.mu.Lock()
		f.again = cancel
		f.mu.Unlock()
		reads(reading)
		cancel()
	}
}

// needOwners makes the index keep the ids of the tickets' owners, for functions that read the ids of players. If it
// does not have them yet, it is read anew, and runs wait for it.
func (f *feed) needOwners() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.index.KeepOwners() || f.again == nil {
		return
	}
	f.stale, f.complete, f.position = true, false, 0
	f.again()
}

// size is about how many bytes the indexes take.
func (f *feed) size() int64 { return f.index.Size() + f.backfills.Size() }

// Reset empties the indexes. Runs wait until they are complete again.
func (f *feed) Reset() {
	f.mu.Lock()
	f.stale = false
	f.mu.Unlock()
	f.setPosition(false, 0)
	f.index.Reset()
	f.backfills.Reset()
}

// Apply brings changes into the indexes, and lets the runs go on that waited for them.
func (f *feed) Apply(changes []state.Change, position uint64) {
	for _, c := range changes {
		if c.Backfill != "" {
			f.applyBackfill(&c)
		} else if c.Body == "" {
			f.index.Drop(c.Ticket)
		} else if err := f.index.Put(c.Ticket, []byte(c.Body)); err != nil {
			f.log.Error("a ticket cannot be read and is left out",
				"project", f.project, "ticket", c.Ticket, "error", err)
		}
	}
	if len(changes) == 0 || position > 0 { // at the end of the snapshot, or after it
		f.setPosition(true, position)
	}
}

// recorded is a feed whose tickets are recorded, when the runs that wait for them go on.
type recorded struct {
	*feed
	now func() time.Time
}

// Reset empties the indexes: what came and went until the next snapshot is not known.
func (r recorded) Reset() {
	r.feed.Reset()
	r.recorder.Restart(r.now())
}

// Apply brings changes into the indexes, and records tickets that come and go.
func (r recorded) Apply(changes []state.Change, position uint64) {
	r.feed.Apply(changes, position)
	now := r.now()
	for _, c := range changes {
		switch {
		case c.Ticket == "":
		case c.Body == "":
			r.recorder.Gone(c.Ticket, c.Claimed, now)
		default:
			r.recorder.Came(c.Ticket, []byte(c.Body))
		}
	}
}

func (f *feed) applyBackfill(c *state.Change) {
	backfill, err := c.DecodeBackfill()
	if err == nil && backfill != nil {
		err = f.backfills.Put(backfill)
	}
	if err != nil {
		f.log.Error("a backfill ticket cannot be read and is left out",
			"project", f.project, "backfill", c.Backfill, "error", err)
	}
	if err != nil || backfill == nil {
		f.backfills.Drop(c.Backfill)
	}
}

func (f *feed) setPosition(complete bool, position uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.complete, f.position = complete && !f.stale, position; !f.complete {
		f.position, f.readings = 0, f.readings+1
	}
	if complete && position < f.wanted { // a run asked while the snapshot was read
		f.wake.Notify()
	}
	if f.moved != nil {
		close(f.moved)
		f.moved = nil
	}
}

// startLook is called before a run looks at the index. seen tells afterwards up to where the run saw the feed: 0 if the
// index was read meanwhile.
func (f *feed) startLook() (seen func() uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	position, readings := f.position, f.readings
	return func() uint64 {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.readings != readings {
			return 0
		}
		return position
	}
}

// lag returns how many changes that a run asked for are not in the index yet.
func (f *feed) lag() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(f.wanted, f.position) - f.position
}

// wait returns when the index is complete and has reached a position.
func (f *feed) wait(ctx context.Context, position uint64) error {
	for asked := false; ; asked = true {
		f.mu.Lock()
		if f.complete && f.position >= position {
			f.mu.Unlock()
			return nil
		}
		if f.complete && !asked {
			f.wake.Notify()
		}
		f.wanted = max(f.wanted, position)
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
			return fmt.Errorf("the runner's index of waiting tickets is at position %d, not yet at %d: %w",
				at, position, context.Cause(ctx))
		}
	}
}
