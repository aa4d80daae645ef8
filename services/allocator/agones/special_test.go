package agones_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/allocator/agones"
	"matchmaker.dev/services/allocator/agones/agonestest"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

func request(match string) *provider.Request {
	return &provider.Request{
		Ref:   provider.Ref{Project: "p", Match: match, Hosting: provider.Hosting{Fleet: "green"}},
		Teams: []provider.Team{{Name: "red", Tickets: []string{"t"}}}, Token: "jwt",
	}
}

func (x *world) allocate(t *testing.T, r *provider.Request) string {
	t.Helper()
	result, err := x.provider.Allocate(t.Context(), r)
	if err != nil || result.Status != provider.Allocated {
		t.Fatalf("Allocate: %v, %v", result, err)
	}
	return result.Connection
}

func TestServerIsLabelledForPeople(t *testing.T) {
	x := ways["service"].open(t)
	x.allocate(t, request("0190c1f2-7d6e-7b1a-8a3c-2f4e5d6c7b8a"))
	s := x.cluster.Servers(agonestest.Allocated)[0]
	want := map[string]string{
		"agones.dev/fleet": "green", "matchmaker.dev/project": "p",
		"matchmaker.dev/match":      "0190c1f2-7d6e-7b1a-8a3c-2f4e5d6c7b8a",
		"matchmaker.dev/allocation": request("0190c1f2-7d6e-7b1a-8a3c-2f4e5d6c7b8a").Allocation(),
	}
	if diff := cmp.Diff(want, s.Labels); diff != "" {
		t.Error(diff)
	}
}

func TestSelectorsAreTriedInTheirOrder(t *testing.T) {
	for _, name := range []string{"service", "kubernetes"} {
		t.Run(name, func(t *testing.T) {
			x := ways[name].world(t)
			x.cluster.AddFleet("mixed", agonestest.Fleet{Replicas: 2}, map[string]string{"version": "1", "map": "dust"})
			x.cluster.AddFleet("mixed", agonestest.Fleet{Replicas: 1}, map[string]string{"version": "2", "map": "dust"})
			x.cluster.Scale("mixed", 3)
			x.options.Selectors = []map[string]string{{"version": "2"}, {"version": "1"}}
			x.options.ProfileLabel = "map"
			x.start(t)
			var versions []string
			for _, match := range []string{"a", "b", "c"} {
				r := request(match)
				r.Hosting = provider.Hosting{Fleet: "mixed", Profile: "dust", Region: "ignored, since there is no label for it"}
				x.allocate(t, r)
				for _, s := range x.cluster.Servers(agonestest.Allocated) {
					if s.Labels["matchmaker.dev/allocation"] == r.Allocation() {
						versions = append(versions, s.Labels["version"])
					}
				}
			}
			if diff := cmp.Diff([]string{"2", "1", "1"}, versions); diff != "" {
				t.Error(diff)
			}
			r := request("d")
			r.Hosting = provider.Hosting{Fleet: "mixed", Profile: "harbour"}
			if _, err := x.provider.Allocate(t.Context(), r); provider.ReasonOf(err) != provider.FleetEmpty {
				t.Errorf("a profile that no server has: %v", err)
			}
		})
	}
}

func TestPortsAndAddresses(t *testing.T) {
	tests := []struct {
		port, address, family string
		want                  string // of the connection
		final                 string // of the error
	}{
		{"", "", "", ":7", ""},
		{"query", "", "", ":8", ""},
		{"", "ExternalDNS", "", ".example.com:7", ""},
		{"", "ExternalIP", "", "10.0.", ""},
		{"", "ExternalIP", "ipv4", "10.0.", ""},
		{"", "ExternalIP", "ipv6", "[2001:db8::7]:7", ""},
		{"", "ExternalDNS", "ipv6", "", "no address of type ExternalDNS ipv6"},
		{"rcon", "", "", "", `no port "rcon"`},
		{"", "Hostname", "", "", "no address of type Hostname"},
	}
	for _, test := range tests {
		x := ways["service"].world(t)
		x.options.Port, x.options.Address, x.options.Family = test.port, test.address, test.family
		x.start(t)
		result, err := x.provider.Allocate(t.Context(), request("m"))
		if test.final == "" {
			if err != nil || !strings.Contains(result.Connection, test.want) {
				t.Errorf("%q %q %q: %v, %v", test.port, test.address, test.family, result, err)
			}
			continue
		}
		if !provider.Final(err) || !strings.Contains(err.Error(), test.final) {
			t.Errorf("%q %q: %v", test.port, test.address, err)
		}
		if n := x.inUse(); n != 0 {
			t.Errorf("%q %q: %d servers are in use after a final error", test.port, test.address, n)
		}
	}
}

