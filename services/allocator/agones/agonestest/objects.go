package agonestest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/agones/kubernetes"
)

// objects keeps game servers, fleets and autoscalers in a real API server, with the definitions of definitions.yaml.
// The cluster reads them before each step and writes what it changed, as Agones' controllers do.
type objects struct {
	t   testing.TB
	api *kubernetes.Client
	// The paths of the three.
	servers, fleets, scalers string
}

// NewClusterOf makes a cluster whose objects are in a namespace of a real API server. api is an administrator's.
func NewClusterOf(t testing.TB, api *kubernetes.Client, namespace string) *Cluster {
	t.Helper()
	of := func(group, resource string) string {
		return "/apis/" + group + "/v1/namespaces/" + namespace + "/" + resource
	}
	c := NewCluster()
	c.Namespace = namespace
	c.objects = &objects{
		t: t, api: api, servers: of("agones.dev", "gameservers"), fleets: of("agones.dev", "fleets"),
		scalers: of("autoscaling.agones.dev", "fleetautoscalers"),
	}
	return c
}

// Call calls an API server until it has time, and reads its answer. into may be nil. A status other than 2xx is an
// error, but for those that are accepted.
func Call(ctx context.Context, api *kubernetes.Client, method, path string, body, into any, accepted ...int,
) (int, error) {
	for {
		answer, err := api.Call(ctx, method, path, body)
		if err != nil {
			return 0, err
		}
		pause := answer.RetryAfter(time.Now())
		switch {
		case answer.Status/100 == 2:
			if into != nil {
				err = json.Unmarshal(answer.Body, into)
			}
			return answer.Status, err
		case slices.Contains(accepted, answer.Status):
			return answer.Status, nil
		case pause == 0:
			return answer.Status, fmt.Errorf("%s %s: status %d: %s", method, path, answer.Status, answer.Body)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return answer.Status, fmt.Errorf("%s %s: status %d: %w", method, path, answer.Status, ctx.Err())
		}
	}
}

// call is Call, with the time that one call may take. Agones' work outlives the call that asked for it. An error is no
// part of any test.
func (o *objects) call(method, path string, body, into any, accepted ...int) int {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.t.Context()), 30*time.Second)
	defer cancel()
	status, err := Call(ctx, o.api, method, path, body, into, accepted...)
	if err != nil {
		o.t.Errorf("the cluster's own objects: %v", err)
	}
	return status
}

// stored is a game server as the API server has it.
type stored struct {
	Metadata struct {
		Name, UID, ResourceVersion string
		DeletionTimestamp          *time.Time
		Labels, Annotations        map[string]string
	}
	Status struct {
		State, Address string
		Ports          []struct{ Port int }
		Counters       map[string]struct{ Count, Capacity int }
		Lists          map[string]struct{ Values []string }
	}
}

func (in *stored) server() *GameServer {
	version, _ := strconv.Atoi(in.Metadata.ResourceVersion) // etcd's revision
	s := &GameServer{
		Name: in.Metadata.Name, UID: in.Metadata.UID, State: in.Status.State, Address: in.Status.Address, Version: version,
		Labels: in.Metadata.Labels, Annotations: in.Metadata.Annotations, Deleted: in.Metadata.DeletionTimestamp != nil,
		Count: in.Status.Counters["rooms"].Count, Capacity: in.Status.Counters["rooms"].Capacity,
		List: in.Status.Lists["matches"].Values, read: in.Metadata.ResourceVersion,
	}
	if len(in.Status.Ports) > 0 {
		s.Port = in.Status.Ports[0].Port
	}
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	return s
}

// pull reads all game servers, in the order in which they were made.
func (c *Cluster) pull() {
	if c.objects == nil {
		return
	}
	var all struct{ Items []stored }
	if c.objects.call(http.MethodGet, c.objects.servers, nil, &all) != http.StatusOK {
		return
	}
	c.servers = nil
	for i := range all.Items {
		c.servers = append(c.servers, all.Items[i].server())
	}
	number := func(s *GameServer) string { return s.Name[strings.LastIndex(s.Name, "-"):] }
	slices.SortFunc(c.servers, func(a, b *GameServer) int { return strings.Compare(number(a), number(b)) })
}

// writable is a game server as the API server takes it, with the version that it must still have.
func (c *Cluster) writable(s GameServer) map[string]any {
	s.Deleted = false // only a delete sets the timestamp
	o := c.object(&s)
	o["metadata"].(map[string]any)["resourceVersion"] = s.read
	return o
}

// create stores a new game server.
func (c *Cluster) create(s *GameServer) {
	if c.objects == nil {
		return
	}
	made := c.writable(*s)
	delete(made["metadata"].(map[string]any), "uid")
	var now stored
	if c.objects.call(http.MethodPost, c.objects.servers, made, &now) == http.StatusCreated {
		s.UID = now.Metadata.UID
		s.version(&now)
	}
}

// version notes the version that the API server has now.
func (s *GameServer) version(now *stored) {
	s.read = now.Metadata.ResourceVersion
	s.Version, _ = strconv.Atoi(s.read)
}

// push stores a changed game server. It is false when the server changed, or was deleted, since it was read.
func (c *Cluster) push(s *GameServer) bool {
	if c.objects == nil {
		return true
	}
	var now stored
	path := c.objects.servers + "/" + s.Name
	if c.objects.call(
		http.MethodPut, path, c.writable(*s), &now, http.StatusConflict, http.StatusNotFound,
	) != http.StatusOK {
		return false
	}
	s.version(&now)
	if s.Deleted { // by its own process
		c.objects.call(http.MethodDelete, path, nil, nil, http.StatusNotFound)
	}
	return true
}

// remove lets a game server go: it deletes it and takes Agones' finalizer away.
func (c *Cluster) remove(s *GameServer) {
	if c.objects == nil {
		return
	}
	path := c.objects.servers + "/" + s.Name
	if !s.Deleted {
		c.objects.call(http.MethodDelete, path, nil, nil, http.StatusNotFound)
	}
	patch := map[string]any{"metadata": map[string]any{"finalizers": nil}}
	c.objects.call(http.MethodPatch, path, patch, nil, http.StatusNotFound)
}

// pushFleet stores a fleet.
func (c *Cluster) pushFleet(name string) {
	if c.objects != nil {
		c.store(c.objects.fleets, name, map[string]any{
			"apiVersion": "agones.dev/v1", "kind": "Fleet", "spec": map[string]any{"replicas": c.fleets[name].Replicas},
		})
	}
}

// pushScaler stores a fleet's autoscaler.
func (c *Cluster) pushScaler(fleet string) {
	if c.objects != nil {
		c.store(c.objects.scalers, fleet, map[string]any{
			"apiVersion": "autoscaling.agones.dev/v1", "kind": "FleetAutoscaler", "spec": map[string]any{"fleetName": fleet},
		})
	}
}

func (c *Cluster) store(path, name string, object map[string]any) {
	object["metadata"] = map[string]any{"name": name}
	if c.objects.call(http.MethodPatch, path+"/"+name, object, nil, http.StatusNotFound) == http.StatusNotFound {
		c.objects.call(http.MethodPost, path, object, nil)
	}
}
