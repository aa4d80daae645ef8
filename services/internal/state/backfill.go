package state

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// CreateBackfill stores a new backfill ticket, whose id is set, and sets its version, generation and created. It
// returns the feed's position after the change. Errors: Limited when the project's backfill tickets are too many, or
// too large together, Invalid when the system has too many projects, Unavailable when Redis is short of memory.
func (s *Store) CreateBackfill(
	ctx context.Context, project string, b *pb.Backfill,
) (position uint64, err error) {
	if err := s.HasMemory(ctx, project); err != nil {
		return 0, err
	}
	body, err := backfillBody(b)
	if err != nil {
		return 0, err
	}
	roster, names, err := rosterFields(b.GetRoster())
	if err != nil {
		return 0, err
	}
	// Directors must find the project even if it has no config, since they delete the tickets of silent servers.
	if err := s.addProject(ctx, project); err != nil {
		return 0, err
	}
	var verdict string
	if err := s.eval(ctx, s.call("backfill_create", keysOf(project), ids{ofBackfill: b.GetId()},
		"limit", s.limits.Backfills,
		"backfill_bytes", s.limits.BackfillMemory<<20,
		"backfill_id", b.GetId(),
		"connection", b.GetConnection(),
		"match_id", b.GetMatch(),
		"body", body,
		"queue", queueField(b.GetQueue()),
		"roster", roster,
		"roster_names", names), &verdict, &position, &b.Created); err != nil {
		return 0, err
	}
	switch verdict {
	case "large":
		return 0, s.backfillsTooLarge()
	case "full":
		return 0, full("backfill", s.limits.Backfills,
			"too many games of this project are being filled, try again when some have ended")
	}
	b.Version, b.Generation = 1, b.GetCreated()
	return position, nil
}

// ReplaceBackfill replaces a server's backfill ticket, whose queue and roster stay if b has none, and whose notes of
// functions stay if b has neither them nor a roster. It sets b's new version, created, queue and roster, and the
// allocated connection if b has none. The tickets of matches that go to its game wait again. It returns the feed's
// position after the change. Errors: NotFound when there is no such backfill ticket, or when it does not belong to the
// match that b names; when it is larger than before, Limited when the project's backfill tickets are too large together
// and Unavailable when Redis is short of memory.
func (s *Store) ReplaceBackfill(
	ctx context.Context, project string, b *pb.Backfill,
) (position uint64, err error) {
	body, err := backfillBody(b)
	if err != nil {
		return 0, err
	}
	roster, names, err := rosterFields(b.GetRoster())
	if err != nil {
		return 0, err
	}
	k, id := keysOf(project), b.GetId()
	queue := queueField(b.GetQueue())
	if b.Queue != nil && len(queue) == 0 {
		queue = []byte("-") // none
	}
	var verdict, encoded string
	var others []string
	if err := s.eval(ctx, s.call("backfill_replace", k, ids{ofBackfill: id},
		"backfill_bytes", s.limits.BackfillMemory<<20,
		"may_grow", s.mayAdd(ctx, k),
		"backfill_id", id,
		"connection", b.GetConnection(),
		"match_id", b.GetMatch(),
		"body", body,
		"new_queue", queue,
		"roster", roster,
		"roster_names", names), &verdict, &position, &b.Version, &b.Created, &b.Connection, &encoded, &others); err != nil {
		return 0, err
	}
	switch verdict {
	case "full":
		return 0, s.backfillsTooLarge()
	case "short":
		return 0, shortOfMemory(nil)
	case "none":
		return 0, noBackfill(id)
	}
	now, err := parse[pb.Backfill]("backfill ticket", encoded)
	if err != nil {
		return 0, err
	}
	b.Queue, b.Roster = now.Queue, now.Roster
	at, err := s.releaseOthers(ctx, project, others, "replaced")
	return max(position, at), err
}

// DeleteBackfill deletes a backfill ticket that belongs to a match, or to any when match is "", and reports whether it
// existed. The tickets of matches that go to its game wait again. It returns the feed's position after the change.
func (s *Store) DeleteBackfill(
	ctx context.Context, project, id, match string,
) (there bool, position uint64, err error) {
	return s.deleteBackfill(ctx, project, id, "", match, "deleted")
}

