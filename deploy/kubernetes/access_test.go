package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

var (
	gameServers = schema.GroupVersionResource{Group: "agones.dev", Version: "v1", Resource: "gameservers"}
	fleetsKind  = schema.GroupVersionResource{Group: "agones.dev", Version: "v1", Resource: "fleets"}
	scalersKind = schema.GroupVersionResource{
		Group: "autoscaling.agones.dev", Version: "v1", Resource: "fleetautoscalers",
	}
	allocationsKind = schema.GroupVersionResource{
		Group: "allocation.agones.dev", Version: "v1", Resource: "gameserverallocations",
	}
)

// rights checks what the accounts of the release may do, in the namespaces of fleets and elsewhere. deletes is what
// agones.release says.
func rights(t *testing.T, namespace string, deletes bool, fleets ...string) {
	t.Helper()
	allocator := as(t, namespace, "mm-matchmaker-allocator")
	services := as(t, namespace, "mm-matchmaker-services")
	nobody := as(t, namespace, "default")
	want := manifest(t)
	if !deletes {
		want = slices.DeleteFunc(want, func(right string) bool { return right == "delete agones.dev/gameservers" })
	}
	for _, in := range []string{namespace, "default", "fleets", "fleets-eu", "kube-system"} {
		none := mayDo(t, nobody, in)
		more := func(config *rest.Config) []string {
			return slices.DeleteFunc(mayDo(t, config, in), func(right string) bool { return slices.Contains(none, right) })
		}
		if got := more(services); len(got) > 0 {
			t.Errorf("in %s the services may %v", in, got)
		}
		var expected []string
		if slices.Contains(fleets, in) {
			expected = want
		}
		if got := more(allocator); !slices.Equal(got, expected) {
			t.Errorf("in %s the allocator may %v, want %v", in, got, expected)
		}
	}
	t.Run("calls", func(t *testing.T) { requests(t, allocator, namespace, fleets[0], deletes) })
	tokens(t, namespace)
}

// as is an account, by a token that the API server issues as it does for pods.
func as(t *testing.T, namespace, account string) *rest.Config {
	t.Helper()
	answer, err := here.api.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account,
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(here.admin)
	config.BearerToken, config.QPS = answer.Status.Token, -1
	return config
}

// mayDo is what an account may do in a namespace, as the API server tells the account itself.
func mayDo(t *testing.T, config *rest.Config, namespace string) []string {
	t.Helper()
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := api.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(),
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}},
		metav1.CreateOptions{})
	// The authorizer of nodes lists nothing, and says so.
	const nodes = "node authorizer does not support user rule resolution"
	if err != nil || !strings.Contains(nodes, answer.Status.EvaluationError) {
		t.Fatalf("%v %v", err, answer)
	}
	var rules []rbacv1.PolicyRule
	for _, r := range answer.Status.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources,
			ResourceNames: r.ResourceNames})
	}
	for _, r := range answer.Status.NonResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, Resources: r.NonResourceURLs})
	}
	return flat(rules)
}

