package registry

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/observe/histogram"
)

// beat is a heartbeat of a runner that serves the function's upload that runs, and says this of uploads.
func (b *bench) beat(t *testing.T, runner, name string, uploads ...*pb.UploadStatus) {
	t.Helper()
	f, err := b.store.Function(t.Context(), "demo", name)
	must(t, err)
	s := &pb.RunnerStatus{Runner: runner, Uploads: uploads, Instances: []*pb.InstanceStatus{{
		Project: "demo", Function: name, Name: "i-" + runner, State: "Running", Generation: f.GetGeneration(),
		Upload: f.GetVersion(),
	}}}
	for _, u := range uploads {
		u.Project, u.Function = "demo", name
		if u.GetGeneration() == 0 {
			u.Generation = f.GetGeneration()
		}
	}
	must(t, b.bus.Heartbeat(t.Context(), s))
}

// works lets the upload of duel that runs work, and waits until that is noted.
func (b *bench) works(t *testing.T, name string) {
	t.Helper()
	eventually(t, "noted that it works", func() error {
		f, err := b.store.Function(t.Context(), "demo", name)
		must(t, err)
		for _, v := range f.GetVersions() {
			if v.GetVersion() == f.GetVersion() && v.GetWorked() == f.GetGeneration() {
				return nil
			}
		}
		b.beat(t, "r", name, &pb.UploadStatus{Upload: f.GetVersion(), AllRuns: 10, AllFailed: 1})
		return errors.New("it is not")
	})
}

func TestFiveBadUploadsDoNotPushOutTheLastThatWorked(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	b.upload(t, "duel", 0)
	b.works(t, "duel")
	for n := range 6 {
		b.upload(t, "duel", n+1)
	}
	b.hasVersions(t, "7* 6 5 4 1")
	if got := wants[response.Function](t, b.get(t, "/functions/duel"), http.StatusOK); got.Upload != 7 ||
		got.LastGoodUpload != 1 || got.ReturnsUntil == "" {
		t.Errorf("the function is %+v", got)
	}
	// A run that fails now and then is no reason, one of nine is.
	b.beat(t, "r", "duel", &pb.UploadStatus{Upload: 7, AllRuns: 9, AllFailed: 1})
	b.upload(t, "other", 20)
	b.works(t, "other") // looked at after that
	if b.record(t).GetVersions()[0].GetWorked() > 0 {
		t.Error("an upload works that fails in one run of nine")
	}
	// One that seemed to work at first is none to go back to.
	b.works(t, "duel")
	eventually(t, "noted that it fails", func() error {
		b.beat(t, "r", "duel", &pb.UploadStatus{Upload: 7, AllRuns: 29, AllFailed: 3, Worked: true})
		if b.record(t).GetVersions()[0].GetWorked() > 0 {
			return errors.New("it is not")
		}
		return nil
	})
}

func TestUploadsThatConfigsNameAreKept(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *Options) { o.Settings.Versions = 2 })
	for n := range 3 {
		b.upload(t, "duel", n)
	}
	b.hasVersions(t, "3* 2")
	_, _, err := b.store.PutConfig(t.Context(), "demo", &pb.Config{Id: "c", Function: "duel", Upload: 2}, -1)
	must(t, err)
	b.upload(t, "duel", 4)
	b.upload(t, "duel", 5)
	b.hasVersions(t, "5* 2")
	_, err = b.store.DeleteConfig(t.Context(), "demo", "c", -1, "")
	must(t, err)
	b.upload(t, "duel", 6)
	b.hasVersions(t, "6* 5")
	for n := range maxPinned + 1 {
		_, _, err := b.store.PutConfig(t.Context(), "demo",
			&pb.Config{Id: fmt.Sprint(n), Function: "duel", Upload: int64(n + 1)}, -1)
		must(t, err)
	}
	refused(t, b.put(t, "/functions/duel", numbered(7)), http.StatusBadRequest, "configs name 17 uploads")
}

