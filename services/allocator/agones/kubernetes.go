package agones

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clienttransport "k8s.io/client-go/transport"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
)

// cluster is the API of a Kubernetes cluster with Agones in it.
type cluster struct {
	api       *rest.RESTClient
	namespace string
	timeout   time.Duration
	encode    func(*allocation) any
}

// podToken is where a pod finds the token of its service account.
const podToken = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // a path

// maxAnswer is the most bytes that the API may answer: a page of pageSize servers, each with the data of its matches.
const (
	pageSize  = 20
	maxAnswer = 8 << 20
)

var (
	errNoFleet      = errors.New("there is no such fleet")
	errMayNotDelete = errors.New("game servers may not be deleted")
	errChanged      = errors.New("the game server changed while it was released")
)

func newCluster(o *Options) (*cluster, error) {
	config, err := o.Kubernetes.config()
	if err != nil {
		return nil, err
	}
	config.Wrap(func(t http.RoundTripper) http.RoundTripper { return apiTransport{t} })
	if file := config.BearerTokenFile; file != "" {
		// With a token source of its own a token that is refused is read again for the next call, not after a minute.
		source := clienttransport.NewCachedFileTokenSource(file)
		if _, err := source.Token(); err != nil {
			return nil, fmt.Errorf("kubernetes.token: %w", err)
		}
		config.BearerToken, config.BearerTokenFile = "", ""
		config.Wrap(clienttransport.ResettableTokenSourceWrapTransport(source))
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	t, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	// A redirect is an answer: the operator trusts this server with tokens, and no other.
	client := &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	// Without a rate limiter calls are not delayed.
	api, err := rest.NewRESTClient(base, "", rest.ClientContentConfig{ContentType: "application/json"}, nil, client)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	return &cluster{
		api: api, namespace: o.Namespace, timeout: cmp.Or(o.Timeout, 10*time.Second), encode: o.kubernetes,
	}, nil
}

// config says where the API is, and how to authenticate there.
func (k *Kubernetes) config() (*rest.Config, error) {
	if k.Kubeconfig != "" {
		return k.fromKubeconfig()
	}
	config := &rest.Config{Host: k.URL}
	if k.URL == "" {
		var err error
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, fmt.Errorf("kubernetes.url: missing, and this is no pod of a cluster: %w", err)
		}
	}
	if _, err := transport.Endpoint(config.Host); err != nil {
		return nil, fmt.Errorf("kubernetes.url: %w", err)
	}
	config.CAFile = cmp.Or(k.CA, config.CAFile)
	config.BearerTokenFile = cmp.Or(k.Token, config.BearerTokenFile, podToken)
	return config, nil
}

func (k *Kubernetes) fromKubeconfig() (*rest.Config, error) {
	if k.URL != "" || k.CA != "" || k.Token != "" {
		return nil, errors.New("kubernetes.kubeconfig: url, ca and token must be empty")
	}
	config, err := clientcmd.BuildConfigFromFlags("", k.Kubeconfig)
	if err == nil {
		_, err = transport.Endpoint(config.Host)
	}
	if err == nil && config.Insecure {
		err = errors.New("insecure-skip-tls-verify is not allowed")
	}
	if err != nil {
		return nil, fmt.Errorf("kubernetes.kubeconfig: %w", err)
	}
	return config, nil
}

func (c *cluster) close() {
	utilnet.CloseIdleConnectionsFor(c.api.Client.Transport)
}

// apiTransport limits answers to maxAnswer bytes. It copies the credentials of a call to where the call's context says,
// so that errors can leave them out.
type apiTransport struct{ http.RoundTripper }

type credentialsKey struct{}

func (t apiTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if credentials, ok := r.Context().Value(credentialsKey{}).(*string); ok {
		_, *credentials, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	}
	response, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
	return response, nil
}

