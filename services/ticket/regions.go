package ticket

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/response"
)

// regions lists the regions whose latency clients can measure.
func (s *service) regions(c echo.Context) error {
	if err := s.reads.Allow(c.Param("project"), "regions of "+auth.From(c).Subject); err != nil {
		return err
	}
	all := response.Regions{Regions: []response.Region{}, ReceiptSeconds: int(s.Regions.Age() / time.Second)}
	for _, r := range s.Regions.Regions() {
		all.Regions = append(all.Regions, response.Region{Name: r.Name, Protocol: r.Protocol, UDP: r.UDP, URL: r.URL})
	}
	return c.JSON(http.StatusOK, all)
}
