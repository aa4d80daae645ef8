package export

import (
	"fmt"

	"matchmaker.dev/services/internal/platform/app"
)

// Settings of the metrics. Package documentation has the variables of the environment.
type Settings struct {
	Listen string `help:"Address to serve /metrics for Prometheus on; nothing is served when empty. OTEL_METRICS_EXPORTER and the other OTEL_… variables work as well." name:"metrics-listen" default:"${metrics}" group:"process"`
	Values int    `help:"How many projects, configs, functions and pools metrics tell apart, of each. A project has half of what the others leave; what comes later is counted as 'other'." name:"metrics-values" default:"200" bounds:"0.." group:"process"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if err := app.CheckAddress(s.Listen); err != nil && s.Listen != "" {
		return fmt.Errorf("--metrics-listen: an address such as :9464 is expected: %w", err)
	}
	return nil
}