func (s *Store) deleteBackfill(
	ctx context.Context, project, id string, silence any, match, reason string,
) (there bool, position uint64, err error) {
	var others []string
	if err := s.eval(ctx, s.call("backfill_delete", keysOf(project), ids{ofBackfill: id},
		"backfill_id", id,
		"silence", silence,
		"match_id", match), &position, &others); err != nil || position == 0 {
		return false, 0, err
	}
	at, err := s.releaseOthers(ctx, project, others, reason)
	return true, max(position, at), err
}

// DeleteSilentBackfills deletes up to limit backfill tickets whose servers have not called for that long and with_slack
// (script/include/time.lua), and returns them.
func (s *Store) DeleteSilentBackfills(
	ctx context.Context, project string, silence time.Duration, limit int,
) (forgotten []string, position uint64, err error) {
	due, err := s.due(ctx, keysOf(project).backfills(), millis(s.Now().Add(-silence)), limit)
	if err != nil {
		return nil, 0, err
	}
	steps, err := stepAbreast(due, func(id string) (step, error) {
		there, at, err := s.deleteBackfill(ctx, project, id, silence.Milliseconds(), "", "silent")
		return step{there, at}, err
	})
	forgotten, position = doneOf(due, steps)
	return forgotten, position, err
}

// DecodeBackfill returns the backfill ticket of a change as functions see it; nil when they no longer see it.
func (c *Change) DecodeBackfill() (*pb.Backfill, error) {
	if c.Body == "" {
		return nil, nil
	}
	in := replied{of: "backfill ticket " + c.Backfill}
	var numbers [4]int64
	rest := c.Body
	for i := range numbers {
		number, behind, _ := strings.Cut(rest, " ")
		numbers[i], rest = in.digits(number), behind
	}
	length := numbers[3]
	if in.check(length >= 0 && length < int64(len(rest)), c.Body, "a backfill ticket"); in.err != nil {
		return nil, in.err
	}
	return backfillOfRow(c.Backfill, numbers[0], numbers[1], numbers[2], rest[:length], rest[length+1:])
}

// describe makes the body of a change from a backfill ticket's fields v, g, c, a, d, m, n, b, h, q and y, as describe
// in script/include/backfill.lua does; "" when functions do not see the ticket.
func describe(fields []any) string {
	text := func(i int) string {
		value, _ := fields[i].(string)
		return value
	}
	connection := cmp.Or(text(3), text(4))
	if fields[8] != nil || text(0) == "" || (connection == "" && fields[5] == nil) {
		return ""
	}
	body := text(7)
	if fields[6] != nil {
		body = text(6)
	}
	return strings.Join([]string{text(0), text(1), text(2), strconv.Itoa(len(connection)), connection}, " ") + " " + body +
		text(9) + text(10)
}

// backfillBody marshals the part of a backfill ticket that functions may change. It is stored as one value.
func backfillBody(b *pb.Backfill) ([]byte, error) {
	body, err := proto.Marshal(&pb.Backfill{
		AttributeNames: b.GetAttributeNames(), AttributeValues: b.GetAttributeValues(), Properties: b.GetProperties(),
	})
	if err != nil {
		return nil, problem.Wrap(problem.Invalid, err, "the backfill ticket holds text that is not UTF-8")
	}
	return body, nil
}

// rosterFields returns the encoded field roster of a backfill ticket's record, and the ids of its players, for scripts.
// Both are empty if there is no roster.
func rosterFields(roster *pb.Roster) (field []byte, names string, err error) {
	if roster == nil {
		return nil, "", nil
	}
	if field, err = proto.Marshal(&pb.Backfill{Roster: roster}); err != nil {
		return nil, "", problem.Wrap(problem.Invalid, err, "players: text that is not UTF-8")
	}
	ids := make([]string, len(roster.GetPlayers()))
	for i, p := range roster.GetPlayers() {
		ids[i] = p.GetId()
	}
	return field, strings.Join(ids, "\n"), nil
}

func (s *Store) backfillsTooLarge() error {
	return full("backfill-memory", s.limits.BackfillMemory, "the backfill tickets of this project take too much memory, "+
		"try again when some games have ended, or with a smaller one")
}

func noBackfill(id string) error {
	return problem.New(problem.BackfillNotFound, "backfill ticket %q was not found", id)
}
