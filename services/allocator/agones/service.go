package agones

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
)

// service is the allocator service: one call, in the JSON of proto/allocation/allocation.proto.
type service struct {
	client  *transport.Client
	url     string
	options *Options
}

func newService(o *Options) (*service, error) {
	endpoint, err := o.Service.check()
	if err != nil {
		return nil, err
	}
	client, err := transport.New(transport.Options{
		CA: o.Service.CA, Certificate: o.Service.Certificate, Key: o.Service.Key, Timeout: o.Timeout, Log: o.Log, Now: o.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	url := endpoint.String() + "/gameserverallocation"
	return &service{client: client, url: url, options: o}, nil
}

// The gRPC codes in the JSON of the service's errors.
const (
	codeInvalidArgument   = 3
	codePermissionDenied  = 7
	codeResourceExhausted = 8
	codeAborted           = 10
	codeUnauthenticated   = 16
	codeInvalid           = 422 // Kubernetes' own, as Agones passes it on
)

// noServer is the message of the service when no server fits. Its status is a setting of the service.
const noServer = "there is no available GameServer to allocate"

func (s *service) allocate(ctx context.Context, a *allocation) (*server, error) {
	asked := a.changes() // with the rest an AllocationRequest
	asked["namespace"] = s.options.Namespace
	asked["gameServerSelectors"] = a.selectorObjects("READY", "ALLOCATED")
	asked["scheduling"] = s.options.Scheduling
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := s.client.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, s.failure(answer, a.secrets)
	}
	var got gameServer
	if err := json.Unmarshal(answer.Body, &got); err != nil {
		return nil, errors.New("the allocator service's answer is no JSON of its kind")
	}
	if got.GameServerName == "" {
		return nil, errUnallocated // the answer where http-unallocated-status-code is 200
	}
	return got.server(), nil
}

// failure is what a status other than 200 means.
func (s *service) failure(answer *transport.Answer, secrets []string) error {
	var status struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	structured := json.Unmarshal(answer.Body, &status) == nil && status.Message != ""
	message := answer.Redact(status.Message, secrets...)
	switch {
	case structured && (status.Message == noServer || status.Code == codeResourceExhausted):
		return errUnallocated
	case structured && status.Code == codeAborted:
		return provider.Fail(provider.Contention, "others were faster to take a game server")
	case answer.Status == http.StatusTooManyRequests:
		pause := answer.RetryAfter(s.options.Now())
		return provider.Fail(provider.Contention, "the hosting system limits its calls").After(pause)
	case structured && (status.Code == codeInvalidArgument || status.Code == codeInvalid):
		return provider.Fail(provider.Refused, "Agones refuses the request").Because(fmt.Errorf("it says: %s", message))
	case structured && (status.Code == codePermissionDenied || status.Code == codeUnauthenticated),
		answer.Status == http.StatusUnauthorized, answer.Status == http.StatusForbidden:
		cause := fmt.Errorf("status %d: %s", answer.Status, message)
		return provider.Fail(provider.Refused, "Agones refuses this installation").Because(cause)
	case answer.Status == http.StatusNotFound:
		return provider.Fail(provider.Refused, "there is no allocator service of Agones where the installation looks for it")
	}
	return fmt.Errorf("the allocator service answers with status %d: %s", answer.Status, message)
}

// object is a JSON object.
type object = map[string]any

// selectorObjects are the selectors, with the names that an interface has for the two states of servers.
func (a *allocation) selectorObjects(ready, allocated string) (all []object) {
	for _, s := range a.selectors {
		one := s.object()
		one["gameServerState"] = ready
		if s.allocated {
			one["gameServerState"] = allocated
		}
		all = append(all, one)
	}
	return all
}

// object is the part of a selector that both interfaces have in common.
func (s *selector) object() object {
	one := object{"matchLabels": s.labels}
	if s.counter != "" && s.room {
		one["counters"] = object{s.counter: object{"minAvailable": 1}}
	}
	if s.list != "" {
		list := object{}
		if s.room {
			list["minAvailable"] = 1
		}
		if s.contains != "" {
			list["containsValue"] = s.contains
		}
		one["lists"] = object{s.list: list}
	}
	return one
}

// changes is what an allocation does to its server. Both interfaces have it in common.
func (a *allocation) changes() object {
	o := object{}
	if len(a.labels)+len(a.annotations) > 0 {
		o["metadata"] = object{"labels": a.labels, "annotations": a.annotations}
	}
	if a.action != "" {
		o["counters"] = object{a.counter: object{"action": a.action, "amount": 1}}
	}
	if a.add != "" {
		o["lists"] = object{a.list: object{"addValues": []string{a.add}}}
	}
	if a.remove != "" {
		o["lists"] = object{a.list: object{"deleteValues": []string{a.remove}}}
	}
	return o
}

// fleet is the fleet that an allocation asks for.
func (a *allocation) fleet() string { return a.selectors[len(a.selectors)-1].labels[labelFleet] }
