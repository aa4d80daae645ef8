package registry

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
	reports "matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/state"
)

// trialed is a bench with two uploads of duel, of which the first runs, and configs that ask for it.
type trialed struct {
	*bench
	epoch uint64
	books map[int64]*reports.Book
}

func startTrial(t *testing.T, change func(*Options), configs ...string) *trialed {
	t.Helper()
	b := &trialed{bench: start(t, change), books: map[int64]*reports.Book{}}
	b.upload(t, "duel", 1)
	b.works(t, "duel")
	wants[response.Function](t, b.put(t, "/functions/duel?shadow=true", numbered(2)), http.StatusOK)
	for _, id := range configs {
		_, _, err := b.store.PutConfig(t.Context(), "demo", &pb.Config{Id: id, Function: "duel", Queue: "q-" + id}, -1)
		must(t, err)
	}
	var err error
	b.epoch, err = b.store.AcquireLease(t.Context(), "demo", "a", time.Hour)
	must(t, err)
	return b
}

// matched stores matches of a config whose tickets waited for so long, a fifth more and a fifth less.
func (b *trialed) matched(t *testing.T, config string, upload, mark int64, matches int, wait float64) {
	t.Helper()
	at := reports.SlotOf(b.clock.now())
	if b.books[at] == nil {
		b.books[at] = reports.Spans()[0].NewBook(at)
	}
	for i := range matches {
		waited := wait * (0.8 + 0.4*(float64(i)+0.5)/float64(matches))
		b.books[at].Add(&reports.Match{Players: 2, Waits: []float64{waited, waited}, Key: reports.Key{Config: config,
			Function: "duel", Upload: upload, Queue: "q-" + config, Canary: mark}})
	}
	must(t, b.store.PutReport(t.Context(), "demo", b.epoch, at, b.books[at].Message(), state.ReportKeep{For: time.Hour}))
}

// runs tells what became of the runs of the canary, as the heartbeat of a runner that has it. The other upload had a
// thousand.
func (b *trialed) runs(t *testing.T, of *pb.UploadStatus) {
	t.Helper()
	f := b.record(t)
	of = proto.CloneOf(of)
	of.Upload, of.Canary, of.RepeatedOn = 2, true, 1
	of.Generation = cmp.Or(of.GetGeneration(), f.GetCanary().GetGeneration())
	s := &pb.RunnerStatus{Runner: "canary", Uploads: []*pb.UploadStatus{of, {Upload: 1, Generation: f.GetGeneration(),
		AllRuns: 1000, AllFailed: 2, Worked: true}}}
	for _, u := range s.GetUploads() {
		u.Project, u.Function = "demo", "duel"
		s.Instances = append(s.Instances, &pb.InstanceStatus{Project: "demo", Function: "duel", Upload: u.GetUpload(),
			Name: fmt.Sprint(u.GetUpload()), State: "Running", Generation: u.GetGeneration(), Aside: u.GetCanary(),
			Canary: u.GetCanary()})
	}
	must(t, b.bus.Heartbeat(t.Context(), s))
}

// await beats until the function is as it should be.
func (b *trialed) await(t *testing.T, what string, of *pb.UploadStatus, fit func(*pb.Function) bool) *pb.Function {
	t.Helper()
	var f *pb.Function
	eventually(t, what, func() error {
		b.runs(t, of)
		if f = b.record(t); !fit(f) {
			return fmt.Errorf("it is %v, ended %v", f.GetCanary(), f.GetCanaryEnded())
		}
		return nil
	})
	return f
}

// told are the events of the function, with their details.
func (b *trialed) told(t *testing.T) (reasons, details []string) {
	t.Helper()
	entries, err := b.store.History(t.Context(), "demo", nil, 100)
	must(t, err)
	for _, entry := range entries {
		for _, e := range entry.Events {
			if e.GetKind() == pb.Event_KIND_FUNCTION {
				reasons, details = append(reasons, fmt.Sprint(e.GetReason(), " ", e.GetUpload())), append(details, e.GetDetail())
			}
		}
	}
	return reasons, details
}

const firstCanary = `{"version":2,"configs":["a"]}`

