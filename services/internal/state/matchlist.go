package state

import (
	"context"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

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
	var counts [4]*redis.IntCmd
	_, err = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, set := range []string{k.claims(), k.joins(), k.ended(), k.deallocations()} {
			counts[i] = p.ZCard(ctx, set)
		}
		return nil
	})
	return MatchCounts{counts[0].Val(), counts[1].Val(), counts[2].Val(), counts[3].Val()}, unavailable(err)
}

// ListMatches lists the matches of a project from behind a place on, until take is false: at first those that begin,
// then those that go to a running game, then those that have a server and no result, the one that got it last first.
// It returns the place to go on behind, "" at the end, and how many matches it looked at: 1,024 at most.
func (s *Store) ListMatches(
	ctx context.Context, project string, from Place, take func(*ListedMatch) bool,
) (next string, looked int, err error) {
	k := keysOf(project)
	read := func(set int, members []redis.Z) ([]*ListedMatch, error) {
		rows, results := make([]*redis.SliceCmd, len(members)), make([]*redis.BoolCmd, len(members))
		about := "b"
		if set == 2 {
			about = "v"
		}
		_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, z := range members {
				rows[i] = p.HMGet(ctx, k.match(memberOf(z)), "s", about)
				results[i] = p.HExists(ctx, k.result(memberOf(z)), "b")
			}
			return nil
		})
		if err != nil {
			return nil, unavailable(err)
		}
		listed := make([]*ListedMatch, len(members))
		for i, row := range rows {
			if results[i].Val() {
				continue
			}
			if listed[i], err = listedMatch(memberOf(members[i]), set, row); err != nil {
				return nil, err
			}
		}
		return listed, nil
	}
	return page(ctx, s, []string{k.claims(), k.joins(), k.ended()}, from, read, take)
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
		server := new(pb.GameServer)
		if err := proto.Unmarshal([]byte(fields[1]), server); err != nil {
			return nil, corrupt("game server", err)
		}
		if fields[0] != "d" || server.GetConfig() == "" {
			return nil, nil
		}
		m.State, m.Config, m.Backfill = ListedAssigned, server.GetConfig(), server.GetBackfill()
		m.Hosting, m.Region, m.Allocated = server.GetHosting(), server.GetRegion(), server.GetAllocated()
		return m, nil
	}
	stored := new(pb.Match)
	if err := proto.Unmarshal([]byte(fields[1]), stored); err != nil {
		return nil, corrupt("match", err)
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
