package config

import (
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/response"
)

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
