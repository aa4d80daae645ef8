package agones

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/allocator/provider"
)

// allocations makes allocations: the allocator service, or the cluster's API.
type allocations interface {
	// allocate answers errUnallocated when no server fits a selector.
	allocate(ctx context.Context, a *allocation) (*server, error)
}

// errUnallocated means that no server fits.
var errUnallocated = errors.New("no game server is free")

// allocation is a request to Agones. Both interfaces have these fields in common.
type allocation struct {
	selectors           []selector
	labels, annotations map[string]string
	// add and remove are values of the list, action is Increment or Decrement of the counter.
	list        string
	add, remove string
	counter     string
	action      string
	// secrets are what the request holds, and must be in no error.
	secrets []string
}

// selector fits servers with these labels and this state, whose list or counter has room or contains a value.
type selector struct {
	labels    map[string]string
	allocated bool
	list      string
	contains  string
	counter   string
	room      bool
}

// server is a GameServer. The allocator service does not tell UID, resourceVersion, deletionTimestamp and state.
type server struct {
	metadata `json:"metadata"`
	Status   gameServer `json:"status"`
}

type metadata struct {
	Name              string            `json:"name"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
}

// gameServer is the status of a GameServer or of a GameServerAllocation, or an answer of the allocator service.
type gameServer struct {
	State          string          `json:"state"`
	GameServerName string          `json:"gameServerName"`
	Metadata       metadata        `json:"metadata"`
	Address        string          `json:"address"`
	Addresses      []address       `json:"addresses"`
	Ports          []port          `json:"ports"`
	Lists          map[string]list `json:"lists"`
}

type list struct {
	Values []string `json:"values"`
}

type address struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

type port struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// server is the server that an allocation answered with.
func (g *gameServer) server() *server {
	g.Metadata.Name = g.GameServerName
	return &server{metadata: g.Metadata, Status: *g}
}

// allocationOf is the allocation for a match. Its first selector finds the server that the match has already. So an
// allocation whose answer was lost can be repeated.
func (p *Provider) allocationOf(r *provider.Request) (*allocation, error) {
	fleet := cmp.Or(r.Hosting.Fleet, p.options.Fleet)
	required := map[string]string{labelFleet: fleet}
	for _, one := range []struct{ field, label, value string }{
		{"FleetId", labelFleet, fleet},
		{"Profile", p.options.ProfileLabel, r.Hosting.Profile},
		{"region", p.options.RegionLabel, r.Hosting.Region},
	} {
		switch {
		case one.label == labelFleet && one.value == "":
			return nil, provider.Fail(provider.Refused, "hosting: FleetId is missing, and the installation has no default")
		case one.label == "" || one.value == "":
			continue
		case one.label == p.options.RegionLabel && !isLabelValue(one.value): // it may be a text of clients
			return nil, provider.Fail(provider.Refused, "hosting: the region of the match cannot be the value of a label")
		case !isLabelValue(one.value):
			return nil, provider.Fail(provider.Refused, "hosting: %s %q cannot be the value of a label", one.field, one.value)
		}
		required[one.label] = one.value
	}
	most := maxPayload
	if p.options.Density != nil {
		most = maxShared
	}
	payload, err := r.PayloadWithin(most)
	if err != nil {
		return nil, err
	}
	if len(payload) > maxPayload {
		return nil, provider.Fail(provider.Refused,
			"teams and match properties take %d bytes, a game server of Agones takes %d", len(payload), maxPayload)
	}
	a := &allocation{secrets: []string{r.Secret()}}
	p.mark(a, r, string(payload))
	a.selectors = append(a.selectors, p.selectorOf(r.Ref))
	if d := p.options.Density; d != nil {
		for _, extra := range p.options.Selectors {
			a.selectors = append(a.selectors, selector{
				labels: merge(required, extra), allocated: true, list: d.List, counter: d.Counter, room: true,
			})
		}
	}
	for _, extra := range p.options.Selectors {
		s := selector{labels: merge(required, extra)}
		if d := p.options.Density; d != nil {
			s.list, s.counter, s.room = d.List, d.Counter, true
		}
		a.selectors = append(a.selectors, s)
	}
	return a, nil
}

// maxPayload leaves room for other annotations: Kubernetes allows 256 KiB for all of an object.
const maxPayload = 192 << 10

// maxShared is the most bytes of a payload with players where a server takes several matches.
const maxShared = 8 << 10

// mark adds a match's labels and data to its server.
func (p *Provider) mark(a *allocation, r *provider.Request, payload string) {
	id := r.Allocation()
	if d := p.options.Density; d != nil {
		a.labels = map[string]string{labelDense: "true", prefixAllocation + id: held}
		a.annotations = map[string]string{prefixData + id: payload}
		a.list, a.counter = d.List, d.Counter
		if d.List != "" {
			a.add = id
		} else {
			a.action = "Increment"
		}
		return
	}
	a.labels = map[string]string{labelAllocation: id, labelMatch: "", labelProject: ""}
	if isLabelValue(r.Match) {
		a.labels[labelMatch] = r.Match
	}
	if isLabelValue(r.Project) {
		a.labels[labelProject] = r.Project
	}
	a.annotations = map[string]string{annotationData: payload, annotationReleased: ""}
}

// unmark is the allocation that takes the match from its server again. It allocates an allocated server, and so changes
// only labels, annotations, the list and the counter.
func (p *Provider) unmark(r provider.Ref) *allocation {
	id := r.Allocation()
	a := &allocation{selectors: []selector{p.selectorOf(r)}}
	if d := p.options.Density; d != nil {
		a.labels = map[string]string{prefixAllocation + id: released}
		a.annotations = map[string]string{prefixData + id: "", annotationReleased: id}
		a.list, a.counter = d.List, d.Counter
		if d.List != "" {
			a.remove = id
		} else {
			a.action = "Decrement"
		}
		return a
	}
	a.labels = map[string]string{labelAllocation: "", labelMatch: "", labelProject: ""}
	a.annotations = map[string]string{annotationData: "", annotationReleased: id}
	return a
}

// selectorOf fits the server that a match has.
func (p *Provider) selectorOf(r provider.Ref) selector {
	s := selector{allocated: true, labels: map[string]string{labelAllocation: r.Allocation()}}
	if d := p.options.Density; d != nil {
		s.labels = map[string]string{prefixAllocation + r.Allocation(): held}
		if d.List != "" {
			s.list, s.contains = d.List, r.Allocation()
		}
	}
	return s
}

// has reports whether a server's labels and list say that it is a match's.
func (p *Provider) has(s *server, r provider.Ref) bool {
	for key, value := range p.selectorOf(r).labels {
		if s.Labels[key] != value {
			return false
		}
	}
	if d := p.options.Density; d != nil && d.List != "" {
		return slices.Contains(s.Status.Lists[d.List].Values, r.Allocation())
	}
	return true
}

// isOf reports whether an address is one of IPv4 or IPv6; with "" it may be any.
func (a address) isOf(family string) bool {
	if family == "" {
		return true
	}
	ip, err := netip.ParseAddr(a.Address)
	return err == nil && ip.Is4() == (family == "ipv4")
}

// connection is what players connect to.
func (p *Provider) connection(s *server) (string, error) {
	host := s.Status.Address
	if p.options.Address != "" {
		i := slices.IndexFunc(s.Status.Addresses, func(a address) bool {
			return a.Type == p.options.Address && a.isOf(p.options.Family)
		})
		if i < 0 {
			return "", provider.Fail(provider.Refused, "the game server has no address of type %s",
				strings.TrimSpace(p.options.Address+" "+p.options.Family))
		}
		host = s.Status.Addresses[i].Address
	}
	i := 0
	if p.options.Port != "" {
		i = slices.IndexFunc(s.Status.Ports, func(one port) bool { return one.Name == p.options.Port })
	}
	switch {
	case host == "":
		return "", errors.New("the game server has no address")
	case i < 0:
		return "", provider.Fail(provider.Refused, "the game server has no port %q", p.options.Port)
	case len(s.Status.Ports) == 0:
		return host, nil // a fleet without ports
	case s.Status.Ports[i].Port < 1 || s.Status.Ports[i].Port > 65535:
		return "", errors.New("the game server's port is not between 1 and 65535")
	}
	return net.JoinHostPort(host, strconv.Itoa(s.Status.Ports[i].Port)), nil
}

func merge(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// runs reports whether a server exists and is allocated.
func (s *server) runs() bool { return s.Status.State == stateAllocated && s.DeletionTimestamp == nil }

// byAge orders servers by when they were allocated last, then by name.
func byAge(a, b *server) int {
	const key = "agones.dev/last-allocated"
	return cmp.Or(
		lastAllocated(a.Annotations[key]).Compare(lastAllocated(b.Annotations[key])), strings.Compare(a.Name, b.Name),
	)
}

func lastAllocated(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text) // a server without one counts as the oldest
	return at
}

// over are the allocations that a server has data of and that are not on its list any more.
func (s *server) over(name string) []string {
	var ids []string
	for key := range s.Annotations {
		if id, ok := strings.CutPrefix(key, prefixData); ok && !slices.Contains(s.Status.Lists[name].Values, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
