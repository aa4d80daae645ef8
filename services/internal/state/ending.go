package state

import (
	"cmp"
	"context"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Ending is the end of a match: what becomes of it, and the result of each of its tickets. A single result is for all
// tickets.
type Ending struct {
	Match   *pb.Match
	Tickets []string
	Results []*pb.Assignment
	Outcome
}

// result returns the result of the i-th ticket.
func (e *Ending) result(i int) *pb.Assignment { return e.Results[min(i, len(e.Results)-1)] }

// Ended is what became of an Ending. Assigned are the tickets that still existed, and the tickets of matches that
// waited for the same server: they get the connection as well. Any status but MatchActive means that nothing was
// written: the match had ended before, or, with MatchLeased, another holder has the lease. A server that no ticket uses
// is to be deallocated then. A match whose players are still asked, since Redis lost that they accepted, ends so too,
// and its tickets wait again.
type Ended struct {
	Status   MatchStatus
	Assigned []string
	Results  []*pb.Assignment // of the assigned tickets
	// Room is true when matches that had to wait for servers may be claimed now.
	Room bool
	// Position is the feed's position behind the change, 0 when nothing changed there.
	Position uint64
	// others are the matches that went to the backfill ticket of the match.
	others []string
}

// EndMatches writes the results of matches and ends them. Their results are readable equally long. After an error,
// the matches whose end is not known have no status.
func (s *Store) EndMatches(ctx context.Context, project string, endings []Ending) ([]Ended, error) {
	ended, _, err := s.endMatches(ctx, project, endings, false)
	for i := range ended {
		err = cmp.Or(err, s.endOthers(ctx, project, &endings[i], &ended[i]))
	}
	return ended, err
}

// endOthers gives the server of a match to the matches that waited for it, or lets them wait for others.
func (s *Store) endOthers(ctx context.Context, project string, e *Ending, ended *Ended) error {
	if len(ended.others) == 0 {
		return nil
	}
	matches, err := s.matches(ctx, keysOf(project), ended.others, false)
	if err != nil {
		return err
	}
	if len(ended.Assigned) == 0 || e.Connection == "" {
		_, at, err := s.releaseAll(ctx, project, matches, "unallocated")
		ended.Position = max(ended.Position, at)
		return err
	}
	joined, at, err := s.join(ctx, project, matches, arrival{connection: e.Connection, readable: e.Readable})
	ended.Position = max(ended.Position, at)
	for _, one := range joined {
		ended.Assigned, ended.Results = append(ended.Assigned, one.Assigned...), append(ended.Results, one.Results...)
	}
	return err
}

// endMatches is EndMatches for each match alone. told: the servers of running games learn of the tickets that join.
func (s *Store) endMatches(
	ctx context.Context, project string, endings []Ending, told bool,
) (ended []Ended, position uint64, err error) {
	all := make([]ending, len(endings))
	for i := range endings {
		if all[i], err = s.encodeEnding(&endings[i]); err != nil {
			return nil, 0, err
		}
	}
	err = runBatches(ctx, s, project, all, 3, func(e ending) (tickets, bytes int) { return len(e.Tickets), e.bytes },
		func(batch []ending) (call, error) { return s.endCall(keysOf(project), batch, told), nil },
		func(of ending, at uint64, said []any) (err error) {
			var e Ended
			if said != nil {
				e, err = endedOf(of.Ending, said)
			}
			if e.Position = at; e.Status == matchAsked && gameOf(of.Match) == "" {
				e, err = s.endAsked(ctx, project, of.Ending)
			}
			ended, position = append(ended, e), max(position, at)
			return err
		})
	return ended, position, err
}

// endedOf reads the script's reply for one match.
func endedOf(of *Ending, values []any) (e Ended, err error) {
	var status, flags string
	var others words
	if err := parseReply(values, &status, &flags, &others); err != nil {
		return e, err
	}
	e = Ended{Status: MatchStatus(status), Room: status == room, others: others}
	if e.Room {
		e.Status = MatchActive
	}
	for j, id := range of.Tickets {
		if j < len(flags) && flags[j] == '1' {
			e.Assigned, e.Results = append(e.Assigned, id), append(e.Results, of.result(j))
		}
	}
	return e, nil
}

// matchAsked is the status of a match with a server whose players are still asked: Redis lost that they accepted.
const matchAsked MatchStatus = "asked"

// endAsked ends a match of status matchAsked: its server is deallocated, and its tickets wait again.
func (s *Store) endAsked(ctx context.Context, project string, e *Ending) (Ended, error) {
	_, _, err := s.releaseMatch(ctx, project, e.Match,
		release{reason: "lost", holder: e.Holder, mayHaveServer: new(true)})
	if err != nil {
		return Ended{}, err
	}
	return Ended{Status: MatchReleased}, nil
}

// room is the status of a match that was assigned, when matches that had to wait may be claimed now.
const room = "room"

// ending is an Ending as scripts get it.
type ending struct {
	*Ending
	event, body, server, made []byte
	awaits                    string
	outcome                   outcome
	results                   [][]byte
	bytes                     int // of all of them
}

func (s *Store) encodeEnding(e *Ending) (a ending, err error) {
	a = ending{Ending: e, event: s.encodeEvent(e.event())}
	m := e.Match
	if a.outcome, err = outcomeOf(m.GetId(), m.GetProposal()); err != nil {
		return a, err
	}
	if a.made, err = madeOf(m); err != nil {
		return a, err
	}
	if e.Error == "" {
		if a.awaits, err = s.awaitsOf(m, e.Connection); err != nil {
			return a, err
		}
	}
	results := a.outcome.referAll(e.Results)
	if gameOf(m) != "" {
		results = seated(m, e.Tickets, results)
	} else if e.Connection != "" || e.MayHaveServer {
		if a.body, err = proto.Marshal(m); err != nil {
			return a, corrupt("match", err)
		}
	}
	if e.Server != nil {
		if a.server, err = proto.Marshal(e.Server); err != nil {
			return a, corrupt("game server", err)
		}
	}
	a.results = make([][]byte, len(results))
	for i, result := range results {
		if a.results[i], err = proto.Marshal(result); err != nil {
			return a, corrupt("assignment", err)
		}
		a.bytes += len(a.results[i])
	}
	a.bytes += len(a.body) + len(a.outcome.body)
	return a, nil
}

// event returns the event of the tickets of the match.
func (e *Ending) event() *pb.Event {
	ended := matchEvent(e.Match, pb.Event_KIND_ASSIGNED)
	if e.Error != "" {
		ended.Kind, ended.Error, ended.Reason, ended.Detail = pb.Event_KIND_FAILED, e.Error, e.Reason, e.Detail
	}
	return ended
}

func (s *Store) endCall(k keys, all []ending, told bool) call {
	c := s.call("match_assign", k, ids{},
		"readable", all[0].Readable.Milliseconds(),
		"memory", matchMemory.Milliseconds(),
		"is_told", flag(told),
		"match_count", len(all))
	for _, a := range all {
		m := a.Match
		c.keys = append(c.keys, k.match(m.GetId()), k.outcome(m.GetId()))
		c.addKeys(k.ticket, a.Tickets)
		c.keys = append(append(c.keys, placeKeys(k, m)...), awaitedKeys(k, m, a.awaits)...)
		c.args = append(c.args, m.GetId(), a.Holder, len(a.Tickets), strings.Join(a.Tickets, " "), a.event, a.Connection,
			a.body, flag(a.MayHaveServer), a.server, a.KeepServer.Milliseconds(), neededTarget(m), a.answer(), a.outcome.body,
			placeOf(m), a.made, a.awaits, len(a.results))
		for _, result := range a.results {
			c.args = append(c.args, result)
		}
	}
	return c
}
