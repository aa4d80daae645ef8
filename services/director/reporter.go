package director

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// reportBooks is the most slots of time that are kept until they can be stored.
const reportBooks = 4

// attachMeasures moves the measures of a match from its proposal to its claim: events have them, and the match does
// not. asked is the report of its config.
func attachMeasures(c *state.Claim, asked *pb.Report) {
	p := c.Match.GetProposal()
	m := p.GetMeasures()
	if m == nil {
		return
	}
	p.Measures = nil
	c.Parties = m.GetParties()
	for _, one := range m.GetOwn() {
		c.Measures = append(c.Measures, &pb.EventMeasure{Name: one.GetName(), Value: one.GetValue()})
	}
	for _, one := range m.GetAttributes() {
		if at := int(one.GetAttribute()); at < len(asked.GetAttributes()) {
			c.Attributes = append(c.Attributes,
				&pb.EventAttribute{Name: asked.GetAttributes()[at], Spread: one.GetSpread(), Gap: one.Gap})
		}
	}
}

// reporter keeps how good the project's matches are. It does not block: what is not stored yet is lost with it.
type reporter struct {
	scope
	signal notify.Signal

	mu    sync.Mutex
	books []*reportBook // the last one is the current one
	match report.Match  // used again and again
}

// reportBook is a book, and the state of its slot in the store.
type reportBook struct {
	*report.Book
	// loaded: it has what was stored before. changed: it has matches that are not stored yet.
	loaded, changed bool
}

func newReporter(s scope) *reporter { return &reporter{scope: s, signal: notify.New()} }

// add adds a match that was claimed at a time.
func (r *reporter) add(now time.Time, c *state.Claim) {
	p := c.Match.GetProposal()
	if p.GetError() != "" {
		return // its tickets are in no match
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book(report.SlotOf(now))
	m := &r.match
	m.Key = report.Key{Config: c.Match.GetConfig(), Revision: c.Match.GetRevision(), Function: c.Function,
		Upload: c.Upload, Queue: c.Queue, Region: p.GetHosting().GetRegion(), Canary: c.Canary}
	m.Players, m.Parties = max(len(c.Tickets), int(p.GetPlayers())), c.Parties
	m.Waits, m.Values = m.Waits[:0], m.Values[:0]
	for _, id := range c.Tickets {
		waited := math.NaN()
		if created, known := state.CreationTime(id); known {
			waited = max(0, now.Sub(created).Seconds())
		}
		m.Waits = append(m.Waits, waited)
	}
	for _, one := range c.Attributes {
		m.Values = append(m.Values, report.Value{Kind: report.Spread, Name: one.GetName(), Value: one.GetSpread()})
		if one.Gap != nil {
			m.Values = append(m.Values, report.Value{Kind: report.Gap, Name: one.GetName(), Value: one.GetGap()})
		}
	}
	for _, one := range c.Measures {
		m.Values = append(m.Values, report.Value{Kind: report.Measure, Name: one.GetName(), Value: one.GetValue()})
	}
	b.Add(m)
	r.change(b)
}

func (r *reporter) change(b *reportBook) {
	if !b.changed {
		b.changed = true
		r.signal.Notify()
	}
}

// observe adds the outcomes of matches, of events that were published.
func (r *reporter) observe(now time.Time, entries []state.HistoryEntry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, entry := range entries {
		for _, e := range entry.Events {
			if e.GetOutcome() != nil {
				b := r.book(report.SlotOf(now))
				b.AddOutcome(e)
				r.change(b)
			}
		}
	}
}

// book returns the book of a slot.
func (r *reporter) book(slot int64) *reportBook {
	for _, b := range r.books {
		if b.Slot == slot {
			return b
		}
	}
	r.books = append(r.books, &reportBook{Book: report.NewBook(slot)})
	if len(r.books) > reportBooks {
		r.books = slices.Delete(r.books, 0, 1)
	}
	return r.books[len(r.books)-1]
}

// run stores what was added until ctx ends.
func (r *reporter) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.signal.C():
		}
		if wait.For(ctx, r.Timing.Save) != nil {
			return
		}
		err := r.save(ctx)
		if errors.Is(err, state.ErrLeaseLost) {
			return
		}
		if !r.observed.Check(ctx, "storing how good matches were", err) {
			r.signal.Notify() // it is tried again
		}
	}
}

// save stores the books that changed, and drops those that are over.
func (r *reporter) save(ctx context.Context) error {
	for _, b := range r.pending() {
		if err := r.load(ctx, b); err != nil {
			return err
		}
		r.mu.Lock()
		body := b.Message()
		b.changed = false
		r.mu.Unlock()
		err := r.Store.PutReport(ctx, r.project, r.epoch, b.Slot, body,
			state.ReportKeep{Oldest: b.Slot - report.Slots, For: report.Slots * report.SlotTime})
		if err != nil {
			r.mu.Lock()
			b.changed = true
			r.mu.Unlock()
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.books) - 1
	kept := slices.DeleteFunc(r.books[:max(last, 0)], func(b *reportBook) bool { return !b.changed })
	r.books = append(kept, r.books[max(last, 0):]...)
	return nil
}

// pending are the books that changed.
func (r *reporter) pending() []*reportBook {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.books), func(b *reportBook) bool { return !b.changed })
}

// load adds the stored report of the slot, from a leader before, to a book.
func (r *reporter) load(ctx context.Context, b *reportBook) error {
	if b.loaded {
		return nil
	}
	stored, _, err := r.Store.Report(ctx, r.project, []int64{b.Slot})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := stored[b.Slot]; before != nil {
		b.Merge(before)
	}
	b.loaded = true
	return nil
}
