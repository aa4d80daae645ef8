package invocation

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
)

// Session is what the function of one instance keeps of the tickets of its configs, and the same as the invoker sees
// it. It ends with the instance. A nil Session keeps nothing.
type Session struct {
	// least is for how many tickets it is worthwhile, and most how many there are of all configs together.
	least, most int

	mu     sync.Mutex // for Has; all else is for the goroutine that has the instance
	bases  map[string]*base
	number uint32        // of the latest base
	ended  []uint32      // what the function was not told yet
	debt   time.Duration // what checks took that no run was charged
}

// base is what is kept of one config, or of a segment of it.
type base struct {
	key    string
	number uint32
	begun  bool
	kept   pool.IncrementalSelection
	used   time.Time
	// runs is how many there were since the last check, checked when that was and took how long it took.
	runs    int
	checked time.Time
	took    time.Duration
}

const (
	// keepLeast is for how many tickets a function keeps them. A run of fewer takes as long with all of them.
	keepLeast = 1024
	// keepBytes is how much memory a function is expected to need for a ticket when it gets all of them beside what it
	// kept before. duel was seen to need 215. A function that needs more fails once, and keeps half as many from then on.
	keepBytes = 256
	// keepTime is for how long a base is kept that is not used.
	keepTime = time.Minute
	// keepBases is how many bases an instance has.
	keepBases = 64
)

// NewSession is for the function of an instance with so much memory, in bytes. It keeps no more than most tickets,
// unless that is 0, and none if there are less than least, or 1,024 if that is 0.
func NewSession(memory, most, least int) *Session {
	k := &Session{least: cmp.Or(least, keepLeast), most: memory / keepBytes, bases: map[string]*base{}}
	if most > 0 {
		k.most = min(k.most, most)
	}
	return k
}

// Key tells apart what is kept: whose tickets a function gets, and with which settings.
func Key(r *pb.RunRequest) string {
	same := proto.CloneOf(r) // what a later version adds counts too
	same.Run, same.Position, same.Now, same.Seed, same.Budget, same.Census = "", 0, 0, 0, 0, nil
	same.Number, same.Epoch = 0, 0
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(same)
	if err != nil {
		return "" // a name that is not UTF-8: such a request never came over the bus
	}
	return string(raw)
}

// Has reports whether the instance has a base for runs with a key.
func (k *Session) Has(key string) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.bases[key]
	return b != nil && b.begun
}

// Empty reports whether the instance has no base.
func (k *Session) Empty() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.bases) == 0
}

// find returns the base of a run, which may have to begin.
func (k *Session) find(r *Run) *base {
	if r.Key == "" {
		r.Key = Key(r.Request)
	}
	key := r.Key
	now := r.now()
	for _, b := range k.bases {
		if now.Sub(b.used) >= keepTime {
			k.drop(b)
		}
	}
	b := k.bases[key]
	if b == nil {
		k.number++
		b = &base{key: key, number: k.number}
	}
	b.used = now
	return b
}

// drop gives a base up. The function is told with its next request.
func (k *Session) drop(b *base) {
	if k == nil || b == nil || k.bases[b.key] != b {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.bases, b.key)
	k.ended = append(k.ended, b.number)
	b.begun, b.kept = false, pool.IncrementalSelection{}
}

// admit makes room for a base that begins with so many tickets: those go that were used least recently. It returns
// false if there is no room.
func (k *Session) admit(b *base, tickets int) bool {
	if tickets < k.least || tickets > k.most {
		return false
	}
	for {
		sum, others := tickets, 0
		var oldest *base
		for _, other := range k.bases {
			if other == b {
				continue
			}
			sum, others = sum+other.kept.All().N(), others+1
			if oldest == nil || other.before(oldest) {
				oldest = other
			}
		}
		if oldest == nil || sum <= k.most && others < keepBases {
			return true
		}
		k.drop(oldest)
	}
}

// before reports whether a base was used less recently than another one, or else is older.
func (b *base) before(other *base) bool {
	return cmp.Or(b.used.Compare(other.used), cmp.Compare(b.number, other.number)) < 0
}

// begin adds a base, of which the function will have the tickets.
func (k *Session) begin(b *base) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bases[b.key] = b
	b.begun, b.runs = true, 0
}

