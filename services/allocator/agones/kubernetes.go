package agones

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
)

// cluster is the API of a Kubernetes cluster with Agones in it.
type cluster struct {
	client    *transport.Client
	url       string
	token     string // a file
	namespace string
	ask       func(*allocation) any
	now       func() time.Time
}

// Where a pod finds its cluster.
const (
	podToken = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // a path
	podCA    = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
)

// maxList bounds what the API answers: a page of maxPage servers, each with all that it was told.
const (
	maxPage = 20
	maxList = 8 << 20
)

var (
	errNoFleet      = errors.New("there is no such fleet")
	errMayNotDelete = errors.New("game servers may not be deleted")
	errChanged      = errors.New("the game server changed while it was released")
)

func newCluster(o *Options) (*cluster, error) {
	k := *o.Kubernetes
	if k.URL == "" {
		host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return nil, errors.New("kubernetes.url: missing, and this is no pod of a cluster")
		}
		k.URL, k.CA = "https://"+net.JoinHostPort(host, port), cmp.Or(k.CA, podCA)
	}
	endpoint, err := transport.Endpoint(k.URL)
	if err != nil {
		return nil, fmt.Errorf("kubernetes.url: %w", err)
	}
	client, err := transport.New(transport.Options{CA: k.CA, Timeout: o.Timeout, Limit: maxList, Log: o.Log, Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	c := &cluster{
		client: client, url: endpoint.String(), token: cmp.Or(k.Token, podToken), namespace: o.Namespace, ask: o.kubernetes, now: o.Now,
	}
	if _, err := c.bearer(); err != nil {
		return nil, fmt.Errorf("kubernetes.token: %w", err)
	}
	return c, nil
}

// bearer is the token as it is now: Kubernetes replaces the file before the token in it expires.
func (c *cluster) bearer() (string, error) {
	text, err := os.ReadFile(c.token)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", errors.New("the file is empty")
	}
	return token, nil
}

// kubernetes is a GameServerAllocation.
func (o *Options) kubernetes(a *allocation) any {
	var selectors []object
	for _, s := range a.selectors {
		one := s.object()
		one["gameServerState"] = stateReady
		if s.allocated {
			one["gameServerState"] = stateAllocated
		}
		selectors = append(selectors, one)
	}
	spec := a.changes()
	spec["selectors"], spec["scheduling"] = selectors, o.Scheduling
	return object{"apiVersion": "allocation.agones.dev/v1", "kind": "GameServerAllocation", "spec": spec}
}

// The states of a game server that matter here.
const (
	stateReady     = "Ready"
	stateAllocated = "Allocated"
)

// wireStatus is what a GameServer and a GameServerAllocation say in their status.
type wireStatus struct {
	State          string    `json:"state"`
	GameServerName string    `json:"gameServerName"`
	Address        string    `json:"address"`
	Addresses      []address `json:"addresses"`
	Ports          []port    `json:"ports"`
	Metadata       struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Lists map[string]struct {
		Values []string `json:"values"`
	} `json:"lists"`
}

func (w *wireStatus) server() *server {
	s := &server{
		name: w.GameServerName, labels: w.Metadata.Labels, annotations: w.Metadata.Annotations, state: w.State,
		address: w.Address, addresses: w.Addresses, ports: w.Ports, lists: map[string][]string{},
	}
	for name, list := range w.Lists {
		s.lists[name] = list.Values
	}
	return s
}

func (c *cluster) allocate(ctx context.Context, a *allocation) (*server, error) {
	var got struct {
		Status wireStatus `json:"status"`
	}
	path := "/apis/allocation.agones.dev/v1/namespaces/" + c.namespace + "/gameserverallocations"
	if err := c.call(ctx, http.MethodPost, path, "application/json", c.ask(a), &got, a.secrets); err != nil {
		return nil, err
	}
	switch got.Status.State {
	case stateAllocated:
		if got.Status.GameServerName != "" {
			return got.Status.server(), nil
		}
	case "UnAllocated":
		return nil, errUnallocated
	case "Contention":
		return nil, provider.Fail(provider.Contention, "others were faster to take a game server")
	}
	return nil, errors.New("the cluster's answer is no GameServerAllocation")
}

// gameServer is a GameServer.
type gameServer struct {
	Metadata struct {
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Status wireStatus `json:"status"`
}

// list are the servers with a label, as the cluster's store has them: without resourceVersion a list is never stale.
func (c *cluster) list(ctx context.Context, label string) ([]*server, error) {
	var servers []*server
	next := ""
	for {
		query := url.Values{"labelSelector": {label}, "limit": {fmt.Sprint(maxPage)}}
		if next != "" {
			query.Set("continue", next)
		}
		var page struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []gameServer `json:"items"`
		}
		if err := c.call(ctx, http.MethodGet, c.servers()+"?"+query.Encode(), "", nil, &page, nil); err != nil {
			return nil, err
		}
		if page.Kind != "GameServerList" {
			return nil, errors.New("the cluster's answer is no list of game servers")
		}
		for i := range page.Items {
			one := &page.Items[i]
			s := one.Status.server()
			s.name, s.uid, s.version, s.deleted = one.Metadata.Name, one.Metadata.UID, one.Metadata.ResourceVersion, one.Metadata.DeletionTimestamp != nil
			s.labels, s.annotations = one.Metadata.Labels, one.Metadata.Annotations
			servers = append(servers, s)
		}
		if next = page.Metadata.Continue; next == "" {
			return servers, nil
		}
	}
}

