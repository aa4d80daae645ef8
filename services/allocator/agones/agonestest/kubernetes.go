package agonestest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// rule is a rule of a Role.
type rule struct {
	APIGroups []string `yaml:"apiGroups"`
	Resources []string `yaml:"resources"`
	Verbs     []string `yaml:"verbs"`
}

// Authorize gives the bearer of a token the rights of all Roles in a manifest, and no others.
func (c *Cluster) Authorize(t *testing.T, token, manifest string) {
	t.Helper()
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var rules []rule
	for part := range strings.SplitSeq(string(text), "\n---") {
		var object struct {
			Kind  string
			Rules []rule
		}
		if err := yaml.Unmarshal([]byte(part), &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind == "Role" {
			rules = append(rules, object.Rules...)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token, c.rules = token, rules
}

// Revoke takes a right away.
func (c *Cluster) Revoke(verb, resource string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range c.rules {
		if slices.Contains(r.Resources, resource) {
			c.rules[i].Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(v string) bool { return v == verb })
		}
	}
}

// Used are the rights that were made use of, "verb group/resource" each.
func (c *Cluster) Used() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(c.recorded)))
}

// API is the part of the Kubernetes API that concerns game servers.
func (c *Cluster) API() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern, verb, group, resource string, do http.HandlerFunc) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if c.allowed(w, r, verb, group, resource) {
				do(w, r)
			}
		})
	}
	const servers = "/apis/agones.dev/v1/namespaces/{namespace}/gameservers"
	handle(
		"POST /apis/allocation.agones.dev/v1/namespaces/{namespace}/gameserverallocations", "create", "allocation.agones.dev",
		"gameserverallocations", c.Allocate,
	)
	handle("GET "+servers, "list", "agones.dev", "gameservers", c.list)
	handle("DELETE "+servers+"/{name}", "delete", "agones.dev", "gameservers", c.delete)
	handle("PATCH "+servers+"/{name}", "patch", "agones.dev", "gameservers", c.patch)
	handle("GET /apis/agones.dev/v1/namespaces/{namespace}/fleets/{name}", "get", "agones.dev", "fleets", c.fleet)
	handle(
		"GET /apis/autoscaling.agones.dev/v1/namespaces/{namespace}/fleetautoscalers", "list", "autoscaling.agones.dev",
		"fleetautoscalers", c.autoscalers,
	)
	mux.HandleFunc(
		"/", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 page not found", http.StatusNotFound) },
	)
	return mux
}

func (c *Cluster) allowed(w http.ResponseWriter, r *http.Request, verb, group, resource string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == "" || r.Header.Get("Authorization") != "Bearer "+c.token {
		status(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
		return false
	}
	for _, rule := range c.rules {
		if slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) &&
			slices.Contains(rule.Verbs, verb) {
			c.recorded = append(c.recorded, verb+" "+group+"/"+resource)
			return true
		}
	}
	const user = "system:serviceaccount:matchmaker:allocator"
	message := fmt.Sprintf("%s.%s is forbidden: User %q cannot %s resource %q in API group %q in the namespace %q",
		resource, group, user, verb, resource, group, r.PathValue("namespace"))
	status(w, http.StatusForbidden, "Forbidden", message)
	return false
}

// status answers with a failure as the API server does.
func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "message": message,
		"reason": reason, "code": code,
	})
}

