package insight_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/state"
)

// told is a report as answers have it.
type told struct {
	Since, Until time.Time
	Rows         []struct {
		Config, Queue, Region, Function string
		Revision, Upload                int64
		Party                           int
		Matches, Tickets, Players       int64
		Measures                        []struct {
			Kind, Name          string
			Count               int64
			Mean, P10, P50, P90 float64
		}
		Outcomes *response.MatchOutcomes
	}
	LeftOut int64
}

// putReport stores matches of a slot that waited so long, of a config's revision.
func (w *world) putReport(t *testing.T, epoch uint64, slot, revision int64, waits ...float64) {
	t.Helper()
	b := report.Spans()[0].NewBook(slot)
	for _, wait := range waits {
		b.Add(&report.Match{Key: report.Key{Config: "ranked", Revision: revision, Function: "duel", Upload: 2, Queue: "q"},
			Players: 1, Waits: []float64{wait}})
		b.AddOutcome(&pb.Event{Config: "ranked", Queue: "q", Outcome: &pb.MatchOutcome{Revision: revision, Function: "duel",
			Upload: 2, Party: 1, Players: 2, Left: 1, Odds: []*pb.RatingOdds{{Rating: "skill", Loss: wait, Squares: 0.5,
				Buckets: []int32{3}, Pairs: []int64{1}, Odds: []float64{0.66}, Won: []float64{1}}}}})
	}
	must(t, w.store.PutReport(t.Context(), "demo", epoch, slot, b.Message(), state.ReportKeep{For: time.Hour}))
}

func TestReportAddsSlotsUp(t *testing.T) {
	w := start(t, nil)
	epoch, err := w.store.AcquireLease(t.Context(), "demo", "a", time.Minute)
	must(t, err)
	var none told
	if w.read(t, "/matches/report", http.StatusOK, &none); none.Rows == nil || len(none.Rows) > 0 {
		t.Errorf("before there is any: %+v", none)
	}
	now := report.SlotOf(w.store.Now())
	w.putReport(t, epoch, now, 7, 1, 1)
	w.putReport(t, epoch, now-3, 5, 8)
	w.putReport(t, epoch, now-100, 3, 64)
	slotTime := func(slot int64) string {
		return time.UnixMilli(slot * report.SlotTime.Milliseconds()).UTC().Format(time.RFC3339)
	}
	for query, want := range map[string]int64{
		"":                             3,
		"?config=ranked&maxRevision=5": 1,
		"?config=ranked&minRevision=6": 2,
		"?config=other":                0,
		"?since=" + slotTime(now-100):  4,
		"?until=" + slotTime(now):      1,
		"?until=" + slotTime(now-3):    0,
		"?since=" + slotTime(now-99) + "&until=" + slotTime(now-2): 1,
	} {
		var got told
		w.read(t, "/matches/report"+query, http.StatusOK, &got)
		matches := int64(0)
		for _, r := range got.Rows {
			matches += r.Matches
		}
		if matches != want || len(got.Rows) > 1 || !got.Since.Before(got.Until) {
			t.Errorf("%s: %+v, want %d matches", query, got, want)
		}
	}
	var got told
	w.read(t, "/matches/report?by=revision,queue,upload,party", http.StatusOK, &got)
	if len(got.Rows) != 2 {
		t.Fatalf("%+v", got)
	}
	r := got.Rows[1]
	m := r.Measures[0]
	if r.Config != "ranked" || r.Revision != 7 || r.Queue != "q" || r.Function != "duel" || r.Upload != 2 ||
		r.Party != 1 || r.Region != "" || r.Matches != 2 || r.Tickets != 2 || r.Players != 2 || len(r.Measures) != 1 ||
		m.Kind != "wait" || m.Count != 2 || m.Mean != 1 || m.P50 < 0.9 || m.P50 > 1.2 || m.P10 > m.P90 {
		t.Errorf("%+v", r)
	}
	want := &response.MatchOutcomes{Results: 2, Players: 4, Left: 0.5, Odds: []response.RatingOdds{{Rating: "skill",
		Pairs: 2, LogLoss: 1, Brier: 0.5,
		Calibration: []response.OddsBucket{{From: 0.65, Pairs: 2, Predicted: 0.66, Won: 1}}}}}
	if diff := cmp.Diff(want, r.Outcomes); diff != "" {
		t.Error(diff)
	}
	w.read(t, "/matches/report?by=party,decile", http.StatusBadRequest, new(struct{}))
	w.token = w.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "other", Role: "Support"})
	res := w.get(t, "/matches/report")
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("somebody of another project: %d", res.StatusCode)
	}
}

