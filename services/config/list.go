package config

import (
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"
)

// listed is a config in the list of all of them. What it has in full is its own GET's to say.
type listed struct {
	ID       string `json:"id"`
	ETag     string `json:"etag"`
	Name     string `json:"name,omitempty"`
	Function string `json:"function"`
	Queue    string `json:"queue,omitempty"`
	// Pools is how many there are; without any, the function gets all tickets.
	Pools int `json:"pools"`
	// Hosted tells that its matches get servers.
	Hosted bool `json:"hosted"`
}

// list answers the project's configs, by id. Limits bound how many there are.
func (s *service) list(c echo.Context) error {
	configs, err := s.Store.Configs(c.Request().Context(), c.Param("project"))
	if err != nil {
		return err
	}
	all := make([]listed, 0, len(configs))
	for _, id := range slices.Sorted(maps.Keys(configs)) {
		config := configs[id]
		all = append(all, listed{
			ID: id, ETag: etag(config.GetRevision()), Name: config.GetName(), Function: config.GetFunction(),
			Queue: config.GetQueue(), Pools: len(config.GetPools()), Hosted: config.GetHosting() != nil,
		})
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.JSON(http.StatusOK, map[string][]listed{"configs": all})
}
