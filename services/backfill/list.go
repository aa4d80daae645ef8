package backfill

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// list answers GET of the second generation, for developers. It leaves out properties.
func (s *service) list(c echo.Context) error {
	values, err := web.Query(c, "id", "queue", "limit", "after")
	if err != nil {
		return err
	}
	limit, err := web.Limit(values)
	if err != nil {
		return err
	}
	from, err := state.ParseCursor(values.Get("after"))
	if err != nil {
		return err
	}
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	answer := response.BackfillPage{BackfillTickets: []response.ListedBackfillTicket{}}
	take := func(b *state.ListedBackfill) bool {
		if !values.Has("queue") || b.GetQueue() == values.Get("queue") {
			answer.BackfillTickets = append(answer.BackfillTickets, s.listed(b))
		}
		return len(answer.BackfillTickets) < limit
	}
	if values.Has("id") {
		err = s.Store.ListBackfill(ctx, project, values.Get("id"), take)
	} else {
		answer.Next, err = s.Store.ListBackfills(ctx, project, from, take)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answer)
}

func (s *service) listed(b *state.ListedBackfill) response.ListedBackfillTicket {
	one := response.ListedBackfillTicket{ID: b.GetId(), Created: b.GetCreated(), Connection: b.GetConnection(),
		RecordVersion: b.GetVersion(), State: b.State, Match: b.GetMatch(), Queue: b.GetQueue(), Joining: b.Joining,
		Attributes: fields.Attributes(b.GetAttributeNames(), b.GetAttributeValues()),
		Heard:      max(0, s.Store.Now().Sub(b.Heard).Seconds()),
		Age:        max(0, s.Store.Now().Sub(time.UnixMilli(b.GetCreated())).Seconds())}
	for _, p := range b.GetRoster().GetPlayers() {
		one.Players = append(one.Players, p.GetId())
	}
	return one
}
