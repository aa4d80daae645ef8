package state

import "context"

// snapshotStep is about how many tickets a snapshot lists at once.
const snapshotStep = 1000

// snapshot reads all tickets that wait and all backfill tickets that functions see, and the feed meanwhile. So it ends
// however many changes come, as long as the reader reads the feed faster than others write it.
//
// The sink gets everything in the order in which it was read, and then has the truth, for these reasons:
//
//   - A ticket and the entry of its change are written by one script. What a hash says is the ticket's state at some
//     position of the feed, at or after the reader's position, since the hash was read later than the entries before
//     it.
//   - So a hash never undoes an entry that the sink has: it is as new, or newer.
//   - Entries that are read after a hash may be older than it, and undo it for a while. Then the entry that made the
//     hash what it was comes later, as the last one of this ticket up to the hash's position. From there on, the sink
//     has what the feed says.
//   - A ticket that waits from the beginning of the scan to its end is listed by it. Any other one that waits at its
//     end has an entry after the beginning, and the reader's position was taken before.
func (r *reader) snapshot(ctx context.Context) error {
	if err := r.scan(ctx, r.k.waiting(), &ticketRows); err != nil {
		return err
	}
	return r.scan(ctx, r.k.backfills(), &backfillRows)
}

// scan gives the sink the members of a set.
func (r *reader) scan(ctx context.Context, set string, kind *rowKind) error {
	var cursor uint64
	var ids []string
	var shown []Change
	for {
		pairs, next, err := r.store.feeds.ZScan(ctx, set, cursor, "", r.store.step).Result()
		if err != nil {
			return err
		}
		ids = ids[:0]
		for i := 0; i < len(pairs); i += 2 {
			ids = append(ids, pairs[i])
		}
		take := func(_ int, c Change) {
			if c.Body != "" {
				shown = append(shown, c)
			}
		}
		err = r.store.rows(ctx, r.k, kind, ids, take, func() error {
			r.give(shown)
			shown = shown[:0]
			return r.keepUp(ctx)
		})
		if len(ids) == 0 {
			err = r.keepUp(ctx)
		}
		if cursor = next; err != nil || cursor == 0 {
			return err
		}
	}
}

// readsInARow is how often the feed is read between two steps of a snapshot, at most.
const readsInARow = 64

// keepUp reads the feed up to its end.
func (r *reader) keepUp(ctx context.Context) error {
	for range readsInARow {
		if more, err := r.read(ctx); err != nil || !more {
			return err
		}
	}
	return nil
}
