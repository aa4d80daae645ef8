// Package manager gets game servers from a studio's own fleet manager: an HTTP service with three operations, which
// openapi.yaml describes and the program in example implements.
package manager

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed" // the description
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
)

// Description is the OpenAPI document of a fleet manager.
//
//go:embed openapi.yaml
var Description []byte

// Provider is a provider.Provider.
type Provider struct {
	options Options
	client  *transport.Client
	url     string
}

// New reads certificates and keys, and makes no call. Close the provider.
func New(o Options) (*Provider, error) {
	endpoint, err := o.check()
	if err != nil {
		return nil, err
	}
	client, err := transport.New(transport.Options{
		CA: o.CA, Certificate: o.Certificate, Key: o.CertificateKey, Timeout: o.Timeout, Log: o.Log, Now: o.Now,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{options: o, client: client, url: endpoint.String()}, nil
}

// Close ends idle connections.
func (p *Provider) Close() { p.client.Close() }

// order is the request for a server.
type order struct {
	Allocation string          `json:"allocation"`
	Project    string          `json:"project"`
	Fleet      string          `json:"fleet,omitempty"`
	Profile    string          `json:"profile,omitempty"`
	Region     string          `json:"region,omitempty"`
	Payload    json.RawMessage `json:"payload"`
}

// allocation is the manager's answer about one.
type allocation struct {
	Allocation string `json:"allocation"`
	Status     string `json:"status"`
	Connection string `json:"connection"`
	Reason     string `json:"reason"`
	Detail     string `json:"detail"`
}

// maxPayload is the most bytes of a payload with players. A gateway before a manager may limit the size of requests.
const maxPayload = 256 << 10

// Allocate asks the manager for a server. The manager knows the allocation when it is asked again.
func (p *Provider) Allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	payload, err := r.PayloadWithin(maxPayload)
	if err != nil {
		return provider.Result{}, err
	}
	h := r.Hosting
	c := call{method: http.MethodPost, path: "/allocations", id: r.Allocation(), secrets: []string{r.Secret()}}
	var got allocation
	err = p.call(ctx, h, &c, order{r.Allocation(), r.Project, h.Fleet, h.Profile, h.Region, payload}, &got)
	if err != nil {
		return provider.Result{}, err
	}
	return got.result(r.Allocation(), c.secrets)
}

// result translates the manager's answer.
func (a *allocation) result(id string, secrets []string) (provider.Result, error) {
	switch {
	case a.Allocation != id:
		return provider.Result{}, errors.New("the fleet manager answers about another allocation")
	case a.Status == "pending":
		return provider.Result{Status: provider.Pending}, nil
	case a.Status == "failed":
		failed := cmp.Or(a.failure(secrets), provider.Fail(provider.Refused, "the fleet manager gives no reason"))
		return provider.Result{Status: provider.Failed, Err: failed}, nil
	case a.Status != "allocated":
		return provider.Result{}, errors.New("the fleet manager's answer has no status that is known")
	case a.Connection == "":
		return provider.Result{}, errors.New("the fleet manager's answer has no connection that players could use")
	}
	return provider.Result{Status: provider.Allocated, Connection: a.Connection}, nil
}

// failure is the reason that the manager gives, nil when it gives no known reason.
func (a *allocation) failure(secrets []string) *provider.Error {
	reason := provider.Reason(a.Reason)
	if !slices.Contains(
		[]provider.Reason{provider.Contention, provider.FleetEmpty, provider.MaximumZero, provider.Refused}, reason,
	) {
		return nil
	}
	detail := cmp.Or(transport.Redact(a.Detail, secrets...), a.Reason)
	return provider.Fail(reason, "fleet manager: %s", detail)
}

// maxIDs is how many allocations a call may ask about.
const maxIDs = 100

// Poll asks the manager about all allocations with the same key together.
func (p *Provider) Poll(ctx context.Context, refs []provider.Ref) ([]provider.Result, error) {
	type owner struct{ access, secret provider.Secret }
	of := func(r provider.Ref) owner {
		if p.options.KeyFile != "" {
			return owner{}
		}
		return owner{r.Hosting.Access, r.Hosting.Secret}
	}
	return provider.PollGroups(refs, maxIDs, of, func(_ owner, some []provider.Ref) ([]provider.Result, error) {
		return p.pollSome(ctx, some)
	})
}

// pollSome asks about refs, which have the same key.
func (p *Provider) pollSome(ctx context.Context, refs []provider.Ref) ([]provider.Result, error) {
	var question struct {
		Allocations []string `json:"allocations"`
	}
	for _, r := range refs {
		if id := r.Allocation(); !slices.Contains(question.Allocations, id) {
			question.Allocations = append(question.Allocations, id)
		}
	}
	var got struct {
		Allocations []allocation `json:"allocations"`
	}
	c := call{method: http.MethodPost, path: "/allocations/status"}
	err := p.call(ctx, refs[0].Hosting, &c, question, &got)
	if err != nil {
		return nil, err
	}
	if got.Allocations == nil {
		return nil, errors.New("the fleet manager's answer is no list of allocations")
	}
	results := make([]provider.Result, len(refs))
	for i, r := range refs {
		results[i] = provider.Result{Status: provider.Gone}
		n := slices.IndexFunc(got.Allocations, func(a allocation) bool { return a.Allocation == r.Allocation() })
		if n < 0 {
			continue
		}
		if results[i], err = got.Allocations[n].result(r.Allocation(), c.secrets); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// Release tells the manager that no player will use the server.
func (p *Provider) Release(ctx context.Context, r provider.Ref) error {
	if r.Used != "" {
		return nil // the manager has one server for each allocation
	}
	if _, err := p.options.keyOf(r.Hosting); provider.Final(err) {
		return nil // without a key no server was ever asked for
	}
	c := call{method: http.MethodDelete, path: "/allocations/" + r.Allocation(), id: r.Allocation()}
	err := p.call(ctx, r.Hosting, &c, nil, nil)
	if errors.Is(err, errNotFound) {
		return nil
	}
	return err
}

// call is one call of the manager.
type call struct {
	method, path string
	id           string   // the idempotency key
	secrets      []string // of the body, and the key once the call is made
}

var errNotFound = errors.New("not found")

// call makes a call; body and into may be nil.
func (p *Provider) call(ctx context.Context, h provider.Hosting, c *call, body, into any) error {
	key, err := p.options.keyOf(h)
	if err != nil {
		return err
	}
	c.secrets = append(c.secrets, string(key.secret))
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, c.method, p.url+c.path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.id != "" {
		request.Header.Set("Idempotency-Key", c.id)
	}
	timestamp := strconv.FormatInt(p.options.Now().Unix(), 10)
	request.Header.Set("Matchmaker-Key", key.id)
	request.Header.Set("Matchmaker-Timestamp", timestamp)
	request.Header.Set("Matchmaker-Signature", Sign(key.secret, timestamp, c.method, request.URL.EscapedPath(), text))
	answer, err := p.client.Do(ctx, request)
	if err != nil {
		return err
	}
	if answer.Status < 200 || answer.Status > 299 {
		return p.failure(answer, c.secrets)
	}
	if into != nil && json.Unmarshal(answer.Body, into) != nil {
		return errors.New("the fleet manager's answer is no JSON of its kind")
	}
	return nil
}

// Sign is a request's signature: the HMAC-SHA256, in hexadecimal, of timestamp, method, path and body, with a line feed
// between each two.
func Sign(secret []byte, timestamp, method, path string, body []byte) string {
	h := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s\n", timestamp, method, path)
	_, _ = h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// failure translates a failed call: into the reason in its body, else by its status.
func (p *Provider) failure(answer *transport.Answer, secrets []string) error {
	var a allocation
	_ = json.Unmarshal(answer.Body, &a) // a proxy may have answered
	if failed := a.failure(secrets); failed != nil {
		return failed.After(answer.RetryAfter(p.options.Now()))
	}
	detail := answer.Redact(a.Detail, secrets...)
	cause := fmt.Errorf("status %d: %s", answer.Status, detail)
	switch answer.Status {
	case http.StatusNotFound:
		return provider.Fail(provider.Refused, "the fleet manager does not know it").Because(errors.Join(errNotFound, cause))
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return provider.Fail(provider.Refused, "the fleet manager refuses the request").Because(cause)
	case http.StatusUnauthorized, http.StatusForbidden:
		return provider.Fail(provider.Refused, "the fleet manager refuses the key").Because(cause)
	case http.StatusConflict, http.StatusTooManyRequests:
		again := answer.RetryAfter(p.options.Now())
		return provider.Fail(provider.Contention, "the fleet manager is busy").After(again).Because(cause)
	}
	return fmt.Errorf("the fleet manager answers with status %d: %s", answer.Status, detail)
}
