package deploy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	admission "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// need is what a service needs, see the catalog of the services.
type need struct{ Routes, Issuers, HostingKeys, Modules, Seats, Regions, Hosting, Webhooks bool }

// needs is the chart's list of services. The catalog's tests compare it with the catalog.
func needs(t *testing.T) map[string]need {
	t.Helper()
	text, err := os.ReadFile("helm/matchmaker/templates/_services.tpl")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), `{{- define "matchmaker.services" -}}`)
	list, _, _ = strings.Cut(list, "{{- end }}")
	var all map[string]need
	if err := yaml.UnmarshalStrict([]byte(list), &all); err != nil || len(all) == 0 {
		t.Fatalf("no services: %v", err)
	}
	return all
}

// services are those that the chart deploys.
func services(t *testing.T) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(needs(t)))
}

// verifiers are the services that verify tokens.
func verifiers(t *testing.T) []string {
	t.Helper()
	all := needs(t)
	return slices.DeleteFunc(services(t), func(service string) bool { return !all[service].Issuers })
}

// kinds are the objects that the chart may have.
var kinds = map[string]func() metav1.Object{
	"v1/ConfigMap":                             func() metav1.Object { return new(corev1.ConfigMap) },
	"v1/Secret":                                func() metav1.Object { return new(corev1.Secret) },
	"v1/Service":                               func() metav1.Object { return new(corev1.Service) },
	"v1/ServiceAccount":                        func() metav1.Object { return new(corev1.ServiceAccount) },
	"apps/v1/Deployment":                       func() metav1.Object { return new(appsv1.Deployment) },
	"apps/v1/StatefulSet":                      func() metav1.Object { return new(appsv1.StatefulSet) },
	"autoscaling/v2/HorizontalPodAutoscaler":   func() metav1.Object { return new(autoscalingv2.HorizontalPodAutoscaler) },
	"policy/v1/PodDisruptionBudget":            func() metav1.Object { return new(policyv1.PodDisruptionBudget) },
	"networking.k8s.io/v1/NetworkPolicy":       func() metav1.Object { return new(networkingv1.NetworkPolicy) },
	"networking.k8s.io/v1/Ingress":             func() metav1.Object { return new(networkingv1.Ingress) },
	"gateway.networking.k8s.io/v1/HTTPRoute":   func() metav1.Object { return new(gatewayv1.HTTPRoute) },
	"rbac.authorization.k8s.io/v1/Role":        func() metav1.Object { return new(rbacv1.Role) },
	"rbac.authorization.k8s.io/v1/RoleBinding": func() metav1.Object { return new(rbacv1.RoleBinding) },
	"monitoring.coreos.com/v1/ServiceMonitor":  func() metav1.Object { return new(monitoringv1.ServiceMonitor) },
}

// values are typical values of the chart, by their purpose. make kubernetes installs the chart with each of them.
var values = read("values/*.yaml")

// read reads files, by their names without the ending.
func read(pattern string) map[string]string {
	files, _ := filepath.Glob(pattern) // fails for a bad pattern alone
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil // TestEverySetOfValuesRenders finds that there are none
		}
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = string(text)
	}
	return all
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir("helm/matchmaker")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render renders the chart as `helm install mm` does.
func render(t *testing.T, text string) (objects map[string]metav1.Object, err error) {
	t.Helper()
	given, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := load(t)
	all, err := chartutil.ToRenderValues(c, given,
		chartutil.ReleaseOptions{Name: "mm", Namespace: "games", IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(c, all)
	if err != nil {
		return nil, err
	}
	objects = map[string]metav1.Object{}
	for name, file := range files {
		if strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".tpl") {
			continue
		}
		for _, text := range releaseutil.SplitManifests(file) {
			key, object := decode(t, name, text)
			if objects[key] != nil {
				t.Errorf("%s: %s is there twice", name, key)
			}
			objects[key] = object
		}
	}
	return objects, nil
}

// decode reads an object strictly. Its key is its kind and name.
func decode(t *testing.T, file, text string) (key string, object metav1.Object) {
	t.Helper()
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
		t.Fatalf("%s: %v\n%s", file, err, text)
	}
	blank := kinds[kind.APIVersion+"/"+kind.Kind]
	if blank == nil {
		t.Fatalf("%s: unexpected %s %s:\n%s", file, kind.APIVersion, kind.Kind, text)
	}
	object = blank()
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatalf("%s: %v\n%s", file, err, text)
	}
	return kind.Kind + " " + strings.TrimPrefix(object.GetNamespace()+"/", "/") + object.GetName(), object
}

