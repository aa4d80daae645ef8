package state

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// keepWaits is the time after which nothing of what was known of waits counts any more.
const keepWaits = 12 * time.Hour

// PutWaits stores what is known of how long a project's tickets wait. Errors: ErrLeaseLost when the lease has another
// epoch.
func (s *Store) PutWaits(ctx context.Context, project string, epoch uint64, w *pb.Waits) error {
	body, err := proto.Marshal(w)
	if err != nil {
		return corrupt("waits", err)
	}
	_, err = s.run(ctx, s.call(waitsPutScript, keysOf(project), ids{},
		"epoch", epoch,
		"body", body,
		"keep", keepWaits.Milliseconds()))
	if isStale(err) {
		return ErrLeaseLost
	}
	return err
}

// Waits reads what is known of how long a project's tickets wait; it is empty if nothing is.
func (s *Store) Waits(ctx context.Context, project string) (*pb.Waits, error) {
	w := new(pb.Waits)
	body, err := s.redis.Get(ctx, keysOf(project).waits()).Bytes()
	if errors.Is(err, redis.Nil) {
		return w, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	if err := proto.Unmarshal(body, w); err != nil {
		return nil, corrupt("waits", err)
	}
	return w, nil
}

// Bodies reads the bodies of the tickets that exist, by their ids, up to most bytes in all. It leaves out tickets
// beyond that.
func (s *Store) Bodies(ctx context.Context, project string, tickets []string, most int) (map[string]*pb.Ticket, error) {
	k, found := keysOf(project), map[string]*pb.Ticket{}
	if len(tickets) == 0 {
		return found, nil
	}
	sizes := make([]*redis.IntCmd, len(tickets))
	_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range tickets {
			sizes[i] = p.HStrLen(ctx, k.ticket(id), "b")
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	bodies := map[string]*redis.StringCmd{}
	_, err = s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range tickets {
			if size := int(sizes[i].Val()); size > 0 && size <= most {
				most -= size
				bodies[id] = p.HGet(ctx, k.ticket(id), "b")
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, unavailable(err)
	}
	for id, read := range bodies {
		body, err := read.Bytes()
		if errors.Is(err, redis.Nil) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return nil, unavailable(err)
		}
		t := new(pb.Ticket)
		if err := proto.Unmarshal(body, t); err != nil {
			return nil, corrupt("ticket "+id, err)
		}
		found[id] = t
	}
	return found, nil
}

// SomeWaiting returns some of the tickets that wait, chosen at random, and when they were created.
func (s *Store) SomeWaiting(ctx context.Context, project string, count int) (map[string]time.Time, error) {
	all, err := s.redis.ZRandMemberWithScores(ctx, keysOf(project).waiting(), count).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	tickets := make(map[string]time.Time, len(all))
	for _, one := range all {
		id, _ := one.Member.(string)
		tickets[id] = time.UnixMilli(int64(one.Score))
	}
	return tickets, nil
}
