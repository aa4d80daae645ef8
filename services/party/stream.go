package party

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
)

// The events of a stream.
const (
	eventParty = "party" // its id is the party's revision
	eventEnded = "ended"
)

// Why a party is gone for a player.
const (
	reasonLeft      = "left" // the player left, or was erased
	reasonKicked    = "kicked"
	reasonDisbanded = "disbanded"
	reasonSilent    = "silent"
	reasonUnknown   = "gone"
)

// longestLook is how often, at least, a stream reads its party in case a notification was lost.
const longestLook = 10 * time.Second

func newStreams(o *Options, stopped <-chan struct{}) *stream.Streams {
	return stream.New(stream.Options{Settings: o.Streams, Stopped: stopped, Log: o.Log,
		Instruments: stream.Instruments{
			Open: o.Meter.UpDownCounter("matchmaker.parties.streams", "{stream}",
				"Streams of events of parties that this process holds open."),
			Refused: o.Meter.Counter("matchmaker.parties.streams.refused", "{stream}",
				"Streams of events of parties that were refused because too many are open."),
			Ended: o.Meter.Counter("matchmaker.parties.streams.ended", "{stream}",
				"Streams of events of parties that ended, by the reason."),
		}})
}

// follower is what an open stream tells a member of a party. It keeps nothing of the party that may be large.
type follower struct {
	reader
	out    *stream.Stream
	waiter *waiter
	// first is the party that is told first; nil when the stream has begun, since it may be large.
	first *pb.Party
	// known is the id of the last event that the client has.
	known string
}

// follow answers GET /parties/{party}/events: server-sent events until the party is gone for its member.
func (s *service) follow(c echo.Context, player string) error {
	ctx, project, id := c.Request().Context(), c.Param("project"), c.Param("party")
	release, err := s.streams.Begin(ctx, project, player)
	if err != nil {
		return err
	}
	one, leave := s.waiters.join(key{project, id}, player) // before the read, so that nothing is missed
	end := func() {
		leave()
		release()
	}
	f := &follower{reader: reader{service: s, project: project, id: id, player: player}, waiter: one,
		known: c.Request().Header.Get("Last-Event-ID")}
	begun := false
	if f.first, err = f.read(ctx); err == nil {
		begun, err = s.streams.Answer(c, auth.From(c).Expires.Sub(s.Store.Now()), end, f.run)
	}
	if !begun {
		end()
	}
	return err
}

// run tells the client of the party until it is gone, and returns why the stream ended.
func (f *follower) run(ctx context.Context, out *stream.Stream) (end string) {
	f.out = out
	p := f.first
	f.first = nil
	for {
		if err := f.send(p); err != nil {
			return stream.EndOf(err)
		}
		again := time.Now().Add(min(longestLook, f.Settings.attention()))
		if end := out.Wait(f.waiter.woken.C(), again); end != "" {
			return end
		}
		var err error
		switch p, err = f.read(ctx); {
		case ctx.Err() != nil:
			return stream.Left
		case problem.KindOf(err) == problem.NotFound:
			return f.sendEnd()
		}
		// While the state store does not answer, the party is as it was.
	}
}

// send tells of a party, unless there is nothing new.
func (f *follower) send(p *pb.Party) error {
	if p == nil || revision(p) == f.known {
		return nil
	}
	data, err := web.Marshal(bodyFor(p, f.player))
	if err != nil {
		return err
	}
	f.known = revision(p)
	return f.out.Send(append(stream.Event(eventParty, f.known), data...))
}

// sendEnd tells why the party is gone for the player.
func (f *follower) sendEnd() (end string) {
	data, err := web.Marshal(ended{f.id, f.reason()})
	if err == nil {
		err = f.out.Send(append(stream.Event(eventEnded, eventEnded), data...))
	}
	if err != nil {
		return stream.EndOf(err)
	}
	return stream.Told
}

// reason is why the party is gone, as far as it is known: each change is announced when it is done.
func (f *follower) reason() string {
	one := f.waiter
	f.out.Await(one.woken.C(), func() bool { return one.reason.Load() != nil })
	if reason := one.reason.Load(); reason != nil {
		return *reason
	}
	return reasonUnknown
}
