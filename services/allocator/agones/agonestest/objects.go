package agonestest

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// objects keeps game servers, fleets and autoscalers in a real API server, with the definitions of definitions.yaml.
// The cluster reads them before each step and writes what it changed, as Agones' controllers do.
type objects struct {
	t                        testing.TB
	servers, fleets, scalers dynamic.ResourceInterface
}

// NewClusterOf makes a cluster whose objects are in a namespace of a real API server. config is an administrator's.
func NewClusterOf(t testing.TB, config *rest.Config, namespace string) *Cluster {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	of := func(group, resource string) dynamic.ResourceInterface {
		return client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}).
			Namespace(namespace)
	}
	c := NewCluster()
	c.Namespace = namespace
	c.objects = &objects{
		t: t, servers: of("agones.dev", "gameservers"), fleets: of("agones.dev", "fleets"),
		scalers: of("autoscaling.agones.dev", "fleetautoscalers"),
	}
	return c
}

// context is the time that one call may take. Agones' work outlives the call that asked for it.
func (o *objects) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(o.t.Context()), 30*time.Second)
}

// failed reports an error of the API server that is no part of any test.
func (o *objects) failed(err error) {
	if err != nil {
		o.t.Errorf("the cluster's own objects: %v", err)
	}
}

// pull reads all game servers, in the order in which they were made.
func (c *Cluster) pull() {
	if c.objects == nil {
		return
	}
	ctx, cancel := c.objects.context()
	defer cancel()
	all, err := c.objects.servers.List(ctx, metav1.ListOptions{})
	if err != nil {
		c.objects.failed(err)
		return
	}
	c.servers = nil
	for i := range all.Items {
		s, err := parse(&all.Items[i])
		c.objects.failed(err)
		c.servers = append(c.servers, s)
	}
	number := func(s *GameServer) string { return s.Name[strings.LastIndex(s.Name, "-"):] }
	slices.SortFunc(c.servers, func(a, b *GameServer) int { return strings.Compare(number(a), number(b)) })
}

// parse reads a game server as the API server has it.
func parse(u *unstructured.Unstructured) (*GameServer, error) {
	var in struct {
		Status struct {
			State, Address string
			Ports          []struct{ Port int }
			Counters       map[string]struct{ Count, Capacity int }
			Lists          map[string]struct{ Values []string }
		}
	}
	text, err := u.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	version, _ := strconv.Atoi(u.GetResourceVersion()) // etcd's revision
	s := &GameServer{
		Name: u.GetName(), UID: string(u.GetUID()), State: in.Status.State, Address: in.Status.Address, Version: version,
		Labels: u.GetLabels(), Annotations: u.GetAnnotations(), Deleted: u.GetDeletionTimestamp() != nil,
		Count: in.Status.Counters["rooms"].Count, Capacity: in.Status.Counters["rooms"].Capacity,
		List: in.Status.Lists["matches"].Values, read: u.GetResourceVersion(),
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
	return s, err
}

// unstructured is a game server as the API server takes it.
func (c *Cluster) unstructured(s GameServer) *unstructured.Unstructured {
	s.Deleted = false // only a delete sets the timestamp
	text, err := json.Marshal(c.object(&s))
	u := new(unstructured.Unstructured)
	if err == nil {
		err = u.UnmarshalJSON(text)
	}
	c.objects.failed(err)
	return u
}

// create stores a new game server.
func (c *Cluster) create(s *GameServer) {
	if c.objects == nil {
		return
	}
	ctx, cancel := c.objects.context()
	defer cancel()
	u := c.unstructured(*s)
	u.SetUID("")
	u.SetResourceVersion("")
	made, err := c.objects.servers.Create(ctx, u, metav1.CreateOptions{})
	if err != nil {
		c.objects.failed(err)
		return
	}
	s.UID, s.read = string(made.GetUID()), made.GetResourceVersion()
	s.Version, _ = strconv.Atoi(made.GetResourceVersion())
}

// push stores a changed game server. It is false when the server changed, or was deleted, since it was read.
func (c *Cluster) push(s *GameServer) bool {
	if c.objects == nil {
		return true
	}
	ctx, cancel := c.objects.context()
	defer cancel()
	u := c.unstructured(*s)
	u.SetResourceVersion(s.read)
	made, err := c.objects.servers.Update(ctx, u, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return false
	case err != nil:
		c.objects.failed(err)
		return false
	}
	s.Version, _ = strconv.Atoi(made.GetResourceVersion())
	s.read = made.GetResourceVersion()
	if s.Deleted { // by its own process
		err := c.objects.servers.Delete(ctx, s.Name, metav1.DeleteOptions{})
		if !apierrors.IsNotFound(err) {
			c.objects.failed(err)
		}
	}
	return true
}

// remove lets a game server go: it deletes it and takes Agones' finalizer away.
func (c *Cluster) remove(s *GameServer) {
	if c.objects == nil {
		return
	}
	ctx, cancel := c.objects.context()
	defer cancel()
	if !s.Deleted {
		if err := c.objects.servers.Delete(ctx, s.Name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			c.objects.failed(err)
		}
	}
	patch := []byte(`{"metadata": {"finalizers": null}}`)
	_, err := c.objects.servers.Patch(ctx, s.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		c.objects.failed(err)
	}
}

// pushFleet stores a fleet.
func (c *Cluster) pushFleet(name string) {
	if c.objects != nil {
		c.store(c.objects.fleets, name, map[string]any{
			"apiVersion": "agones.dev/v1", "kind": "Fleet", "spec": map[string]any{"replicas": int64(c.fleets[name].Replicas)},
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

func (c *Cluster) store(where dynamic.ResourceInterface, name string, object map[string]any) {
	ctx, cancel := c.objects.context()
	defer cancel()
	u := &unstructured.Unstructured{Object: object}
	u.SetName(name)
	_, err := where.Apply(ctx, name, u, metav1.ApplyOptions{FieldManager: "agones", Force: true})
	c.objects.failed(err)
}
