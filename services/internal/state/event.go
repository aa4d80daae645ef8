package state

import (
	"context"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// AppendEvent appends an event to the history without a change of the state.
func (s *Store) AppendEvent(ctx context.Context, project string, e *pb.Event) error {
	tickets := e.GetTickets()
	return s.eval(ctx, s.call("event_append", keysOf(project), ids{},
		"event", s.encodeEvent(e),
		"tickets", strings.Join(tickets, " "),
		"count", len(tickets)))
}

// matchEvent returns an event of a match.
func matchEvent(m *pb.Match, kind pb.Event_Kind) *pb.Event {
	return &pb.Event{Kind: kind, Match: m.GetId(), Config: m.GetConfig(), Revision: m.GetRevision(), Backfill: gameOf(m)}
}

// unservedEvent returns the event of a queue that no config serves any more since this one does not. The script adds
// the queue.
func unservedEvent(config, reason, by string) *pb.Event {
	return &pb.Event{Kind: pb.Event_KIND_UNSERVED, Config: config, Reason: reason, By: by}
}

// maxEventText is the most bytes of an event's error, and of its detail: functions and hosting systems write them.
const maxEventText = 512

// encodeEvent returns an event as scripts write it into the history: without its tickets, which are written beside it,
// and without its position. Its time is for readers: no decision depends on it.
func (s *Store) encodeEvent(e *pb.Event) []byte {
	e.Time, e.Tickets = millis(s.Now()), nil
	e.Error, e.Detail = shorten(e.GetError()), shorten(e.GetDetail())
	body, err := proto.Marshal(e)
	if err != nil {
		// Only text that is not UTF-8 cannot be marshalled: a function's error. The event is written without it.
		e.Error = strings.ToValidUTF8(e.GetError(), "�")
		body, _ = proto.Marshal(e)
	}
	return body
}

// shorten cuts a text that is too long for an event.
func shorten(text string) string {
	if len(text) <= maxEventText {
		return text
	}
	const end = "…"
	return strings.ToValidUTF8(text[:maxEventText-len(end)], "") + end
}
