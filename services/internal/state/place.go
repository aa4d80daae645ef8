package state

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/assignment"
)

// PlaceHosting is the place of a match that gets a new server. PlaceGame comes before the backfill ticket of the
// running game that a match goes to. A match of any other place waits until a caller ends it, or its deadline passes.
const (
	PlaceHosting = "hosting"
	PlaceGame    = "backfill/"
)

// gameOf returns the backfill ticket of the running game that a match goes to, "" if it goes to none.
func gameOf(m *pb.Match) string {
	id, is := strings.CutPrefix(m.GetPlace(), PlaceGame)
	if !is {
		return ""
	}
	return id
}

// backfillOf returns the backfill ticket of a match's place, "" if it has none.
func backfillOf(m *pb.Match) string {
	return cmp.Or(gameOf(m), m.GetBackfill())
}

// placeOf is the place of a match as scripts get it, see script/include/place.lua.
func placeOf(m *pb.Match) string {
	switch {
	case gameOf(m) != "":
		return "join " + gameOf(m)
	case m.GetBackfill() != "":
		return "new " + m.GetBackfill()
	default:
		return m.GetPlace()
	}
}

// placeKeys are the keys of a match's place.
func placeKeys(k keys, m *pb.Match) []string {
	id := backfillOf(m)
	if id == "" {
		return nil
	}
	return []string{k.backfill(id), k.joining(id), k.joined(id)}
}

// gameFields are the fields of a place's backfill ticket, for match_claim.lua.
func gameFields(m *pb.Match) ([]any, error) {
	if backfillOf(m) == "" {
		return nil, nil
	}
	f := m.GetProposal().GetFilling()
	if gameOf(m) != "" {
		made, err := madeOf(m)
		return []any{f.GetGeneration(), made, "", ""}, err
	}
	body, err := backfillBody(f.GetContents())
	return []any{"", body, queueField(f.GetContents().GetQueue()), startedWith(m.GetProposal())}, err
}

// madeOf is "=" and the function's change of the backfill ticket that the match goes to; empty for no change.
func madeOf(m *pb.Match) ([]byte, error) {
	contents := m.GetProposal().GetFilling().GetContents()
	if gameOf(m) == "" || contents == nil {
		return nil, nil
	}
	body, err := backfillBody(contents)
	return append([]byte{'='}, body...), err
}

// matchSize is about how many bytes a match has at most, where many are read.
const matchSize = 32 << 10

// matches reads the matches that ask their players whether they accept, or the matches that do not. It leaves out
// matches that have ended.
func (s *Store) matches(ctx context.Context, k keys, ids []string, asking bool) (all []*pb.Match, err error) {
	err = s.fieldsOf(ctx, k.match, ids, matchSize, func(_ string, row []any) error {
		body, _ := row[1].(string)
		if body == "" || isAsking(row[0]) != asking {
			return nil
		}
		m, err := parse[pb.Match]("match", body)
		all = append(all, m)
		return err
	}, "s", "b")
	return all, err
}

// matchLapsed is the status of a match whose server approved too late, or whose game is not what it was.
const matchLapsed MatchStatus = "lapsed"

// arrival is how matches join a running game.
type arrival struct {
	connection string
	readable   time.Duration
	// trace is the trace of the approval, for readers of the results.
	trace []byte
	// told: the server learns of it now.
	told bool
}

// join gives the tickets of matches that go to a running game its connection. Those that cannot join any more wait
// again.
func (s *Store) join(
	ctx context.Context, project string, matches []*pb.Match, how arrival,
) (joined []Ended, position uint64, err error) {
	if len(matches) == 0 {
		return nil, 0, nil
	}
	// The change of the game that a function made for the newest match is the last.
	slices.SortFunc(matches, func(a, b *pb.Match) int { return strings.Compare(a.GetId(), b.GetId()) })
	endings := make([]Ending, len(matches))
	for i, m := range matches {
		e := Ending{Match: m, Tickets: TicketsOf(m.GetProposal()),
			Outcome: Outcome{Readable: how.readable, Connection: how.connection}}
		e.Results = assignment.All(m, e.Tickets, cmp.Or(m.GetProposal().GetConnection(), how.connection), "")
		for _, result := range e.Results {
			result.Trace = how.trace
		}
		endings[i] = e
	}
	if joined, position, err = s.endMatches(ctx, project, endings, how.told); err != nil {
		return joined, position, err
	}
	var lapsed []*pb.Match
	for i, e := range joined {
		if e.Status == matchLapsed {
			lapsed = append(lapsed, matches[i])
		}
	}
	_, at, err := s.releaseAll(ctx, project, lapsed, "lapsed")
	return joined, max(position, at), err
}

// releaseOthers lets the tickets of matches wait again whose game has changed. Matches that it does not release are
// overdue, so maintenance does.
func (s *Store) releaseOthers(
	ctx context.Context, project string, ids []string, reason string,
) (position uint64, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	matches, err := s.matches(ctx, keysOf(project), ids, false)
	if err != nil {
		return 0, err
	}
	_, position, err = s.releaseAll(ctx, project, matches, reason)
	return position, err
}

// releaseAll releases the matches whose deadline has passed, and returns them.
func (s *Store) releaseAll(
	ctx context.Context, project string, matches []*pb.Match, reason string,
) (released []*pb.Match, position uint64, err error) {
	steps, err := stepAbreast(matches, func(m *pb.Match) (step, error) {
		done, at, err := s.releaseMatch(ctx, project, m, release{reason: reason})
		return step{done, at}, err
	})
	released, position = doneOf(matches, steps)
	return released, position, err
}
