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

// reportEvery is how often books of an hour and of a day are stored at most: they are large, and change with each
// match.
const reportEvery = time.Minute

// lastSave is how long a leader that ends may take to store what it has.
const lastSave = 2 * time.Second

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
	if len(asked.GetAttributes()) > 0 {
		c.Values, c.Valued = m.GetValues(), asked.GetAttributes()[0]
	}
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
	spans []*spanBooks
	match report.Match // used again and again
	// divider divides tickets into deciles.
	divider report.Divider
}

// spanBooks are the books with slots of one length.
type spanBooks struct {
	report.Span
	books []*reportBook // the last one is the current one
	// every is how often they are stored at most, and saved when they were.
	every time.Duration
	saved time.Time
}

// reportBook is a book, and the state of its slot in the store.
type reportBook struct {
	*report.Book
	// loaded: it has what was stored before. changed: it has matches that are not stored yet.
	loaded, changed bool
}

func newReporter(s scope) *reporter {
	r := &reporter{scope: s, signal: notify.New()}
	for i, span := range report.Spans() {
		every := reportEvery
		if i == 0 {
			every = 0
		}
		r.spans = append(r.spans, &spanBooks{Span: span, every: every})
	}
	return r
}

func playersOf(c *state.Claim) int {
	return max(len(c.Tickets), int(c.Match.GetProposal().GetPlayers()))
}

// largestParty is that of a match, in reports.
func largestParty(c *state.Claim) int { return report.Largest(c.Parties, len(c.Tickets), playersOf(c)) }

// add adds a match that was claimed at a time.
func (r *reporter) add(now time.Time, c *state.Claim) {
	p := c.Match.GetProposal()
	if p.GetError() != "" {
		return // its tickets are in no match
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &r.match
	m.Key = report.Key{Config: c.Match.GetConfig(), Revision: c.Match.GetRevision(), Function: c.Function,
		Upload: c.Upload, Queue: c.Queue, Region: p.GetHosting().GetRegion(), Canary: c.Canary}
	m.Players, m.Parties = playersOf(c), c.Parties
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
	r.divider.Divide(m, c.Valued, c.Values)
	for _, s := range r.spans {
		b := s.book(s.SlotOf(now))
		b.Add(m)
		r.change(b)
	}
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
				for _, s := range r.spans {
					b := s.book(s.SlotOf(now))
					b.AddOutcome(e)
					r.change(b)
				}
			}
		}
	}
}

// book returns the book of a slot.
func (s *spanBooks) book(slot int64) *reportBook {
	for _, b := range s.books {
		if b.Slot == slot {
			return b
		}
	}
	s.books = append(s.books, &reportBook{Book: s.NewBook(slot)})
	if len(s.books) > reportBooks {
		s.books = slices.Delete(s.books, 0, 1)
	}
	return s.books[len(s.books)-1]
}

// run stores what was added until ctx ends.
func (r *reporter) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
		case <-r.signal.C():
			_ = wait.For(ctx, r.Timing.Save)
		}
		if ctx.Err() != nil { // the last leader's part of an hour or a day is not lost
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
			defer cancel()
			for _, s := range r.spans {
				s.saved = time.Time{}
			}
			_ = r.save(ctx)
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
	for _, s := range r.spans {
		if err := r.saveSpan(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *reporter) saveSpan(ctx context.Context, s *spanBooks) error {
	pending, now := r.pending(s), r.Store.Now()
	if len(pending) == 0 {
		return nil
	}
	if since := now.Sub(s.saved); since >= 0 && since < s.every {
		r.signal.Notify() // it is their turn later
		return nil
	}
	for _, b := range pending {
		if err := r.load(ctx, s, b); err != nil {
			return err
		}
		r.mu.Lock()
		body := b.Message()
		b.changed = false
		r.mu.Unlock()
		err := r.Store.PutReport(ctx, r.project, r.epoch, b.Slot, body,
			state.ReportKeep{Span: s.Name, Oldest: b.Slot - s.Slots, For: time.Duration(s.Slots) * s.Slot})
		if err != nil {
			r.mu.Lock()
			b.changed = true
			r.mu.Unlock()
			return err
		}
	}
	s.saved = now
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(s.books) - 1
	kept := slices.DeleteFunc(s.books[:max(last, 0)], func(b *reportBook) bool { return !b.changed })
	s.books = append(kept, s.books[max(last, 0):]...)
	return nil
}

// pending are the books that changed.
func (r *reporter) pending(s *spanBooks) []*reportBook {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.books), func(b *reportBook) bool { return !b.changed })
}

// load adds the stored report of the slot, from a leader before, to a book.
func (r *reporter) load(ctx context.Context, s *spanBooks, b *reportBook) error {
	if b.loaded {
		return nil
	}
	stored, _, err := r.Store.Report(ctx, r.project, s.Name, []int64{b.Slot})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := stored[b.Slot]; before != nil {
		b.Merge(before)
		if s == r.spans[len(r.spans)-1] { // the day's are the most
			r.divider.Seed(before)
		}
	}
	b.loaded = true
	return nil
}
