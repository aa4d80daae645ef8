package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// during lets players come while something happens, and until some that came after it are matched. Each player has a
// match with the first ticket.
func during(t *testing.T, token string, happens func(*crowd)) {
	t.Helper()
	c, done, came := newCrowd(t, service(t, "ticket"), token), make(chan struct{}), make(chan struct{})
	go func() { defer close(came); c.come(t.Context(), done) }()
	c.more(t)
	happens(c)
	c.more(t)
	close(done)
	<-came
	c.rest(t)
}

// cut drops all packets of node-b, so that senders to it never hear anything.
var cut = [][]string{
	{"-t", "raw", "PREROUTING", "-i", "to-a"}, {"-t", "mangle", "POSTROUTING", "-o", "to-a"},
}

// silence cuts node-b off, or ends that.
func silence(t *testing.T, does string) {
	t.Helper()
	for _, rule := range cut {
		line := slices.Concat([]string{"--wait"}, rule[:2], []string{does}, rule[2:], []string{"-j", "DROP"})
		if err := execute(t.Context(), machines[1].command("iptables", line...)...); err != nil {
			t.Fatal(err)
		}
	}
}

// lost cuts a node off. Its pods go on alone until the operator deletes the node, and start elsewhere.
func lost(t *testing.T, token string) {
	home, lone := machines[0], machines[1]
	away, all := len(on(t, lone.name)), len(pods(t))
	if away == 0 || away == all {
		t.Fatalf("%d of %d pods are on %s", away, all, lone.name)
	}
	during(t, token, func(c *crowd) {
		began := time.Now()
		silence(t, "--insert")
		kubectl(t, "delete", "node", lone.name)
		c.more(t) // by the other node
		t.Logf("four players were matched %.1f s after %d of %d pods were gone", time.Since(began).Seconds(), away, all)
		settled(t, home.name, all)
		t.Logf("all pods are ready elsewhere after %.1f s", time.Since(began).Seconds())
	})
}

// drained drains the node that all pods are on, while another one takes them. Each pod ends in good order.
func drained(t *testing.T, token string) {
	home, other := machines[0], machines[1]
	silence(t, "--delete")
	back(t, &other)
	old := on(t, home.name)
	codes := ends(t)
	during(t, token, func(*crowd) {
		began := time.Now()
		kubectl(t, "drain", home.name, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", "5m")
		t.Logf("%d pods were drained in %.1f s", len(old), time.Since(began).Seconds())
		settled(t, other.name, len(old))
	})
	ended := codes()
	for _, p := range old {
		if code, ok := ended[p.Name]; !ok || code != 0 {
			t.Errorf("%s ended with %d (told: %v), want 0", p.Name, code, ok)
		}
	}
	kubectl(t, "uncordon", home.name)
}

// back lets a deleted node register again, as its kubelet does when it is started again.
func back(t *testing.T, m *machine) {
	t.Helper()
	if err := here.restart("kubelet of " + m.name); err != nil {
		t.Fatal(err)
	}
	if err := here.ready(t.Context(), len(machines)); err != nil {
		t.Fatal(err)
	}
}

// on are the pods of the chart that are on a node.
func on(t *testing.T, node string) (there []corev1.Pod) {
	t.Helper()
	for _, p := range pods(t) {
		if p.Spec.NodeName == node {
			there = append(there, p)
		}
	}
	return there
}

// settled waits until so many pods of the chart are there, all of them on a node and ready.
func settled(t *testing.T, node string, want int) {
	t.Helper()
	eventually(t, "all pods are ready again", func(ctx context.Context) error {
		all, err := here.api.CoreV1().Pods(games).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		ready := 0
		for _, p := range all.Items {
			s := p.Status.ContainerStatuses
			if p.Spec.NodeName == node && p.DeletionTimestamp == nil && len(s) == 1 && s[0].Ready {
				ready++
			}
		}
		if ready != want || len(all.Items) != want {
			return fmt.Errorf("%d of %d pods are ready on %s, want %d", ready, len(all.Items), node, want)
		}
		return nil
	})
}

// ends watches the pods. What it returns stops it, and returns the exit codes of those that ended.
func ends(t *testing.T) func() map[string]int32 {
	t.Helper()
	at := here.api.CoreV1().Pods(games)
	all, err := at.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := at.Watch(t.Context(), metav1.ListOptions{ResourceVersion: all.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]int32{}
	var watching sync.WaitGroup
	watching.Go(func() {
		for event := range events.ResultChan() {
			p, ok := event.Object.(*corev1.Pod)
			if !ok || event.Type == watch.Added {
				continue
			}
			for _, s := range p.Status.ContainerStatuses {
				if s.State.Terminated != nil {
					codes[p.Name] = s.State.Terminated.ExitCode
				}
			}
		}
	})
	return func() map[string]int32 {
		events.Stop()
		watching.Wait()
		return codes
	}
}