func TestFunctionGoesBackByItself(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	b.upload(t, "duel", 1)
	b.works(t, "duel")
	b.upload(t, "duel", 2)
	before := b.record(t)
	bad := &pb.UploadStatus{Upload: 2, Runs: 5, AllRuns: 7, AllFailed: 6, Error: "as told", ErrorTime: 5, RepeatedOn: 1,
		Repeated: 2, Passed: 2}
	good := proto.CloneOf(bad)
	good.Repeated, good.Passed, good.AllFailed, good.ErrorTime = 1, 0, 1, 4
	b.beat(t, "r1", "duel", bad)
	b.beat(t, "r2", "duel", good)
	b.upload(t, "other", 20)
	b.works(t, "other") // two of three repeats are no proof
	if f := b.record(t); f.GetVersion() != 2 || f.GetReturned() != nil {
		t.Fatalf("it went back: %v", f)
	}
	good.Repeated, good.Passed = 2, 1
	b.beat(t, "r1", "duel", bad)
	b.beat(t, "r2", "duel", good)
	eventually(t, "back", func() error {
		if b.record(t).GetVersion() == 2 {
			return errors.New("upload 2 is to run")
		}
		return nil
	})
	f := b.record(t)
	if f.GetVersion() != 1 || f.GetGeneration() <= before.GetGeneration() || f.GetTrialUntil() != 0 ||
		f.GetModule() != before.GetVersions()[1].GetModule() {
		t.Errorf("the record is %v", f)
	}
	got := wants[response.Function](t, b.get(t, "/functions/duel"), http.StatusOK)
	if r := got.Returned; r == nil || r.From != 2 || r.To != 1 || r.Failed != 7 || r.Runs != 14 || r.Repeated != 4 ||
		r.Passed != 3 || r.Error != "as told" {
		t.Errorf("it says %+v", r)
	}
	var told []string
	entries, err := b.store.History(t.Context(), "demo", nil, 100)
	must(t, err)
	var events []*pb.Event
	for _, e := range entries {
		events = append(events, e.Events...)
	}
	for _, e := range events {
		if e.GetKind() == pb.Event_KIND_FUNCTION && e.GetFunction() == "duel" {
			told = append(told, strings.TrimSpace(fmt.Sprint(e.GetReason(), " ", e.GetUpload(), " ", e.GetBy())))
			if e.GetReason() == "returned" && !strings.Contains(e.GetDetail(), "7 of 14 runs of upload 2 failed") {
				t.Errorf("the event says %q", e.GetDetail())
			}
		}
	}
	if got := strings.Join(told, ", "); got != "uploaded 1 studio, uploaded 2 studio, returned 1" {
		t.Errorf("the events are %s", got)
	}
	// It does not go back to an upload that failed, and the next upload begins anew.
	b.upload(t, "duel", 3)
	if f := b.record(t); f.GetReturned() != nil || f.GetTrialUntil() == 0 || f.GetVersions()[1].GetWorked() != 0 {
		t.Errorf("after the next upload: %v", f)
	}
}

// What both uploads fail for, what fails too seldom, and what the studio does not want make no function go back.
func TestFunctionDoesNotGoBackWithoutProof(t *testing.T) {
	proof := &pb.UploadStatus{AllRuns: 60, AllFailed: 3, RepeatedOn: 1, Repeated: 5, Passed: 3}
	for name, c := range map[string]struct {
		say    func(*pb.UploadStatus)
		before func(t *testing.T, b *bench)
	}{
		"a ticket that both cannot take": {say: func(u *pb.UploadStatus) { u.Repeated, u.Passed = 20, 0 }},
		"as many that both fail":         {say: func(u *pb.UploadStatus) { u.Repeated, u.Passed = 8, 4 }},
		"seldom":                         {say: func(u *pb.UploadStatus) { u.AllRuns = 61 }},
		"another generation":             {say: func(u *pb.UploadStatus) { u.Generation = 7 }},
		"on another upload":              {say: func(u *pb.UploadStatus) { u.RepeatedOn = 2 }},
		"the studio does not want it": {before: func(t *testing.T, b *bench) {
			got := wants[response.Function](t, b.act(t, "return", `{"automatic":false}`), http.StatusOK)
			if !got.NoReturn || got.ReturnsUntil != "" {
				t.Errorf("switched off: %+v", got)
			}
		}},
		"the trial is over":       {before: func(_ *testing.T, b *bench) { b.clock.advance(61 * time.Minute) }},
		"the studio went forward": {before: func(t *testing.T, b *bench) { b.rollTwice(t) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, nil)
			b.upload(t, "duel", 1)
			b.works(t, "duel")
			b.upload(t, "duel", 2)
			if c.before != nil {
				c.before(t, b)
			}
			u := proto.CloneOf(proof)
			u.Upload = 2
			if c.say != nil {
				c.say(u)
			}
			b.beat(t, "r", "duel", u)
			b.upload(t, "other", 1)
			b.works(t, "other") // looked at after that
			if f := b.record(t); f.GetVersion() != 2 {
				t.Errorf("it went back: %v", f)
			}
		})
	}
}

