package webhook

import (
	"fmt"
	"net/netip"
	"time"
)

// Settings of the delivery to webhooks.
type Settings struct {
	Networks []string      `help:"Networks that webhooks may reach besides public addresses, such as 10.20.0.0/16. With loopback addresses among them URLs may be http there." name:"webhook-networks" placeholder:"CIDR" group:"events"`
	Time     time.Duration `help:"How long a request to a webhook may take." default:"10s" name:"webhook-time" bounds:">0" group:"events"`
	Tries    int           `help:"An event that a webhook refused so often, while it took others, becomes a dead letter." default:"8" name:"webhook-tries" bounds:"1.." group:"events"`
	Age      time.Duration `help:"An event that is so old when a webhook refuses it becomes a dead letter." default:"12h" name:"webhook-age" bounds:">0" group:"events"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	_, err := s.networks()
	return err
}

func (s *Settings) networks() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range s.Networks {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("--webhook-networks: %q: a network is expected, such as 10.20.0.0/16", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}
