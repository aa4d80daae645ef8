package pool

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Backfills is an index of backfill tickets: the same pools select them as select tickets. It is safe for concurrent
// use, as Index is.
type Backfills struct {
	mu    sync.RWMutex
	index *Index
	by    map[string]*pb.Backfill
}

// NewBackfills returns an empty index.
func NewBackfills() *Backfills { return NewBackfillsSized(DefaultNames) }

// NewBackfillsSized returns an empty index with columns for so many names of attributes.
func NewBackfillsSized(names int) *Backfills {
	return &Backfills{index: NewSized(names), by: map[string]*pb.Backfill{}}
}

// Use is Index.Use.
func (b *Backfills) Use(now time.Time, names []string) (cells int64) { return b.index.Use(now, names) }

// Reset removes all backfill tickets.
func (b *Backfills) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.index.Reset()
	b.by = map[string]*pb.Backfill{}
}

// Put adds a backfill ticket, or replaces it. It must not be changed afterwards.
func (b *Backfills) Put(one *pb.Backfill) error {
	var queues []string
	if queue := one.GetQueue(); queue != "" {
		queues = []string{queue}
	}
	raw, err := proto.Marshal(&pb.Ticket{
		Created: one.GetCreated(), AttributeNames: one.GetAttributeNames(), AttributeValues: one.GetAttributeValues(),
		Properties: one.GetProperties(), Queues: queues,
	})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.index.Put(one.GetId(), raw); err != nil {
		return err
	}
	b.by[one.GetId()] = one
	return nil
}

// Drop removes a backfill ticket, and tells whether it was there.
func (b *Backfills) Drop(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.by, id)
	return b.index.Drop(id)
}

// Len is the number of backfill tickets.
func (b *Backfills) Len() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.by)
}

// View calls f while the index does not change. of returns the backfill ticket with an id.
func (b *Backfills) View(f func(v View, of func(id string) *pb.Backfill)) { b.ViewFor(nil, f) }

// ViewFor is View for work that is counted, and ends early when it is late.
func (b *Backfills) ViewFor(w *Work, f func(v View, of func(id string) *pb.Backfill)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	b.index.ViewFor(w, func(v View) { f(v, func(id string) *pb.Backfill { return b.by[id] }) })
}

// Size is about how many bytes the backfill tickets take. Each is kept twice: as a record, and in the index.
func (b *Backfills) Size() int64 { return 2 * b.index.Size() }
