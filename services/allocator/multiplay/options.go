package multiplay

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"matchmaker.dev/services/allocator/transport"
)

// Options are the settings of the provider, with the hosting file's names in yaml. Fleet, profile and keys are the
// config's.
type Options struct {
	// URL of the API; Clanforge's own when empty.
	URL string `yaml:"url"`
	// CA is a file of the authorities that the API's certificate must descend from; the machine's when empty.
	CA string `yaml:"ca"`
	// Auth is signature (AWS Signature Version 4, which does not send the secret key) or basic.
	Auth string `yaml:"auth"`
	// API is v2, or v1 for fleets that have no v2. With v1 servers get no payload.
	API string `yaml:"api"`
	// ProjectGUID is the Unity project of the fleets. Clanforge wants it with a payload.
	ProjectGUID string `yaml:"project-guid"`
	// NoPayload sends servers no payload.
	NoPayload bool `yaml:"no-payload"`
	// Region is the id of the region for matches whose function asks for none. Regions are ids by the names that functions
	// use; other names are used as ids.
	Region  string            `yaml:"region"`
	Regions map[string]string `yaml:"regions"`
	// WaitReady waits until the server has said that it is ready for players.
	WaitReady bool `yaml:"wait-ready"`
	// IPv6 gives players the server's IPv6 address, where it has one.
	IPv6 bool `yaml:"ipv6"`
	// Timeout of a call; 10 s when 0.
	Timeout time.Duration `yaml:"timeout"`

	Log *slog.Logger     `yaml:"-"`
	Now func() time.Time `yaml:"-"`
}

// The values of settings.
const (
	authSignature = "signature"
	authBasic     = "basic"
	apiV1         = "v1"
	apiV2         = "v2"
)

func (o *Options) check() (*url.URL, error) {
	o.URL = cmp.Or(o.URL, "https://api.multiplay.co.uk")
	o.Auth = cmp.Or(o.Auth, authSignature)
	o.API = cmp.Or(o.API, apiV2)
	endpoint, err := transport.Endpoint(o.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("url: %w", err)
	case o.Auth != authSignature && o.Auth != authBasic:
		return nil, fmt.Errorf("auth: %q is neither signature nor basic", o.Auth)
	case o.API != apiV1 && o.API != apiV2:
		return nil, fmt.Errorf("api: %q is neither v1 nor v2", o.API)
	case o.API == apiV1 && !o.NoPayload:
		return nil, errors.New(
			"api: v1 has no payload: servers would not know their match; say no-payload: true if they need not",
		)
	case !o.NoPayload && o.ProjectGUID == "":
		return nil, errors.New(
			"project-guid: missing: Clanforge wants it with a payload; " +
				"no-payload: true sends none, and servers do not know their match",
		)
	case o.Timeout < 0:
		return nil, errors.New("timeout: must be more than 0")
	}
	return endpoint, nil
}
