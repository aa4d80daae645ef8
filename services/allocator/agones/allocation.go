package agones

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strconv"

	"matchmaker.dev/services/allocator/provider"
)

// allocations is who allocates: the allocator service, or the cluster's API.
type allocations interface {
	// allocate answers errUnallocated when no server fits a selector.
	allocate(ctx context.Context, a *allocation) (*server, error)
}

// errUnallocated: no server fits.
var errUnallocated = errors.New("no game server is free")

// allocation is what is asked of Agones, in the words that both of its interfaces have in common.
type allocation struct {
	selectors           []selector
	labels, annotations map[string]string
	// add and remove are the allocation's id, for a list; increment and decrement are for a counter.
	list        string
	add, remove string
	counter     string
	action      string
	secrets     []string
}

// selector fits servers that have the labels and the state, and what is asked of a list or a counter.
type selector struct {
	labels    map[string]string
	allocated bool
	list      string
	contains  string
	counter   string
	room      bool
}

// server is a game server as Agones tells of it.
type server struct {
	name                string
	labels, annotations map[string]string
	address             string
	addresses           []address
	ports               []port
	lists               map[string][]string

	// The rest is known from the cluster's API alone.
	uid, version string
	state        string
	deleted      bool
}

type address struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

type port struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// ask is the allocation for a match. Its first selector finds the server that the match has already: an allocation
// whose answer was lost is answered by asking again.
func (p *Provider) ask(r *provider.Request) (*allocation, error) {
	fleet := r.Hosting.Fleet
	if fleet == "" {
		fleet = p.options.Fleet
	}
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
		case !labelValue(one.value):
			return nil, provider.Fail(provider.Refused, "hosting: %s %q cannot be the value of a label", one.field, one.value)
		}
		required[one.label] = one.value
	}
	payload, err := r.Payload()
	if err != nil {
		return nil, err
	}
	if len(payload) > maxPayload {
		return nil, provider.Fail(provider.Refused, "teams and match properties take %d bytes, a game server of Agones takes %d", len(payload), maxPayload)
	}
	a := &allocation{secrets: []string{string(r.Token), string(payload)}}
	p.mark(a, r, string(payload))
	a.selectors = append(a.selectors, p.mine(r.Ref))
	if d := p.options.Density; d != nil {
		for _, extra := range p.options.Selectors {
			a.selectors = append(a.selectors, selector{labels: merged(required, extra), allocated: true, list: d.List, counter: d.Counter, room: true})
		}
	}
	for _, extra := range p.options.Selectors {
		s := selector{labels: merged(required, extra)}
		if d := p.options.Density; d != nil {
			s.list, s.counter, s.room = d.List, d.Counter, true
		}
		a.selectors = append(a.selectors, s)
	}
	return a, nil
}

// maxPayload leaves room for other annotations: Kubernetes allows 256 KiB for all of an object.
const maxPayload = 192 << 10

// mark puts a match's labels and data on its server.
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
	if labelValue(r.Match) {
		a.labels[labelMatch] = r.Match
	}
	if labelValue(r.Project) {
		a.labels[labelProject] = r.Project
	}
	a.annotations = map[string]string{annotationData: payload, annotationReleased: ""}
}

// unmark is the allocation that takes the match from its server again. It allocates a server that is allocated, which
// changes nothing but what is said here.
func (p *Provider) unmark(r provider.Ref) *allocation {
	id := r.Allocation()
	a := &allocation{selectors: []selector{p.mine(r)}}
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

// mine fits the server that a match has.
func (p *Provider) mine(r provider.Ref) selector {
	s := selector{allocated: true, labels: map[string]string{labelAllocation: r.Allocation()}}
	if d := p.options.Density; d != nil {
		s.labels = map[string]string{prefixAllocation + r.Allocation(): held}
		if d.List != "" {
			s.list, s.contains = d.List, r.Allocation()
		}
	}
	return s
}

// holds tells whether a server is a match's, as far as it says.
func (p *Provider) holds(s *server, r provider.Ref) bool {
	for key, value := range p.mine(r).labels {
		if s.labels[key] != value {
			return false
		}
	}
	if d := p.options.Density; d != nil && d.List != "" {
		return slices.Contains(s.lists[d.List], r.Allocation())
	}
	return true
}

// connection is what players connect to.
func (p *Provider) connection(s *server) (string, error) {
	host := s.address
	if p.options.Address != "" {
		i := slices.IndexFunc(s.addresses, func(a address) bool { return a.Type == p.options.Address })
		if i < 0 {
			return "", provider.Fail(provider.Refused, "the game server has no address of type %s", p.options.Address)
		}
		host = s.addresses[i].Address
	}
	i := 0
	if p.options.Port != "" {
		i = slices.IndexFunc(s.ports, func(one port) bool { return one.Name == p.options.Port })
	}
	switch {
	case host == "":
		return "", errors.New("the game server has no address")
	case i < 0:
		return "", provider.Fail(provider.Refused, "the game server has no port %q", p.options.Port)
	case len(s.ports) == 0:
		return host, nil // a fleet without ports
	case s.ports[i].Port < 1 || s.ports[i].Port > 65535:
		return "", errors.New("the game server has a port that is none")
	}
	return net.JoinHostPort(host, strconv.Itoa(s.ports[i].Port)), nil
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
