package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// uninstall removes the release. It leaves the claims of the bundled servers' data, and nothing else.
func uninstall(t *testing.T, namespace string, before map[string]bool) {
	t.Helper()
	helm(t, "uninstall", "mm", "--namespace", namespace)
	claims := here.api.CoreV1().PersistentVolumeClaims(namespace)
	left, err := claims.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range left.Items {
		if !strings.HasPrefix(c.Name, "data-mm-matchmaker-") {
			t.Errorf("the release left the claim %s", c.Name)
		}
		if err := claims.Delete(t.Context(), c.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "everything of the release to be gone", func(context.Context) error {
		var differ []string
		after := everything(t)
		for name := range after {
			if !before[name] {
				differ = append(differ, "left: "+name)
			}
		}
		for name := range before {
			if !after[name] {
				differ = append(differ, "gone: "+name)
			}
		}
		if len(differ) > 0 {
			slices.Sort(differ)
			return fmt.Errorf("%s", strings.Join(differ, "\n"))
		}
		return nil
	})
	if len(left.Items) > 0 {
		free(t)
	}
}

// free makes the volumes usable for the next claims, as an operator does with data that is not needed.
func free(t *testing.T) {
	t.Helper()
	all := here.api.CoreV1().PersistentVolumes()
	eventually(t, "the volumes", func(ctx context.Context) error {
		volumes, err := all.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, v := range volumes.Items {
			if v.Spec.ClaimRef != nil {
				v.Spec.ClaimRef = nil
				if _, err := all.Update(ctx, &v, metav1.UpdateOptions{}); err != nil {
					return err
				}
			}
			if v.Status.Phase != corev1.VolumeAvailable {
				return fmt.Errorf("%s is %s", v.Name, v.Status.Phase)
			}
		}
		return nil
	})
}

// volatile are objects that the cluster makes and forgets by itself.
var volatile = map[string]bool{"events": true, "componentstatuses": true}

// everything is every object of the cluster, of every kind.
func everything(t *testing.T) map[string]bool {
	t.Helper()
	kinds, err := here.api.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || volatile[kind.Name] {
				continue
			}
			objects, err := here.objects.Resource(version.WithResource(kind.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("%s: %v", kind.Name, err)
			}
			for _, o := range objects.Items {
				all[kind.Name+"."+version.Group+" "+o.GetNamespace()+"/"+o.GetName()] = true
			}
		}
	}
	return all
}
