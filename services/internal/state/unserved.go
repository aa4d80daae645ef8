package state

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// named is how many of the queues that there are a refusal names.
const named = 16

// unservedError refuses a ticket for its queues that no config serves, and names some of the queues that there are.
func unservedError(queues, there []string) error {
	known := "no queue is served"
	if len(there) > 0 {
		known = "the queues that there are: " + quoted(there[:min(named, len(there))])
		if more := len(there) - named; more > 0 {
			known += fmt.Sprintf(" and %d more", more)
		}
	}
	return problem.New(problem.QueueUnserved, "queues: no config of this project serves %s; %s", quoted(queues), known)
}

func quoted(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = strconv.Quote(name)
	}
	return strings.Join(all, ", ")
}

// Stranded are tickets that ended because no config serves any of their queues any more.
type Stranded struct {
	Ended int
	// Told are the ended tickets whose end is told.
	Told []string
	// Position is the feed's position behind that; 0 when none ended.
	Position uint64
	// Next is where to look further; 0 when all tickets that wait were looked at.
	Next uint64
}

// EndUnserved looks at about limit of the tickets that wait, and ends those that were created where a queue must be
// served, if no config has served any of their queues for longer than grace and withSlack. Ends that are told can be
// read for as long as readable.
func (s *Store) EndUnserved(
	ctx context.Context, project string, from uint64, limit int, grace, readable time.Duration,
) (found Stranded, err error) {
	k := keysOf(project)
	some, next, err := s.redis.ZScan(ctx, k.waiting(), from, "", int64(limit)).Result()
	if err != nil {
		return found, unavailable(err)
	}
	found.Next = next
	if len(some) == 0 {
		return found, nil
	}
	tickets := make([]string, 0, len(some)/2)
	for i := 0; i < len(some); i += 2 { // with their scores
		tickets = append(tickets, some[i])
	}
	c := s.call("expire_unserved", k, ids{},
		"grace", grace.Milliseconds(),
		"told_time", readable.Milliseconds(),
		"reason", "unserved",
		"event", s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_EXPIRED, Reason: "unserved"}))
	c.addEach(k.ticket, tickets)
	err = s.eval(ctx, c, &found.Ended, &found.Position, &found.Told)
	return found, err
}

// ForgetUnserved forgets of queues that no config has served them for longer than age and withSlack. No ticket ends for
// it any more.
func (s *Store) ForgetUnserved(ctx context.Context, project string, age time.Duration) error {
	latest := strconv.FormatInt(millis(s.Now().Add(-withSlack(age))), 10)
	return unavailable(s.redis.ZRemRangeByScore(ctx, keysOf(project).unserved(), "-inf", latest).Err())
}