// flat are rules as "verb group/resource".
func flat(rules []rbacv1.PolicyRule) []string {
	all := map[string]bool{}
	for _, r := range rules {
		for _, verb := range r.Verbs {
			for _, name := range r.Resources {
				all[verb+" "+strings.Join(r.APIGroups, ",")+"/"+name+strings.Join(r.ResourceNames, ",")] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// manifest are the rights in the manifest for users without the chart.
func manifest(t *testing.T) []string {
	t.Helper()
	const file = "../hosting/agones-rbac.yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects(t, file, string(text)) {
		if object.GetKind() != "Role" {
			continue
		}
		var role rbacv1.Role
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
			t.Fatal(err)
		}
		return flat(role.Rules)
	}
	t.Fatal("there is no Role")
	return nil
}

// requests makes real calls with the allocator's token.
func requests(t *testing.T, config *rest.Config, namespace, fleet string, deletes bool) {
	t.Helper()
	ctx := t.Context()
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	made := func(kind schema.GroupVersionResource, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": kind.GroupVersion().String(), "kind": map[string]string{
				"gameservers": "GameServer", "fleets": "Fleet", "gameserverallocations": "GameServerAllocation",
			}[kind.Resource],
			"metadata": map[string]any{"name": name}, "spec": map[string]any{},
		}}
	}
	for _, kind := range []schema.GroupVersionResource{gameServers, fleetsKind} {
		all := here.objects.Resource(kind).Namespace(fleet)
		if _, err := all.Create(ctx, made(kind, "green"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			err := all.Delete(context.WithoutCancel(ctx), "green", metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		})
	}
	servers, scalers := objects.Resource(gameServers).Namespace(fleet), objects.Resource(scalersKind).Namespace(fleet)
	fleets := objects.Resource(fleetsKind).Namespace(fleet)
	patch := []byte(`{"metadata": {"labels": {"a": "b"}}}`)
	calls := []struct {
		what string
		may  bool
		call func() error
	}{
		{"list game servers", true, func() error { _, err := servers.List(ctx, metav1.ListOptions{}); return err }},
		{"patch a game server", true, func() error {
			_, err := servers.Patch(ctx, "green", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}},
		{"get a fleet", true, func() error { _, err := fleets.Get(ctx, "green", metav1.GetOptions{}); return err }},
		{"list autoscalers", true, func() error { _, err := scalers.List(ctx, metav1.ListOptions{}); return err }},
		{"allocate", true, func() error {
			_, err := objects.Resource(allocationsKind).Namespace(fleet).Create(ctx, made(allocationsKind, ""),
				metav1.CreateOptions{})
			if apierrors.IsNotFound(err) { // no server serves allocations here, and rights are checked before
				return nil
			}
			return err
		}},
		{"get a game server", false, func() error { _, err := servers.Get(ctx, "green", metav1.GetOptions{}); return err }},
		{"watch game servers", false, func() error { _, err := servers.Watch(ctx, metav1.ListOptions{}); return err }},
		{"create a game server", false, func() error {
			_, err := servers.Create(ctx, made(gameServers, "blue"), metav1.CreateOptions{})
			return err
		}},
		{"delete all game servers", false, func() error {
			return servers.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		}},
		{"list fleets", false, func() error { _, err := fleets.List(ctx, metav1.ListOptions{}); return err }},
		{"patch a fleet", false, func() error {
			_, err := fleets.Patch(ctx, "green", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}},
		{"delete a fleet", false, func() error { return fleets.Delete(ctx, "green", metav1.DeleteOptions{}) }},
		{"allocate elsewhere", false, func() error {
			_, err := objects.Resource(allocationsKind).Namespace(namespace).Create(ctx, made(allocationsKind, ""),
				metav1.CreateOptions{})
			return err
		}},
		{"list game servers elsewhere", false, func() error {
			_, err := objects.Resource(gameServers).List(ctx, metav1.ListOptions{})
			return err
		}},
		{"list Secrets", false, func() error {
			_, err := api.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
			return err
		}},
		{"list Secrets of the fleets", false, func() error {
			_, err := api.CoreV1().Secrets(fleet).List(ctx, metav1.ListOptions{})
			return err
		}},
		{"list pods", false, func() error { _, err := api.CoreV1().Pods(fleet).List(ctx, metav1.ListOptions{}); return err }},
		{"create a pod", false, func() error {
			_, err := api.CoreV1().Pods(fleet).Create(ctx, &corev1.Pod{}, metav1.CreateOptions{})
			return err
		}},
		{"get a token", false, func() error {
			_, err := api.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, "default", &authenticationv1.TokenRequest{},
				metav1.CreateOptions{})
			return err
		}},
		{"delete a game server", deletes, func() error { return servers.Delete(ctx, "green", metav1.DeleteOptions{}) }},
	}
	for _, c := range calls {
		switch err := c.call(); {
		case c.may && err != nil:
			t.Errorf("the allocator may not %s: %v", c.what, err)
		case !c.may && !apierrors.IsForbidden(err):
			t.Errorf("the allocator may %s: %v", c.what, err)
		}
	}
	changed := rest.CopyConfig(config)
	changed.BearerToken += "x"
	stranger, err := kubernetes.NewForConfig(changed)
	if err != nil {
		t.Fatal(err)
	}
	_, err = stranger.CoreV1().Pods(fleet).List(ctx, metav1.ListOptions{})
	if !apierrors.IsUnauthorized(err) {
		t.Errorf("a token with another signature: %v", err)
	}
	fmt.Printf("rights: %d calls with the allocator's token\n", len(calls))
}

// tokens checks that the API server mounts a token into the allocator's pods, and no others.
func tokens(t *testing.T, namespace string) {
	t.Helper()
	pods, err := here.api.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		has := slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources,
				func(s corev1.VolumeProjection) bool { return s.ServiceAccountToken != nil })
		})
		if component := p.Labels["app.kubernetes.io/component"]; has != (component == "allocator") {
			t.Errorf("a pod of %s has a token: %v", component, has)
		}
	}
}
