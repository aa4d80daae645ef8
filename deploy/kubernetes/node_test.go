package kubernetes

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestNode runs pods on two real nodes.
func TestNode(t *testing.T) {
	if *built == "" {
		t.Skip("make node has a real node")
	}
	defer func() {
		if t.Failed() {
			t.Log(here.said(), here.logs())
		}
	}()
	try(t, "a pod is ready by its probe", func(t *testing.T) {
		tiny(t, "serve", "", func(s *corev1.ContainerStatus) error {
			if !s.Ready {
				return fmt.Errorf("%+v", s.State)
			}
			return nil
		})
	})
	t.Run("memory is limited", func(t *testing.T) {
		tiny(t, "eat", "64Mi", func(s *corev1.ContainerStatus) error {
			last := s.LastTerminationState.Terminated
			if s.RestartCount == 0 || last == nil || last.Reason != "OOMKilled" {
				return fmt.Errorf("started %d times again, %+v, before %+v", s.RestartCount, s.State, last)
			}
			return nil
		})
	})
	t.Run("processes are limited", func(t *testing.T) {
		tiny(t, "fork", "2Gi", func(s *corev1.ContainerStatus) error {
			last := s.LastTerminationState.Terminated
			if last == nil || last.ExitCode != 3 {
				return fmt.Errorf("%+v, before %+v", s.State, last)
			}
			return nil
		})
	})
	deployed(t)
}

// tiny runs a pod of the tiny program until it is as want has it, and removes it.
func tiny(t *testing.T, what, memory string, want func(*corev1.ContainerStatus) error) {
	t.Helper()
	c := corev1.Container{Name: what, Image: tinyImage, Args: []string{what}}
	if memory != "" {
		c.Resources.Limits = corev1.ResourceList{"memory": resource.MustParse(memory)}
		c.Resources.Requests = corev1.ResourceList{"memory": resource.MustParse("16Mi")}
	} else {
		c.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
			TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)},
		}}
	}
	makePod(t, "default", what, corev1.PodSpec{Containers: []corev1.Container{c}}, func(p *corev1.Pod) error {
		if len(p.Status.ContainerStatuses) == 0 {
			return fmt.Errorf("%s, %+v: %s", p.Status.Phase, p.Status.Conditions, warnings(t))
		}
		return want(&p.Status.ContainerStatuses[0])
	})
}

// makePod makes a pod, which is removed with the test, and waits until it is as want has it.
func makePod(
	t *testing.T, namespace, name string, spec corev1.PodSpec, want func(*corev1.Pod) error,
) (made *corev1.Pod) {
	t.Helper()
	no, now := false, int64(0)
	spec.AutomountServiceAccountToken, spec.TerminationGracePeriodSeconds = &no, &now
	at := here.api.CoreV1().Pods(namespace)
	eventually(t, "the pod is made", func(ctx context.Context) error { // when there is a service account
		_, err := at.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
		return err
	})
	t.Cleanup(func() {
		if err := at.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the pod "+name, func(ctx context.Context) (err error) {
		if made, err = at.Get(ctx, name, metav1.GetOptions{}); err == nil {
			err = want(made)
		}
		return err
	})
	return made
}
