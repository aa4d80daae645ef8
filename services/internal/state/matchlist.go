package state

import (
	"context"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// The states of a match that is listed.
const (
	ListedAsking     = "asking"     // its players
	ListedClaimed    = "claimed"    // it waits for an allocator
	ListedAllocating = "allocating" // its server is asked for
	ListedProposed   = "proposed"   // to a running game
	ListedAssigned   = "assigned"   // it has its server
)

// ListedMatch is a match that begins, or that has a server.
type ListedMatch struct {
	ID, State, Config, Backfill string
	Hosting                     *pb.Hosting
	Region                      string
	// Allocated is when it got its server, in Unix milliseconds; 0 before.
	Allocated int64
}

// MatchCounts counts the matches of a project. Ended have a server, or had one or a result lately. Returning have a
// server that is to be given back.
type MatchCounts struct{ Open, Joining, Ended, Returning int64 }

// CountMatches counts matches.
func (s *Store) CountMatches(ctx context.Context, project string) (n MatchCounts, err error) {
	k := keysOf(project)
	p := s.redis.Pipeline()
	open, joining, ended, returning := p.ZCard(ctx, k.claims()), p.ZCard(ctx, k.joins()), p.ZCard(ctx, k.ended()),
		p.ZCard(ctx, k.deallocations())
	_, err = p.Exec(ctx)
	return MatchCounts{open.Val(), joining.Val(), ended.Val(), returning.Val()}, unavailable(err)
}

// ListMatches lists the matches of a project from behind a place on, until take is false: at first those that begin,
// then those that go to a running game, then those that have a server and no result, the one that is forgotten last
// first. It returns the place to go on behind, "" at the end, and how many matches it looked at: 1,024 at most.
func (s *Store) ListMatches(
	ctx context.Context, project string, from Cursor, take func(*ListedMatch) bool,
) (next string, looked int, err error) {
	k := keysOf(project)
	sets := []string{k.claims(), k.joins(), k.ended()}
	return page(ctx, s, sets, from, func(set int, p redis.Pipeliner, z redis.Z) readRecord[ListedMatch] {
		row := p.HMGet(ctx, k.match(memberOf(z)), "s", []string{"b", "b", "v"}[set])
		result := p.HExists(ctx, k.result(memberOf(z)), "b")
		return func() (*ListedMatch, error) {
			if result.Val() {
				return nil, nil
			}
			return listedMatch(memberOf(z), set, row)
		}
	}, take)
}

// listedMatch is a match by its state and what is stored of it; nil if it ended without a server.
func listedMatch(id string, set int, row *redis.SliceCmd) (*ListedMatch, error) {
	var in replied
	fields := in.texts(in.row(row))
	if in.err != nil {
		return nil, in.err
	}
	m := &ListedMatch{ID: id}
	if set == 2 {
		server, err := parse[pb.GameServer]("game server", fields[1])
		if err != nil {
			return nil, err
		}
		if fields[0] != "d" || server.GetConfig() == "" {
			return nil, nil
		}
		m.State, m.Config, m.Backfill = ListedAssigned, server.GetConfig(), server.GetBackfill()
		m.Hosting, m.Region, m.Allocated = server.GetHosting(), server.GetRegion(), server.GetAllocated()
		return m, nil
	}
	stored, err := parse[pb.Match]("match", fields[1])
	if err != nil {
		return nil, err
	}
	switch fields[0] {
	case "o", "q", "n":
		m.State = ListedAsking
	case "c":
		m.State = ListedClaimed
		if set == 1 {
			m.State = ListedProposed
		}
	case "a":
		m.State = ListedAllocating
	default:
		return nil, nil // it ended meanwhile
	}
	m.Config, m.Backfill, m.Hosting = stored.GetConfig(), stored.GetBackfill(), stored.GetHosting()
	if game := gameOf(stored); game != "" {
		m.Backfill = game
	}
	m.Region = stored.GetProposal().GetHosting().GetRegion()
	return m, nil
}
