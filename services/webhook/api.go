package webhook

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
)

func (s *Service) routes(e *echo.Echo) {
	developer := web.Steps(s.Verifier.Require(auth.Developer), s.Limit)
	look := web.Steps(s.Verifier.RequireLook(auth.Developer), s.Limit)
	e.GET(web.Base+"/webhooks", s.list, look...)
	e.GET(web.Base+"/webhooks/:webhook/deadletters", s.deadLetters, look...)
	e.POST(web.Base+"/webhooks/:webhook/deadletters/:letter/actions/send", s.sendAgain, developer...)
	e.DELETE(web.Base+"/webhooks/:webhook/deadletters/:letter", s.deleteLetter, developer...)
}

// list answers how the delivery to each webhook is.
func (s *Service) list(c echo.Context) error {
	ctx, project := c.Request().Context(), c.Param("project")
	p, err := s.Store.Settings(ctx, project)
	if err != nil {
		return err
	}
	kept, err := s.Store.Webhooks(ctx, project)
	if err != nil {
		return err
	}
	answer := response.WebhookList{Webhooks: []response.WebhookStatus{}}
	for _, w := range p.GetWebhooks() {
		k := kept[w.GetName()]
		one := response.WebhookStatus{State: delivering}
		_ = json.Unmarshal([]byte(k.Status), &one) // it is "" before the first request
		one.Name, one.URL, one.Events, one.DeadLetters = w.GetName(), w.GetUrl(), w.GetEvents(), len(k.Letters)
		answer.Webhooks = append(answer.Webhooks, one)
	}
	return c.JSON(http.StatusOK, answer)
}

// hookOf is the webhook that a request names.
func (s *Service) hookOf(c echo.Context) (*pb.Webhook, error) {
	p, err := s.Store.Settings(c.Request().Context(), c.Param("project"))
	if err != nil {
		return nil, err
	}
	for _, w := range p.GetWebhooks() {
		if w.GetName() == c.Param("webhook") {
			return w, nil
		}
	}
	return nil, problem.New(problem.NotFound, "the settings have no webhook %.64q", c.Param("webhook"))
}

func (s *Service) deadLetters(c echo.Context) error {
	hook, err := s.hookOf(c)
	if err != nil {
		return err
	}
	kept, err := s.Store.Webhooks(c.Request().Context(), c.Param("project"))
	if err != nil {
		return err
	}
	answer := response.DeadLetters{DeadLetters: []response.DeadLetter{}}
	for _, l := range kept[hook.GetName()].Letters {
		var one response.DeadLetter
		if err := json.Unmarshal([]byte(l.Text), &one); err != nil {
			return err
		}
		answer.DeadLetters = append(answer.DeadLetters, one)
	}
	return c.JSON(http.StatusOK, answer)
}

func noLetter(c echo.Context) error {
	return problem.New(problem.NotFound, "the webhook %.64q has no dead letter %.64q", c.Param("webhook"),
		c.Param("letter"))
}

// sendAgain sends a dead letter once, now, and deletes it if it was taken.
func (s *Service) sendAgain(c echo.Context) error {
	ctx, project, id := c.Request().Context(), c.Param("project"), c.Param("letter")
	hook, err := s.hookOf(c)
	if err != nil {
		return err
	}
	text, err := s.Store.DeadLetter(ctx, project, hook.GetName(), id)
	if err != nil {
		return err
	}
	if text == "" {
		return noLetter(c)
	}
	var letter response.DeadLetter
	if err := json.Unmarshal([]byte(text), &letter); err != nil {
		return err
	}
	o := s.post(ctx, project, hook, id, letter.Event)
	if o.result == taken {
		if _, err := s.Store.DeleteDeadLetter(ctx, project, hook.GetName(), id); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, response.SentLetter{ID: id, Delivered: o.result == taken, Status: o.status,
		Reason: o.reason})
}

func (s *Service) deleteLetter(c echo.Context) error {
	hook, err := s.hookOf(c)
	if err != nil {
		return err
	}
	there, err := s.Store.DeleteDeadLetter(c.Request().Context(), c.Param("project"), hook.GetName(), c.Param("letter"))
	if err == nil && !there {
		err = noLetter(c)
	}
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