// Tickets is how many tickets the function keeps, about. It is for the goroutine that has the instance.
func (k *Session) Tickets() (n int) {
	for _, b := range k.bases {
		n += b.kept.All().N()
	}
	return n
}

// choose selects the tickets of the request: what changed, if the function has the others. Where few tickets wait
// nothing is kept, and the run's key is not computed: that takes time in proportion to the settings and filters.
func (e *encoder) choose(v pool.View) {
	s, b, k := &e.selection, e.base, e.run.Session
	e.retains, e.continues = false, false
	if e.run.Request.GetCheck() {
		v.SelectNone(e.run.Request.GetPools(), s)
		return
	}
	if e.again {
		e.retains = v.Again(s, &b.kept)
		return
	}
	if b != nil && b.begun && !b.kept.Worn() && v.Advance(e.run.Request.GetPools(), s, &b.kept) {
		if n := b.kept.Next(s); n >= max(1, e.run.Session.least/2) && n <= e.run.Session.most {
			e.retains, e.continues = true, true
			return
		}
	}
	v.Select(e.run.Request.GetPools(), s)
	if e.mayKeep && b == nil && s.N() >= k.least {
		b = k.find(e.run)
		e.base = b
	}
	e.retains = b != nil && k.admit(b, s.N())
}

// addBase adds what writeBase writes.
func (e *encoder) addBase(size *block.RequestSize) {
	if e.run.Session == nil {
		return
	}
	e.ended = e.run.Session.ended
	switch {
	case e.continues:
		size.Base(len(e.base.kept.Gone()), len(e.ended))
	case e.retains:
		size.Base(0, len(e.ended))
	default:
		e.ended = nil
	}
}

// writeBase writes what the function is to keep, and what it keeps that is gone.
func (e *encoder) writeBase(v pool.View) {
	switch {
	case e.continues:
		first := e.base.kept.All().N()
		e.request.Base(block.Base{Number: e.base.number, Continues: true, First: first}, e.base.kept.Gone())
	case e.retains:
		e.request.Base(block.Base{Number: e.base.number}, nil)
		if !e.again {
			v.Keep(&e.selection, &e.base.kept)
		}
	default:
		return
	}
	e.request.Ended(e.ended)
}

// commit is called when the request is complete, which the function gets next.
func (e *encoder) commit() {
	switch {
	case e.continues:
		e.base.kept.Commit(&e.selection, e.created)
		e.base.runs++
	case e.retains:
		e.run.Session.begin(e.base)
	default:
		e.run.Session.drop(e.base)
		return
	}
	e.run.Session.ended = e.run.Session.ended[len(e.ended):]
}

// propose notes which tickets an answer proposes: the function keeps them no more.
func (b *base) propose(a *block.Answer) error {
	for _, number := range a.AllTickets() {
		if !b.kept.Propose(number) {
			return fmt.Errorf("the answer has ticket %d, which is gone", number)
		}
	}
	return nil
}

// What an Invoker keeps from run to run at most: bytes in all, about, and messages of proposals with extras.
const (
	maxKept     = 32 << 20
	maxMessages = 4096
)

// keep notes how much memory a run took, about, whose request has so many bytes.
func (inv *Invoker) keep(r *Run, request int) {
	pools := len(r.Request.GetPools())
	perTicket := 64 + 4*pools        // its place in the columns, and its number in each pool
	perSlot := 2 * (4 + (pools+9)/8) // of the index, which has at most one hole for each ticket
	inv.kept = max(inv.kept, request+perTicket*inv.selection.N()+perSlot*r.Index.Len())
}

// Release gives memory back that a rare large run took. The last part must have been sent: it may be in that memory.
func (inv *Invoker) Release() {
	if inv.kept > maxKept {
		*inv = Invoker{}
		return
	}
	p := &inv.parts
	if len(p.extended) > maxMessages {
		p.extended = nil
	}
	for _, m := range p.extended {
		// These are views of the answer, or as large as the function likes.
		m.AssignmentProperties, m.MatchProperties, m.TicketProperties, m.Filling, m.Measures = nil, nil, nil, nil, nil
	}
	inv.backfills.list = nil
}
