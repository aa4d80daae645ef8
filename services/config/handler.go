package config

import (
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
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

// respond is a config as it is stored, its hosting keys apart.
func (s *service) respond(c echo.Context, config *pb.Config) error {
	c.Response().Header().Set("ETag", etag(config.GetRevision()))
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

// badConfigID is a result code, like the codes of package definition.
const badConfigID = "badConfigId"

// read makes the record of a config out of its document. The error is a *definition.FieldErrors with all that is wrong.
func read(id string, text jsontext.Value, l definition.Limits) (*pb.Config, *definition.HostingKeys, error) {
	r := definition.NewReader(text, l)
	if reason := idProblem(id); reason != "" {
		r.Add(badConfigID, "configId", "%s", reason)
	}
	c, keys := r.Config()
	c.Id = id
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return c, keys, nil
}

// longestID is the length in bytes of a file name on most file systems.
const longestID = 255

// deviceName is what Windows keeps for devices, with any extension.
var deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$`)

// idProblem says why most file systems would refuse a file of this name; "" when they take it.
func idProblem(id string) string {
	switch {
	case id == "" || len(id) > longestID:
		return "1 to 255 bytes are allowed"
	case !utf8.ValidString(id):
		return "it is not UTF-8"
	case strings.ContainsAny(id, `/\:*?"<>|`):
		return `none of / \ : * ? " < > | is allowed`
	case strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "only printable characters are allowed"
	case id != strings.TrimSpace(id):
		return "a space is not allowed first or last"
	case strings.HasSuffix(id, "."):
		return "a dot is not allowed last"
	case deviceName.MatchString(id):
		return "this is the name of a device on Windows"
	}
	return ""
}

// list answers the project's configs, by id. Limits bound how many there are.
func (s *service) list(c echo.Context) error {
	configs, err := s.Store.Configs(c.Request().Context(), c.Param("project"))
	if err != nil {
		return err
	}
	all := make([]response.ListedConfig, 0, len(configs))
	for _, id := range slices.Sorted(maps.Keys(configs)) {
		config := configs[id]
		all = append(all, response.ListedConfig{
			ID: id, ETag: etag(config.GetRevision()), Name: config.GetName(), Function: config.GetFunction(),
			Queue: config.GetQueue(), Pools: len(config.GetPools()), Hosted: config.GetHosting() != nil,
		})
	}
	return c.JSON(http.StatusOK, response.ConfigList{Configs: all})
}
