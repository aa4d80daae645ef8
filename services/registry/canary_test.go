package registry

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	reports "matchmaker.dev/services/internal/report"
	"matchmaker.dev/services/internal/state"
)

// trialed is a bench with two uploads of duel, of which the first runs, and configs that ask for it.
type trialed struct {
	*bench
	epoch uint64
	books map[int64]*reports.Book
}

func startTrial(t *testing.T, configs ...string) *trialed {
	t.Helper()
	b := &trialed{bench: start(t, nil), books: map[int64]*reports.Book{}}
	b.upload(t, "duel", 1)
	b.works(t, "duel")
	wants[function](t, b.put(t, "/functions/duel?shadow=true", numbered(2)), http.StatusOK)
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
		b.books[at] = reports.NewBook(at)
	}
	for i := range matches {
		waited := wait * (0.8 + 0.4*(float64(i)+0.5)/float64(matches))
		b.books[at].Add(&reports.Match{Players: 2, Waits: []float64{waited, waited}, Key: reports.Key{Config: config,
			Function: "duel", Upload: upload, Queue: "q-" + config, Canary: mark}})
	}
	must(t, b.store.PutReport(t.Context(), "demo", b.epoch, at, b.books[at].Message(), state.ReportKeep{For: time.Hour}))
}

// runs tells how many runs there were, as the heartbeat of a runner that has the canary.
func (b *trialed) runs(t *testing.T, canary, failed int64) {
	t.Helper()
	f := b.record(t)
	s := &pb.RunnerStatus{Runner: "r"}
	for upload, counts := range map[int64][2]int64{1: {1000, 2}, 2: {canary, failed}} {
		s.Instances = append(s.Instances, &pb.InstanceStatus{Project: "demo", Function: "duel", Name: fmt.Sprint(upload),
			State: "Running", Generation: f.GetGeneration(), Upload: upload, Aside: upload == 2, Canary: upload == 2})
		s.Uploads = append(s.Uploads, &pb.UploadStatus{Project: "demo", Function: "duel", Upload: upload,
			Generation: f.GetGeneration(), AllRuns: counts[0], AllFailed: counts[1], Worked: upload == 1})
	}
	must(t, b.bus.Heartbeat(t.Context(), s))
}