// Allocate is processAllocationRequest: always 201 unless the request is invalid; the state says how it went.
func (c *Cluster) Allocate(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Content-Type") != "application/json" {
		http.Error(w, "error parsing mediatype from a request header", http.StatusInternalServerError)
		return
	}
	var object map[string]any
	var in struct {
		Spec struct {
			Selectors []struct {
				MatchLabels     map[string]string `json:"matchLabels"`
				GameServerState string            `json:"gameServerState"`
				Counters        map[string]struct {
					MinAvailable int `json:"minAvailable"`
				} `json:"counters"`
				Lists map[string]struct {
					ContainsValue string `json:"containsValue"`
					MinAvailable  int    `json:"minAvailable"`
				} `json:"lists"`
			} `json:"selectors"`
			Scheduling string `json:"scheduling"`
			Metadata   struct {
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
			Counters map[string]struct {
				Action string `json:"action"`
				Amount int    `json:"amount"`
			} `json:"counters"`
			Lists map[string]struct {
				AddValues    []string `json:"addValues"`
				DeleteValues []string `json:"deleteValues"`
			} `json:"lists"`
		} `json:"spec"`
	}
	var raw json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil || json.Unmarshal(raw, &in) != nil ||
		json.Unmarshal(raw, &object) != nil {
		http.Error(w, "error decoding body", http.StatusInternalServerError)
		return
	}
	request := request{
		labels: in.Spec.Metadata.Labels, annotations: in.Spec.Metadata.Annotations,
		counters: map[string]counterAction{}, lists: map[string]listAction{},
	}
	for _, s := range in.Spec.Selectors {
		want := selector{labels: s.MatchLabels, state: s.GameServerState}
		switch want.state {
		case "":
			want.state = Ready
		case Ready, Allocated:
		default:
			status(w, http.StatusUnprocessableEntity, "Invalid", "GameServerState must be either Allocated or Ready")
			return
		}
		for name, counter := range s.Counters {
			want.counter, want.available = name, counter.MinAvailable
		}
		for name, list := range s.Lists {
			want.list, want.available, want.contains = name, list.MinAvailable, list.ContainsValue
		}
		request.selectors = append(request.selectors, want)
	}
	for name, a := range in.Spec.Counters {
		request.counters[name] = counterAction{a.Action, a.Amount}
	}
	for name, a := range in.Spec.Lists {
		request.lists[name] = listAction{a.AddValues, a.DeleteValues}
	}
	if reason := request.invalid(); reason != "" {
		status(
			w, http.StatusUnprocessableEntity, "Invalid", "GameServerAllocation.allocation.agones.dev \"\" is invalid: "+reason,
		)
		return
	}
	if r.PathValue("namespace") != c.Namespace {
		request.selectors = nil
	}
	outcome, s := c.allocate(request)
	answer := map[string]any{"state": "UnAllocated", "gameServerName": "", "source": ""}
	switch outcome {
	case conflict:
		http.Error(w, "could not update the selected GameServer", http.StatusInternalServerError)
		return
	case contention:
		answer["state"] = "Contention"
	case allocated:
		answer = s.status()
		answer["state"], answer["gameServerName"], answer["source"] = "Allocated", s.Name, "local"
		answer["metadata"] = map[string]any{"labels": s.Labels, "annotations": s.Annotations}
	}
	object["status"] = answer
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(object)
}

func (s *GameServer) addresses() []map[string]any {
	return []map[string]any{
		{"type": "ExternalIP", "address": s.Address}, {"type": "InternalIP", "address": "192.168.0.1"},
		{"type": "ExternalDNS", "address": s.Name + ".example.com"},
		{"type": "ExternalIP", "address": "2001:db8::7"},
	}
}

func (s *GameServer) status() map[string]any {
	status := map[string]any{
		"address": s.Address, "nodeName": "node-1",
		"ports":     []map[string]any{{"name": "default", "port": s.Port}, {"name": "query", "port": s.Port + 1000}},
		"addresses": s.addresses(),
	}
	if s.Capacity > 0 {
		status["counters"] = map[string]any{"rooms": map[string]int{"count": s.Count, "capacity": s.Capacity}}
		status["lists"] = map[string]any{"matches": map[string]any{
			"values": append([]string{}, s.List...), "capacity": s.Capacity,
		}}
	}
	return status
}

func (c *Cluster) object(s *GameServer) map[string]any {
	metadata := map[string]any{
		"name": s.Name, "namespace": c.Namespace, "uid": s.UID, "resourceVersion": strconv.Itoa(s.Version),
		"labels": s.Labels, "annotations": s.Annotations, "finalizers": []string{"agones.dev/controller"},
	}
	if s.Deleted {
		metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
	}
	status := s.status()
	status["state"] = s.State
	return map[string]any{
		"apiVersion": "agones.dev/v1", "kind": "GameServer", "metadata": metadata, "spec": map[string]any{}, "status": status,
	}
}

