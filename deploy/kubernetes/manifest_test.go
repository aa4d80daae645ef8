package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// definitions installs the custom resource definitions that the chart's objects and the allocator's rights are about.
func definitions(t *testing.T) {
	t.Helper()
	patterns := []string{
		filepath.Join(here.dir, "gateway/config/crd/standard/*_*.yaml"),
		filepath.Join(here.dir, "prometheus/example/prometheus-operator-crd/*_servicemonitors.yaml"),
		filepath.Join(here.dir, "prometheus/example/prometheus-operator-crd/*_prometheusrules.yaml"),
		"../../services/allocator/agones/agonestest/definitions.yaml",
	}
	n := 0
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range objects(t, file, string(text)) {
				if object.GetKind() != "CustomResourceDefinition" {
					continue // gateway-api has an admission policy beside them
				}
				_, err := of(t, object).Apply(t.Context(), object.GetName(), object,
					metav1.ApplyOptions{FieldManager: "tests", Force: true})
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				n++
				established(t, object.GetName())
			}
		}
	}
	here.mapper.Reset()
	fmt.Printf("%d custom resource definitions\n", n)
}

// established waits until the API server serves a custom resource, in every version. The first lists are refused while
// it fills its cache.
func established(t *testing.T, name string) {
	t.Helper()
	kind := schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
	eventually(t, name, func(ctx context.Context) error {
		object, err := here.objects.Resource(kind).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &definition); err != nil {
			return err
		}
		for _, v := range definition.Spec.Versions {
			if !v.Served {
				continue
			}
			served := schema.GroupVersionResource{
				Group: definition.Spec.Group, Version: v.Name, Resource: definition.Spec.Names.Plural,
			}
			if _, err := here.objects.Resource(served).List(ctx, metav1.ListOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// manifests are texts that have Kubernetes objects.
var manifests = regexp.MustCompile(`(?m)^(apiVersion|kind):`)

// objects are the Kubernetes objects in a YAML text.
func objects(t *testing.T, file, text string) []*unstructured.Unstructured {
	t.Helper()
	if !manifests.MatchString(text) {
		return nil
	}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	var all []*unstructured.Unstructured
	for {
		var o map[string]any
		switch err := decoder.Decode(&o); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%s: %v", file, err)
		case o["apiVersion"] != nil && o["kind"] != nil:
			all = append(all, &unstructured.Unstructured{Object: o})
		}
	}
}

// of is where the API server keeps an object.
func of(t *testing.T, object *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	kind := object.GroupVersionKind()
	mapping, err := here.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		t.Fatalf("%s %s: %v", kind, object.GetName(), err)
	}
	if mapping.Scope.Name() == "root" {
		return here.objects.Resource(mapping.Resource)
	}
	return here.objects.Resource(mapping.Resource).Namespace(object.GetNamespace())
}

var fenced = regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```")

// TestManifests has the API server check every object in deploy and in the documents, outside the chart.
func TestManifests(t *testing.T) {
	definitions(t)
	for _, namespace := range []string{"games", "matchmaker", "monitoring"} { // the manifests name them
		restricted(t, namespace)
	}
	n := 0
	check := func(file, text string) {
		for _, object := range objects(t, file, text) {
			_, err := of(t, object).Create(t.Context(), object,
				metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"})
			if err != nil {
				t.Errorf("%s: %s %s: %v", file, object.GetKind(), object.GetName(), err)
			}
			n++
		}
	}
	for _, root := range []string{"..", "../../docs"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (strings.HasSuffix(path, "/templates") || strings.HasSuffix(path, "/kubernetes")):
				return fs.SkipDir
			}
			text, err := os.ReadFile(path)
			switch {
			case d.IsDir():
				return nil
			case err != nil:
				return err
			case filepath.Ext(path) == ".yaml":
				check(path, string(text))
			case filepath.Ext(path) == ".md":
				for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
					check(path, block[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// As the operator wants the alerts: the file is the object's spec.
	check("../alerts.yaml", "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n"+
		"metadata: {name: matchmaker, namespace: monitoring}\nspec:\n  "+strings.ReplaceAll(string(text), "\n", "\n  "))
	if n < 4 {
		t.Errorf("only %d objects were found", n)
	}
	fmt.Printf("%d objects outside the chart are accepted\n", n)
}