// A canary stays as it is until the studio changes its share, which goes on with the same instances, and promotes it.
func TestCanaryIsChangedAndPromoted(t *testing.T) {
	t.Parallel()
	b := startTrial(t, nil, "a", "b", "c")
	got := wants[response.Function](t, b.act(t, "canary", firstCanary), http.StatusOK)
	first := b.record(t).GetCanary()
	if c := got.Canary; c == nil || got.Shadow != nil || c.Version != 2 || !slices.Equal(c.Configs, []string{"a"}) ||
		c.Until != iso8601(first.GetBegan()+canaryTime.Milliseconds()) {
		t.Fatalf("the canary is %+v", got.Canary)
	}
	versions := wants[response.FunctionVersionList](t, b.get(t, "/functions/duel/versions"), http.StatusOK).Versions
	if !versions[0].Canary || versions[1].Canary {
		t.Errorf("the uploads are %+v", versions)
	}
	b.clock.advance(time.Minute)
	for _, body := range []string{`{"version":2,"queues":["q-c","q-b","q-b"],"deadlineSeconds":60}`,
		`{"version":2,"blockSeconds":60}`, `{"version":2,"blockSeconds":60,"percent":70}`} {
		wants[response.Function](t, b.act(t, "canary", body), http.StatusOK)
	}
	c := b.record(t).GetCanary()
	if c.GetBegan() != first.GetBegan() || c.GetGeneration() != first.GetGeneration() ||
		c.GetChanged() != first.GetBegan()+60_000 || len(c.GetQueues())+len(c.GetConfigs()) > 0 || c.GetPercent() != 70 {
		t.Errorf("the canary was %v and is %v", first, c)
	}
	wants[response.Function](t, b.act(t, "promote", `{"version":2}`), http.StatusOK)
	reasons, details := b.told(t)
	if text := strings.Join(reasons[2:], ", "); text != "canary 2, canary 2, canary 2, canary 2, promoted 2" {
		t.Errorf("the events are %s", text)
	}
	if want := []string{`for the configs "a"`, `for the queues "q-b", "q-c"`, "for 10% of the blocks of 1m0s",
		"for 70% of the blocks of 1m0s"}; !slices.Equal(details[2:6], want) {
		t.Errorf("their details are %q", details)
	}
}

// The report has what both uploads did for a config, and says where too little is known. Nothing follows from it.
func TestReportOfACanary(t *testing.T) {
	t.Parallel()
	b := startTrial(t, nil, "a", "b")
	play := func(upload, mark int64, matches int, wait float64) {
		t.Helper()
		for i := range 5 {
			b.matched(t, "a", upload, mark, matches+i, wait+float64(i)/10)
			b.matched(t, "b", 1, mark, 100, 50)
			b.clock.advance(reports.SlotTime)
		}
	}
	b.clock.advance(reports.SlotTime - time.Duration(b.clock.now().UnixMilli())*time.Millisecond%reports.SlotTime)
	play(1, 0, 100, 5)
	wants[response.Function](t, b.act(t, "canary", firstCanary), http.StatusOK)
	got := wants[response.Function](t, b.get(t, "/functions/duel"), http.StatusOK)
	if r := got.Canary.Report; len(r) != 3 || r[2].Name != "wait" || r[2].CurrentOf != 510 || r[2].CanaryOf != 0 ||
		r[2].Difference != nil || r[0].Difference != nil {
		t.Errorf("at first: %+v", r)
	}
	play(2, b.record(t).GetCanary().GetChanged(), 50, 9)
	b.clock.advance(time.Minute)
	eventually(t, "the runs are heard", func() error {
		b.runs(t, &pb.UploadStatus{AllRuns: 100, AllFailed: 20, Repeated: 9})
		got = wants[response.Function](t, b.get(t, "/functions/duel"), http.StatusOK)
		if got.Canary.Runs != 100 || got.Canary.Failed != 20 {
			return fmt.Errorf("there is %+v", got.Canary)
		}
		return nil
	})
	r := got.Canary.Report
	for i, want := range []struct {
		name                string
		canary, current     float64
		canaryOf, currentOf int64
	}{{"failures", 0.2, 0.002, 100, 1000}, {"matches", 10.4, 20.4, 260, 510}, {"wait", 9.2, 5.2, 260, 510}} {
		q := r[i]
		if q.Name != want.name || math.Abs(q.Canary-want.canary) > 0.01 || math.Abs(q.Current-want.current) > 0.01 ||
			q.CanaryOf != want.canaryOf || q.CurrentOf != want.currentOf || q.Difference == nil ||
			q.Difference.Low > want.canary-want.current || q.Difference.High < want.canary-want.current {
			t.Errorf("%+v: %+v, %+v", want, q, q.Difference)
		}
	}
	list := wants[response.FunctionList](t, b.get(t, "/functions"), http.StatusOK)
	if c := list.Functions[0].Canary; c == nil || c.Report != nil || c.Runs != 100 {
		t.Errorf("in the list it is %+v", c)
	}
	if f := b.record(t); f.GetCanary() == nil {
		t.Errorf("it ended: %v", f.GetCanaryEnded())
	}
}

