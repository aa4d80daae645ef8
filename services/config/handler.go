package config

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
)

func (s *service) create(c echo.Context) error {
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	if _, err := s.save(c, id.String(), condition{}); err != nil {
		return respondRefused(c, err)
	}
	return c.JSON(http.StatusOK, map[string]string{"id": id.String()})
}

func (s *service) put(c echo.Context) error {
	asked, err := conditionOf(c.Request().Header)
	if err != nil {
		return err
	}
	config, err := s.save(c, c.Param("config"), asked)
	if err != nil {
		return respondRefused(c, err)
	}
	return s.respond(c, config)
}

// save checks the request's config and stores it. The answer's header gets the warnings.
func (s *service) save(c echo.Context, id string, asked condition) (*pb.Config, error) {
	config, keys, err := s.read(c, id)
	if err != nil {
		return nil, err
	}
	found, err := s.judge(c.Request().Context(), c.Param("project"), config)
	if err == nil {
		err = s.store(c.Request().Context(), c.Param("project"), config, keys, asked)
	}
	if err == nil {
		warn(c.Response().Header(), found)
	}
	return config, err
}

func (s *service) get(c echo.Context) error {
	asked, err := conditionOf(c.Request().Header)
	if err != nil {
		return err
	}
	config, err := s.Store.Config(c.Request().Context(), c.Param("project"), c.Param("config"))
	if err != nil {
		return err
	}
	switch revision := config.GetRevision(); {
	case asked.match != nil && !matchesAny(asked.match, revision):
		return conditionFailed(config.GetId(), revision)
	case matchesAny(asked.noneMatch, revision):
		c.Response().Header().Set("ETag", etag(revision))
		return c.NoContent(http.StatusNotModified)
	}
	return s.respond(c, config)
}

func (s *service) delete(c echo.Context) error {
	asked, err := conditionOf(c.Request().Header)
	if err != nil {
		return err
	}
	by := auth.From(c).Subject
	if err := s.remove(c.Request().Context(), c.Param("project"), c.Param("config"), by, asked); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// read makes a record of the request's config.
func (s *service) read(c echo.Context, id string) (*pb.Config, *definition.HostingKeys, error) {
	text, err := web.ReadJSON(c)
	if err != nil {
		return nil, nil, err
	}
	return s.parse(c, id, text)
}

// parse makes a record of a config that the caller wants.
func (s *service) parse(c echo.Context, id string, text jsontext.Value) (*pb.Config, *definition.HostingKeys, error) {
	config, keys, err := read(id, text, s.Limits)
	if err != nil {
		return nil, nil, err
	}
	config.ChangedBy = auth.From(c).Subject
	if s.CheckHosting == nil || config.GetHosting() == nil {
		return config, keys, nil
	}
	if err := s.CheckHosting(c.Param("project"), config.GetHosting()); err != nil {
		var errs definition.FieldErrors
		errs.Add(definition.BadHosting, "hosting", "%s", err)
		return nil, nil, &errs
	}
	return config, keys, nil
}

// respond is a config as it is stored, its hosting keys apart. No cache shall keep it.
func (s *service) respond(c echo.Context, config *pb.Config) error {
	header := c.Response().Header()
	header.Set("ETag", etag(config.GetRevision()))
	header.Set(echo.HeaderCacheControl, "no-store")
	return c.JSON(http.StatusOK, bodyOf(config, s.show(c.Request().Context(), c.Param("project"), config)))
}

// respondRefused answers the list of errors as the contract has it; other errors pass. What it returns besides says for
// the metrics which limit was met.
func respondRefused(c echo.Context, err error) error {
	errs, ok := errors.AsType[*definition.FieldErrors](err)
	if !ok {
		return err
	}
	limit := errs.Exceeded()
	if err := c.JSON(http.StatusBadRequest, errs.List()); err != nil || limit == "" {
		return err
	}
	return problem.New(problem.Invalid, "the body exceeds a limit: %s", limit).Exceeds(limit)
}