// await beats until the function is as it should be. The clock goes on, so that it is looked again.
func (b *trialed) await(t *testing.T, what string, canary, failed int64, fit func(*pb.Function) bool) *pb.Function {
	t.Helper()
	var f *pb.Function
	eventually(t, what, func() error {
		b.runs(t, canary, failed)
		b.clock.advance(time.Second)
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

const firstCanary = `{"version":2,"configs":["a"],"leastMatches":50}`

// A canary that is no worse grows from one config to half of them, and runs for all in the end.
func TestCanaryGrowsToAll(t *testing.T) {
	t.Parallel()
	b := startTrial(t, "a", "b", "c", "d")
	refused(t, b.act(t, "canary", firstCanary), http.StatusConflict, "made 0 matches for these configs or queues")
	for _, config := range []string{"a", "b", "c", "d"} {
		b.matched(t, config, 1, 0, 100, 5)
	}
	got := wants[function](t, b.act(t, "canary", firstCanary), http.StatusOK)
	if c := got.Canary; c == nil || got.Shadow != nil || c.Version != 2 || c.LeastMatches != 50 ||
		!slices.Equal(c.Configs, []string{"a"}) || !slices.Equal(c.Steps, []int32{50, 100}) || c.Step != 0 {
		t.Fatalf("the canary is %+v", got.Canary)
	}
	first := b.record(t).GetCanary()
	b.matched(t, "a", 2, first.GetStepBegan(), 49, 5)
	eventually(t, "what was found", func() error {
		b.runs(t, 40, 0)
		b.clock.advance(time.Second)
		got = wants[function](t, b.get(t, "/functions/duel"), http.StatusOK)
		if got.Canary.Matches != 49 || got.Canary.Runs != 40 || len(got.Canary.Findings) != 3 {
			return fmt.Errorf("there is %+v", got.Canary)
		}
		return nil
	})
	if f := got.Canary.Findings[2]; f.Name != "wait" || f.P < f.Limit || f.Seen == nil || *f.Seen <= 0 || *f.Seen > 0.5 {
		t.Errorf("found %+v", got.Canary)
	}
	versions := wants[versionList](t, b.get(t, "/functions/duel/versions"), http.StatusOK).Versions
	if !versions[0].Canary || versions[1].Canary {
		t.Errorf("the uploads are %+v", versions)
	}
	b.matched(t, "a", 2, first.GetStepBegan(), 1, 5)
	f := b.await(t, "the second step", 80, 0, func(f *pb.Function) bool { return f.GetCanary().GetStep() == 1 })
	second := f.GetCanary()
	if len(second.GetConfigs()) != 2 || second.GetConfigs()[0] != "a" || second.GetStepBegan() <= first.GetStepBegan() ||
		second.GetLooks() != 1 || f.GetVersion() != 1 {
		t.Errorf("the second step: %v", second)
	}
	for _, config := range second.GetConfigs() {
		b.matched(t, config, 2, second.GetStepBegan(), 60, 5)
	}
	f = b.await(t, "the end", 160, 1, func(f *pb.Function) bool { return f.GetCanary() == nil })
	if e := f.GetCanaryEnded(); f.GetVersion() != 2 || !e.GetPromoted() || e.GetUpload() != 2 || f.GetTrialUntil() == 0 ||
		!strings.Contains(e.GetReason(), "wait 5 s against 5 s") {
		t.Errorf("it ended: %v", f)
	}
	reasons, details := b.told(t)
	if text := strings.Join(reasons, ", "); text != "uploaded 1, shadow 2, canary 2, grown 2, promoted 2" {
		t.Errorf("the events are %s", text)
	}
	if details[2] != `for the configs "a"` || !strings.Contains(details[3], "is seen with 80%") {
		t.Errorf("their details are %q", details)
	}
}

// A canary of which too little is known to find much longer waits gets no more configs, but has to make more matches.
// Twelve before and twelve of it find none.
func TestCanaryWaitsUntilMuchWouldBeFound(t *testing.T) {
	t.Parallel()
	b := startTrial(t, "a", "b")
	waits := []float64{1, 2.5, 6}
	for _, wait := range waits {
		b.matched(t, "a", 1, 0, 4, wait)
	}
	wants[function](t, b.act(t, "canary", `{"version":2,"configs":["a"],"leastMatches":10}`), http.StatusOK)
	began := b.record(t).GetCanary().GetStepBegan()
	for _, wait := range waits {
		b.matched(t, "a", 2, began, 4, wait)
	}
	f := b.await(t, "more matches are wanted", 30, 0, func(f *pb.Function) bool { return f.GetCanary().GetWanted() > 0 })
	if c := f.GetCanary(); c.GetWanted() != 24 || c.GetStep() != 0 || c.GetLooks() != 1 {
		t.Errorf("the canary is %v", c)
	}
	for _, wait := range waits {
		b.matched(t, "a", 2, began, 98, wait)
	}
	b.await(t, "it is looked again", 60, 0, func(f *pb.Function) bool { return f.GetCanary().GetLooks() == 2 })
}

func TestCanaryIsWithdrawn(t *testing.T) {
	for name, c := range map[string]struct {
		wait         float64 // of the canary's matches
		matches      int
		runs, failed int64
		later        time.Duration
		reason       string
	}{
		"longer waits": {wait: 9, matches: 50, runs: 60, reason: "it is worse: wait 9 s against 5 s"},
		"failed runs":  {wait: 5, runs: 12, failed: 6, reason: "it is worse: failures 50% against 0.2%"},
		"no matches":   {runs: 12, later: 9 * time.Minute, reason: "it is worse: matches a minute 0 against"},
		"too few": {wait: 5, matches: 49, runs: 60, later: 11 * time.Minute,
			reason: "its time is over: in this step it made 49"},
		"nothing at all": {later: 11 * time.Minute,
			reason: "its time is over: in this step it made 0 matches, 50 are needed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startTrial(t, "a", "b")
			b.matched(t, "a", 1, 0, 100, 5)
			wants[function](t, b.act(t, "canary", `{"version":2,"configs":["a"],"leastMatches":50,"deadlineSeconds":600}`),
				http.StatusOK)
			if c.matches > 0 {
				b.matched(t, "a", 2, b.record(t).GetCanary().GetStepBegan(), c.matches, c.wait)
			}
			b.clock.advance(c.later)
			f := b.await(t, "the end", c.runs, c.failed, func(f *pb.Function) bool { return f.GetCanary() == nil })
			if e := f.GetCanaryEnded(); f.GetVersion() != 1 || e.GetPromoted() || !strings.HasPrefix(e.GetReason(), c.reason) {
				t.Errorf("it ended: %v", e)
			}
			reasons, details := b.told(t)
			if last := len(reasons) - 1; reasons[last] != "withdrawn 2" || !strings.HasPrefix(details[last], c.reason) {
				t.Errorf("the events are %q: %q", reasons, details)
			}
			got := wants[function](t, b.get(t, "/functions/duel"), http.StatusOK)
			if got.Canary != nil || got.CanaryEnded == nil || got.CanaryEnded.Version != 2 || got.CanaryEnded.Promoted {
				t.Errorf("it says %+v", got)
			}
		})
	}
}

// Runs of the upload before it was the canary count neither for it nor against it.
func TestEarlierRunsOfTheCanaryDoNotCount(t *testing.T) {
	t.Parallel()
	b := startTrial(t, "a")
	b.matched(t, "a", 1, 0, 100, 5)
	eventually(t, "the runner is heard", func() error {
		b.runs(t, 100, 100)
		if b.registry.board.uploadOf("demo", "duel", 2).GetAllRuns() != 100 {
			return errors.New("it is not")
		}
		return nil
	})
	wants[function](t, b.act(t, "canary", firstCanary), http.StatusOK)
	b.matched(t, "a", 2, b.record(t).GetCanary().GetStepBegan(), 50, 5)
	f := b.await(t, "the end", 140, 100, func(f *pb.Function) bool { return f.GetCanary() == nil })
	if f.GetVersion() != 2 { // of one config, half and all are the same
		t.Errorf("it ended: %v", f.GetCanaryEnded())
	}
}

// What ends a canary, what is refused while there is one, and what goes on.
func TestCanaryAndOtherChanges(t *testing.T) {
	t.Parallel()
	b := startTrial(t, "a", "b")
	b.matched(t, "a", 1, 0, 100, 5)
	begin := func() {
		t.Helper()
		wants[function](t, b.act(t, "canary", firstCanary), http.StatusOK)
	}
	begin()
	refused(t, b.act(t, "canary", firstCanary), http.StatusConflict, "upload 2 of function \"duel\" is a canary already")
	refused(t, b.put(t, "/functions/duel", numbered(3)), http.StatusConflict, "is a canary, and is compared")
	refused(t, b.act(t, "shadow", `{"version":2}`), http.StatusBadRequest, "2 is a canary")
	wants[function](t, b.put(t, "/functions/duel", numbered(1)), http.StatusOK) // the same file again
	got := wants[function](t, b.put(t, "/functions/duel?shadow=true", numbered(3)), http.StatusOK)
	if got.Canary == nil || got.Canary.Version != 2 || got.Shadow == nil || got.Shadow.Version != 3 {
		t.Errorf("a shadow beside the canary: %+v", got)
	}
	for n := range 6 { // the canary is kept
		wants[function](t, b.put(t, "/functions/duel?shadow=true", numbered(n+4)), http.StatusOK)
	}
	b.hasVersions(t, "9 8 7 2 1*")
	got = wants[function](t, b.act(t, "canary", `{"version":0}`), http.StatusOK)
	if e := got.CanaryEnded; got.Canary != nil || e == nil || e.Reason != "the studio ended it" || e.Promoted {
		t.Errorf("the studio ended it: %+v", e)
	}
	wants[function](t, b.act(t, "canary", `{"version":0}`), http.StatusOK)
	begin()
	got = wants[function](t, b.rollback(t, "duel", `{"version":8}`), http.StatusOK)
	if e := got.CanaryEnded; got.Canary != nil || e == nil || e.Version != 2 || e.Reason != "upload 8 runs for all" {
		t.Errorf("a rollback: %+v", e)
	}
	wants[function](t, b.rollback(t, "duel", `{"version":1}`), http.StatusOK)
	begin()
	got = wants[function](t, b.act(t, "promote", `{"version":2}`), http.StatusOK)
	if e := got.CanaryEnded; got.Canary != nil || e == nil || !e.Promoted || got.Upload != 2 || got.ReturnsUntil == "" {
		t.Errorf("promoted by the studio: %+v", got)
	}
	b.clock.advance(time.Hour)
	wants[function](t, b.rollback(t, "duel", `{"version":1}`), http.StatusOK)
	b.clock.advance(-time.Hour)
	begin()
	b.do(t, http.MethodDelete, "/functions/duel", nil)
	refused(t, b.act(t, "canary", firstCanary), http.StatusNotFound, `"duel" was not found`)
}

func TestCanariesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	b := startTrial(t, "a", "b")
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
		`{"version":2,"configs":["a"],"queues":["q-a"]}`:                        {400, "one of the three"},
		`{"version":1,"configs":["a"]}`:                                         {400, "version: 1 runs for all"},
		`{"version":7,"configs":["a"]}`:                                         {404, "version: 7"},
		`{"version":2,"configs":["none"]}`:                                      {400, `configs: "none" is no config that runs`},
		`{"version":2,"configs":["pinned"]}`:                                    {400, `names no upload; those that do: "a", "b"`},
		`{"version":2,"queues":["p"]}`:                                          {400, `queues: no config serves "p"`},
		`{"version":2,"queues":[""]}`:                                           {400, "queues: a name is empty"},
		`{"version":2,"queues":["q-a"]}`:                                        {409, "made 0 matches"},
		`{"version":2,"blockSeconds":-1}`:                                       {400, "blockSeconds: -1"},
		`{"version":2,"blockSeconds":3601}`:                                     {400, "from 1 to 3600"},
		`{"version":2,"blockSeconds":60,"steps":[100]}`:                         {400, "must be less than 100"},
		`{"version":2,"blockSeconds":60,"steps":[50]}`:                          {400, "the last one must be 100"},
		`{"version":2,"blockSeconds":60,"steps":[50,50,100]}`:                   {400, "each more than the one before"},
		`{"version":2,"blockSeconds":60,"steps":[1,2,3,4,5,6,7,8,9,10,11,100]}`: {400, "at most 10"},
		`{"version":2,"blockSeconds":60,"tolerancePercent":-1}`:                 {400, "tolerancePercent: -1"},
		`{"version":2,"blockSeconds":60,"tolerancePercent":0}`:                  {400, "tolerancePercent: 0"},
		`{"version":2,"blockSeconds":60,"tolerancePercent":1001}`:               {400, "from 1 to 1000"},
		`{"version":2,"blockSeconds":60,"leastMatches":9}`:                      {400, "leastMatches: 9"},
		`{"version":2,"blockSeconds":60,"deadlineSeconds":79201}`:               {400, "deadlineSeconds: 79201"},
		`{"version":2,"blockSeconds":60,"measures":{"gap":"down"}}`:             {400, `measures: "gap": "down"`},
		`{"version":2,"blockSeconds":60,"measure":{}}`:                          {400, "measure"},
	} {
		refused(t, b.act(t, "canary", body), c.status, c.words)
	}
	got := wants[function](t, b.act(t, "canary", `{"version":2,"blockSeconds":60,"measures":{"gap":"less"}}`),
		http.StatusOK)
	if c := got.Canary; c == nil || c.BlockSeconds != 60 || c.Step != 1 ||
		!slices.Equal(c.Steps, []int32{10, 25, 50, 100}) {
		t.Errorf("with blocks: %+v", c)
	}
	other := start(t, nil)
	other.upload(t, "duel", 1)
	other.upload(t, "duel", 2)
	refused(t, other.act(t, "canary", `{"version":1,"blockSeconds":60}`), http.StatusConflict, "no config runs function")
}
