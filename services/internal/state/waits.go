package state

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// keepWaits is the time after which nothing of what was known of waits counts any more. waitsSpan is where it is stored
// among the reports, as their only slot.
const (
	keepWaits = 12 * time.Hour
	waitsSpan = ":waits"
)

// PutWaits stores what is known of how long a project's tickets wait. Errors: ErrLeaseLost when the lease has another
// epoch.
func (s *Store) PutWaits(ctx context.Context, project string, epoch uint64, w *pb.Waits) error {
	return s.PutReport(ctx, project, epoch, 0, w, ReportKeep{Span: waitsSpan, For: keepWaits})
}

// Waits reads what is known of how long a project's tickets wait; it is empty if nothing is.
func (s *Store) Waits(ctx context.Context, project string) (*pb.Waits, error) {
	body, err := textOf(s.redis.HGet(ctx, keysOf(project).report(waitsSpan), "0"))
	if err != nil {
		return nil, err
	}
	return parse[pb.Waits]("waits", body)
}

// bodiesAtOnce is how many bodies, each of which a request had, are read in a round trip.
const bodiesAtOnce = 64

// Bodies reads the bodies of the tickets that exist, by their ids, up to most bytes in all. It leaves out those
// that do not fit.
func (s *Store) Bodies(ctx context.Context, project string, tickets []string, most int) (map[string]*pb.Ticket, error) {
	k, found := keysOf(project), map[string]*pb.Ticket{}
	for some := range slices.Chunk(tickets, bodiesAtOnce) {
		bodies, err := forEach(ctx, s.redis, some, func(p redis.Pipeliner, id string) *redis.StringCmd {
			return p.HGet(ctx, k.ticket(id), "b")
		})
		if err != nil {
			return nil, err
		}
		for i, id := range some {
			body, err := textOf(bodies[i])
			if body != "" && len(body) <= most {
				most -= len(body)
				found[id], err = parse[pb.Ticket]("ticket "+id, body)
			}
			if err != nil {
				return nil, err
			}
		}
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
		tickets[memberOf(one)] = time.UnixMilli(int64(one.Score))
	}
	return tickets, nil
}