// WrappedRoundTripper lets CloseIdleConnectionsFor find the connections.
func (t apiTransport) WrappedRoundTripper() http.RoundTripper { return t.RoundTripper }

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
	r := c.api.Post().AbsPath(allocationAPI).Namespace(c.namespace).Resource("gameserverallocations")
	r.SetHeader("Content-Type", "application/json")
	if err := c.call(ctx, r, c.encode(a), &answer, a.secrets); err != nil {
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
		r := c.gameServers(c.api.Get()).Param("labelSelector", label).Param("limit", fmt.Sprint(pageSize))
		if next != "" {
			r.Param("continue", next)
		}
		var page struct {
			Kind     string          `json:"kind"`
			Metadata metav1.ListMeta `json:"metadata"`
			Items    []*server       `json:"items"`
		}
		if err := c.call(ctx, r, nil, &page, nil); err != nil {
			return nil, err
		}
		if page.Kind != "GameServerList" {
			return nil, errors.New("the cluster's answer is no list of game servers")
		}
		servers = append(servers, page.Items...)
		if next = page.Metadata.Continue; next == "" {
			return servers, nil
		}
	}
}

// delete deletes a server as it was listed. It answers errChanged when the server changed since: it may be another
// match's by now, and must be listed again.
func (c *cluster) delete(ctx context.Context, s *server) error {
	options := metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &s.UID, ResourceVersion: &s.ResourceVersion},
	}
	r := c.gameServers(c.api.Delete()).Name(s.Name).SetHeader("Content-Type", "application/json")
	err := c.call(ctx, r, options, nil, nil)
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
	return c.call(ctx, c.gameServers(c.api.Patch(types.MergePatchType)).Name(s.Name), patch, nil, nil)
}

// neverGrows tells whether a fleet has no servers and will get none: its size is zero, and it has no autoscaler.
func (c *cluster) neverGrows(ctx context.Context, name string) (bool, error) {
	var fleet struct {
		Spec struct {
			Replicas int `json:"replicas"`
		} `json:"spec"`
	}
	r := c.api.Get().AbsPath(agonesAPI).Namespace(c.namespace).Resource("fleets").Name(name)
	if err := c.call(ctx, r, nil, &fleet, nil); err != nil {
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
	r = c.api.Get().AbsPath(autoscalingAPI).Namespace(c.namespace).Resource("fleetautoscalers")
	if err := c.call(ctx, r, nil, &autoscalers, nil); err != nil {
		return false, err
	}
	for _, a := range autoscalers.Items {
		if a.Spec.FleetName == name {
			return false, nil
		}
	}
	return true, nil
}

func (c *cluster) gameServers(r *rest.Request) *rest.Request {
	return r.AbsPath(agonesAPI).Namespace(c.namespace).Resource("gameservers")
}

// statusError is a failure that the API answered with.
type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the cluster's API answers with status %d: %s", e.code, e.message)
}

// call calls the API once; body and into may be nil. secrets are what the body holds, and must be in no error.
func (c *cluster) call(ctx context.Context, r *rest.Request, body, into any, secrets []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no answer within %s", c.timeout))
	defer cancel()
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r.Body(text)
	}
	var credentials string
	// client-go repeats calls, allocations among them, when an answer has Retry-After. An allocation may be repeated only
	// after a look for the match's label, so the caller repeats it.
	answer, err := r.MaxRetries(0).DoRaw(context.WithValue(ctx, credentialsKey{}, &credentials))
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return failure(status, answer, append(secrets, credentials))
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the query
		}
		if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
			err = fmt.Errorf("the answer has more than %d bytes", e.Limit)
		}
		return fmt.Errorf("call the cluster's API at %s%s: %w", r.URL().Host, r.URL().Path, err)
	}
	if into != nil && json.Unmarshal(answer, into) != nil {
		return errors.New("the cluster's answer is no JSON of its kind")
	}
	return nil
}

// failure translates a failure of the API. Callers that know better find the *statusError in it.
func failure(status *apierrors.StatusError, answer []byte, secrets []string) error {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(answer, &said) // a proxy may have answered
	code := int(status.ErrStatus.Code)
	cause := &statusError{code, transport.Redact(said.Message, secrets...)}
	switch code {
	case http.StatusConflict:
		return provider.Fail(provider.Contention, "others were faster to take a game server").Because(cause)
	case http.StatusTooManyRequests:
		seconds, _ := apierrors.SuggestsClientDelay(status)
		pause := min(time.Duration(seconds)*time.Second, time.Hour)
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
