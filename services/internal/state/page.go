package state

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/edge/problem"
)

// listStep is how many records a list reads in a round trip: 4 MiB if each is as large as it may be. listLook is how
// many it looks at for a page.
const listStep, listLook = 32, 1024

// Cursor is a place in a list: behind a member of one of its sets. The zero Cursor is before all.
type Cursor struct {
	set int
	at  float64
	id  string
}

// String is the place as clients have it. It is opaque to them.
func (p Cursor) String() string {
	return strconv.Itoa(p.set) + "." + p.score() + "." + p.id
}

// score is the score of the member: a number without an exponent, or Inf.
func (p Cursor) score() string {
	return strings.TrimPrefix(strconv.FormatFloat(p.at, 'f', -1, 64), "+")
}

// ParseCursor reads the query parameter after of a list: what String returned, or "" for the beginning. Errors:
// Invalid.
func ParseCursor(after string) (p Cursor, err error) {
	if after == "" {
		return p, nil
	}
	set, rest, _ := strings.Cut(after, ".")
	at := max(strings.LastIndexByte(rest, '.'), 0) // a score may have a point
	score, id := rest[:at], strings.TrimPrefix(rest[at:], ".")
	number, err := strconv.ParseUint(set, 10, 8)
	p.id, p.set = id, int(number)
	if err == nil {
		p.at, err = strconv.ParseFloat(score, 64)
	}
	if err != nil || math.IsNaN(p.at) || id == "" || len(id) > 64 {
		return Cursor{}, problem.New(problem.Invalid, "query parameter after: next of an earlier answer is expected")
	}
	return p, nil
}

// rank is the number of members of a set, the greatest score first, that a place is behind.
func (s *Store) rank(ctx context.Context, key string, p Cursor) (int64, error) {
	if p.id == "" {
		return 0, nil
	}
	var rank *redis.IntCmd
	var score *redis.FloatCmd
	_, err := s.redis.Pipelined(ctx, func(c redis.Pipeliner) error {
		rank, score = c.ZRevRank(ctx, key, p.id), c.ZScore(ctx, key, p.id)
		return nil
	})
	if err == nil && score.Val() == p.at {
		return rank.Val() + 1, nil
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, unavailable(err)
	}
	// It is gone, or elsewhere. Members of the same score may come twice.
	n, err := s.redis.ZCount(ctx, key, "("+p.score(), "+inf").Result()
	return n, unavailable(err)
}

// readRecord returns a record that was read, nil if it is not listed.
type readRecord[T any] func() (*T, error)

// page goes through sets, one after the other and the greatest score first, from behind a place on. read adds to a
// round trip what reads the record of a set's member, and take is called with the records that are listed until it is
// false. It returns the place to go on behind, "" at the end, and how many members it looked at.
func page[T any](
	ctx context.Context, s *Store, sets []string, from Cursor,
	read func(set int, p redis.Pipeliner, member redis.Z) readRecord[T], take func(*T) bool,
) (next string, looked int, err error) {
	for set := from.set; set < len(sets); set++ {
		at := Cursor{set: set}
		if set == from.set {
			at = from
		}
		rank, err := s.rank(ctx, sets[set], at)
		if err != nil {
			return "", looked, err
		}
		for {
			members, err := s.redis.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{Key: sets[set], Start: rank,
				Stop: rank + listStep - 1, Rev: true}).Result()
			if err != nil {
				return "", looked, unavailable(err)
			}
			if len(members) == 0 {
				break
			}
			records := make([]readRecord[T], len(members))
			if _, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
				for i, member := range members {
					records[i] = read(set, p, member)
				}
				return nil
			}); err != nil {
				return "", looked, unavailable(err)
			}
			for i, record := range records {
				at = Cursor{set, members[i].Score, memberOf(members[i])}
				one, err := record()
				if err != nil {
					return "", looked, err
				}
				if one != nil && !take(one) {
					return at.String(), looked + i, nil
				}
			}
			rank, looked = rank+int64(len(members)), looked+len(members)
			if looked >= listLook {
				return at.String(), looked, nil
			}
		}
	}
	return "", looked, nil
}

// memberOf is the member of a set without its score.
func memberOf(z redis.Z) string {
	id, _ := z.Member.(string)
	return id
}