// of are the objects of a type.
func of[T metav1.Object](objects map[string]metav1.Object) map[string]T {
	found := map[string]T{}
	for _, object := range objects {
		if o, ok := object.(T); ok {
			found[o.GetName()] = o
		}
	}
	return found
}

func TestEverySetOfValuesRenders(t *testing.T) {
	if len(values) == 0 {
		t.Fatal("there are no values")
	}
	for name, text := range values {
		t.Run(name, func(t *testing.T) {
			objects, err := render(t, text)
			if err != nil {
				t.Fatal(err)
			}
			deployments := of[*appsv1.Deployment](objects)
			for _, service := range services(t) {
				if deployments["mm-matchmaker-"+service] == nil {
					t.Errorf("no deployment of %s in %v", service, slices.Sorted(maps.Keys(objects)))
				}
			}
			references(t, objects)
			secured(t, objects)
		})
	}
}

// pods are the templates of all pods, by the name of what makes them.
func pods(objects map[string]metav1.Object) map[string]corev1.PodTemplateSpec {
	all := map[string]corev1.PodTemplateSpec{}
	for name, d := range of[*appsv1.Deployment](objects) {
		all[name] = d.Spec.Template
	}
	for name, s := range of[*appsv1.StatefulSet](objects) {
		all[name] = s.Spec.Template
	}
	return all
}