// rollTwice goes back from upload 2 and forward to it again.
func (b *bench) rollTwice(t *testing.T) {
	for _, body := range []string{`{"version":1}`, `{"version":2}`} {
		wants[response.Function](t, b.rollback(t, "duel", body), http.StatusOK)
	}
}

func (b *bench) act(t *testing.T, action, body string) answer {
	t.Helper()
	return b.do(t, http.MethodPost, "/functions/duel/actions/"+action, strings.NewReader(body), "Content-Type",
		"application/json")
}

func TestShadowNeedsAnUploadThatRuns(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	refused(t, b.put(t, "/functions/duel?shadow=true", numbered(1)), http.StatusBadRequest, "in whose shadow")
	refused(t, b.act(t, "shadow", `{"version":1}`), http.StatusNotFound, `"duel" was not found`)
	b.upload(t, "duel", 1)
	refused(t, b.put(t, "/functions/duel?shadow=yes", numbered(1)), http.StatusBadRequest, "shadow: true or false")
	refused(t, b.put(t, "/functions/duel?shadow=true", numbered(1)), http.StatusBadRequest, "as in upload 1, which runs")
}

func TestShadowAndPromotion(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	b.upload(t, "duel", 1)
	b.works(t, "duel")
	before := b.record(t)
	got := wants[response.Function](t,
		b.put(t, "/functions/duel?shadow=true&note="+url.QueryEscape("as ä try"), numbered(2)), http.StatusOK)
	if got.Upload != 1 || got.Shadow == nil || got.Shadow.Version != 2 || got.Shadow.Health != nil {
		t.Errorf("with a shadow: %+v", got)
	}
	if f := b.record(t); f.GetGeneration() != before.GetGeneration() || f.GetModule() != before.GetModule() {
		t.Errorf("the shadow changes what runs: %v", f)
	}
	versions := wants[response.FunctionVersionList](t, b.get(t, "/functions/duel/versions"), http.StatusOK).Versions
	if v := versions[0]; v.Version != 2 || v.Current || !v.Shadow || v.Note != "as ä try" || v.By != "studio" ||
		v.Worked {
		t.Errorf("the shadow: %+v", v)
	}
	if v := versions[1]; v.Version != 1 || !v.Current || v.Shadow || !v.Worked {
		t.Errorf("the other one: %+v", v)
	}
	var times, memory histogram.Counts
	times.Add(2000)
	memory.Add(4096)
	u := &pb.UploadStatus{Upload: 2, Runs: 4, Failed: 1, Times: times.List(), Memory: memory.List(), Error: "e",
		ErrorTime: 1000, ErrorConfig: "c", Compared: &pb.Comparison{With: 1, Runs: 4, Skipped: 2, Failed: 1, Alike: 3,
			Matches: 6, WithMatches: 7, Common: 5, Score: 1.5, WithScore: 2}}
	eventually(t, "the comparison", func() error {
		b.beat(t, "r1", "duel", proto.CloneOf(u))
		b.beat(t, "r2", "duel", proto.CloneOf(u))
		got = wants[response.Function](t, b.get(t, "/functions/duel"), http.StatusOK)
		if got.Shadow.Runs != 8 {
			return fmt.Errorf("there is %+v", got.Shadow)
		}
		return nil
	})
	s := got.Shadow
	if s.Skipped != 4 || s.Failed != 2 || s.CurrentFailed != 0 || s.Compared != 6 || s.Matches != 12 ||
		s.CurrentMatches != 14 || s.Common != 10 || s.Score != 3 || s.CurrentScore != 4 {
		t.Errorf("compared: %+v", s)
	}
	h := s.Health
	if h == nil || h.Runs != 8 || h.Failed != 2 || h.FailedShare != 0.25 || h.LastError != "e" ||
		h.LastErrorConfig != "c" ||
		h.LastErrorTime != "1970-01-01T00:00:01.000Z" || h.Milliseconds.P50 < 2 || h.Milliseconds.P99 > 2.4 ||
		h.MemoryBytes.P50 < 4<<20 || h.MemoryBytes.P50 > 5<<20 {
		t.Errorf("the shadow's health: %+v", h)
	}
	refused(t, b.act(t, "shadow", `{}`), http.StatusBadRequest, "version: missing")
	refused(t, b.act(t, "shadow", `{"version":1}`), http.StatusBadRequest, "version: 1 runs")
	refused(t, b.act(t, "shadow", `{"version":9}`), http.StatusNotFound, "version: 9")
	refused(t, b.act(t, "promote", `{"version":9}`), http.StatusNotFound, "version: 9")
	if got := wants[response.Function](t, b.act(t, "shadow", `{"version":0}`), http.StatusOK); got.Shadow != nil {
		t.Errorf("without a shadow: %+v", got)
	}
	refused(t, b.act(t, "promote", `{"version":2}`), http.StatusConflict, "no upload of function")
	wants[response.Function](t, b.act(t, "shadow", `{"version":2}`), http.StatusOK)
	got = wants[response.Function](t, b.act(t, "promote", `{"version":2}`), http.StatusOK)
	if got.Upload != 2 || got.Shadow != nil || got.LastGoodUpload != 1 || got.ReturnsUntil == "" {
		t.Errorf("promoted: %+v", got)
	}
	b.hasVersions(t, "2* 1")
	refused(t, b.act(t, "return", `{}`), http.StatusBadRequest, "automatic: required")
	refused(t, b.put(t, "/functions/duel?note="+strings.Repeat("x", 257), numbered(3)), http.StatusBadRequest, "note: 257")
	refused(t, b.put(t, "/functions/duel?note=%0A", numbered(3)), http.StatusBadRequest, "note: must be")
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	b.upload(t, "duel", 1)
	now := time.Now()
	must(t, b.bus.PublishLog(t.Context(), "demo", "duel", &pb.LogLines{Instance: "b", Upload: 3,
		Time: now.UnixMilli() + 9, Text: "one\ntwo\nthree\n", Marks: []*pb.LogMark{
			{Line: 0, Time: now.UnixMilli() + 1, Config: "c"}, {Line: 2, Time: now.UnixMilli() + 5, Config: "d"},
		}}))
	must(t, b.bus.PublishLog(t.Context(), "demo", "duel", &pb.LogLines{Instance: "a", Time: now.UnixMilli() + 3,
		Text: "old\n"})) // without marks
	var got response.FunctionLogs
	eventually(t, "the lines", func() error {
		got = wants[response.FunctionLogs](t, b.get(t, "/functions/duel/log?lines=true&seconds=86400"), http.StatusOK)
		if len(got.Lines) < 4 {
			return fmt.Errorf("there are %+v", got)
		}
		return nil
	})
	var told []string
	for _, l := range got.Lines {
		told = append(told, fmt.Sprint(l.Text, " ", l.Instance, " ", l.Upload, " ", l.Config))
	}
	if text := strings.Join(told, ", "); text != "one b 3 c, two b 3 c, old a 0 , three b 3 d" {
		t.Errorf("the lines are %s", text)
	}
	if got.Lines[0].Time != iso8601(now.UnixMilli()+1) {
		t.Errorf("the time is %s", got.Lines[0].Time)
	}
	refused(t, b.get(t, "/functions/duel/log?lines=1"), http.StatusBadRequest, "lines: true or false")
}
