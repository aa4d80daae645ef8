package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// HistoryEntry is an entry of the history: the events that one script wrote.
type HistoryEntry struct {
	Events []*pb.Event
	// Bookmark is the place after it.
	Bookmark *pb.Bookmark
}

// History reads up to limit entries of a project's history after a bookmark; nil is the beginning. Every reader gets
// every event once, in order. When events are missing, because the history was trimmed or replaced, an event of
// KIND_GAP takes their place.
func (s *Store) History(ctx context.Context, project string, after *pb.Bookmark, limit int) ([]HistoryEntry, error) {
	entries, end, err := s.entries(ctx, keysOf(project), after.GetPosition(), limit)
	if err != nil {
		return nil, err
	}
	position := after.GetPosition()
	replaced := end < position
	if after.GetCheck() != 0 {
		switch {
		case len(entries) > 0 && entries[0].position == position:
			replaced = replaced || entries[0].check != after.GetCheck()
			entries = entries[1:]
		case len(entries) == 0 || entries[0].position-entries[0].size < position: // the place is within an entry
			replaced = true
		}
	}
	if replaced {
		return s.replaced(ctx, project, after)
	}
	var result []HistoryEntry
	for _, e := range entries {
		events, err := e.events()
		if err != nil {
			return nil, err
		}
		if e.position-e.size != position {
			gap := &pb.Event{Kind: pb.Event_KIND_GAP, Reason: "trimmed", Time: events[0].GetTime(),
				Position: e.position - e.size}
			events = append([]*pb.Event{gap}, events...)
		}
		position = e.position
		result = append(result, HistoryEntry{events, &pb.Bookmark{Position: position, Check: e.check}})
	}
	return result, nil
}

// replaced returns the gap of a history that was put back or is new. Reading continues where the present history was
// published to.
func (s *Store) replaced(ctx context.Context, project string, after *pb.Bookmark) ([]HistoryEntry, error) {
	from, err := s.Bookmark(ctx, project)
	if err != nil {
		return nil, err
	}
	if from == nil || from.GetPosition() >= after.GetPosition() {
		from = new(pb.Bookmark) // there is none, or it is not of this history either
	}
	gap := &pb.Event{Kind: pb.Event_KIND_GAP, Reason: "replaced", Position: from.GetPosition()}
	return []HistoryEntry{{[]*pb.Event{gap}, from}}, nil
}

// Bookmark reads the place up to which a project's history was published; nil when none of it was.
func (s *Store) Bookmark(ctx context.Context, project string) (*pb.Bookmark, error) {
	text, err := textOf(s.redis.Get(ctx, keysOf(project).published()))
	if err != nil || text == "" {
		return nil, err
	}
	return parse[pb.Bookmark]("bookmark", text)
}

// SetBookmark notes that a project's history was published up to a place, and trims what lies before it.
func (s *Store) SetBookmark(ctx context.Context, project string, at *pb.Bookmark) error {
	body, err := proto.Marshal(at)
	if err != nil {
		return corrupt("bookmark", err)
	}
	return s.eval(ctx, s.call("history_published", keysOf(project), ids{},
		"bookmark", body,
		"position", at.GetPosition()))
}

// entry is an entry of the history as Redis stores it.
type entry struct {
	position uint64
	// size is how many positions the entry takes: one for each event and for each of its tickets.
	size  uint64
	check uint64
	pairs []any // event, ids of its tickets, event, …
}

// historySpan is how many positions of the history one call reads. An event and its ticket take two, and few events
// have texts of maxEventText, so a reply has about 1 MiB at most. An entry that takes more positions is read alone.
const historySpan = 2048

// entries reads the entry at a position and up to limit entries after it. end is the history's last position.
func (s *Store) entries(ctx context.Context, k keys, from uint64, limit int) (entries []entry, end uint64, err error) {
	var last *redis.StringCmd
	var read *redis.Cmd
	// Not MULTI: a full Redis refuses it. The last position is read first, so that no entry behind it is missing.
	_, err = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		last, read = p.Get(ctx, k.historySeq()), readSpan(ctx, p.Do, k, from, limit+1)
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, 0, unavailable(err)
	}
	var in replied
	if end = in.position(cmp.Or(last.Val(), "0")); in.err != nil {
		return nil, 0, in.err
	}
	for {
		some, err := parseEntries(read)
		if err != nil {
			return nil, 0, err
		}
		entries = append(entries, some...)
		next := from + historySpan
		if len(some) == 0 && len(entries) <= limit && next <= end { // what is here was trimmed, or is one large entry
			some, err = parseEntries(s.redis.Do(ctx, "XRANGE", k.history(), next, "+", "COUNT", 1))
			if err != nil || len(some) == 0 {
				return entries, end, err
			}
			entries, next = append(entries, some...), some[0].position+1
		}
		if len(entries) > limit || next > end {
			return entries, end, nil
		}
		from, read = next, readSpan(ctx, s.redis.Do, k, next, limit+1-len(entries))
	}
}

// readSpan reads up to n entries from a position on, now or with others.
func readSpan(ctx context.Context, do func(context.Context, ...any) *redis.Cmd, k keys, from uint64, n int) *redis.Cmd {
	return do(ctx, "XRANGE", k.history(), from, from+historySpan-1, "COUNT", n)
}

func parseEntries(read *redis.Cmd) ([]entry, error) {
	raw, err := read.Slice()
	if err != nil {
		return nil, unavailable(err)
	}
	entries := make([]entry, len(raw))
	for i, one := range raw {
		if entries[i], err = parseEntry(one); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// parseEntry reads an entry of a stream: [id, [name, value, …]].
func parseEntry(raw any) (entry, error) {
	r, err := listOf(raw, 2)
	if err != nil {
		return entry{}, err
	}
	var in replied
	number, _, _ := strings.Cut(in.text(r[0]), "-")
	e := entry{position: in.position(number)}
	if e.pairs, err = listOf(r[1], 2); err != nil {
		return entry{}, err
	}
	sum := fnv.New64a()
	for i, field := range e.pairs {
		text := in.text(field)
		_, _ = sum.Write([]byte(text))
		switch {
		case i%2 == 0:
			e.size++
		case text != "":
			e.size += 1 + uint64(strings.Count(text, " "))
		}
	}
	e.check = max(1, sum.Sum64()) // 0 means that there is nothing to check
	return e, in.err
}

// events decodes the events of an entry, with their tickets.
func (e entry) events() ([]*pb.Event, error) {
	events := make([]*pb.Event, 0, len(e.pairs)/2)
	in := replied{of: fmt.Sprint("event ", e.position)}
	for i := 0; i+1 < len(e.pairs); i += 2 {
		event := new(pb.Event)
		in.message(e.pairs[i], event)
		event.Tickets, event.Position = strings.Fields(in.text(e.pairs[i+1])), e.position
		events = append(events, event)
	}
	return events, in.err
}
