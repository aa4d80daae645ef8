package kubernetes

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// healthy checks that the controllers agree with what was installed.
func healthy(t *testing.T, namespace string) {
	t.Helper()
	eventually(t, "the release", func(ctx context.Context) error {
		pods, err := here.api.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		deployments, err := here.api.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(deployments.Items) == 0 {
			return fmt.Errorf("there are no deployments")
		}
		for _, d := range deployments.Items {
			s := d.Status
			if want := *d.Spec.Replicas; s.ObservedGeneration != d.Generation || s.Replicas != want ||
				s.UpdatedReplicas != want || s.AvailableReplicas != want {
				return fmt.Errorf("%s: %+v", d.Name, s)
			}
			if n := ready(pods.Items, d.Spec.Selector); n != int(*d.Spec.Replicas) {
				return fmt.Errorf("%s has %d ready pods", d.Name, n)
			}
		}
		return served(ctx, namespace, pods.Items)
	})
	budgets(t, namespace)
}

// ready counts pods that are ready.
func ready(pods []corev1.Pod, selector *metav1.LabelSelector) int {
	wanted, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return 0
	}
	n := 0
	for _, p := range pods {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && wanted.Matches(labels.Set(p.Labels)) {
				n++
			}
		}
	}
	return n
}

// served checks that every Service has the endpoints of its pods.
func served(ctx context.Context, namespace string, pods []corev1.Pod) error {
	services, err := here.api.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, s := range services.Items {
		found, err := here.api.DiscoveryV1().EndpointSlices(namespace).List(ctx,
			metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + s.Name})
		if err != nil {
			return err
		}
		got := 0
		for _, slice := range found.Items {
			if len(slice.Ports) != len(s.Spec.Ports) {
				return fmt.Errorf("service %s has %d of %d ports", s.Name, len(slice.Ports), len(s.Spec.Ports))
			}
			for _, e := range slice.Endpoints {
				if e.Conditions.Ready != nil && *e.Conditions.Ready {
					got++
				}
			}
		}
		if want := ready(pods, &metav1.LabelSelector{MatchLabels: s.Spec.Selector}); got != want || want == 0 {
			return fmt.Errorf("service %s has %d endpoints for %d pods", s.Name, got, want)
		}
	}
	return nil
}

// templates are the templates of the services' pods.
func templates(t *testing.T, namespace string) map[string]corev1.PodTemplateSpec {
	t.Helper()
	deployments, err := here.api.AppsV1().Deployments(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]corev1.PodTemplateSpec{}
	for _, d := range deployments.Items {
		all[d.Name] = d.Spec.Template
	}
	return all
}