// references checks that the objects that others refer to exist. The operator's own Secrets are not in the release.
func references(t *testing.T, objects map[string]metav1.Object) {
	t.Helper()
	outside := []string{"redis", "nats", "nats-user", "mm-users", "redis-tls", "nats-tls", "hosting", "hosting-keys",
		"server-keys", "seat-keys"}
	pods := pods(objects)
	selected := func(what string, selector map[string]string) {
		t.Helper()
		for _, p := range pods {
			if labels.SelectorFromSet(selector).Matches(labels.Set(p.Labels)) {
				return
			}
		}
		t.Errorf("%s selects no pod: %v", what, selector)
	}
	there := func(what, key string) {
		t.Helper()
		if _, name, _ := strings.Cut(key, " "); objects[key] == nil && !slices.Contains(outside, name) {
			t.Errorf("%s names the %s, which is not there", what, key)
		}
	}
	for name, p := range pods {
		if p.Spec.ServiceAccountName != "" {
			there(name, "ServiceAccount "+p.Spec.ServiceAccountName)
		}
		volumes := map[string]bool{}
		for _, v := range p.Spec.Volumes {
			volumes[v.Name] = true
			if v.ConfigMap != nil {
				there(name, "ConfigMap "+v.ConfigMap.Name)
			}
			if v.Secret != nil {
				there(name, "Secret "+v.Secret.SecretName)
			}
		}
		for _, e := range p.Spec.Containers[0].Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				there(name, "Secret "+e.ValueFrom.SecretKeyRef.Name)
			}
		}
		if set := of[*appsv1.StatefulSet](objects)[name]; set != nil {
			volumes[set.Spec.VolumeClaimTemplates[0].Name] = true
		}
		for _, m := range p.Spec.Containers[0].VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s mounts %s, which is no volume", name, m.Name)
			}
		}
	}
	for name, d := range of[*appsv1.Deployment](objects) {
		selected("Deployment "+name, d.Spec.Selector.MatchLabels)
	}
	for name, s := range of[*corev1.Service](objects) {
		selected("Service "+name, s.Spec.Selector)
	}
	for name, b := range of[*policyv1.PodDisruptionBudget](objects) {
		selected("PodDisruptionBudget "+name, b.Spec.Selector.MatchLabels)
	}
	for name, p := range of[*networkingv1.NetworkPolicy](objects) {
		selected("NetworkPolicy "+name, p.Spec.PodSelector.MatchLabels)
	}
	for name, a := range of[*autoscalingv2.HorizontalPodAutoscaler](objects) {
		there("HorizontalPodAutoscaler "+name, "Deployment "+a.Spec.ScaleTargetRef.Name)
		if d := of[*appsv1.Deployment](objects)[a.Spec.ScaleTargetRef.Name]; d != nil && d.Spec.Replicas != nil {
			t.Errorf("%s is scaled by load and by the chart", name)
		}
	}
	for name, r := range of[*gatewayv1.HTTPRoute](objects) {
		for _, rule := range r.Spec.Rules {
			there("HTTPRoute "+name, "Service "+string(rule.BackendRefs[0].Name))
		}
	}
	for name, i := range of[*networkingv1.Ingress](objects) {
		for _, p := range i.Spec.Rules[0].HTTP.Paths {
			there("Ingress "+name, "Service "+p.Backend.Service.Name)
			if !strings.HasPrefix(p.Path, "/") { // a real API server refuses the object
				t.Errorf("Ingress %s: the path %s must begin with a slash", name, p.Path)
			}
		}
	}
	for name, m := range of[*monitoringv1.ServiceMonitor](objects) {
		selector, err := metav1.LabelSelectorAsSelector(&m.Spec.Selector)
		if err != nil {
			t.Error(err)
			continue
		}
		n := 0
		for _, s := range of[*corev1.Service](objects) {
			if selector.Matches(labels.Set(s.Labels)) {
				n++
				named := func(p corev1.ServicePort) bool { return p.Name == m.Spec.Endpoints[0].Port }
				if !slices.ContainsFunc(s.Spec.Ports, named) {
					t.Errorf("ServiceMonitor %s: %s has no port %s", name, s.Name, m.Spec.Endpoints[0].Port)
				}
			}
		}
		if n != len(services(t)) {
			t.Errorf("ServiceMonitor %s selects %d services", name, n)
		}
	}
	for name, b := range of[*rbacv1.RoleBinding](objects) {
		there("RoleBinding "+name, "Role "+b.Namespace+"/"+b.RoleRef.Name)
		there("RoleBinding "+name, "ServiceAccount "+b.Subjects[0].Name)
	}
}

// secured checks that the restricted pod security standard admits every pod, by the library that clusters use. Each pod
// also has a read-only root and a memory limit. Only the allocator has a token of the cluster.
func secured(t *testing.T, objects map[string]metav1.Object) {
	t.Helper()
	standard, err := policy.NewEvaluator(policy.DefaultChecks())
	if err != nil {
		t.Fatal(err)
	}
	restricted := admission.LevelVersion{Level: admission.LevelRestricted, Version: admission.LatestVersion()}
	for name, p := range pods(objects) {
		if r := policy.AggregateCheckResults(standard.EvaluatePod(restricted, &p.ObjectMeta, &p.Spec)); !r.Allowed {
			t.Errorf("%s would not be admitted: %s", name, r.ForbiddenDetail())
		}
		for _, c := range p.Spec.Containers {
			switch {
			case c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem:
				t.Errorf("%s may write to its root", name)
			case c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero():
				t.Errorf("%s says not how much memory it takes", name)
			}
		}
		if mount := p.Spec.AutomountServiceAccountToken; mount == nil || *mount && !strings.HasSuffix(name, "-allocator") {
			t.Errorf("%s has a token of the cluster", name)
		}
	}
}

