package config

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// history answers GET /configs/{id}/history: the changes of the config, the newest first.
func (s *service) history(c echo.Context) error {
	ctx, project := c.Request().Context(), c.Param("project")
	all, err := s.Store.ConfigHistory(ctx, project, c.Param("config"))
	if err != nil {
		return err
	}
	changes := make([]response.ConfigChange, 0, len(all))
	for _, one := range all {
		change := response.ConfigChange{
			ETag: etag(one.Revision), Changed: timestamp(one.Changed), By: one.By, Current: one.Applies, Deleted: one.Deleted,
		}
		if one.Config != nil {
			change.Config = new(bodyOf(one.Config, s.show(ctx, project, one.Config)))
		}
		changes = append(changes, change)
	}
	return c.JSON(http.StatusOK, response.ConfigHistory{Changes: changes})
}

// timestamp is a time as answers have it; empty for the zero time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return response.Time(t)
}

// target is the body of a rollback.
type target struct {
	ETag string `json:"etag"`
}

// rollback answers POST /configs/{id}/actions/rollback: it makes the config what it was after one of its changes, as a
// PUT of that would, and with the hosting keys of that time. It is checked again, since limits and rules may have
// changed. A config that was deleted comes back. To go to what the config is changes nothing.
func (s *service) rollback(c echo.Context) error {
	ctx, project, id := c.Request().Context(), c.Param("project"), c.Param("config")
	var to target
	if err := web.Decode(c, &to); err != nil {
		return err
	}
	if to.ETag == "" {
		return problem.New(problem.Invalid, "etag: missing: name the change to go back to, as the history has it")
	}
	asked, err := conditionOf(c.Request().Header)
	if err != nil {
		return err
	}
	all, err := s.Store.ConfigHistory(ctx, project, id)
	if err != nil {
		return err
	}
	was, err := changeOf(all, id, to.ETag)
	if err != nil {
		return err
	}
	config, err := s.again(c, was.Config)
	if err != nil {
		return respondRefused(c, err)
	}
	found, err := s.judge(ctx, project, config)
	if err != nil {
		return respondRefused(c, err)
	}
	if config, err = s.restore(ctx, project, config, was, asked); err != nil {
		return err
	}
	warn(c.Response().Header(), found)
	return s.respond(c, config)
}

// changeOf finds the change with an ETag that can be gone back to.
func changeOf(all []state.ConfigChange, id, tag string) (found state.ConfigChange, err error) {
	i := slices.IndexFunc(all, func(c state.ConfigChange) bool { return etag(c.Revision) == tag })
	switch {
	case i >= 0 && all[i].Deleted:
		return found, problem.New(problem.Invalid, "etag: %s is the deletion of config %q: DELETE it instead", tag, id)
	case i >= 0 && all[i].Config == nil:
		return found, problem.New(problem.NotFound, "etag: it is not kept what config %q was after the change %s: Redis "+
			"was short of memory when it was replaced", id, tag)
	case i >= 0:
		return all[i], nil
	}
	var kept []string
	for _, c := range all {
		if c.Config != nil {
			kept = append(kept, etag(c.Revision))
		}
	}
	return found, problem.New(problem.NotFound, "etag: the change %.64q of config %q is not kept, those that are: %s", tag,
		id, strings.Join(kept, ", "))
}

// again checks what a config was as a PUT of it, and returns its record with the hosting keys that it had.
func (s *service) again(c echo.Context, was *pb.Config) (*pb.Config, error) {
	text, err := web.Marshal(bodyOf(was, &pb.HostingKeys{}))
	if err != nil {
		return nil, err
	}
	config, _, err := s.parse(c, was.GetId(), text)
	if err != nil || len(was.GetHosting().GetKeys()) == 0 {
		return config, err
	}
	if _, err := s.Keys.OpenHosting(c.Param("project"), was.GetId(), was.GetHosting()); err != nil {
		return nil, problem.Wrap(problem.Unavailable, err, "hosting: the keys that the config had cannot be decrypted: put "+
			"the config with keys instead")
	}
	config.Hosting.Keys = was.GetHosting().GetKeys()
	return config, nil
}

// restore stores what a config was, and returns what it is now.
func (s *service) restore(ctx context.Context, project string, config *pb.Config, was state.ConfigChange,
	asked condition) (now *pb.Config, err error) {
	err = s.change(ctx, project, config.GetId(), asked, true, func(expected int64, there *pb.Config) (err error) {
		if now = there; expected == was.Revision {
			return nil
		}
		now = config
		config.Revision, _, err = s.Store.PutConfig(ctx, project, config, expected)
		return err
	})
	if err == nil && now == config {
		s.Bus.Poke(ctx, project, &pb.Poke{Configs: true})
	}
	return now, err
}
