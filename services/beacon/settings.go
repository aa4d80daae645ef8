package beacon

import (
	"errors"
	"fmt"

	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/app"
)

// Settings of a beacon.
type Settings struct {
	Region  string      `help:"The region that this beacon is in, by its name in the service's --regions." required:"" placeholder:"NAME" group:"beacon"`
	UDP     string      `help:"Address to answer probes on by UDP." name:"udp-listen" default:":7600" group:"beacon"`
	Keys    string      `help:"File with the keys that sign receipts, or env:NAME for an environment variable that holds them. 'matchmaker keys beacon FILE' makes it; the service's --regions names it too." name:"beacon-keys" required:"" placeholder:"FILE" group:"beacon"`
	Rate    float64     `help:"How many questions a second are answered to one network (/24 of IPv4, /48 of IPv6) in the long run. A probe is two." name:"beacon-rate" default:"1000" bounds:"0.001..1000000" group:"beacon"`
	Burst   int         `help:"How many questions of a network are answered at once." name:"beacon-burst" default:"2000" bounds:"1..1000000" group:"beacon"`
	Proxies web.Proxies `embed:""`
}

// Validate names the flags that make no sense.
func (s *Settings) Validate() error {
	var errs []error
	if err := receipt.CheckName(s.Region); err != nil {
		errs = append(errs, fmt.Errorf("--region: %w", err))
	}
	if err := app.CheckAddress(s.UDP); err != nil {
		errs = append(errs, fmt.Errorf("--udp-listen: an address such as :7600 is expected: %w", err))
	}
	return errors.Join(append(errs, s.Proxies.Validate())...)
}
