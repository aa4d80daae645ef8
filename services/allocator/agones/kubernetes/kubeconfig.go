package kubernetes

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"matchmaker.dev/services/allocator/transport"
	"matchmaker.dev/services/internal/platform/textfile"
)

// kubeconfig is a file as https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/ describes it.
type kubeconfig struct {
	Current                   string `yaml:"current-context"`
	Contexts, Clusters, Users []named
}

// named is a context, a cluster or a user.
type named struct {
	Name    string
	Context struct{ Cluster, User string }
	Cluster cluster
	User    user
}

type cluster struct {
	Server       string
	CA           string  `yaml:"certificate-authority"`
	CAData       encoded `yaml:"certificate-authority-data"`
	ServerName   string  `yaml:"tls-server-name"`
	Insecure     bool    `yaml:"insecure-skip-tls-verify"`
	Proxy        string  `yaml:"proxy-url"`
	Uncompressed bool    `yaml:"disable-compression"`
	Extensions   []struct {
		Name      string
		Extension any
	}
}

type user struct {
	Token              string
	TokenFile          string  `yaml:"tokenFile"`
	Certificate        string  `yaml:"client-certificate"`
	CertificateData    encoded `yaml:"client-certificate-data"`
	Key                string  `yaml:"client-key"`
	KeyData            encoded `yaml:"client-key-data"`
	Username, Password string
	Exec               *plugin
	AuthProvider       any                 `yaml:"auth-provider"`
	As                 string              `yaml:"as"`
	AsUID              string              `yaml:"as-uid"`
	AsGroups           []string            `yaml:"as-groups"`
	AsExtra            map[string][]string `yaml:"as-user-extra"`
}

// encoded is data in base64.
type encoded []byte

// UnmarshalYAML decodes the data.
func (e *encoded) UnmarshalYAML(node *yaml.Node) (err error) {
	*e, err = base64.StdEncoding.DecodeString(node.Value)
	return err
}

// value is how errors quote a value, which may be a secret.
var value = regexp.MustCompile("`[^`]*`")

// read configures the client as the current context of a kubeconfig says.
func (c *Client) read(o Options, t *transport.Options) error {
	if o.URL != "" || o.CA != "" || o.Token != "" {
		return errors.New("kubeconfig: url, ca and token must be empty")
	}
	var k kubeconfig
	text, err := textfile.Read(o.Kubeconfig)
	if err == nil {
		err = yaml.Unmarshal(text, &k)
	}
	if err != nil {
		return errors.New("kubeconfig: " + value.ReplaceAllLiteralString(err.Error(), "a value"))
	}
	folder, err := filepath.Abs(filepath.Dir(o.Kubeconfig))
	if err == nil {
		err = c.use(&k, folder, t)
	}
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	return nil
}

// use uses a kubeconfig, whose paths are relative to a folder.
func (c *Client) use(k *kubeconfig, folder string, t *transport.Options) error {
	var missing error
	find := func(all []named, kind, name string) *named {
		if i := slices.IndexFunc(all, func(n named) bool { return n.Name == name }); i >= 0 {
			return &all[i]
		}
		missing = cmp.Or(missing, fmt.Errorf("there is no %s %q", kind, name))
		return new(named)
	}
	context := find(k.Contexts, "context", k.Current).Context
	there, who := find(k.Clusters, "cluster", context.Cluster), find(k.Users, "user", context.User)
	if missing != nil {
		return missing
	}
	paths := []*string{&there.Cluster.CA, &who.User.TokenFile, &who.User.Certificate, &who.User.Key}
	if e := who.User.Exec; e != nil && strings.ContainsRune(e.Command, filepath.Separator) { // otherwise it is in PATH
		paths = append(paths, &e.Command)
	}
	for _, path := range paths {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(folder, *path)
		}
	}
	if err := c.connect(&there.Cluster, t); err != nil {
		return fmt.Errorf("cluster %q: %w", there.Name, err)
	}
	if err := c.identify(&who.User, &there.Cluster, t); err != nil {
		return fmt.Errorf("user %q: %w", who.Name, err)
	}
	return nil
}

// connect says where the API is, and how its certificate is verified.
func (c *Client) connect(k *cluster, t *transport.Options) (err error) {
	if c.url, err = transport.Endpoint(k.Server); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if k.Insecure {
		return errors.New("insecure-skip-tls-verify is not allowed")
	}
	t.CA, t.CAData, t.ServerName, t.Uncompressed = k.CA, k.CAData, k.ServerName, k.Uncompressed
	if k.Proxy != "" {
		proxy, err := url.Parse(k.Proxy)
		if err != nil || !slices.Contains([]string{"http", "https", "socks5"}, proxy.Scheme) {
			return errors.New("proxy-url: not an http, https or socks5 URL") // it may have a password
		}
		t.Proxy = http.ProxyURL(proxy)
	}
	return nil
}

// identify sets the caller's credentials. An API without TLS is a proxy on this machine that adds its own credentials.
func (c *Client) identify(u *user, k *cluster, t *transport.Options) error {
	c.impersonate(u)
	fixed := new(credentials)
	c.source.read = func(context.Context) (*credentials, error) { return fixed, nil }
	if c.url.Scheme == "http" {
		return nil
	}
	t.Certificate, t.CertificateData, t.Key, t.KeyData = u.Certificate, u.CertificateData, u.Key, u.KeyData
	token, password := u.Token != "" || u.TokenFile != "", u.Username != "" || u.Password != ""
	switch {
	case u.AuthProvider != nil:
		return errors.New("auth-provider is not supported, exec is")
	case token && password:
		return errors.New("a token or a password is expected, not both")
	case u.TokenFile != "":
		return c.source.readFile(u.TokenFile)
	case token:
		fixed.scheme, fixed.secret = "Bearer", u.Token
	case password:
		fixed.scheme, fixed.secret = "Basic", base64.StdEncoding.EncodeToString([]byte(u.Username+":"+u.Password))
	case u.Exec != nil && u.Certificate == "" && u.CertificateData == nil:
		c.source.read = func(ctx context.Context) (*credentials, error) {
			got, err := u.Exec.run(ctx, k, c.pluginTimeout)
			if err != nil {
				return nil, err
			}
			c.http.Identify([]byte(got.Status.ClientCertificateData), []byte(got.Status.ClientKeyData))
			return &credentials{"Bearer", got.Status.Token, got.Status.ExpirationTimestamp}, nil
		}
		return u.Exec.check()
	}
	return nil
}

// impersonate makes calls as another user.
func (c *Client) impersonate(u *user) {
	for name, values := range map[string][]string{"User": {u.As}, "Uid": {u.AsUID}, "Group": u.AsGroups} {
		if len(values) > 0 && values[0] != "" {
			c.header["Impersonate-"+name] = values
		}
	}
	for key, values := range u.AsExtra {
		c.header["Impersonate-Extra-"+strings.ReplaceAll(url.QueryEscape(key), "+", "%20")] = values
	}
}
