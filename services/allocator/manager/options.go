package manager

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
	"matchmaker.dev/services/internal/platform/textfile"
)

// Options are the settings of the provider, with the hosting file's names in yaml.
type Options struct {
	// URL is the base of the manager's paths.
	URL string `yaml:"url"`
	// CA is a file of the authorities that the manager's certificate must descend from; the machine's when empty.
	CA string `yaml:"ca"`
	// Certificate and CertificateKey are files of the client certificate, for a manager that asks for one.
	Certificate    string `yaml:"certificate"`
	CertificateKey string `yaml:"certificate-key"`
	// KeyID and KeyFile are the name and the file of the key that signs requests. The file is read for each call. Without
	// them the config's Access and Secret are used.
	KeyID   string `yaml:"key-id"`
	KeyFile string `yaml:"key-file"`
	// Timeout of a call; 10 s when 0.
	Timeout time.Duration `yaml:"timeout"`

	Log *slog.Logger     `yaml:"-"`
	Now func() time.Time `yaml:"-"`
}

// minKey is the fewest bytes of a key.
const minKey = 16

func (o *Options) check() (*url.URL, error) {
	if o.URL == "" {
		return nil, errors.New("url: missing")
	}
	endpoint, err := transport.Endpoint(o.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("url: %w", err)
	case o.KeyID != "" && o.KeyFile == "":
		return nil, errors.New("key-file: missing; without key-id and key-file the config's Access and Secret are used")
	case o.Timeout < 0:
		return nil, errors.New("timeout: must be more than 0")
	}
	if o.KeyFile != "" {
		if _, err := o.read(); err != nil {
			return nil, fmt.Errorf("key-file: %w", err)
		}
	}
	return endpoint, nil
}

// key is what a request is signed with.
type key struct {
	id     string
	secret []byte
}

// keyOf is the installation's key, else the config's.
func (o *Options) keyOf(h provider.Hosting) (key, error) {
	if o.KeyFile != "" {
		secret, err := o.read()
		return key{cmp.Or(o.KeyID, "default"), secret}, err
	}
	if h.Access == "" || len(h.Secret) < minKey {
		return key{}, provider.Fail(provider.Refused, "hosting: Access and a Secret of at least %d bytes are needed", minKey)
	}
	return key{string(h.Access), []byte(h.Secret)}, nil
}

func (o *Options) read() ([]byte, error) {
	text, err := textfile.Read(o.KeyFile)
	if err != nil {
		return nil, err
	}
	secret := strings.TrimSpace(string(text))
	if len(secret) < minKey {
		return nil, fmt.Errorf("%s: a key of at least %d bytes is expected", o.KeyFile, minKey)
	}
	return []byte(secret), nil
}