// A cache that lags behind does not know the first server yet. Only the cluster's own store does.
func TestKubernetesIsAskedBeforeAStaleCache(t *testing.T) {
	for _, name := range []string{"kubernetes", "both", "kubernetes, list", "kubernetes, counter"} {
		x := ways[name].open(t)
		x.cluster.Stale(true)
		first := x.allocate(t, request("m"))
		if again := x.allocate(t, request("m")); again != first || x.inUse() != 1 {
			t.Errorf("%s: asked again, the match has %d servers, %s and %s", name, x.inUse(), first, again)
		}
	}
}

func TestReleaseThroughAStaleCacheIsNotDoneYet(t *testing.T) {
	x := ways["kubernetes, keep"].open(t)
	x.cluster.Stale(true)
	r := request("m")
	x.allocate(t, r)
	if err := x.provider.Release(t.Context(), r.Ref); err == nil {
		t.Error("a server was released that the cache did not know")
	}
	x.cluster.Stale(false)
	if err := x.provider.Release(t.Context(), r.Ref); err != nil || x.inUse() != 0 {
		t.Errorf("%v, %d servers are in use", err, x.inUse())
	}
}

func TestServersAreMarkedWhereDeletingIsForbidden(t *testing.T) {
	x := ways["kubernetes"].open(t)
	x.cluster.Revoke("delete", "gameservers")
	r := request("m")
	x.allocate(t, r)
	if err := x.provider.Release(t.Context(), r.Ref); err != nil {
		t.Fatal(err)
	}
	if n := x.inUse(); n != 0 { // the server ended itself
		t.Errorf("%d servers are in use", n)
	}
	if !strings.Contains(x.log.String(), "may not be deleted") {
		t.Error("the log has no warning")
	}
}

// A server that was made ready again, and allocated by another client, still has our labels.
func TestServerOfSomebodyElseIsLeftAlone(t *testing.T) {
	x := ways["kubernetes"].open(t)
	r, next := request("m"), request("next")
	x.allocate(t, r)
	for _, s := range x.cluster.Servers(agonestest.Allocated) {
		x.cluster.Update(s.Name, func(s *agonestest.GameServer) { s.State = agonestest.Ready })
	}
	if results, err := x.provider.Poll(t.Context(), []provider.Ref{r.Ref}); err != nil ||
		results[0].Status != provider.Gone {
		t.Errorf("a server that is ready again: %v, %v", results, err)
	}
	x.cluster.Scale("green", 1)
	x.allocate(t, next) // the same server
	if err := x.provider.Release(t.Context(), r.Ref); err != nil {
		t.Fatal(err)
	}
	if results, err := x.provider.Poll(t.Context(), []provider.Ref{next.Ref}); err != nil ||
		results[0].Status != provider.Allocated {
		t.Errorf("releasing a former match took the server of another: %v, %v", results, err)
	}
}

// Two allocators asked in the same moment. The tickets use the second server.
func TestOnlyTheServersThatAreNotUsedAreReleased(t *testing.T) {
	x := ways["kubernetes"].open(t)
	x.cluster.Stale(true)
	r := request("m")
	r.First = true // neither looks for the other's
	x.allocate(t, r)
	r.Used = x.allocate(t, r)
	if n := x.inUse(); n != 2 {
		t.Fatalf("%d servers are in use", n)
	}
	unknown := r.Ref
	unknown.Used = "1.2.3.4:5"
	if err := x.provider.Release(t.Context(), unknown); err == nil || x.inUse() != 2 {
		t.Errorf("%d servers are left, %v", x.inUse(), err)
	}
	for range 2 {
		if err := x.provider.Release(t.Context(), r.Ref); err != nil {
			t.Fatal(err)
		}
	}
	r.First = false
	if n, left := x.inUse(), x.allocate(t, r); n != 1 || left != r.Used {
		t.Errorf("%d servers are left, and %s is found, want %s", n, left, r.Used)
	}
}

