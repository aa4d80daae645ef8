package insight

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/pool"
)

// queuesAge is how old the answer about queues may be, which all callers of a project share.
const queuesAge = time.Second

// queues answers GET /queues.
func (s *service) queues(c echo.Context) error {
	if _, err := web.Query(c); err != nil {
		return err
	}
	project := c.Param("project")
	answer, err := s.queueLists.Get(project, s.Now, func() (response.QueueList, time.Time, error) {
		until := s.Now().Add(queuesAge)
		answer, err := s.countQueues(c.Request().Context(), project)
		return answer, until, err
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answer)
}

// countQueues asks a runner.
func (s *service) countQueues(ctx context.Context, project string) (answer response.QueueList, err error) {
	configs, err := s.Store.Configs(ctx, project)
	if err != nil {
		return answer, err
	}
	if err := s.allowList(ctx, project); err != nil {
		return answer, err
	}
	position, err := s.Store.Position(ctx, project)
	if err != nil {
		return answer, err
	}
	queues := map[string]*response.Queue{}
	of := func(name string) *response.Queue {
		if queues[name] == nil {
			queues[name] = &response.Queue{Queue: name}
		}
		return queues[name]
	}
	for id, config := range configs {
		q := of(config.GetQueue())
		q.Configs = append(q.Configs, id)
	}
	listed, err := s.list(ctx, &pb.RunRequest{Project: project, Budget: listTime.Milliseconds(), Position: position,
		Listing: &pb.Listing{EveryQueue: true, Limit: 1, Queues: pool.MostQueues,
			Served: slices.Sorted(maps.Keys(queues))}}, configs)
	if err != nil {
		return answer, err
	}
	now, counted := s.Store.Now(), listed.GetQueues()
	if n := len(counted); n > 0 && counted[n-1].GetQueue() == "" {
		of("") // it is told, as the served ones are
	}
	slices.SortStableFunc(counted, func(a, b *pb.QueueCount) int { return cmp.Compare(b.GetTickets(), a.GetTickets()) })
	for _, one := range counted {
		if name := one.GetQueue(); queues[name] != nil || len(queues) < pool.MostQueues {
			q := of(name)
			q.Tickets, q.Players = one.GetTickets(), one.GetPlayers()
			q.Oldest = max(0, now.Sub(time.UnixMilli(one.GetOldest())).Seconds())
		}
	}
	answer = response.QueueList{Time: formatTime(now.UnixMilli()), Tickets: listed.GetTotal(), Queues: []response.Queue{}}
	for _, q := range queues {
		slices.Sort(q.Configs)
		q.Configs = slices.Concat([]string{}, q.Configs) // an empty list rather than null
		answer.Queues = append(answer.Queues, *q)
	}
	slices.SortFunc(answer.Queues, func(a, b response.Queue) int { return strings.Compare(a.Queue, b.Queue) })
	answer.Queues = answer.Queues[:min(len(answer.Queues), pool.MostQueues)]
	return answer, nil
}
