package deploy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// network decides as a cluster does which pods of the chart's namespace reach each other. A pod that policies select
// may do only what one of them allows. That holds at both ends of a connection.
type network struct {
	pods     map[string]corev1.PodTemplateSpec
	policies map[string]*networkingv1.NetworkPolicy
}

// reaches tells whether a pod reaches a port of another one.
func (n *network) reaches(t *testing.T, from, to, port string) bool {
	t.Helper()
	out, in := false, false
	for _, p := range n.policies {
		if matches(t, &p.Spec.PodSelector, n.pods[from].Labels) {
			for _, rule := range p.Spec.Egress {
				out = out || n.opens(rule.Ports, to, port) && n.names(t, rule.To, to)
			}
		}
		if matches(t, &p.Spec.PodSelector, n.pods[to].Labels) {
			for _, rule := range p.Spec.Ingress {
				in = in || n.opens(rule.Ports, to, port) && n.names(t, rule.From, from)
			}
		}
	}
	return out && in
}

// opens reports whether ports, of which none means all, include a pod's.
func (n *network) opens(ports []networkingv1.NetworkPolicyPort, pod, port string) bool {
	number := int32(0)
	for _, c := range n.pods[pod].Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == port {
				number = p.ContainerPort
			}
		}
	}
	return len(ports) == 0 || slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
		return p.Port == nil || p.Port.Type == intstr.String && p.Port.StrVal == port ||
			p.Port.Type == intstr.Int && p.Port.IntVal == number
	})
}

// names reports whether peers, of which none means all, include a pod of this namespace.
func (n *network) names(t *testing.T, peers []networkingv1.NetworkPolicyPeer, pod string) bool {
	t.Helper()
	own := map[string]string{"kubernetes.io/metadata.name": "matchmaking"}
	return len(peers) == 0 || slices.ContainsFunc(peers, func(p networkingv1.NetworkPolicyPeer) bool {
		return p.IPBlock == nil && (p.NamespaceSelector == nil || matches(t, p.NamespaceSelector, own)) &&
			(p.PodSelector == nil || matches(t, p.PodSelector, n.pods[pod].Labels))
	})
}

func matches(t *testing.T, s *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(labels.Set(of))
}

// TestWhoReachesWhom checks each pair of pods and each port of a release with bundled stores. Only the services reach
// the stores. Only services that verify tokens of game servers reach the allocator, which has their keys. Nothing else
// is reachable.
func TestWhoReachesWhom(t *testing.T) {
	// The values name the peers from outside, so that nothing is open to all.
	objects, err := render(t, merged(t, values["bundled"], `
networkPolicy:
  gateway: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gateways}}}]
  monitoring: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
  issuers: [{ipBlock: {cidr: 203.0.113.0/24}}]
  hosting: [{ipBlock: {cidr: 203.0.113.0/24}}]
hosting: {serverKeysSecret: server-keys}
`))
	if err != nil {
		t.Fatal(err)
	}
	n := network{pods(objects), of[*networkingv1.NetworkPolicy](objects)}
	for name, p := range n.pods {
		if !slices.ContainsFunc(slices.Collect(maps.Values(n.policies)), func(policy *networkingv1.NetworkPolicy) bool {
			return matches(t, &policy.Spec.PodSelector, p.Labels) && len(policy.Spec.PolicyTypes) == 2
		}) {
			t.Errorf("%s may do everything: no policy selects it for both directions", name)
		}
	}
	apis := verifiers(t)
	var got, want []string
	for from := range n.pods {
		for to, p := range n.pods {
			for _, port := range p.Spec.Containers[0].Ports {
				if from != to && n.reaches(t, from, to, port.Name) {
					got = append(got, fmt.Sprintf("%s to %s of %s", short(from), port.Name, short(to)))
				}
			}
		}
	}
	for _, service := range services(t) {
		want = append(want, service+" to redis of redis", service+" to nats of nats")
		if slices.Contains(apis, service) {
			want = append(want, service+" to http of allocator")
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("there is a way from\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	if len(n.pods) != len(services(t))+2 || len(of[*appsv1.StatefulSet](objects)) != 2 {
		t.Errorf("the release has the pods %v", slices.Sorted(maps.Keys(n.pods)))
	}
}

// short is the service that a pod is of.
func short(pod string) string { return strings.TrimPrefix(pod, "mm-matchmaker-") }
