package director

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/estimate"
	"matchmaker.dev/services/internal/state"
)

const (
	// sampleRate is the most new tickets a second whose pools an estimator reads, and sampleBytes the most bytes that it
	// reads for a batch of events.
	sampleRate  = 64
	sampleBytes = 256 << 10
	// advanceEvery is the least time between two steps: the tickets of one are read together. So many entries of the
	// history are learned from at once.
	advanceEvery = time.Second
	learnEntries = 4096
	// eventBatches is how many batches of events may wait for an estimator.
	eventBatches = 16
)

// estimator learns from a project's events how long its tickets wait, and stores it for the Tickets API. It never
// blocks the publisher: it skips events for which it has no room.
type estimator struct {
	scope
	book *estimate.Book
	// pools are nil until the configs were read; then ready is closed.
	pools   atomic.Pointer[estimate.Pools]
	ready   chan struct{}
	batches chan eventBatch

	// position is the position behind the last event.
	position uint64
	// byConfig is the class of the tickets that each config matched last, of up to estimate.Classes configs.
	byConfig map[string]estimate.Class
	// samples is how many tickets may be read now.
	samples float64
	now     time.Time
	saved   time.Time
	changed bool
}

// eventBatch is events that were published. until is when nothing more had happened; zero if more had.
type eventBatch struct {
	entries []state.HistoryEntry
	until   time.Time
}

func newEstimator(s scope) *estimator {
	return &estimator{scope: s, batches: make(chan eventBatch, eventBatches), byConfig: map[string]estimate.Class{},
		samples: sampleRate, ready: make(chan struct{})}
}

// use sets the configs. One goroutine calls it.
func (e *estimator) use(configs []*pb.Config) {
	if e.pools.Swap(estimate.NewPools(configs)) == nil {
		close(e.ready)
	}
}

// observe passes on events that were published.
func (e *estimator) observe(entries []state.HistoryEntry, until time.Time) {
	select {
	case e.batches <- eventBatch{entries, until}:
	default: // the next positions tell that some are missing
	}
}

// run learns until ctx ends.
func (e *estimator) run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-e.ready:
	}
	var entries []state.HistoryEntry
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-e.batches:
			if e.book == nil && !e.begin(ctx) {
				continue
			}
			entries = append(entries, b.entries...)
			elapsed := b.until.Sub(e.now)
			if len(entries) < learnEntries && (b.until.IsZero() || elapsed >= 0 && elapsed < advanceEvery) {
				continue
			}
			if !e.observed.Check(ctx, "reading how long tickets wait", e.learn(ctx, entries)) {
				e.book.Lose()
			}
			entries = nil
			if !b.until.IsZero() {
				e.advance(ctx, b.until, elapsed)
			}
		}
	}
}

// begin continues from the state of the leader before, with some of the tickets that wait.
func (e *estimator) begin(ctx context.Context) bool {
	stored, err := e.Store.Waits(ctx, e.project)
	if !e.observed.Check(ctx, "reading how long tickets wait", err) {
		return false
	}
	e.now = e.Store.Now()
	e.book = estimate.NewBook(e.now.UnixMilli(), rand.Uint64()) //nolint:gosec // no secret
	e.book.Load(stored)
	waiting, err := e.Store.SomeWaiting(ctx, e.project, estimate.Tracked/4)
	if !e.observed.Check(ctx, "reading how long tickets wait", err) {
		return true
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(waiting)), sampleRate) {
		bodies, err := e.Store.Bodies(ctx, e.project, some, sampleBytes)
		if !e.observed.Check(ctx, "reading how long tickets wait", err) {
			return true
		}
		for id, body := range bodies {
			if class, ok := e.pools.Load().ClassOf(body); ok {
				e.book.Enter(id, class, waiting[id].UnixMilli(), e.now.UnixMilli())
			}
		}
	}
	return true
}

// follows reports whether an entry of the history is the next one. Otherwise the fate of tickets is not known.
func (e *estimator) follows(entry state.HistoryEntry) bool {
	from := entry.Bookmark.GetPosition()
	for _, one := range entry.Events {
		if one.GetKind() == pb.Event_KIND_GAP {
			return false
		}
		from -= 1 + uint64(len(one.GetTickets()))
	}
	return from == e.position
}