// A canary returns by the rule that lets uploads return: its failed runs pass on the other upload.
func TestCanaryIsWithdrawn(t *testing.T) {
	proof := &pb.UploadStatus{AllRuns: 40, AllFailed: 4, Repeated: 5, Passed: 3, Error: "as told", ErrorTime: 5}
	const failed = "4 of 40 runs of upload 2 failed, and 3 of the 5 that were repeated on upload 1 did not"
	for name, c := range map[string]struct {
		change func(*pb.UploadStatus)
		later  time.Duration
		before func(*testing.T, *trialed)
		trial  func(*Options)
		event  string // "" if it stays
	}{
		"failed runs":       {event: failed},
		"its time":          {later: 10 * time.Minute, event: "its time is over"},
		"few repeats":       {change: func(u *pb.UploadStatus) { u.Passed = 2 }},
		"repeats fail too":  {change: func(u *pb.UploadStatus) { u.Repeated = 6 }},
		"few fail":          {change: func(u *pb.UploadStatus) { u.AllRuns = 81 }},
		"an earlier canary": {change: func(u *pb.UploadStatus) { u.Generation = 7 }},
		"no return": {before: func(t *testing.T, b *trialed) {
			t.Helper()
			wants[response.Function](t, b.act(t, "return", `{"automatic":false}`), http.StatusOK)
		}},
		"no trials": {trial: func(o *Options) { o.Settings.Trial = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startTrial(t, c.trial, "a", "b")
			b.upload(t, "other", 20)
			b.upload(t, "another", 21)
			if c.before != nil {
				c.before(t, b)
			}
			wants[response.Function](t, b.act(t, "canary", `{"version":2,"configs":["a"],"deadlineSeconds":600}`), http.StatusOK)
			of := proto.CloneOf(proof)
			switch {
			case c.change != nil:
				c.change(of)
			case c.later > 0:
				of = &pb.UploadStatus{}
			}
			b.clock.advance(c.later)
			if c.event == "" { // it ends only with its time
				b.await(t, "the runs are heard", of, func(*pb.Function) bool {
					return b.registry.runners.generations()[uploadKey{hosted{"demo", "duel"}, 2, true}] != nil
				})
				b.works(t, "other") // looked at after that, or at the same time
				b.works(t, "another")
				b.clock.advance(10 * time.Minute)
			}
			f := b.await(t, "the end", of, func(f *pb.Function) bool { return f.GetCanary() == nil })
			want := cmp.Or(c.event, "its time is over")
			if e := f.GetCanaryEnded(); f.GetVersion() != 1 || e.GetPromoted() || !strings.HasPrefix(e.GetReason(), want) ||
				c.event == failed && !strings.HasSuffix(e.GetReason(), ": as told") {
				t.Errorf("it ended: %v", e)
			}
			reasons, details := b.told(t)
			if last := len(reasons) - 1; reasons[last] != "withdrawn 2" || details[last] != want {
				t.Errorf("the events are %q: %q", reasons, details)
			}
			got := wants[response.Function](t, b.get(t, "/functions/duel"), http.StatusOK)
			if got.Canary != nil || got.CanaryEnded == nil || got.CanaryEnded.Version != 2 || got.Returned != nil {
				t.Errorf("it says %+v", got)
			}
		})
	}
}

