package receipt

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/platform/textfile"
)

// MaxRegions is the most regions of a file.
const MaxRegions = 64

// longestAddress is the most bytes of an address or URL of a beacon.
const longestAddress = 256

// The protocols of beacons. The answers of the last two are not believed.
const (
	Beacon  = "beacon"  // this package's
	PlayFab = "playfab" // of PlayFab's beacons: UDP, an answer is the question with other first bytes
	Echo    = "echo"    // of agones-ping: UDP, an answer is the question
)

// Settings say which regions there are.
type Settings struct {
	File    string        `help:"YAML file with the regions whose latency clients measure, and the keys of their beacons (docs/latency.md). Without it there are none." name:"regions" type:"existingfile" placeholder:"FILE" group:"tickets"`
	Age     time.Duration `help:"For how long a beacon's receipt is believed." name:"receipt-age" default:"10m" bounds:"1s..24h" group:"tickets"`
	Proxies web.Proxies   `embed:""`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error { return s.Proxies.Validate() }

// Region is one entry of the file.
type Region struct {
	Name     string `yaml:"region"`
	UDP      string `yaml:"udp"`
	URL      string `yaml:"url"`
	Protocol string `yaml:"protocol"`
	// Keys is the source of the keys that the region's beacon signs with; a path is relative to the file.
	Keys string `yaml:"keys"`
}

// read reads the regions of a file.
func read(path string) ([]Region, error) {
	text, err := textfile.Read(path)
	if err != nil {
		return nil, err
	}
	var regions []Region
	if err := textfile.DecodeYAML(text, &regions); err != nil {
		return nil, err
	}
	if n := len(regions); n == 0 || n > MaxRegions {
		return nil, fmt.Errorf("%d regions, 1 to %d are expected", n, MaxRegions)
	}
	seen := map[string]bool{}
	for i := range regions {
		r := &regions[i]
		r.Protocol = cmp.Or(r.Protocol, Beacon)
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		if seen[r.Name] {
			return nil, fmt.Errorf("%d: region %s is there twice", i, r.Name)
		}
		seen[r.Name] = true
		if r.Keys != "" && !keyring.InEnvironment(r.Keys) && !filepath.IsAbs(r.Keys) {
			r.Keys = filepath.Join(filepath.Dir(path), r.Keys)
		}
	}
	return regions, nil
}

func (r *Region) check() error {
	if err := CheckName(r.Name); err != nil {
		return fmt.Errorf("region: %w", err)
	}
	switch r.Protocol {
	case Beacon:
		if r.Keys == "" {
			return errors.New("keys: required, the file of 'matchmaker keys beacon' that its beacon has")
		}
	case PlayFab, Echo:
		if r.Keys != "" || r.URL != "" || r.UDP == "" {
			return fmt.Errorf("protocol %s: udp is expected, without url and keys: its answers are not believed", r.Protocol)
		}
	default:
		return fmt.Errorf("protocol: %s, %s or %s is expected", Beacon, PlayFab, Echo)
	}
	if r.UDP == "" && r.URL == "" {
		return errors.New("udp, url: at least one is expected")
	}
	if r.UDP != "" {
		host, port, err := net.SplitHostPort(r.UDP)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || host == "" ||
			len(r.UDP) > longestAddress {
			return errors.New("udp: a host and a port are expected, such as beacon.example:7600")
		}
	}
	if r.URL != "" {
		u, err := url.Parse(r.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" || len(r.URL) > longestAddress {
			return errors.New("url: http:// or https://, a host and maybe a path are expected")
		}
	}
	return nil
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// CheckName says what is wrong with the name of a region.
func CheckName(name string) error {
	if name == "" || len(name) > LongestName || strings.Trim(name, nameCharacters) != "" {
		return fmt.Errorf("1 to %d letters, digits, dots, hyphens and underscores are expected", LongestName)
	}
	return nil
}
