package director

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// outboxAge is how old a match in the outbox must be to be sent again, and sendTime how long sending may take. Matches
// are sent again in batches of sendBatch.
const (
	outboxAge = 2 * time.Second
	sendTime  = 5 * time.Second
	sendBatch = 1000
)

// outbox puts claimed matches into the work queue, beside the leader's loop. What fails stays in the state's outbox,
// and is sent again.
type outbox struct {
	scope
	sends     sync.WaitGroup
	resending atomic.Bool
}

// start starts to send matches. cause is the span of their claim, if that is traced.
func (o *outbox) start(ctx context.Context, cause []byte, matches []string) {
	o.sends.Go(func() {
		o.observed.TracePublish(ctx, cause, len(matches), func(ctx context.Context) bool { return o.send(ctx, matches) })
	})
}

// resend starts to send the matches that have been in the outbox for too long.
func (o *outbox) resend(ctx context.Context) {
	if !o.resending.CompareAndSwap(false, true) {
		return
	}
	o.sends.Go(func() {
		defer o.resending.Store(false)
		for ctx.Err() == nil {
			matches, err := o.Store.Outbox(ctx, o.project, outboxAge, sendBatch)
			if !o.observed.Check(ctx, "reading the outbox", err) || len(matches) == 0 {
				return
			}
			o.observed.CountRepairs(ctx, "outbox", len(matches))
			o.log.InfoContext(ctx, "sending matches that were left in the outbox", "matches", len(matches))
			if !o.send(ctx, matches) {
				return
			}
		}
	})
}

// wait waits until everything is sent.
func (o *outbox) wait() { o.sends.Wait() }

// send tells whether the work queue has all of the matches.
func (o *outbox) send(ctx context.Context, matches []string) bool {
	// A leader that is being stopped still sends what it claimed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	began := time.Now()
	sent, err := o.Bus.EnqueueMatches(ctx, o.project, matches)
	o.observed.RecordPublish(ctx, time.Since(began))
	all := o.observed.Check(ctx, "sending matches to the allocators", err)
	if len(sent) == 0 {
		return all
	}
	return o.observed.Check(ctx, "clearing the outbox", o.Store.RemoveFromOutbox(ctx, o.project, sent)) && all
}