// What ends a canary, what is refused while there is one, and what goes on.
func TestCanaryAndOtherChanges(t *testing.T) {
	t.Parallel()
	b := startTrial(t, nil, "a", "b")
	begin := func() {
		t.Helper()
		wants[response.Function](t, b.act(t, "canary", firstCanary), http.StatusOK)
	}
	begin()
	refused(t, b.put(t, "/functions/duel", numbered(3)), http.StatusConflict, "is a canary, and is compared")
	refused(t, b.act(t, "shadow", `{"version":2}`), http.StatusBadRequest, "2 is a canary")
	wants[response.Function](t, b.put(t, "/functions/duel", numbered(1)), http.StatusOK) // the same file again
	got := wants[response.Function](t, b.put(t, "/functions/duel?shadow=true", numbered(3)), http.StatusOK)
	if got.Canary == nil || got.Canary.Version != 2 || got.Shadow == nil || got.Shadow.Version != 3 {
		t.Errorf("a shadow beside the canary: %+v", got)
	}
	for n := range 6 { // the canary is kept
		wants[response.Function](t, b.put(t, "/functions/duel?shadow=true", numbered(n+4)), http.StatusOK)
	}
	b.hasVersions(t, "9 8 7 2 1*")
	refused(t, b.act(t, "canary", `{"version":7,"configs":["a"]}`), http.StatusConflict,
		"upload 2 of function \"duel\" is a canary already")
	was := b.record(t).GetCanary().GetGeneration()
	b.clock.advance(time.Second)
	wants[response.RestartResult](t, b.restart(t, `{"functions":["duel"]}`), http.StatusOK)
	if f := b.record(t); f.GetCanary().GetGeneration() != f.GetGeneration() || f.GetGeneration() == was {
		t.Errorf("restarted: %v, %v", f.GetGeneration(), f.GetCanary())
	}
	got = wants[response.Function](t, b.act(t, "canary", `{"version":0}`), http.StatusOK)
	if e := got.CanaryEnded; got.Canary != nil || e == nil || e.Reason != "the studio ended it" || e.Promoted {
		t.Errorf("the studio ended it: %+v", e)
	}
	wants[response.Function](t, b.act(t, "canary", `{"version":0}`), http.StatusOK)
	begin()
	got = wants[response.Function](t, b.rollback(t, "duel", `{"version":8}`), http.StatusOK)
	if e := got.CanaryEnded; got.Canary != nil || e == nil || e.Version != 2 || e.Reason != "upload 8 runs for all" {
		t.Errorf("a rollback: %+v", e)
	}
	wants[response.Function](t, b.rollback(t, "duel", `{"version":1}`), http.StatusOK)
	begin()
	got = wants[response.Function](t, b.act(t, "promote", `{"version":2}`), http.StatusOK)
	if e := got.CanaryEnded; got.Canary != nil || e == nil || !e.Promoted || got.Upload != 2 || got.ReturnsUntil == "" {
		t.Errorf("promoted by the studio: %+v", got)
	}
	b.clock.advance(time.Hour)
	wants[response.Function](t, b.rollback(t, "duel", `{"version":1}`), http.StatusOK)
	b.clock.advance(-time.Hour)
	begin()
	b.do(t, http.MethodDelete, "/functions/duel", nil)
	refused(t, b.act(t, "canary", firstCanary), http.StatusNotFound, `"duel" was not found`)
}

func TestCanariesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	b := startTrial(t, nil, "a", "b")
	_, _, err := b.store.PutConfig(t.Context(), "demo", &pb.Config{Id: "pinned", Function: "duel", Upload: 1, Queue: "p"},
		-1)
	must(t, err)
	for body, c := range map[string]struct {
		status int
		words  string
	}{
		`{}`:             {400, "version: missing"},
		`{"version":2}`:  {400, "one of the three"},
		`{"version":-2}`: {400, "version: missing or negative"},
		`{"version":2,"configs":["a"],"queues":["q-a"]}`:          {400, "one of the three"},
		`{"version":1,"configs":["a"]}`:                           {400, "version: 1 runs for all"},
		`{"version":7,"configs":["a"]}`:                           {404, "version: 7"},
		`{"version":2,"configs":["none"]}`:                        {400, `configs: "none" is no config that runs`},
		`{"version":2,"configs":["pinned"]}`:                      {400, `names no upload; those that do: "a", "b"`},
		`{"version":2,"queues":["p"]}`:                            {400, `queues: no config serves "p"`},
		`{"version":2,"queues":[""]}`:                             {400, "queues: a name is empty"},
		`{"version":2,"blockSeconds":-1}`:                         {400, "blockSeconds: -1"},
		`{"version":2,"blockSeconds":3601}`:                       {400, "from 1 to 3600"},
		`{"version":2,"blockSeconds":60,"percent":0}`:             {400, "percent: 0, must be from 1 to 99"},
		`{"version":2,"blockSeconds":60,"percent":100}`:           {400, "percent: 100, must be from 1 to 99"},
		`{"version":2,"configs":["a"],"percent":50}`:              {400, "percent: it is which part of the blocks"},
		`{"version":2,"blockSeconds":60,"deadlineSeconds":-1}`:    {400, "deadlineSeconds: -1"},
		`{"version":2,"blockSeconds":60,"deadlineSeconds":79201}`: {400, "deadlineSeconds: 79201"},
		`{"version":2,"blockSeconds":60,"steps":[100]}`:           {400, "steps"},
	} {
		refused(t, b.act(t, "canary", body), c.status, c.words)
	}
	other := start(t, nil)
	other.upload(t, "duel", 1)
	other.upload(t, "duel", 2)
	refused(t, other.act(t, "canary", `{"version":1,"blockSeconds":60}`), http.StatusConflict, "no config runs function")
}