// TestConsole: it is an option. It gets no keys of services and no URL of a store, and the gateway sends it what is
// below /console.
func TestConsole(t *testing.T) {
	for name, enabled := range map[string]bool{"production": true, "ingress": true, "bundled": false} {
		objects, err := render(t, values[name])
		if err != nil {
			t.Fatal(err)
		}
		d := of[*appsv1.Deployment](objects)["mm-matchmaker-console"]
		if (d != nil) != enabled {
			t.Fatalf("%s: the console is there: %v", name, d != nil)
		}
		if d == nil {
			continue
		}
		c := d.Spec.Template.Spec.Containers[0]
		if c.Args[0] != "console" || !slices.Contains(c.Args, "--api-url=https://mm.example.com") || len(c.Env) > 0 ||
			name == "production" && !slices.Contains(c.Args, "--production=true") {
			t.Errorf("%s: %v %v", name, c.Args, c.Env)
		}
		routed := false
		for _, r := range of[*gatewayv1.HTTPRoute](objects) {
			for _, rule := range r.Spec.Rules {
				routed = routed || *rule.Matches[0].Path.Value == "/console" &&
					rule.BackendRefs[0].Name == "mm-matchmaker-console"
			}
		}
		for _, i := range of[*networkingv1.Ingress](objects) {
			for _, p := range i.Spec.Rules[0].HTTP.Paths {
				routed = routed || strings.HasPrefix(p.Path, "/console") && p.Backend.Service.Name == "mm-matchmaker-console"
			}
		}
		if !routed {
			t.Errorf("%s: nothing leads to the console", name)
		}
	}
}

func TestValuesThatCannotBe(t *testing.T) {
	base := values["ingress"]
	for want, change := range map[string]string{
		"issuers":              "issuers: []",
		"redis.usersSecret":    "redis: {usersSecret: users, bundled: {enabled: true}}",
		"nats.usersSecret":     "nats: {usersSecret: users, credentialsSecret: credentials}",
		"'redis-password'":     "settings: {redis-password: env:PASSWORD}",
		"redis.existingSecret": "redis: {existingSecret: \"\"}",
		"nats.existingSecret":  "nats: {existingSecret: \"\"}",
		"streamReplicas":       "nats: {existingSecret: nats, streamReplicas: 2}",
		"replica":              "services: {ticket: {replica: 3}}",
		"tickets":              "services: {tickets: {replicas: 3}}",
		"'redis'":              "settings: {redis: redis://user:secret@host}",
		"httpRoute.parentRefs": "httpRoute: {enabled: true}",
		"console.apiURL":       "console: {enabled: true, apiURL: \"\"}",
		"console.keysSecret":   "console: {enabled: true, replicas: 2}",
		"'api-url'":            "console: {settings: {api-url: x}}",
		"digest":               "image: {digest: latest}",
		"'PATH'":               "telemetry: {PATH: /}",
		"networkpolicy":        "networkpolicy: {enabled: false}",
	} {
		_, err := render(t, merged(t, base, change))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that names %s", change, err, want)
		}
	}
}

