// Package kubernetes calls the API of a Kubernetes cluster, as a pod of the cluster or as a kubeconfig says. It makes
// each call once, and follows no redirect: no other server gets the credentials.
package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"matchmaker.dev/services/allocator/transport"
)

// Options say where the API is: what a kubeconfig says, or URL, CA and Token. Where these are empty they are what a pod
// finds in its place. All but URL are files, and are read again when they change, but for the kubeconfig itself.
type Options struct {
	Kubeconfig     string
	URL, CA, Token string
	// Timeout of a call; 10 s when 0. PluginTimeout bounds a program that prints credentials; a minute when 0.
	Timeout, PluginTimeout time.Duration
	Log                    *slog.Logger
	Now                    func() time.Time
}

// Client calls the API. It is safe for concurrent use.
type Client struct {
	http   *transport.Client
	url    *url.URL
	source source
	header http.Header // of all calls

	timeout, pluginTimeout time.Duration
}

// maxAnswer is the most bytes that the API, or a program that prints credentials, may answer.
const maxAnswer = 8 << 20

// podFolder is where a pod finds the token of its service account, and the cluster's authority.
const podFolder = "/var/run/secrets/kubernetes.io/serviceaccount/"

// New reads the files. It makes no call and starts no program. Close the client.
func New(o Options) (*Client, error) {
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	c := &Client{
		source: source{log: o.Log, now: o.Now}, header: http.Header{}, timeout: o.Timeout,
		pluginTimeout: cmp.Or(o.PluginTimeout, time.Minute),
	}
	t := transport.Options{CA: o.CA, Timeout: o.Timeout, Limit: maxAnswer, Log: o.Log, Now: o.Now}
	setting, configure := "ca", c.find
	if o.Kubeconfig != "" {
		setting, configure = "kubeconfig", c.read
	}
	err := configure(o, &t)
	if err != nil {
		return nil, err
	}
	if c.http, err = transport.New(t); err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return c, nil
}

// find configures the client without a kubeconfig.
func (c *Client) find(o Options, t *transport.Options) (err error) {
	if o.URL == "" {
		host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return errors.New("url: missing, and this is no pod of a cluster")
		}
		o.URL, t.CA = "https://"+net.JoinHostPort(host, port), cmp.Or(o.CA, podFolder+"ca.crt")
	}
	if c.url, err = transport.Endpoint(o.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if err := c.source.readFile(cmp.Or(o.Token, podFolder+"token")); err != nil {
		return fmt.Errorf("token: %w", err)
	}
	return nil
}

// Close ends idle connections.
func (c *Client) Close() { c.http.Close() }

// Call makes a call. A path may have a query. A body is sent in JSON, for PATCH as a merge patch; nil is none. An error
// means that there is no answer: the call may have had its effect.
func (c *Client) Call(ctx context.Context, method, path string, body any) (*transport.Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no answer within %s", c.timeout))
	defer cancel()
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url.String()+path, &text)
	if err != nil {
		return nil, err
	}
	r.Header = c.header.Clone()
	r.Header.Set("Accept", "application/json, */*")
	switch {
	case method == http.MethodPatch:
		r.Header.Set("Content-Type", "application/merge-patch+json")
	case body != nil:
		r.Header.Set("Content-Type", "application/json")
	}
	used, err := c.source.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials for %s: %w", c.url.Host, err)
	}
	if used.secret != "" {
		r.Header.Set("Authorization", used.scheme+" "+used.secret)
	}
	answer, err := c.http.Do(ctx, r)
	if err == nil && answer.Status == http.StatusUnauthorized {
		c.source.refuse(used)
	}
	return answer, err
}
