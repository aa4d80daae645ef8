package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/platform/textfile"
)

// contextFile has what mm keeps between commands: the user's services, by names.
type contextFile struct {
	Current  string                  `yaml:"current,omitempty"`
	Contexts map[string]*keptContext `yaml:"contexts"`
}

// keptContext is a service, and where tokens for it come from: one of Token, TokenCommand and Login, or else the key in
// Data. A token is sent to URL alone.
type keptContext struct {
	URL     string `yaml:"url,omitempty"`
	Project string `yaml:"project,omitempty"`
	// Data is the data folder of a development service.
	Data         string     `yaml:"data,omitempty"`
	Token        string     `yaml:"token,omitempty"`
	TokenCommand string     `yaml:"tokenCommand,omitempty"`
	Login        *keptLogin `yaml:"login,omitempty"`
}

// keptLogin is a login at an identity provider. Token is what the service gets; Refresh gets the next one.
type keptLogin struct {
	Issuer   string    `yaml:"issuer"`
	Client   string    `yaml:"client"`
	Scopes   []string  `yaml:"scopes,omitempty"`
	Audience string    `yaml:"audience,omitempty"`
	Token    string    `yaml:"token,omitempty"`
	Expires  time.Time `yaml:"expires,omitempty"`
	Refresh  string    `yaml:"refresh,omitempty"`
}

// maxContextFile bounds the file, in bytes.
const maxContextFile = 1 << 20

func (c console) contextPath() string { return filepath.Join(c.configDir, "contexts.yaml") }

// readContexts reads the file. It is empty when there is none.
func (c console) readContexts() (*contextFile, error) {
	kept := &contextFile{Contexts: map[string]*keptContext{}}
	if c.configDir == "" {
		return kept, nil
	}
	file, err := os.Open(c.contextPath())
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxContextFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxContextFile {
		return nil, fmt.Errorf("%s: more than %d bytes", c.contextPath(), maxContextFile)
	}
	if text, err = document.Text(text); err != nil {
		return nil, fmt.Errorf("%s: %w", c.contextPath(), err)
	}
	if textfile.DecodeYAML(text, kept) != nil {
		// Not wrapped: a parser's error may show what it could not parse, and there are tokens in the file.
		return nil, fmt.Errorf("%s: it has no contexts that this version of mm can read", c.contextPath())
	}
	maps.DeleteFunc(kept.Contexts, func(_ string, one *keptContext) bool { return one == nil })
	if kept.Contexts == nil {
		kept.Contexts = map[string]*keptContext{}
	}
	return kept, nil
}

// changeContexts reads the file, lets change have it, and writes it in one step. Only its owner can read it.
func (c console) changeContexts(change func(*contextFile) error) error {
	if c.configDir == "" {
		return errors.New("there is no folder for the file of contexts: set HOME")
	}
	kept, err := c.readContexts()
	if err != nil {
		return err
	}
	if err := change(kept); err != nil {
		return err
	}
	text, err := yaml.Marshal(kept)
	if err != nil {
		return err
	}
	if len(text) > maxContextFile {
		return fmt.Errorf("%s: it would have more than %d bytes", c.contextPath(), maxContextFile)
	}
	if err := os.MkdirAll(c.configDir, 0o700); err != nil {
		return err
	}
	return keyfile.Replace(c.contextPath(), text, 0o600)
}

// get returns a context.
func (f *contextFile) get(name string) (*keptContext, error) {
	if one := f.Contexts[name]; one != nil {
		return one, nil
	}
	return nil, fmt.Errorf("there is no context %q: \"mm context list\" lists them, \"mm context set\" makes one", name)
}

// contextName leaves out names that are hard to type, or to tell apart.
var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkURL tells why an address cannot be a service's; it is named as the flag.
func checkURL(flag, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usageError(fmt.Sprintf("%s: %q is no URL such as https://matchmaker.example.com", flag, text))
	}
	if u.User != nil {
		return usageError(flag + ": a URL with a password in it; use a token")
	}
	return nil
}

// sameURL compares addresses of services.
func sameURL(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }
