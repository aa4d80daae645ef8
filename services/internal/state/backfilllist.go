package state

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// The states of a backfill ticket that is listed.
const (
	ListedOpen     = "open"     // functions see it
	ListedApproval = "approval" // its server must approve first
	ListedLapsed   = "lapsed"   // its server did not approve in time
)

// ListedBackfill is a backfill ticket.
type ListedBackfill struct {
	*pb.Backfill
	State string
	// Heard is when its server called last, and Joining how many matches go to the game.
	Heard   time.Time
	Joining int64
}

// ListBackfills lists the backfill tickets of a project from behind a place on, the one whose server called last first,
// until take is false. It returns the place to go on behind, "" at the end.
func (s *Store) ListBackfills(
	ctx context.Context, project string, from Place, take func(*ListedBackfill) bool,
) (next string, err error) {
	k := keysOf(project)
	read := func(_ int, members []redis.Z) ([]*ListedBackfill, error) {
		rows, going := make([]*redis.SliceCmd, len(members)), make([]*redis.IntCmd, len(members))
		_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, z := range members {
				id := memberOf(z)
				rows[i] = p.HMGet(ctx, k.backfill(id), "v", "c", "o", "b", "a", "d", "m", "h", "q", "y")
				going[i] = p.HLen(ctx, k.joining(id))
			}
			return nil
		})
		if err != nil {
			return nil, unavailable(err)
		}
		listed := make([]*ListedBackfill, len(members))
		for i, row := range rows {
			if listed[i], err = listedBackfill(memberOf(members[i]), row); err != nil {
				return nil, err
			}
			if listed[i] != nil {
				listed[i].Heard, listed[i].Joining = time.UnixMilli(int64(members[i].Score)), going[i].Val()
			}
		}
		return listed, nil
	}
	next, _, err = page(ctx, s, []string{k.backfills()}, from, read, take)
	return next, err
}

// listedBackfill is a backfill ticket by what is stored of it; nil if it was deleted.
func listedBackfill(id string, row *redis.SliceCmd) (*ListedBackfill, error) {
	var in replied
	fields := in.texts(in.row(row))
	if in.err != nil || fields[0] == "" {
		return nil, in.err
	}
	b := new(pb.Backfill)
	if err := proto.Unmarshal([]byte(fields[3]+fields[8]+fields[9]), b); err != nil {
		return nil, corrupt("backfill ticket", err)
	}
	b.Id, b.Version, b.Created, b.Match = id, in.digits(fields[0]), in.digits(fields[1]), fields[2]
	b.Connection = cmp.Or(fields[4], fields[5])
	state := ListedOpen
	switch hidden := fields[7]; {
	case fields[6] != "":
		state = ListedAllocating
	case strings.HasPrefix(hidden, "a:"):
		state = ListedAsking
	case hidden == "p":
		state = ListedApproval
	case hidden == "l":
		state = ListedLapsed
	}
	return &ListedBackfill{Backfill: b, State: state}, in.err
}
