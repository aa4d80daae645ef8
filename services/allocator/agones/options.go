package agones

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"time"

	"matchmaker.dev/services/allocator/transport"
)

// Options are the settings of the provider, with the hosting file's names in yaml.
type Options struct {
	// Namespace is where the game servers are; "default" when empty.
	Namespace string `yaml:"namespace"`
	// Fleet is for configs that name none.
	Fleet string `yaml:"fleet"`
	// Selectors are labels that servers must have besides the fleet's, in order: the second counts when no server fits
	// the first. None is one selector without labels.
	Selectors []map[string]string `yaml:"selectors"`
	// ProfileLabel and RegionLabel are labels of servers whose value must be the match's profile or region, where it has
	// one. Without them both are ignored.
	ProfileLabel string `yaml:"profile-label"`
	RegionLabel  string `yaml:"region-label"`
	// Port is the name of the port that players connect to; the first when empty.
	Port string `yaml:"port"`
	// Address is the type of the address that players get, like ExternalIP or ExternalDNS; the server's main one when
	// empty.
	Address string `yaml:"address"`
	// Family is ipv4 or ipv6: which of several addresses of that type; the first when empty.
	Family string `yaml:"address-family"`
	// Scheduling is Packed, the default, or Distributed.
	Scheduling string `yaml:"scheduling"`
	// Density is set where a server takes several matches.
	Density *Density `yaml:"density"`

	// Service is the allocator service, Kubernetes the API of the cluster. With both, matches are allocated
	// through the service, and found and released through Kubernetes.
	Service    *Service    `yaml:"service"`
	Kubernetes *Kubernetes `yaml:"kubernetes"`

	// Timeout of a call; 10 s when 0.
	Timeout time.Duration `yaml:"timeout"`

	Log *slog.Logger     `yaml:"-"`
	Now func() time.Time `yaml:"-"`
}

// Density says what counts the matches of a server: a list, which is exact, or a counter. Set one of the two.
type Density struct {
	// List holds the allocations' ids. The server removes one when its match is over.
	List string `yaml:"list"`
	// Counter counts up with each match. The server counts down when one is over.
	Counter string `yaml:"counter"`
}

// Service is where the allocator service is. Files are PEM and are read again when they change.
type Service struct {
	URL         string `yaml:"url"`
	CA          string `yaml:"ca"`
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
}

// Kubernetes is where the API is: what a kubeconfig says, or URL, CA and Token. Where these are empty they are what a
// pod finds in its place.
type Kubernetes struct {
	// Kubeconfig is a file; its current context is used.
	Kubeconfig string `yaml:"kubeconfig"`

	URL string `yaml:"url"`
	// CA and Token are files, and are read again when they change.
	CA    string `yaml:"ca"`
	Token string `yaml:"token"`
	// Keep leaves released servers running and only marks them, for servers that end themselves when they see it.
	Keep bool `yaml:"keep-released"`
}

func (o *Options) check() error {
	o.Namespace = cmp.Or(o.Namespace, "default")
	o.Scheduling = cmp.Or(o.Scheduling, "Packed")
	if len(o.Selectors) == 0 {
		o.Selectors = []map[string]string{{}}
	}
	switch {
	case !isNamespace(o.Namespace):
		return fmt.Errorf("namespace: %q is no name of a namespace", o.Namespace)
	case o.Fleet != "" && !isLabelValue(o.Fleet):
		return fmt.Errorf("fleet: %q is no name of a fleet", o.Fleet)
	case o.ProfileLabel != "" && !isLabelKey(o.ProfileLabel):
		return fmt.Errorf("profile-label: %q is no label", o.ProfileLabel)
	case o.RegionLabel != "" && !isLabelKey(o.RegionLabel):
		return fmt.Errorf("region-label: %q is no label", o.RegionLabel)
	case o.Scheduling != "Packed" && o.Scheduling != "Distributed":
		return fmt.Errorf("scheduling: %q is neither Packed nor Distributed", o.Scheduling)
	case o.Family != "" && o.Family != "ipv4" && o.Family != "ipv6":
		return fmt.Errorf("address-family: %q is neither ipv4 nor ipv6", o.Family)
	case o.Family != "" && o.Address == "":
		return errors.New("address-family: address is needed: the type of the addresses, such as ExternalIP")
	case o.Density != nil && (o.Density.List == "") == (o.Density.Counter == ""):
		return errors.New("density: a list or a counter is expected")
	case o.Timeout < 0:
		return errors.New("timeout: must be more than 0")
	case o.Service == nil && o.Kubernetes == nil:
		return errors.New("service or kubernetes: one is needed; 'kubernetes: {}' is the cluster that this process runs in")
	}
	for i, labels := range o.Selectors {
		for key, value := range labels {
			if !isLabelKey(key) || !isLabelValue(value) {
				return fmt.Errorf("selectors[%d]: %s=%s is no label", i, key, value)
			}
		}
	}
	return nil
}

func (s *Service) check() (*url.URL, error) {
	endpoint, err := transport.Endpoint(s.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("service.url: %w", err)
	case endpoint.Scheme == "https" && s.Certificate == "":
		return nil, errors.New("service.certificate: missing; the allocator service serves none without")
	}
	return endpoint, nil
}

// Labels and annotations that we put on game servers. A server that takes one match has the fixed ones. They are
// overwritten when the server is made ready and allocated again, so that it is not taken for its former match's. A
// server that takes several has one of each per match, named by the allocation.
const (
	labelFleet      = "agones.dev/fleet" // Agones' own
	labelAllocation = "matchmaker.dev/allocation"
	labelMatch      = "matchmaker.dev/match"
	labelProject    = "matchmaker.dev/project"
	// labelDense is on all servers that take several matches.
	labelDense = "matchmaker.dev/dense"
	// annotationData is the match for the server: a provider.Payload in JSON.
	annotationData = "matchmaker.dev/match-data"
	// annotationReleased is the allocation that was released last. The server that still runs it ends it.
	annotationReleased = "matchmaker.dev/released"

	prefixAllocation = "allocation.matchmaker.dev/"
	prefixData       = "match-data.matchmaker.dev/"

	// The values of a label of prefixAllocation.
	held     = "held"
	released = "released"
)

// The syntax of names, labels and namespaces:
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set and
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names.
var (
	labelName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

func isLabelValue(text string) bool { return text == "" || labelName.MatchString(text) }

// isLabelKey: a name, which may have the prefix of a subdomain.
func isLabelKey(text string) bool {
	prefix, name, found := strings.Cut(text, "/")
	return !found && labelName.MatchString(text) || isNamespace(prefix) && labelName.MatchString(name)
}

func isNamespace(text string) bool { return len(text) <= 253 && subdomain.MatchString(text) }
