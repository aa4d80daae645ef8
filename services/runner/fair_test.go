package runner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/runner"
)

// ticketOf creates a ticket in another project than most tests use.
func (w *world) ticketOf(project string) {
	w.t.Helper()
	w.count++
	w.must(w.tickets.Create(w.t.Context(), project, &pb.Ticket{
		Id: fmt.Sprintf("ticket-%d", w.count), Owner: fmt.Sprint("owner-", w.count),
		Created:        int64(1_700_000_000_000 + w.count),
		AttributeNames: []string{"skill"}, AttributeValues: []float64{1},
	}))
}

// runOf starts a run of a config, which does what do says.
func (w *world) runOf(project, function, config, do string) <-chan *pb.RunPart {
	w.t.Helper()
	return w.startRun(&pb.RunRequest{
		Project: project, Function: function, Config: config, Budget: endless.Milliseconds(),
		Settings: fmt.Appendf(nil, `{"do":%q}`, do),
	})
}

// startForEndless starts a runner with at most so many instances of a function. It does not wait for its runs when it
// ends.
func (w *world) startForEndless(instances int) {
	w.t.Helper()
	s := quickSettings()
	s.MaxInstances, s.Drain = instances, time.Millisecond
	w.startRunner("runner-1", s)
}

// makeBrief runs a config until the runner has seen that its runs are brief, and its tickets are there.
func (w *world) makeBrief(project, function, config string) {
	w.t.Helper()
	for estimate, deadline := int64(time.Hour), time.Now().Add(patience); estimate > 5_000; {
		a := w.awaitAnswer(w.runOf(project, function, config, "pair"))
		if a.error == "" && len(a.proposals) == 1 {
			estimate = max(a.stats.GetCharge(), min(estimate, 20_000_000)/2)
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s/%s/%s is not brief: %v", project, function, config, a)
		}
	}
}

// mustAnswer runs a config a few times, while others hang.
func (w *world) mustAnswer(project, function, config string, hanging ...<-chan *pb.RunPart) {
	w.t.Helper()
	for n := range 10 {
		if a := w.awaitAnswer(w.runOf(project, function, config, "pair")); a.error != "" || len(a.proposals) != 1 {
			w.t.Fatalf("run %d of %s/%s/%s: %v", n, project, function, config, a)
		}
	}
	for _, parts := range hanging {
		select {
		case p := <-parts:
			w.t.Errorf("a run that hangs was over before: %v", p)
		default:
		}
	}
}

// A config whose function hangs leaves an instance of the function for the other configs, as often as it runs.
// Promise 9.
func TestHangingConfigHoldsUpNoOtherConfigOfItsFunction(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	w.startForEndless(2)
	w.waitServing("f", 1)
	w.ticket(1, nil)
	w.ticket(2, nil)
	w.makeBrief(project, "f", "quick")
	var hanging []<-chan *pb.RunPart
	for range 4 {
		hanging = append(hanging, w.runOf(project, "f", "hangs", "hang"))
	}
	w.waitUntil("a second instance", allRunning(2, 1))
	w.mustAnswer(project, "f", "quick", hanging...)
}

// However many functions of strangers hang, or begin to hang that were quick before, a quick function is answered.
// Promise 9.
func TestHangingFunctionsOfStrangersHoldUpNobody(t *testing.T) {
	w := newWorld(t)
	w.startForEndless(2)
	projects := []string{"hangs-1", "hangs-2", "turns-1", "turns-2", "turns-3", "victim"}
	for _, project := range projects {
		w.ticketOf(project)
		w.ticketOf(project)
		w.put(project, "f", w.guest)
	}
	w.waitUntil("all to run", allRunning(len(projects), 1))
	for _, project := range projects[2:] {
		w.makeBrief(project, "f", "c")
	}
	var hanging []<-chan *pb.RunPart
	for _, project := range projects[:5] {
		for range 2 {
			hanging = append(hanging, w.runOf(project, "f", "c", "hang"))
		}
	}
	w.mustAnswer("victim", "f", "c", hanging...)
}

