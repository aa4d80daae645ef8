package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are whose word is taken for the address of a client.
type Proxies struct {
	Trusted string `help:"Networks of proxies whose X-Forwarded-For says where a client is, with commas between: 10.0.0.0/8,fd00::/8. Empty: the other end of the connection is the client." name:"trusted-proxies" placeholder:"NETWORKS" group:"process"`
}

// Validate names the flag that makes no sense.
func (p *Proxies) Validate() error {
	_, err := p.Networks()
	return err
}

// Networks are the trusted networks.
func (p *Proxies) Networks() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for text := range strings.SplitSeq(p.Trusted, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxies: %q is no network such as 10.0.0.0/8", text)
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}

// ClientAddress is the address of a request's client: of the other end of its connection, or, where that is a trusted
// proxy, the last address of X-Forwarded-For that is none. Any client may have written the addresses before that one.
// It is false where a trusted proxy says nothing that can be read.
func ClientAddress(r *http.Request, trusted []netip.Prefix) (netip.Addr, bool) {
	end, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	address := end.Addr().Unmap().WithZone("")
	values := r.Header.Values("X-Forwarded-For")
	if len(values) == 0 {
		return address, true
	}
	forwarded := strings.Split(strings.Join(values, ","), ",")
	for _, text := range slices.Backward(forwarded) {
		if !slices.ContainsFunc(trusted, func(n netip.Prefix) bool { return n.Contains(address) }) {
			return address, true
		}
		said, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return netip.Addr{}, false
		}
		address = said.Unmap().WithZone("")
	}
	return address, true
}
