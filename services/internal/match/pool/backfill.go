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
	// rosters is how many bytes the players in the games take.
	rosters int64
}

// NewBackfills returns an empty index.
func NewBackfills() *Backfills { return NewBackfillsSized(DefaultNames) }

// NewBackfillsSized returns an empty index with columns for so many names of attributes.
func NewBackfillsSized(names int) *Backfills {
	index := NewSized(names)
	index.uncounted = true
	return &Backfills{index: index, by: map[string]*pb.Backfill{}}
}

// Use is Index.Use.
func (b *Backfills) Use(now time.Time, names []string) (cells int64) { return b.index.Use(now, names) }

// Reset removes all backfill tickets.
func (b *Backfills) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.index.Reset()
	b.by, b.rosters = map[string]*pb.Backfill{}, 0
}

// Put adds a backfill ticket, or replaces it. It must not be changed afterwards.
func (b *Backfills) Put(one *pb.Backfill) error {
	var queues []string
	if queue := one.GetQueue(); queue != "" {
		queues = []string{queue}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.index.PutTicket(one.GetId(), &pb.Ticket{
		Created: one.GetCreated(), AttributeNames: one.GetAttributeNames(), AttributeValues: one.GetAttributeValues(),
		Properties: one.GetProperties(), Queues: queues,
	})
	if err != nil {
		return err
	}
	b.rosters += rosterSize(one) - rosterSize(b.by[one.GetId()])
	b.by[one.GetId()] = one
	return nil
}

// Drop removes a backfill ticket, and tells whether it was there.
func (b *Backfills) Drop(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rosters -= rosterSize(b.by[id])
	delete(b.by, id)
	return b.index.Drop(id)
}

// Len is the number of backfill tickets.
func (b *Backfills) Len() int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.by)
}

// ViewFor calls f while the index does not change, for work that is counted, and that ends early when it is late. of
// returns the backfill ticket with an id.
func (b *Backfills) ViewFor(w *Work, f func(v View, of func(id string) *pb.Backfill)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	b.index.ViewFor(w, func(v View) { f(v, func(id string) *pb.Backfill { return b.by[id] }) })
}

// Size is about how many bytes the backfill tickets take. Each is kept twice: as a record, and in the index. Players in
// games are in the record alone.
func (b *Backfills) Size() int64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return 2*b.index.Size() + b.rosters
}

// rosterSize is about how many bytes the players in a game take.
func rosterSize(one *pb.Backfill) int64 {
	const perPlayer = 160 // the record of a player, and its place in a list
	return int64(proto.Size(one.GetRoster()) + perPlayer*len(one.GetRoster().GetPlayers()))
}