func TestServerThatChangesWhileItIsReleasedIsLookedAtAgain(t *testing.T) {
	x := ways["kubernetes"].open(t)
	r := request("m")
	x.allocate(t, r)
	name := x.cluster.Servers(agonestest.Allocated)[0].Name
	// Between the list and the delete the server is made ready, and allocated by another client.
	x.api.Break(func(r *http.Request, _ []byte) bool {
		if r.Method == http.MethodDelete {
			x.cluster.Update(name, func(s *agonestest.GameServer) { s.Labels["matchmaker.dev/allocation"] = "somebody's" })
		}
		return false
	}, conformance.Slow)
	if err := x.provider.Release(t.Context(), r.Ref); err != nil {
		t.Fatal(err)
	}
	if n := x.inUse(); n != 1 {
		t.Errorf("%d servers are left", n)
	}
}

func TestServerThatIsReadyAgainIsNoLongerMarkedAsReleased(t *testing.T) {
	x := ways["service"].world(t)
	x.cluster.Allocated = func(s *agonestest.GameServer) {
		if s.Annotations["matchmaker.dev/released"] != "" {
			s.State = agonestest.Ready
		}
	}
	x.cluster.Scale("green", 1)
	x.start(t)
	for _, match := range []string{"a", "b"} {
		r := request(match)
		x.allocate(t, r)
		if n := x.inUse(); n != 1 {
			t.Errorf("%s: %d servers are in use", match, n)
		}
		if err := x.provider.Release(t.Context(), r.Ref); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnswerAboutAnotherMatchIsNotBelieved(t *testing.T) {
	for _, name := range []string{"service", "kubernetes"} {
		x := ways[name].world(t)
		x.cluster.Allocated = func(s *agonestest.GameServer) { s.Labels["matchmaker.dev/allocation"] = "another" }
		x.start(t)
		if _, err := x.provider.Allocate(t.Context(), request("m")); err == nil || provider.ReasonOf(err) != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An API that lists nothing where a server should be ends no allocator.
func TestListOfNulls(t *testing.T) {
	x := ways["kubernetes"].world(t)
	authority := conformance.NewAuthority(t)
	api := conformance.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"kind":"GameServerList","items":[null,null]}`)
	}), authority, nil)
	x.options.Kubernetes.URL, x.options.Kubernetes.CA = api.URL, authority.File
	x.start(t)
	ref := request("m").Ref
	if got, err := x.provider.Poll(t.Context(), []provider.Ref{ref}); err != nil || got[0].Status != provider.Gone {
		t.Errorf("Poll: %v, %v", got, err)
	}
	if err := x.provider.Release(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

func TestMoreServersThanAPageHolds(t *testing.T) {
	x := ways["kubernetes, list"].open(t)
	x.cluster.AddFleet("big", agonestest.Fleet{Replicas: 50, Matches: 1}, nil)
	var refs []provider.Ref
	for i := range 50 {
		r := request(fmt.Sprint("m", i))
		r.Hosting.Fleet = "big"
		x.allocate(t, r)
		refs = append(refs, r.Ref)
	}
	results, err := x.provider.Poll(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Status != provider.Allocated {
			t.Errorf("match %d is %v", i, r.Status)
		}
	}
}

func TestSeveralMatchesShareAServer(t *testing.T) {
	for _, name := range []string{"service, list", "service, counter", "kubernetes, list", "kubernetes, counter"} {
		t.Run(name, func(t *testing.T) {
			x := ways[name].open(t)
			var connections []string
			for _, match := range []string{"a", "b", "c", "d"} { // three find room in one
				connections = append(connections, x.allocate(t, request(match)))
			}
			if n := len(slices.Compact(slices.Clone(connections))); n != 2 || len(x.cluster.Servers(agonestest.Allocated)) != 2 {
				t.Errorf("four matches are on %v", connections)
			}
			if err := x.provider.Release(t.Context(), request("b").Ref); err != nil {
				t.Fatal(err)
			}
			if len(x.cluster.Servers(agonestest.Allocated)) != 2 || x.inUse() != 3 {
				t.Errorf("releasing one match left %d", x.inUse())
			}
			if got := x.allocate(t, request("e")); got != connections[0] {
				t.Errorf("the room that became free was not used: %s", got)
			}
		})
	}
}

func TestDataOfFormerMatchesIsRemoved(t *testing.T) {
	x := ways["kubernetes, list"].open(t)
	most := 0
	for i := range 30 {
		r := request(string(rune('A' + i)))
		x.allocate(t, r)
		for _, s := range x.cluster.Servers(agonestest.Allocated) {
			most = max(most, len(s.Annotations))
			// The game is over: the server takes it from the list.
			x.cluster.Update(s.Name, func(s *agonestest.GameServer) { s.List = nil })
		}
	}
	if most > 12 {
		t.Errorf("a server carries %d annotations", most)
	}
	if !slices.Contains(x.cluster.Used(), "patch agones.dev/gameservers") {
		t.Error("nothing was pruned")
	}
}

func TestManifestGrantsWhatIsUsedAndNothingElse(t *testing.T) {
	var used []string
	for _, name := range []string{"kubernetes", "kubernetes, list"} {
		x := ways[name].open(t)
		for i := range 12 {
			x.allocate(t, request(string(rune('A'+i))))
			for _, s := range x.cluster.Servers(agonestest.Allocated) {
				x.cluster.Update(s.Name, func(s *agonestest.GameServer) { s.List = nil })
			}
		}
		if err := x.provider.Release(t.Context(), request("A").Ref); err != nil {
			t.Error(err)
		}
		x.cluster.Scale("green", 0)
		for _, s := range x.cluster.Servers(agonestest.Allocated) {
			x.cluster.Update(s.Name, func(s *agonestest.GameServer) { s.State = "Shutdown" })
		}
		_, _ = x.provider.Allocate(t.Context(), request("z"))
		used = append(used, x.cluster.Used()...)
	}
	want := []string{
		"create allocation.agones.dev/gameserverallocations",
		"delete agones.dev/gameservers", "get agones.dev/fleets",
		"list agones.dev/gameservers", "list autoscaling.agones.dev/fleetautoscalers", "patch agones.dev/gameservers",
	}
	slices.Sort(used)
	if diff := cmp.Diff(want, slices.Compact(used)); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, verbs := range []string{`["create"]`, `["list", "delete", "patch"]`, `["get"]`, `["list"]`} {
		n += strings.Count(string(text), "verbs: "+verbs)
	}
	if n != 4 || strings.Count(string(text), "verbs:") != 4 {
		t.Error("the manifest grants other rights than are used")
	}
}

func TestFleetOfSizeZeroHasMaximumZeroUnlessItMayGrow(t *testing.T) {
	x := ways["kubernetes"].open(t)
	x.cluster.Scale("green", 0)
	_, err := x.provider.Allocate(t.Context(), request("m"))
	if provider.ReasonOf(err) != provider.MaximumZero ||
		!strings.Contains(err.Error(), "the hosting maximum of fleet green is zero") {
		t.Errorf("no replicas: %v", err)
	}
	x.cluster.Autoscale("green")
	if _, err := x.provider.Allocate(t.Context(), request("m")); provider.ReasonOf(err) != provider.FleetEmpty {
		t.Errorf("no replicas, an autoscaler: %v", err)
	}
	x.cluster.Revoke("get", "fleets")
	if _, err := x.provider.Allocate(t.Context(), request("m")); provider.ReasonOf(err) != provider.FleetEmpty {
		t.Errorf("nobody may look: %v", err)
	}
}

func TestTokenIsRenewed(t *testing.T) {
	x := ways["kubernetes"].open(t)
	x.allocate(t, request("a"))
	x.cluster.Authorize(t, "the next token", manifest)
	if _, err := x.provider.Allocate(t.Context(), request("b")); err == nil || provider.Final(err) ||
		!strings.Contains(err.Error(), "401") {
		t.Errorf("an old token: %v", err)
	}
	if err := os.WriteFile(x.token, []byte("the next token"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.allocate(t, request("b"))
}

func TestClientCertificateIsRenewed(t *testing.T) {
	x := ways["service"].world(t)
	authority, s := x.allocates.Authority, x.options.Service
	authority.Client(t, s.Certificate, s.Key, time.Now().Add(-time.Minute))
	x.start(t)
	if _, err := x.provider.Allocate(t.Context(), request("m")); err == nil || provider.Final(err) {
		t.Errorf("a client's certificate that has expired: %v", err)
	}
	if n := x.inUse(); n != 0 {
		t.Errorf("%d servers are in use", n)
	}
	authority.Client(t, s.Certificate, s.Key, time.Now().Add(time.Minute))
	x.allocate(t, request("m"))
}

func TestNoFreeServerIsRecognizedByItsMessage(t *testing.T) {
	for _, status := range []int{200, 404, 409, 429, 503} {
		x := ways["service"].open(t)
		x.cluster.UnallocatedStatus = status
		x.exhaust()
		if _, err := x.provider.Allocate(t.Context(), request("m")); provider.ReasonOf(err) != provider.FleetEmpty {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

func TestServerThatCouldNotBeUpdatedIsTriedAgain(t *testing.T) {
	for _, name := range []string{"service", "kubernetes"} {
		x := ways[name].open(t)
		x.cluster.Conflict(1)
		if _, err := x.provider.Allocate(t.Context(), request("m")); err == nil || provider.ReasonOf(err) != "" {
			t.Errorf("%s: %v", name, err)
		}
		x.allocate(t, request("m"))
	}
}

func TestPayloadThatIsTooLargeIsRefused(t *testing.T) {
	x := ways["service"].open(t)
	r := request("m")
	r.Properties = []byte(`"` + strings.Repeat("x", 200<<10) + `"`)
	before := x.allocates.Calls()
	if _, err := x.provider.Allocate(t.Context(), r); provider.ReasonOf(err) != provider.Refused ||
		!strings.Contains(err.Error(), "takes 196608") {
		t.Errorf("%.200v", err)
	}
	if x.allocates.Calls() != before {
		t.Error("Agones was asked all the same")
	}
}

func TestTwoProcessesGetTheSameServer(t *testing.T) {
	for name := range ways {
		x := ways[name].open(t)
		second, err := agones.New(x.options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(second.Close)
		first := x.allocate(t, request("m"))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if r, err := second.Allocate(t.Context(), request("m")); err != nil || r.Connection != first {
					t.Errorf("%s: %v, %v, want %s", name, r, err, first)
				}
			})
		}
		all.Wait()
		if n := x.inUse(); n != 1 {
			t.Errorf("%s: %d servers are in use", name, n)
		}
	}
}

func TestInvalidSettingsAreRefused(t *testing.T) {
	certificate := filepath.Join(t.TempDir(), "none.crt")
	service := func(s agones.Service) agones.Options { return agones.Options{Service: &s} }
	tests := []struct {
		options agones.Options
		want    string
	}{
		{agones.Options{}, "service or kubernetes"},
		{service(agones.Service{URL: "http://allocator.example.com"}), "service.url: http is for this machine only"},
		{service(agones.Service{URL: "https://user:hunter2@allocator.example.com"}), "service.url: credentials"},
		{service(agones.Service{URL: "https://allocator.example.com"}), "service.certificate: missing"},
		{service(agones.Service{URL: "https://a.example.com", Certificate: certificate, Key: certificate}), "none.crt"},
		{service(agones.Service{URL: "https://a.example.com", Certificate: certificate}), "both or neither"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}}, "this is no pod"},
		{agones.Options{Kubernetes: &agones.Kubernetes{URL: "https://10.0.0.1"}}, "kubernetes.token"},
		{agones.Options{Kubernetes: &agones.Kubernetes{URL: "https://10.0.0.1", Token: certificate}}, "none.crt"},
		{agones.Options{Kubernetes: &agones.Kubernetes{Kubeconfig: certificate}}, "kubernetes.kubeconfig"},
		{agones.Options{Kubernetes: &agones.Kubernetes{Kubeconfig: certificate, Token: certificate}}, "must be empty"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, Namespace: "A/B"}, "namespace"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, Fleet: "a b"}, "fleet"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, Scheduling: "Random"}, "scheduling"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, ProfileLabel: "/x"}, "profile-label"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, RegionLabel: "X_/x"}, "region-label"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, Density: &agones.Density{}}, "density"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, Density: &agones.Density{List: "a", Counter: "b"}}, "density"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, Selectors: []map[string]string{{}, {"a": "b c"}}}, "selectors[1]"},
		{agones.Options{Kubernetes: &agones.Kubernetes{}, Timeout: -1}, "timeout"},
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, test := range tests {
		test.options.Log, test.options.Now = new(conformance.LogBuffer).Logger(), time.Now
		_, err := agones.New(test.options)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// A match whose server was never asked for is not looked up.
func TestTheFirstAllocateIsOneCall(t *testing.T) {
	x := way{kubernetes: true}.open(t)
	r := &provider.Request{
		Ref: provider.Ref{Project: "p", Match: "m", Hosting: provider.Hosting{Fleet: "green"}}, First: true,
	}
	first, err := x.provider.Allocate(t.Context(), r)
	if err != nil || x.allocates.Calls() != 1 {
		t.Errorf("%d calls, %v", x.allocates.Calls(), err)
	}
	r.First = false
	if again, err := x.provider.Allocate(t.Context(), r); err != nil || again != first || x.inUse() != 1 {
		t.Errorf("asked again: %v instead of %v, %d servers, %v", again, first, x.inUse(), err)
	}
}