// The slots of a report are the shortest that are kept for its time, and are no more than there is room for.
func TestReportsOfLongTimesHaveLongSlots(t *testing.T) {
	w := start(t, nil)
	epoch, err := w.store.AcquireLease(t.Context(), "demo", "a", time.Minute)
	must(t, err)
	now := w.store.Now()
	for _, span := range report.Spans() {
		b := span.NewBook(span.SlotOf(now) - span.Slots)
		b.Add(&report.Match{Key: report.Key{Config: "ranked"}, Players: 1, Waits: []float64{1}})
		must(t, w.store.PutReport(t.Context(), "demo", epoch, b.Slot, b.Message(),
			state.ReportKeep{Span: span.Name, For: time.Hour}))
	}
	for _, test := range []struct {
		back    time.Duration
		slot    int
		matches int
	}{{time.Hour, 300, 0}, {24 * time.Hour, 300, 1}, {25 * time.Hour, 3600, 0}, {7 * 24 * time.Hour, 3600, 0},
		{30 * 24 * time.Hour, 86400, 0}, {90 * 24 * time.Hour, 86400, 1}, {1000 * 24 * time.Hour, 86400, 1}} {
		var got struct {
			told
			SlotSeconds int
		}
		w.read(t, "/matches/report?by=slot&since="+now.Add(-test.back).UTC().Format(time.RFC3339Nano), http.StatusOK, &got)
		if got.SlotSeconds != test.slot || len(got.Rows) != test.matches || !got.Since.Before(got.Until) {
			t.Errorf("%v: slots of %d s, %+v", test.back, got.SlotSeconds, got.told)
		}
	}
	// A part of the last 30 days has slots of an hour.
	first := now.Add(-30 * 24 * time.Hour)
	var got struct {
		told
		SlotSeconds int
	}
	w.read(t, "/matches/report?since="+first.UTC().Format(time.RFC3339Nano)+"&until="+
		first.Add(24*time.Hour).UTC().Format(time.RFC3339Nano), http.StatusOK, &got)
	if got.SlotSeconds != 3600 || len(got.Rows) != 1 {
		t.Errorf("%d: %+v", got.SlotSeconds, got.told)
	}
}

func TestReportNamesWhatIsWrong(t *testing.T) {
	w := start(t, nil)
	for query, want := range map[string]string{
		"since=yesterday":   "query parameter since: a time is expected",
		"until=1":           "query parameter until: a time is expected",
		"by=queue,moon":     "query parameter by: config, revision, function, upload, queue, region, party, decile, slot are",
		"by=":               "query parameter by: ",
		"config=":           "query parameter config: an identifier",
		"minRevision=0":     "query parameter minRevision: a whole number from 1 on",
		"maxRevision=x":     "query parameter maxRevision: a whole number from 1 on",
		"by=queue&by=party": "query parameter by: given more than once",
		"since=2030-01-01T00:00:00Z&until=2029-01-01T00:00:00Z": "query parameter since: a time before until",
	} {
		var problem struct{ Detail string }
		w.read(t, "/matches/report?"+query, http.StatusBadRequest, &problem)
		if !strings.HasPrefix(problem.Detail, want) {
			t.Errorf("%s: %q, want %q", query, problem.Detail, want)
		}
	}
}

// Events and matches have what was measured.
func TestMeasuresOfAMatchAreTold(t *testing.T) {
	w := start(t, nil)
	now := w.store.Now()
	id := state.NewID(now)
	w.publish(t, "demo", &pb.Event{Kind: pb.Event_KIND_CLAIMED, Time: now.UnixMilli(), Match: id, Config: "ranked",
		Tickets: []string{"a", "b"}, Function: "duel", Queue: "q", Region: "eu", Parties: []uint32{1, 3},
		Measures:   []*pb.EventMeasure{{Name: "fun", Value: 0}},
		Attributes: []*pb.EventAttribute{{Name: "skill", Spread: 40, Gap: new(0.0)}, {Name: "ping", Spread: 5}}})
	for path, members := range map[string][]string{
		"/matches/" + id: {`"queue":"q"`}, "/events?match=" + id: {`"queue":"q"`, `"parties":[1,3]`},
	} {
		text := w.text(t, path)
		for _, want := range append(members, `"region":"eu"`, `"measures":{"fun":0}`, `"ping":{"spread":5}`,
			`"skill":{"spread":40,"gap":0}`) {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
	}
}