// learn takes events that happened.
func (e *estimator) learn(ctx context.Context, entries []state.HistoryEntry) error {
	var created []string
	matchedBy := map[string]string{} // the config that matched a ticket
	for _, entry := range entries {
		for _, one := range entry.Events {
			switch one.GetKind() {
			case pb.Event_KIND_CREATED:
				created = append(created, one.GetTickets()...)
			case pb.Event_KIND_CLAIMED, pb.Event_KIND_ASSIGNED:
				for _, id := range one.GetTickets() {
					matchedBy[id] = one.GetConfig()
				}
			default:
			}
		}
	}
	classes, err := e.sample(ctx, created, matchedBy)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !e.follows(entry) && e.position != 0 {
			e.book.Lose()
		}
		e.position = entry.Bookmark.GetPosition()
		for _, one := range entry.Events {
			e.take(one, classes)
		}
	}
	return nil
}

// sample chooses some new tickets, and reads their classes.
func (e *estimator) sample(
	ctx context.Context, created []string, matchedBy map[string]string,
) (map[string]estimate.Class, error) {
	if most := min(int(e.samples), e.book.Room()); len(created) > most {
		//nolint:gosec // no secret
		rand.Shuffle(len(created), func(i, j int) { created[i], created[j] = created[j], created[i] })
		created = created[:most]
	}
	e.samples -= float64(len(created))
	bodies, err := e.Store.Bodies(ctx, e.project, created, sampleBytes)
	if err != nil {
		return nil, err
	}
	classes, pools := make(map[string]estimate.Class, len(created)), e.pools.Load()
	for _, id := range created {
		config := matchedBy[id]
		if body := bodies[id]; body == nil {
			// It is gone already. If it was matched, leaving it out would make waits look longer than they are.
			if class, ok := e.byConfig[config]; ok {
				classes[id] = class
			}
		} else if class, ok := pools.ClassOf(body); ok {
			classes[id] = class
			if config != "" {
				if len(e.byConfig) >= estimate.Classes {
					clear(e.byConfig) // configs may have come and gone
				}
				e.byConfig[config] = class
			}
		}
	}
	return classes, nil
}

// take learns from an event. classes are the classes of new tickets.
func (e *estimator) take(one *pb.Event, classes map[string]estimate.Class) {
	at := one.GetTime()
	if len(one.GetTickets()) == 0 {
		return
	}
	e.changed = true
	switch one.GetKind() {
	case pb.Event_KIND_CREATED:
		for _, id := range one.GetTickets() {
			if class, ok := classes[id]; ok {
				e.book.Enter(id, class, at, at)
			}
		}
	case pb.Event_KIND_CLAIMED:
		e.book.Match(one.GetTickets(), at)
	case pb.Event_KIND_RELEASED:
		e.book.Return(one.GetTickets(), at)
	case pb.Event_KIND_ASSIGNED:
		e.book.Match(one.GetTickets(), at)
		e.book.Leave(one.GetTickets(), at)
	case pb.Event_KIND_FAILED, pb.Event_KIND_CANCELLED, pb.Event_KIND_EXPIRED:
		e.book.Leave(one.GetTickets(), at)
	default:
	}
}

// advance notes that all events until a time have come, and stores the state now and then.
func (e *estimator) advance(ctx context.Context, until time.Time, elapsed time.Duration) {
	e.samples = min(sampleRate, e.samples+max(0, elapsed.Seconds())*sampleRate)
	e.now = until
	e.book.Advance(until.UnixMilli())
	since := until.Sub(e.saved)
	if since >= 0 && since < e.Timing.Save || !e.changed && e.book.Tracks() == 0 {
		return
	}
	e.saved, e.changed = until, false
	err := e.Store.PutWaits(ctx, e.project, e.epoch, e.book.Save(e.pools.Load()))
	if !errors.Is(err, state.ErrLeaseLost) {
		e.observed.Check(ctx, "storing how long tickets wait", err)
	}
}
