package insight

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/platform/notify"
)

// cursorEvery is how often a client learns how far it was looked, while no event is one that it asks for.
const cursorEvery = 5 * time.Second

// follow answers with a stream.
func (s *service) follow(c echo.Context, q *query) error {
	end, err := s.streams.Begin(c.Request().Context(), q.project, "")
	if err != nil {
		return err
	}
	f := &follower{reading: reading{service: s, project: q.project}, query: q, chunks: make(chan chunk, 1),
		failed: make(chan struct{}), woken: notify.New()}
	begun, err := s.streams.Answer(c, auth.From(c).Expires.Sub(s.Store.Now()), end, f.run)
	if !begun {
		end()
	}
	return err
}

// follower is one open stream. One goroutine reads events and one writes them, so that the end of the token, of the
// process or of the client is noticed while events are looked at.
type follower struct {
	reading
	query *query
	// chunks has what is to be told next, failed is closed when nothing more is read. woken says that there is something.
	chunks chan chunk
	failed chan struct{}
	woken  notify.Signal
}

// chunk is what a client is told of a message: events, if there are any, and the place behind it.
type chunk struct {
	text   []byte
	cursor string
}

// run tells the client of events, and returns why it ended.
func (f *follower) run(ctx context.Context, out *stream.Stream) (end string) {
	ctx, stop := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()
	reader.Go(func() { f.readAll(ctx) })
	var sent time.Time // the first place is told at once
	for {
		next := time.Now().Add(cursorEvery)
		select {
		case p := <-f.chunks:
			text := p.text
			if len(text) == 0 && time.Since(sent) >= cursorEvery {
				text = []byte("id: " + p.cursor)
			}
			if len(text) > 0 {
				if err := out.Send(text); err != nil {
					return stream.EndOf(err)
				}
				sent = time.Now()
			}
			next = time.Now() // there may be more
		case <-f.failed:
			return out.Reconnect(stream.Source)
		default:
		}
		if end := out.Wait(f.woken.C(), next); end != "" {
			return end
		}
	}
}

// readAll reads events until ctx ends or that fails.
func (f *follower) readAll(ctx context.Context) {
	var failure error
	_, err := f.Bus.ReadEvents(ctx, f.project, f.query.begin, true, func(m bus.EventMessage) bool {
		f.count(ctx, m)
		var p chunk
		if p, failure = f.render(ctx, m); failure != nil {
			return false
		}
		select {
		case f.chunks <- p:
			f.woken.Notify()
			return true
		case <-ctx.Done():
			return false
		}
	})
	if ctx.Err() == nil {
		f.Log.DebugContext(ctx, "a stream of events ends", "project", f.project, "error", errors.Join(err, failure))
	}
	close(f.failed)
	f.woken.Notify()
}

// render returns what the client is told of a message.
func (f *follower) render(ctx context.Context, m bus.EventMessage) (chunk, error) {
	p := chunk{cursor: cursor{message: m.Sequence}.String()}
	arrivals, err := f.arrivals(ctx, f.query, m)
	if err != nil {
		return p, err
	}
	err = f.query.each(ctx, m, func(at cursor, e *pb.Event) (more bool, err error) {
		text, err := encodeEvent(at.String(), e, arrivals)
		if err != nil {
			return false, err
		}
		if len(p.text) > 0 {
			p.text = append(p.text, "\n\n"...)
		}
		p.text = append(append(p.text, stream.Event(response.EventKind(e.GetKind()), at.String())...), text...)
		return true, nil
	})
	return p, err
}
