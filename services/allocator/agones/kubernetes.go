package agones

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"matchmaker.dev/services/allocator/agones/kubernetes"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
)

// cluster is the API of a Kubernetes cluster with Agones in it.
type cluster struct {
	api     *kubernetes.Client
	options *Options
}

// pageSize is how many game servers a page of a list has, each with the data of its matches.
const pageSize = 20

var (
	errNoFleet      = errors.New("there is no such fleet")
	errMayNotDelete = errors.New("game servers may not be deleted")
	errChanged      = errors.New("the game server changed while it was released")
)

func newCluster(o *Options) (*cluster, error) {
	k := o.Kubernetes
	api, err := kubernetes.New(kubernetes.Options{
		Kubeconfig: k.Kubeconfig, URL: k.URL, CA: k.CA, Token: k.Token, Timeout: o.Timeout, Log: o.Log, Now: o.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("kubernetes.%w", err)
	}
	return &cluster{api: api, options: o}, nil
}

// kubernetes is a GameServerAllocation.
func (o *Options) kubernetes(a *allocation) any {
	spec := a.changes()
	spec["selectors"], spec["scheduling"] = a.selectorObjects(stateReady, stateAllocated), o.Scheduling
	return object{"apiVersion": "allocation.agones.dev/v1", "kind": "GameServerAllocation", "spec": spec}
}

// The states of a game server that matter here.
const (
	stateReady     = "Ready"
	stateAllocated = "Allocated"
)

// The paths of the API.
const (
	agonesAPI      = "/apis/agones.dev/v1"
	allocationAPI  = "/apis/allocation.agones.dev/v1"
	autoscalingAPI = "/apis/autoscaling.agones.dev/v1"
)

// allocate creates a GameServerAllocation.
func (c *cluster) allocate(ctx context.Context, a *allocation) (*server, error) {
	var answer struct {
		Status gameServer `json:"status"`
	}
	path := c.path(allocationAPI, "gameserverallocations")
	if err := c.call(ctx, http.MethodPost, path, c.options.kubernetes(a), &answer, a.secrets...); err != nil {
		return nil, err
	}
	switch status := &answer.Status; status.State {
	case stateAllocated:
		if status.GameServerName != "" {
			return status.server(), nil
		}
	case "UnAllocated":
		return nil, errUnallocated
	case "Contention":
		return nil, provider.Fail(provider.Contention, "others were faster to take a game server")
	}
	return nil, errors.New("the cluster's answer is no GameServerAllocation")
}

// list returns the servers with a label. A list without resourceVersion is never older than the request.
func (c *cluster) list(ctx context.Context, label string) ([]*server, error) {
	var servers []*server
	next := ""
	for {
		query := url.Values{"labelSelector": {label}, "limit": {fmt.Sprint(pageSize)}}
		if next != "" {
			query.Set("continue", next)
		}
		var page struct {
			Kind     string                    `json:"kind"`
			Metadata struct{ Continue string } `json:"metadata"`
			Items    []*server                 `json:"items"`
		}
		path := c.path(agonesAPI, "gameservers") + "?" + query.Encode()
		if err := c.call(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, err
		}
		if page.Kind != "GameServerList" {
			return nil, errors.New("the cluster's answer is no list of game servers")
		}
		servers = append(servers, slices.DeleteFunc(page.Items, func(s *server) bool { return s == nil })...)
		if next = page.Metadata.Continue; next == "" {
			return servers, nil
		}
	}
}

// delete deletes a server as it was listed. It answers errChanged when the server changed since: it may be another
// match's by now, and must be listed again.
func (c *cluster) delete(ctx context.Context, s *server) error {
	err := c.call(ctx, http.MethodDelete, c.path(agonesAPI, "gameservers", s.Name), object{
		"apiVersion": "v1", "kind": "DeleteOptions",
		"preconditions": object{"uid": s.UID, "resourceVersion": s.ResourceVersion},
	}, nil)
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

// forget removes the labels and annotations of allocations from a server.
func (c *cluster) forget(ctx context.Context, s *server, ids []string) error {
	labels, annotations := object{}, object{}
	for _, id := range ids {
		labels[prefixAllocation+id], annotations[prefixData+id] = nil, nil
	}
	patch := object{"metadata": object{"labels": labels, "annotations": annotations}}
	return c.call(ctx, http.MethodPatch, c.path(agonesAPI, "gameservers", s.Name), patch, nil)
}

// neverGrows reports whether a fleet has no servers and will get none: its size is zero, and it has no autoscaler.
func (c *cluster) neverGrows(ctx context.Context, name string) (bool, error) {
	var fleet struct {
		Spec struct {
			Replicas int `json:"replicas"`
		} `json:"spec"`
	}
	if err := c.call(ctx, http.MethodGet, c.path(agonesAPI, "fleets", name), nil, &fleet); err != nil {
		if status, ok := errors.AsType[*statusError](err); ok && status.code == http.StatusNotFound {
			return false, errNoFleet
		}
		return false, err
	}
	if fleet.Spec.Replicas > 0 {
		return false, nil
	}
	var autoscalers struct {
		Items []struct {
			Spec struct {
				FleetName string `json:"fleetName"`
			} `json:"spec"`
		} `json:"items"`
	}
	if err := c.call(ctx, http.MethodGet, c.path(autoscalingAPI, "fleetautoscalers"), nil, &autoscalers); err != nil {
		return false, err
	}
	for _, a := range autoscalers.Items {
		if a.Spec.FleetName == name {
			return false, nil
		}
	}
	return true, nil
}

// path is the path of a resource, or of one object of it.
func (c *cluster) path(api, resource string, name ...string) string {
	path := api + "/namespaces/" + c.options.Namespace + "/" + resource
	for _, one := range name {
		path += "/" + url.PathEscape(one)
	}
	return path
}

// statusError is a failure that the API answered with.
type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the cluster's API answers with status %d: %s", e.code, e.message)
}

// call calls the API once: an allocation may be repeated only after a look for the match's label, and so by the caller.
// body and into may be nil. secrets are what the body holds, and must be in no error.
func (c *cluster) call(ctx context.Context, method, path string, body, into any, secrets ...string) error {
	answer, err := c.api.Call(ctx, method, path, body)
	switch {
	case err != nil:
		return err
	case answer.Status < http.StatusOK || answer.Status > http.StatusPartialContent:
		return c.failure(answer, secrets)
	case into != nil && json.Unmarshal(answer.Body, into) != nil:
		return errors.New("the cluster's answer is no JSON of its kind")
	}
	return nil
}

// failure translates a failure of the API. Callers that know better find the *statusError in it.
func (c *cluster) failure(answer *transport.Answer, secrets []string) error {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(answer.Body, &said) // a proxy may have answered
	cause := &statusError{answer.Status, answer.Redact(said.Message, secrets...)}
	switch answer.Status {
	case http.StatusConflict:
		return provider.Fail(provider.Contention, "others were faster to take a game server").Because(cause)
	case http.StatusTooManyRequests:
		pause := answer.RetryAfter(c.options.Now())
		return provider.Fail(provider.Contention, "the cluster limits its calls").After(pause).Because(cause)
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return provider.Fail(provider.Refused, "Agones refuses the request").Because(cause)
	case http.StatusForbidden:
		return provider.Fail(provider.Refused, "the cluster refuses this installation").Because(cause)
	case http.StatusNotFound:
		return provider.Fail(provider.Refused, "there is no Agones where the installation looks for it").Because(cause)
	}
	return cause // 401 too: the token may just have been replaced, and then the next call works
}