// Four tickets are not enough to flood the readers of proposals: the run fails before anything is sent, the log says
// why, and the instance goes on.
func TestFloodOfProposalsIsRefused(t *testing.T) {
	w := newWorld(t)
	w.put(project, "f", w.guest)
	w.startRunner("runner-1", quickSettings())
	w.waitServing("f", 1)
	for range 4 {
		w.ticket(1, nil)
	}
	before := w.invokeOK("f", "pair", 2).stats.GetInstance()
	const want = "the answer has 20000 proposals, at most 1008 are allowed for a run with 4 tickets"
	a := w.invoke("f", "flood")
	if a.error != want || a.parts != 1 || len(a.proposals) > 0 || a.stats.GetInstance() != before {
		t.Errorf("%q, %d parts, %v", a.error, a.parts, a.stats)
	}
	w.waitLogged("f", "[runner] "+want)
	if after := w.invokeOK("f", "pair", 2).stats.GetInstance(); after != before {
		t.Errorf("instance %s was replaced by %s", before, after)
	}
}

// A runner has no more instances than allowed. A project that has all of them gives one up for another project.
// Promise 9.
func TestInstancesOfARunnerAreBounded(t *testing.T) {
	w := newWorld(t)
	s := quickSettings()
	s.RunnerInstances = 3
	w.startRunner("runner-1", s)
	for n := range 4 {
		w.put(project, fmt.Sprint("f", n), w.guest)
	}
	running := func(of string, all []*pb.InstanceStatus) (n int) {
		for _, i := range all {
			if i.GetState() == "Running" && (of == "" || i.GetProject() == of) {
				n++
			}
		}
		if n > 3 {
			t.Errorf("%d instances run: %v", n, all)
		}
		return n
	}
	w.waitUntil("three instances, and one that waits", func(all []*pb.InstanceStatus) bool {
		waits := false
		for _, i := range all {
			waits = waits || strings.Contains(i.GetReason(), "the runner has 3 instances, as many as --runner-instances allows")
		}
		return running("", all) == 3 && waits
	})
	w.ticketOf("other")
	w.ticketOf("other")
	w.put("other", "f", w.guest)
	w.waitUntil("another project's instance", func(all []*pb.InstanceStatus) bool { return running("other", all) == 1 })
	w.makeBrief("other", "f", "c")
}

// What a project's runs cost is counted for the project, and each run says its own.
func TestWorkIsCountedForItsProject(t *testing.T) {
	w := newWorld(t)
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")
	w.startRunner("runner-1", quickSettings(), func(o *runner.Options) { o.Meter = telemetry.NewMeter(meter, 0, o.Log) })
	for _, project := range []string{project, "idle"} {
		w.put(project, "f", w.guest)
	}
	w.waitUntil("both to run", allRunning(2, 1))
	w.ticket(1, nil)
	w.ticket(2, nil)
	a := w.invokeOK("f", "work", 1)
	if s := a.stats; s.GetProcessor() <= 0 || s.GetCharge() < s.GetProcessor() || s.GetMentions() != 2 ||
		s.GetMessages() != 1 || s.GetAnswerBytes() < int64(len("ticket-1ticket-2")) {
		t.Errorf("the run says %v", s)
	}
	var found metricdata.ResourceMetrics
	w.must(reader.Collect(t.Context(), &found))
	counts := map[string]float64{}
	for _, scope := range found.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					of, _ := p.Attributes.Value("project")
					counts[m.Name+" "+of.AsString()] += float64(p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					of, _ := p.Attributes.Value("project")
					counts[m.Name+" "+of.AsString()] += p.Value
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					kind, _ := p.Attributes.Value("kind")
					counts[m.Name+" "+kind.AsString()] = p.Value
				}
			}
		}
	}
	for name, want := range map[string]float64{
		"matchmaker.run.charge demo":        float64(a.stats.GetCharge()) / 1e6,
		"matchmaker.run.processor demo":     float64(a.stats.GetProcessor()) / 1e6,
		"matchmaker.run.proposals demo":     1,
		"matchmaker.run.mentions demo":      2,
		"matchmaker.run.parts demo":         1,
		"matchmaker.run.answer demo":        float64(a.stats.GetAnswerBytes()),
		"matchmaker.run.cells demo":         float64(a.stats.GetCells()),
		"matchmaker.run.charge idle":        0,
		"matchmaker.runner.instances used":  2,
		"matchmaker.runner.instances limit": 100,
	} {
		if counts[name] != want {
			t.Errorf("%s is %v, want %v", name, counts[name], want)
		}
	}
}