// merged is a text of values with some replaced.
func merged(t *testing.T, base, change string) string {
	t.Helper()
	into, err := chartutil.ReadValues([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	with, err := chartutil.ReadValues([]byte(change))
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(chartutil.CoalesceTables(with, into))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOnlyThoseWhoNeedItMayComeIn(t *testing.T) {
	objects, err := render(t, values["production"])
	if err != nil {
		t.Fatal(err)
	}
	policies := of[*networkingv1.NetworkPolicy](objects)
	for _, service := range services(t) {
		p := policies["mm-matchmaker-"+service]
		if p == nil {
			t.Fatalf("%s has no policy", service)
		}
		var namespaces, pods []string
		for _, rule := range p.Spec.Ingress {
			if len(rule.From) == 0 {
				t.Errorf("everybody reaches %s", service)
			}
			for _, from := range rule.From {
				if from.NamespaceSelector == nil {
					pods = append(pods, from.PodSelector.MatchLabels["app.kubernetes.io/component"])
					continue
				}
				namespaces = append(namespaces, from.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"])
			}
		}
		var want, keys []string
		if needs(t)[service].Routes {
			want = []string{"gateways"}
		}
		want = append(want, "monitoring")
		if needs(t)[service].Hosting {
			keys = verifiers(t) // which verify game servers' tokens
		}
		slices.Sort(keys)
		slices.Sort(pods)
		if !slices.Equal(namespaces, want) || !slices.Equal(pods, keys) {
			t.Errorf("%s is reached from %v and %v, want %v and %v", service, namespaces, pods, want, keys)
		}
	}
	// The runner executes foreign code. It may reach only name servers, Redis, NATS and the collector.
	runner := policies["mm-matchmaker-runner"]
	for _, rule := range runner.Spec.Egress {
		if len(rule.To) == 0 && (len(rule.Ports) != 1 || rule.Ports[0].Port.IntValue() != 4318) {
			t.Errorf("the runner may go everywhere: %+v", rule)
		}
	}
	if n := len(runner.Spec.Egress); n != 4 {
		t.Errorf("the runner has %d ways out, want 4", n)
	}
}

// TestReplicasAreKeptApart: a service's replicas spread over machines and zones. Draining machines evicts one replica
// at a time, and an upgrade removes a replica only when its successor is ready.
func TestReplicasAreKeptApart(t *testing.T) {
	objects, err := render(t, values["production"])
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range of[*appsv1.Deployment](objects) {
		var keys []string
		for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
			// A node that is drained, and the pods before an upgrade, do not count.
			if *c.NodeTaintsPolicy != corev1.NodeInclusionPolicyHonor ||
				!slices.Equal(c.MatchLabelKeys, []string{appsv1.DefaultDeploymentUniqueLabelKey}) {
				t.Errorf("%s spreads by %+v", name, c)
			}
			keys = append(keys, c.TopologyKey+" "+string(c.WhenUnsatisfiable))
			if !maps.Equal(c.LabelSelector.MatchLabels, d.Spec.Selector.MatchLabels) {
				t.Errorf("%s spreads the pods of %v, its own are %v", name, c.LabelSelector.MatchLabels,
					d.Spec.Selector.MatchLabels)
			}
		}
		if slices.Sort(keys); !slices.Equal(keys, []string{"kubernetes.io/hostname DoNotSchedule",
			"topology.kubernetes.io/zone ScheduleAnyway"}) {
			t.Errorf("%s spreads over %v", name, keys)
		}
		several := d.Spec.Replicas == nil || *d.Spec.Replicas > 1
		switch b := of[*policyv1.PodDisruptionBudget](objects)[name]; {
		case several != (b != nil):
			t.Errorf("%s has several replicas: %v, and a disruption budget: %v", name, several, b != nil)
		case b != nil && b.Spec.MaxUnavailable.IntValue() != 1:
			t.Errorf("%s may lose %v pods at once", name, b.Spec.MaxUnavailable)
		}
		if r := d.Spec.Strategy.RollingUpdate; r == nil || r.MaxUnavailable.IntValue() != 0 {
			t.Errorf("%s has fewer pods while it is upgraded: %+v", name, d.Spec.Strategy)
		}
		if p := d.Spec.Template.Spec.Containers[0]; p.ReadinessProbe == nil || p.LivenessProbe == nil ||
			p.ReadinessProbe.HTTPGet.Path == p.LivenessProbe.HTTPGet.Path {
			t.Errorf("%s is not asked both whether it is alive and whether it is ready", name)
		}
	}
}

// TestRunnersScaleByTheirQueue: runners scale by their queue, ticket services by CPU alone.
func TestRunnersScaleByTheirQueue(t *testing.T) {
	objects, err := render(t, values["production"])
	if err != nil {
		t.Fatal(err)
	}
	scalers := of[*autoscalingv2.HorizontalPodAutoscaler](objects)
	for service, want := range map[string][]string{"runner": {"cpu", "matchmaker_runs_waiting"}, "ticket": {"cpu"}} {
		a := scalers["mm-matchmaker-"+service]
		if a == nil {
			t.Fatalf("%s does not scale", service)
		}
		var by []string
		for _, m := range a.Spec.Metrics {
			if m.Resource != nil {
				by = append(by, string(m.Resource.Name))
			} else {
				by = append(by, m.Pods.Metric.Name)
			}
		}
		if !slices.Equal(by, want) {
			t.Errorf("%s scales by %v, want %v", service, by, want)
		}
	}
	// It scales by a metric that a running system emits: e2e compares the list with one.
	emitted, err := os.ReadFile(namedFile)
	if err != nil || !strings.Contains(string(emitted), "\nmatchmaker_runs_waiting\n") {
		t.Errorf("nobody emits the length of the queue: %v", err)
	}
}

// TestStreamsStayOpen: gateways do not end a stream of events after their usual time.
func TestStreamsStayOpen(t *testing.T) {
	route, ingress := rendered[*gatewayv1.HTTPRoute](t, "production"), rendered[*networkingv1.Ingress](t, "ingress")
	for path, service := range map[string]string{
		"tickets/events": "ticket", "events": "ticket", "parties/0192f3c0/events": "party",
	} {
		path = "/demo/matchmaking/api/v1/" + path
		i := slices.IndexFunc(route.Spec.Rules, func(r gatewayv1.HTTPRouteRule) bool {
			match := r.Matches[0].Path
			return *match.Type == gatewayv1.PathMatchRegularExpression && regexp.MustCompile(*match.Value).MatchString(path)
		})
		if i < 0 {
			t.Fatalf("the HTTPRoute has no rule for %s", path)
		}
		r := route.Spec.Rules[i]
		if limit := r.Timeouts; limit == nil || limit.Request == nil || *limit.Request != "0s" ||
			limit.BackendRequest != nil && *limit.BackendRequest != "0s" ||
			string(r.BackendRefs[0].Name) != "mm-matchmaker-"+service {
			t.Errorf("streams of %s are ended or go elsewhere: %+v", path, r)
		}
	}
	// Gateways cut requests off that no rule gives its time: Envoy after 15 s.
	for _, r := range route.Spec.Rules {
		if r.Timeouts == nil || r.Timeouts.Request == nil {
			t.Errorf("requests to %v have a gateway's time", *r.Matches[0].Path.Value)
		}
	}
	// nginx counts from what it read last: a heartbeat is to come in time.
	const name = "nginx.ingress.kubernetes.io/proxy-read-timeout"
	seconds, err := strconv.Atoi(ingress.Annotations[name])
	if beat := heartbeat(t); err != nil || time.Duration(seconds)*time.Second < 2*beat {
		t.Errorf("%s is %q, streams send something every %v", name, ingress.Annotations[name], beat)
	}
}

// rendered is the only object of a type, with a set of values.
func rendered[T metav1.Object](t *testing.T, set string) T {
	t.Helper()
	objects, err := render(t, values[set])
	if err != nil {
		t.Fatal(err)
	}
	all := of[T](objects)
	if len(all) != 1 {
		t.Fatalf("%s: got %d objects, want 1", set, len(all))
	}
	return all[slices.Collect(maps.Keys(all))[0]]
}

// heartbeat is the default of --stream-heartbeat.
func heartbeat(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile("../services/internal/edge/stream/settings.go")
	if err != nil {
		t.Fatal(err)
	}
	flag, _, _ := strings.Cut(string(text), `name:"stream-heartbeat"`)
	_, value, _ := strings.Cut(flag[strings.LastIndex(flag, "\n"):], `default:"`)
	value, _, _ = strings.Cut(value, `"`)
	beat, err := time.ParseDuration(value)
	if err != nil {
		t.Fatal(err)
	}
	return beat
}

// The manifest is what package agones is tested with.
func TestTheAllocatorMayDoWhatTheManifestSays(t *testing.T) {
	text, err := os.ReadFile("hosting/agones-rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []rbacv1.PolicyRule
	for _, part := range releaseutil.SplitManifests(string(text)) {
		if _, object := decode(t, "agones-rbac.yaml", part); object != nil {
			if role, ok := object.(*rbacv1.Role); ok {
				want = role.Rules
			}
		}
	}
	objects, err := render(t, values["production"])
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"fleets", "fleets-eu"} {
		role, _ := objects["Role "+namespace+"/mm-matchmaker-allocator"].(*rbacv1.Role)
		if role == nil {
			t.Fatalf("no role in %s", namespace)
		}
		if got := rights(role.Rules); !slices.Equal(got, rights(want)) {
			t.Errorf("%s: %v, the manifest says %v", namespace, got, rights(want))
		}
	}
}

func rights(rules []rbacv1.PolicyRule) []string {
	var all []string
	for _, r := range rules {
		for _, verb := range r.Verbs {
			all = append(all, verb+" "+strings.Join(r.APIGroups, ",")+"/"+strings.Join(r.Resources, ","))
		}
	}
	slices.Sort(all)
	return all
}

func TestOnlyTheAllocatorGetsTheKeysOfHostingSystems(t *testing.T) {
	objects, err := render(t, values["production"])
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range pods(objects) {
		mounted := slices.ContainsFunc(p.Spec.Volumes,
			func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == "hosting" })
		named := slices.ContainsFunc(p.Spec.Containers[0].Env,
			func(e corev1.EnvVar) bool { return e.Name == "MATCHMAKER_HOSTING" })
		if want := name == "mm-matchmaker-allocator"; mounted != want || named != want {
			t.Errorf("%s: the Secret is mounted: %v, named: %v", name, mounted, named)
		}
	}
}

// TestEachServiceGetsItsOwnPassword: where each service has its own user, a pod gets the user name and the password or
// credentials of its service, and of no other.
func TestEachServiceGetsItsOwnPassword(t *testing.T) {
	for set, want := range map[string]map[string]string{
		"users":       {"redis-user": "%s password", "nats-user": "%s password"},
		"credentials": {"redis-user": "%s password", "nats": "%s.creds nats.creds"},
	} {
		objects, err := render(t, values[set])
		if err != nil {
			t.Fatal(err)
		}
		for _, service := range services(t) {
			p := pods(objects)["mm-matchmaker-"+service]
			got := map[string]string{}
			for _, v := range p.Spec.Volumes {
				if v.Secret == nil {
					continue
				}
				if len(v.Secret.Items) != 1 {
					t.Errorf("%s, %s: it gets all of the Secret %s", set, service, v.Secret.SecretName)
					continue
				}
				got[v.Name] = v.Secret.Items[0].Key + " " + v.Secret.Items[0].Path
			}
			own := map[string]string{}
			for volume, item := range want {
				own[volume] = fmt.Sprintf(item, service)
			}
			if !maps.Equal(got, own) {
				t.Errorf("%s, %s: it gets %v, want %v", set, service, got, own)
			}
			env := map[string]string{}
			for _, e := range p.Spec.Containers[0].Env {
				env[e.Name] = e.Value
			}
			for volume := range want {
				store, user, _ := strings.Cut(volume, "-")
				if user == "" {
					continue
				}
				name := "MATCHMAKER_" + strings.ToUpper(store)
				if env[name+"_USER"] != "matchmaker-"+service || env[name+"_PASSWORD"] != "/etc/matchmaker/"+volume+"/password" {
					t.Errorf("%s, %s: it is told %q, %q", set, service, env[name+"_USER"], env[name+"_PASSWORD"])
				}
			}
		}
	}
}