// list answers pages of limit, which continue where the last one ended.
func (c *Cluster) list(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	query := r.URL.Query()
	matches, err := parseLabelSelector(query.Get("labelSelector"))
	if err != nil {
		status(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	var found []map[string]any
	for _, s := range c.servers {
		if r.PathValue("namespace") == c.Namespace && matches(s.Labels) {
			found = append(found, c.object(s))
		}
	}
	metadata := map[string]any{"resourceVersion": strconv.Itoa(c.version)}
	from, limit := number(query.Get("continue")), number(query.Get("limit"))
	found = found[min(from, len(found)):]
	if limit > 0 && len(found) > limit {
		found = found[:limit]
		metadata["continue"] = strconv.Itoa(from + limit)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "agones.dev/v1", "kind": "GameServerList", "metadata": metadata,
		"items": append([]map[string]any{}, found...),
	})
}

// parseLabelSelector reads what the API takes: key=value, key in (a,b), key; with commas between.
func parseLabelSelector(text string) (func(map[string]string) bool, error) {
	type requirement struct {
		key    string
		values []string // none for existence
	}
	var all []requirement
	for text != "" {
		var part string
		if open := strings.IndexByte(text, '('); open >= 0 && !strings.Contains(text[:open], ",") {
			end := strings.IndexByte(text, ')')
			if end < 0 {
				return nil, fmt.Errorf("unable to parse requirement: found '', expected: ',' or ')'")
			}
			part, text = text[:end+1], strings.TrimPrefix(text[end+1:], ",")
		} else {
			part, text, _ = strings.Cut(text, ",")
		}
		if key, set, found := strings.Cut(part, " in ("); found {
			all = append(all, requirement{key, strings.Split(strings.TrimSuffix(set, ")"), ",")})
		} else if key, value, found := strings.Cut(part, "="); found {
			all = append(all, requirement{key, []string{strings.TrimPrefix(value, "=")}})
		} else {
			all = append(all, requirement{part, nil})
		}
	}
	for _, q := range all {
		if !qualified(q.key) {
			return nil, fmt.Errorf("unable to parse requirement: key: Invalid value: %q", q.key)
		}
	}
	return func(labels map[string]string) bool {
		for _, q := range all {
			value, ok := labels[q.key]
			if !ok || q.values != nil && !slices.Contains(q.values, value) {
				return false
			}
		}
		return true
	}, nil
}

// delete marks the server: it stays until Agones' controller has let go of it.
func (c *Cluster) delete(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var options struct {
		Preconditions struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"preconditions"`
	}
	if r.ContentLength != 0 {
		if err := json.NewDecoder(r.Body).Decode(&options); err != nil {
			status(w, http.StatusBadRequest, "BadRequest", err.Error())
			return
		}
	}
	s := c.find(w, r)
	if s == nil {
		return
	}
	p := options.Preconditions
	if p.UID != "" && p.UID != s.UID || p.ResourceVersion != "" && p.ResourceVersion != strconv.Itoa(s.Version) {
		status(w, http.StatusConflict, "Conflict", "the object was modified: Precondition failed")
		return
	}
	c.version++
	s.Deleted, s.Version = true, c.version
	_ = json.NewEncoder(w).Encode(c.object(s))
}

// patch is a JSON merge patch of labels and annotations.
func (c *Cluster) patch(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Header.Get("Content-Type") != "application/merge-patch+json" {
		status(w, http.StatusUnsupportedMediaType, "UnsupportedMediaType", "the body of the request was in an unknown format")
		return
	}
	var patch struct {
		Metadata struct {
			Labels, Annotations map[string]*string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&patch); err != nil {
		status(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	s := c.find(w, r)
	if s == nil {
		return
	}
	merge := func(into map[string]string, change map[string]*string) {
		for key, value := range change {
			if value == nil {
				delete(into, key)
			} else {
				into[key] = *value
			}
		}
	}
	merge(s.Labels, patch.Metadata.Labels)
	merge(s.Annotations, patch.Metadata.Annotations)
	c.version++
	s.Version = c.version
	_ = json.NewEncoder(w).Encode(c.object(s))
}

// find is the server of a path; nil after it answered that there is none.
func (c *Cluster) find(w http.ResponseWriter, r *http.Request) *GameServer {
	for _, s := range c.servers {
		if s.Name == r.PathValue("name") && r.PathValue("namespace") == c.Namespace {
			return s
		}
	}
	status(w, http.StatusNotFound, "NotFound", fmt.Sprintf("gameservers.agones.dev %q not found", r.PathValue("name")))
	return nil
}

func (c *Cluster) fleet(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.fleets[r.PathValue("name")]
	if f == nil || r.PathValue("namespace") != c.Namespace {
		status(w, http.StatusNotFound, "NotFound", fmt.Sprintf("fleets.agones.dev %q not found", r.PathValue("name")))
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Fleet", "metadata": map[string]any{"name": r.PathValue("name")},
		"spec": map[string]any{"replicas": f.Replicas},
	})
}

func (c *Cluster) autoscalers(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(c.scalers)) {
		items = append(items, map[string]any{"spec": map[string]any{"fleetName": name}})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "FleetAutoscalerList", "items": items})
}
