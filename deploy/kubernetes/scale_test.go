package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	custom "k8s.io/metrics/pkg/apis/custom_metrics/v1beta2"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// budgets checks that each disruption budget covers the pods of its service, and lets one of them go.
func budgets(t *testing.T, namespace string) {
	t.Helper()
	eventually(t, "the disruption budgets", func(ctx context.Context) error {
		all, err := here.api.PolicyV1().PodDisruptionBudgets(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, b := range all.Items {
			d, err := here.api.AppsV1().Deployments(namespace).Get(ctx, b.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			s, n := b.Status, *d.Spec.Replicas
			if s.ObservedGeneration != b.Generation || s.ExpectedPods != n || s.CurrentHealthy != n || s.DesiredHealthy != n-1 ||
				s.DisruptionsAllowed != 1 {
				return fmt.Errorf("%s with %d replicas: %+v", b.Name, n, s)
			}
		}
		return nil
	})
}

// drains evicts pods as kubectl drain does. Of each service one may go. The next one may when its successor is ready,
// which it is not while the nodes take no pods.
func drains(t *testing.T, namespace string) {
	t.Helper()
	ctx := t.Context()
	pods, err := here.api.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/component notin (redis,nats)",
	})
	if err != nil {
		t.Fatal(err)
	}
	cordon(t, true)
	evicted := map[string]bool{}
	for _, p := range pods.Items {
		service := p.Labels["app.kubernetes.io/component"]
		err := here.api.PolicyV1().Evictions(namespace).Evict(ctx, &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: namespace},
		})
		switch {
		case !evicted[service] && err != nil:
			t.Errorf("the first pod of %s may not be evicted: %v", service, err)
		case evicted[service] && !apierrors.IsTooManyRequests(err):
			t.Errorf("the second pod of %s may be evicted at the same time: %v", service, err)
		}
		evicted[service] = true
	}
	if len(evicted) < 8 {
		t.Errorf("only pods of %v were evicted", evicted)
	}
	cordon(t, false)
	healthy(t, namespace)
}

// cordon says whether nodes take new pods.
func cordon(t *testing.T, no bool) {
	t.Helper()
	nodes, err := here.api.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patch := fmt.Appendf(nil, `{"spec": {"unschedulable": %v}}`, no)
	for _, n := range nodes.Items {
		_, err := here.api.CoreV1().Nodes().Patch(t.Context(), n.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// meter is a metrics server and a metrics adapter: each pod takes as much, and has as long a queue.
type meter struct {
	cores, runs atomic.Int64 // thousandths of a core; runs that wait in each runner
}

// scales lets the autoscalers scale by metrics, up and down to the bounds that the values say.
func scales(t *testing.T, namespace string) {
	t.Helper()
	m := &meter{}
	t.Run("metrics", func(t *testing.T) {
		aggregate(t, "meter", m.handler(t.Context()),
			metav1.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"},
			metav1.GroupVersion{Group: "custom.metrics.k8s.io", Version: "v1beta2"})
		m.cores.Store(100)
		wanted := func(when, service string, want int32, reason string) {
			t.Helper()
			eventually(t, when, func(ctx context.Context) error {
				a, err := here.api.AutoscalingV2().HorizontalPodAutoscalers(namespace).Get(ctx, "mm-matchmaker-"+service,
					metav1.GetOptions{})
				if err != nil {
					return err
				}
				d, err := here.api.AppsV1().Deployments(namespace).Get(ctx, a.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				for _, kind := range []autoscalingv2.HorizontalPodAutoscalerConditionType{
					autoscalingv2.AbleToScale, autoscalingv2.ScalingActive,
				} {
					if !slices.ContainsFunc(a.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
						return c.Type == kind && c.Status == corev1.ConditionTrue
					}) {
						return fmt.Errorf("%s: %+v", a.Name, a.Status.Conditions)
					}
				}
				limited := slices.ContainsFunc(a.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
					return c.Type == autoscalingv2.ScalingLimited && c.Reason == reason
				})
				if *d.Spec.Replicas != want || d.Status.AvailableReplicas != want || reason != "" && !limited {
					return fmt.Errorf("%s has %d replicas, %d are available, want %d: %+v", d.Name, *d.Spec.Replicas,
						d.Status.AvailableReplicas, want, a.Status.Conditions)
				}
				return nil
			})
		}
		wanted("few runners for little work", "runner", 2, "")
		wanted("few ticket services for little work", "ticket", 2, "")
		m.runs.Store(1000) // as many as 500 runners should have
		wanted("as many runners as are allowed, for a long queue", "runner", 20, "TooManyReplicas")
		wanted("ticket services do not care for runners' queues", "ticket", 2, "")
		m.runs.Store(0)
		m.cores.Store(10_000)
		wanted("as many ticket services as are allowed, for much load", "ticket", 30, "TooManyReplicas")
		budgets(t, namespace)
	})
}

func (m *meter) handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, object any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object)
	}
	offers := func(version, name string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			answer(w, metav1.APIResourceList{
				TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version,
				APIResources: []metav1.APIResource{{Name: name, Namespaced: true, Kind: "MetricValueList", Verbs: []string{"get"}}},
			})
		}
	}
	mux.Handle("GET /apis/metrics.k8s.io/v1beta1", offers("metrics.k8s.io/v1beta1", "pods"))
	mux.Handle("GET /apis/custom.metrics.k8s.io/v1beta2",
		offers("custom.metrics.k8s.io/v1beta2", "pods/matchmaker_runs_waiting"))
	pods := func(w http.ResponseWriter, r *http.Request) []corev1.Pod {
		all, err := here.api.CoreV1().Pods(r.PathValue("namespace")).List(ctx,
			metav1.ListOptions{LabelSelector: r.URL.Query().Get("labelSelector")})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return nil
		}
		return all.Items
	}
	mux.HandleFunc("GET /apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods",
		func(w http.ResponseWriter, r *http.Request) {
			list := metricsv1beta1.PodMetricsList{
				TypeMeta: metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: "metrics.k8s.io/v1beta1"},
			}
			for _, p := range pods(w, r) {
				one := metricsv1beta1.PodMetrics{
					ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, Labels: p.Labels}, Timestamp: metav1.Now(),
				}
				one.Window.Duration = 30_000_000_000
				for _, c := range p.Spec.Containers {
					one.Containers = append(one.Containers, metricsv1beta1.ContainerMetrics{
						Name: c.Name, Usage: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(m.cores.Load(), resource.DecimalSI)},
					})
				}
				list.Items = append(list.Items, one)
			}
			answer(w, list)
		})
	mux.HandleFunc("GET /apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/pods/*/matchmaker_runs_waiting",
		func(w http.ResponseWriter, r *http.Request) {
			list := custom.MetricValueList{
				TypeMeta: metav1.TypeMeta{Kind: "MetricValueList", APIVersion: "custom.metrics.k8s.io/v1beta2"},
			}
			for _, p := range pods(w, r) {
				list.Items = append(list.Items, custom.MetricValue{
					DescribedObject: corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, APIVersion: "/v1"},
					Metric:          custom.MetricIdentifier{Name: "matchmaker_runs_waiting"}, Timestamp: metav1.Now(),
					Value: *resource.NewQuantity(m.runs.Load(), resource.DecimalSI),
				})
			}
			answer(w, list)
		})
	return mux
}
