package kubernetes

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const chart = "../helm/matchmaker"

// checks are what is tried with a set of values besides what is tried with every one.
var checks = map[string]func(t *testing.T, namespace string){
	"bundled": drains,
	"production": func(t *testing.T, namespace string) {
		scales(t, namespace)
		rights(t, namespace, true, "fleets", "fleets-eu")
	},
	"ingress": func(t *testing.T, namespace string) { rights(t, namespace, false, "default") },
}

// TestChart installs the chart with every set of values, upgrades to it, goes back, and removes it.
func TestChart(t *testing.T) {
	files, err := filepath.Glob("../values/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no values: %v", err)
	}
	definitions(t)
	surroundings(t)
	for _, file := range files {
		set := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(set, func(t *testing.T) {
			namespace := "games-" + set
			restricted(t, namespace)
			volumes(t)
			before := everything(t)
			try(t, "is installed", func(t *testing.T) {
				helm(t, "install", "mm", chart, "--namespace", namespace, "--values", file)
				healthy(t, namespace)
				if check := checks[set]; check != nil {
					check(t, namespace)
				}
				uninstall(t, namespace, before)
			})
			try(t, "is upgraded", func(t *testing.T) { upgraded(t, namespace, file, before) })
		})
	}
}

// try runs a part of a test that others rely on.
func try(t *testing.T, name string, part func(t *testing.T)) {
	t.Helper()
	if !t.Run(name, part) {
		t.FailNow()
	}
}

// upgraded upgrades the chart of the commit before, goes back to it, and forward again.
func upgraded(t *testing.T, namespace, file string, before map[string]bool) {
	older, values := filepath.Join(here.dir, "before/deploy/helm/matchmaker"), file
	if old := filepath.Join(here.dir, "before/deploy/values", filepath.Base(file)); exists(old) {
		values = old
	}
	helm(t, "install", "mm", older, "--namespace", namespace, "--values", values)
	first := templates(t, namespace)
	// A setting changes with it, so that every pod is replaced.
	helm(t, "upgrade", "mm", chart, "--namespace", namespace, "--values", file, "--set", "settings.grace=7s")
	healthy(t, namespace)
	second := templates(t, namespace)
	for name, template := range second {
		if equality.Semantic.DeepEqual(template, first[name]) {
			t.Errorf("the upgrade did not change %s", name)
		}
	}
	helm(t, "rollback", "mm", "1", "--namespace", namespace)
	healthy(t, namespace)
	if back := templates(t, namespace); !equality.Semantic.DeepEqual(back, first) {
		t.Errorf("after the rollback the pods' templates are not the first ones:\n%v\n%v", back, first)
	}
	helm(t, "rollback", "mm", "2", "--namespace", namespace)
	healthy(t, namespace)
	uninstall(t, namespace, before)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// helm runs helm. Whatever waits has a minute. A warning of the API server is a failure.
func helm(t *testing.T, args ...string) {
	t.Helper()
	began := time.Now()
	args = append(args, "--kubeconfig", here.kubeconfig, "--wait", "--timeout", "60s")
	cmd := exec.CommandContext(t.Context(), filepath.Join(here.bin, "helm"), args...)
	cmd.Env = append(os.Environ(), "HOME="+here.dir)
	var said, warned bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &warned
	if err := cmd.Run(); err != nil {
		t.Fatalf("helm %s: %v\n%s%s%s", strings.Join(args, " "), err, &said, &warned, warnings(t))
	}
	if warned.Len() > 0 {
		t.Errorf("helm %s: %s", strings.Join(args, " "), &warned)
	}
	fmt.Printf("helm %s: %.1f s\n", strings.Join(args[:3], " "), time.Since(began).Seconds())
}

// warnings are the warnings in the cluster's events.
func warnings(t *testing.T) string {
	t.Helper()
	events, err := here.api.CoreV1().Events("").List(t.Context(), metav1.ListOptions{FieldSelector: "type=Warning"})
	if err != nil {
		return err.Error()
	}
	told := map[string]string{} // one for each object
	for _, e := range events.Items {
		told[e.InvolvedObject.Kind+" "+e.InvolvedObject.Name] = e.Message
	}
	var all []string
	for _, object := range slices.Sorted(maps.Keys(told)) {
		all = append(all, object+": "+told[object])
	}
	return strings.Join(all[:min(len(all), 20)], "\n")
}

// restricted makes a namespace that enforces the restricted standard, and sees that it does.
func restricted(t *testing.T, namespace string) {
	t.Helper()
	make := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted",
	}}}
	if _, err := here.api.CoreV1().Namespaces().Create(t.Context(), make, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	enforced(t, namespace)
}

// enforced sees that a namespace has its own objects, and takes no privileged pod.
func enforced(t *testing.T, namespace string) {
	t.Helper()
	eventually(t, "the namespace's own objects", func(ctx context.Context) error {
		if _, err := here.api.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err
		}
		_, err := here.api.CoreV1().ConfigMaps(namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
	yes := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "privileged"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "c", Image: "c", SecurityContext: &corev1.SecurityContext{Privileged: &yes}},
		}},
	}
	_, err := here.api.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{"All"}})
	if !apierrors.IsForbidden(err) {
		t.Fatalf("the namespace takes a privileged pod: %v", err)
	}
}

// surroundings is what an operator has before the release.
func surroundings(t *testing.T) {
	t.Helper()
	for _, namespace := range []string{"fleets", "fleets-eu"} {
		restricted(t, namespace)
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}
	if _, err := here.api.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// volumes makes two volumes for the bundled Redis and NATS.
func volumes(t *testing.T) {
	t.Helper()
	for i := range 2 {
		volume := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("volume-", i)},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:                      corev1.ResourceList{"storage": resource.MustParse("10Gi")},
				AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
				PersistentVolumeSource: corev1.PersistentVolumeSource{
					HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/volume"},
				},
			},
		}
		all := here.api.CoreV1().PersistentVolumes()
		if _, err := all.Create(t.Context(), volume, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := all.Delete(context.WithoutCancel(t.Context()), volume.Name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// eventually waits until done returns nil.
func eventually(t *testing.T, what string, done func(context.Context) error) {
	t.Helper()
	if err := here.await(t.Context(), what, done); err != nil {
		t.Fatal(err)
	}
}