// several are the servers with any of the labels.
func (c *cluster) several(ctx context.Context, labels []string) ([]*server, error) {
	var all []*server
	for _, label := range labels {
		servers, err := c.list(ctx, label)
		if err != nil {
			return nil, err
		}
		all = append(all, servers...)
	}
	return all, nil
}

// delete deletes a server as it was listed. One that changed since may be somebody else's: it is to be listed again.
func (c *cluster) delete(ctx context.Context, s *server) error {
	options := object{
		"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": object{"uid": s.uid, "resourceVersion": s.version},
	}
	err := c.call(ctx, http.MethodDelete, c.servers()+"/"+s.name, "application/json", options, nil, nil)
	status, _ := errors.AsType[*statusError](err)
	switch {
	case status == nil:
		return err
	case status.code == http.StatusNotFound:
		return nil
	case status.code == http.StatusForbidden:
		return errMayNotDelete
	case status.code == http.StatusConflict:
		return errChanged
	}
	return err
}

// forget removes annotations and labels.
func (c *cluster) forget(ctx context.Context, s *server, ids []string) error {
	labels, annotations := object{}, object{}
	for _, id := range ids {
		labels[prefixAllocation+id], annotations[prefixData+id] = nil, nil
	}
	patch := object{"metadata": object{"labels": labels, "annotations": annotations}}
	return c.call(ctx, http.MethodPatch, c.servers()+"/"+s.name, "application/merge-patch+json", patch, nil, nil)
}

// replicas is how many servers a fleet is to have at most, as far as that is known to be none: -1 with an autoscaler.
func (c *cluster) replicas(ctx context.Context, fleet string) (int, error) {
	var got struct {
		Spec struct {
			Replicas int `json:"replicas"`
		} `json:"spec"`
	}
	path := "/apis/agones.dev/v1/namespaces/" + c.namespace + "/fleets/" + fleet
	if err := c.call(ctx, http.MethodGet, path, "", nil, &got, nil); err != nil {
		if status, ok := errors.AsType[*statusError](err); ok && status.code == http.StatusNotFound {
			return 0, errNoFleet
		}
		return 0, err
	}
	if got.Spec.Replicas > 0 {
		return got.Spec.Replicas, nil
	}
	var scalers struct {
		Items []struct {
			Spec struct {
				FleetName string `json:"fleetName"`
			} `json:"spec"`
		} `json:"items"`
	}
	path = "/apis/autoscaling.agones.dev/v1/namespaces/" + c.namespace + "/fleetautoscalers"
	if err := c.call(ctx, http.MethodGet, path, "", nil, &scalers, nil); err != nil {
		return 0, err
	}
	for _, s := range scalers.Items {
		if s.Spec.FleetName == fleet {
			return -1, nil
		}
	}
	return 0, nil
}

func (c *cluster) servers() string {
	return "/apis/agones.dev/v1/namespaces/" + c.namespace + "/gameservers"
}

// statusError is a status that the API answered with.
type statusError struct {
	code int
	says string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the cluster's API answers with status %d: %s", e.code, e.says)
}

// call calls the API.
func (c *cluster) call(ctx context.Context, method, path, kind string, body, into any, secrets []string) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	token, err := c.bearer()
	if err != nil {
		return fmt.Errorf("the token of the service account: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/json")
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	answer, err := c.client.Do(ctx, request)
	if err != nil {
		return err
	}
	if answer.Status < 200 || answer.Status > 299 {
		return c.failure(answer, secrets)
	}
	if into != nil && json.Unmarshal(answer.Body, into) != nil {
		return errors.New("the cluster's answer is no JSON of its kind")
	}
	return nil
}

// failure is what a status that is no success means. Whoever knows better finds the *statusError in it.
func (c *cluster) failure(answer *transport.Answer, secrets []string) error {
	var status struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(answer.Body, &status) // not all who answer are the API
	cause := &statusError{code: answer.Status, says: answer.Words(status.Message, secrets...)}
	switch answer.Status {
	case http.StatusConflict:
		return provider.Fail(provider.Contention, "others were faster to take a game server").Because(cause)
	case http.StatusTooManyRequests:
		return provider.Fail(provider.Contention, "the cluster limits its calls").After(answer.RetryAfter(c.now())).Because(cause)
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return provider.Fail(provider.Refused, "Agones refuses the request").Because(cause)
	case http.StatusForbidden:
		return provider.Fail(provider.Refused, "the cluster refuses this installation").Because(cause)
	case http.StatusNotFound:
		return provider.Fail(provider.Refused, "there is no Agones where the installation looks for it").Because(cause)
	}
	return cause // 401 among them: a token that has just been replaced is good the next time
}

// runs tells whether a server is there and allocated.
func (s *server) runs() bool { return s.state == stateAllocated && !s.deleted }

// byAge orders servers by when they were allocated last, then by name.
func byAge(a, b *server) int {
	const key = "agones.dev/last-allocated"
	return cmp.Or(lastAllocated(a.annotations[key]).Compare(lastAllocated(b.annotations[key])), strings.Compare(a.name, b.name))
}

func lastAllocated(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text) // without one it counts as the oldest
	return at
}

// over are the allocations that the server was told of and that are not on its list any more.
func (s *server) over(list []string) []string {
	var ids []string
	for key := range s.annotations {
		if id, ok := strings.CutPrefix(key, prefixData); ok && !slices.Contains(list, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func join(ids []string) string { return strings.Join(ids, ",") }
