package dryrun_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/lab/dryrun"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// runGuest runs the guest on tickets with the skills 0, 1, 2, …, which were created one after the other.
func runGuest(t *testing.T, do string, tickets int, change func(*dryrun.Options)) (*dryrun.Result, []string, error) {
	t.Helper()
	f, err := sharedFixture()
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	o := dryrun.Options{
		Box: f.box, Function: f.guest, Config: &pb.Config{Settings: fmt.Appendf(nil, `{"do":%q}`, do)},
		Now: noon, Seed: 1, Budget: time.Minute, Cycles: 1, Log: func(line string) { log = append(log, line) },
	}
	for i := range tickets {
		o.Tickets = append(o.Tickets, &pb.Ticket{
			Id: fmt.Sprint("t", i), Created: noon.UnixMilli() - int64(tickets-i),
			AttributeNames: []string{"skill"}, AttributeValues: []float64{float64(i)},
		})
	}
	if change != nil {
		change(&o)
	}
	r, err := dryrun.Run(t.Context(), o)
	return r, log, err
}

// summary lists the matches and the tickets that are left over.
func summary(r *dryrun.Result) string {
	text := ""
	for _, m := range r.Matches {
		text += strings.Join(proposals.TicketsOf(m), "-") + " "
	}
	text += "waiting"
	for _, t := range r.Waiting {
		text += " " + t.GetId()
	}
	return text
}

func filter(low, high float64, s *pb.Segmentation) map[string]*pb.Pool {
	return map[string]*pb.Pool{
		"mid": {Filters: []*pb.Filter{{Attribute: "skill", Min: &low, Max: &high, Segmentation: s}}},
	}
}

func TestMatchesAreThoseOfADirector(t *testing.T) {
	halves := &pb.Segmentation{Distribution: segmentation.Uniform, Behavior: segmentation.BucketCount, Value: 2}
	stddev := 100.0
	three := &pb.Segmentation{Distribution: segmentation.Normal, Behavior: segmentation.BucketSize, Value: 3,
		Stddev: &stddev}
	for name, test := range map[string]struct {
		do                string
		pools             map[string]*pb.Pool
		tickets           int
		want              string
		proposed, outside int
		segments          int
	}{
		"no tickets":             {"pair", nil, 0, "waiting", 0, 0, 1},
		"no pools":               {"pair", nil, 5, "t0-t1 t2-t3 waiting t4", 2, 0, 1},
		"a pool":                 {"pair", filter(1, 4, nil), 5, "t1-t2 waiting t0 t3 t4", 1, 2, 1},
		"a run for each segment": {"pair", filter(0, 6, halves), 6, "t0-t1 t3-t4 waiting t2 t5", 2, 0, 2},
		"segments by population": {"pair", filter(0, 6, three), 8, "t0-t1 t3-t4 waiting t2 t5 t6 t7", 2, 2, 2},
		"too few for segments":   {"pair", filter(0, 6, three), 4, "t0-t1 t2-t3 waiting", 2, 0, 1},
		"the director's choice":  {"chain", nil, 6, "t4-t5 t2-t3 t0-t1 waiting", 5, 0, 1},
	} {
		r, _, err := runGuest(t, test.do, test.tickets, func(o *dryrun.Options) { o.Config.Pools = test.pools })
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := summary(r); got != test.want || r.Proposed != test.proposed || r.Outside != test.outside ||
			r.Segments != test.segments {
			t.Errorf("%s: %s, of %d proposals, %d outside, %d segments; want %s, %d, %d, %d",
				name, got, r.Proposed, r.Outside, r.Segments, test.want, test.proposed, test.outside, test.segments)
		}
	}
}

func TestRunningGamesAreFilledFirst(t *testing.T) {
	r, _, err := runGuest(t, "fill", 3, func(o *dryrun.Options) {
		o.Backfills = []*pb.Backfill{
			{Id: "full", Created: 1},
			{Id: "game", Created: 2, AttributeNames: []string{"skill"}, AttributeValues: []float64{2}},
		}
		o.Config.Pools = filter(0, 3, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(r); got != "t0 waiting t1 t2" {
		t.Errorf("%s: only the game in the pool should be filled", got)
	}
	if f := r.Matches[0].GetFilling(); f.GetBackfill() != "game" || f.GetContents().GetAttributeValues()[0] != 1 {
		t.Errorf("the backfill ticket becomes %v", f)
	}
}

func TestFunctionIsAskedInACycleOfItsOwn(t *testing.T) {
	r, log, err := runGuest(t, "explain", 5, func(o *dryrun.Options) {
		o.Explain, o.Cycles = []string{"t4", "t0"}, 2
		o.Config.Pools = filter(0, 4, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(r); got != "t0-t1 t2-t3 waiting t4" || len(r.Cycles) != 2 || len(log) != 1 {
		t.Errorf("%s, %d cycles, log %q", got, len(r.Cycles), log)
	}
	// The ticket t4 is in no pool.
	if e := r.Explanations; len(e) != 2 || e[0].GetTicket() != "t4" || e[0].GetReason() == "as told" ||
		e[1].GetTicket() != "t0" || e[1].GetReason() != "as told" || r.InPools["t4"] {
		t.Errorf("explained: %v", e)
	}
}

// The invoker uses the parts of an answer again.
func TestProposalsOfManyPartsAreAllMatched(t *testing.T) {
	const tickets = 40_000
	r, _, err := runGuest(t, "pair", tickets, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range r.Matches {
		ids = append(ids, proposals.TicketsOf(m)...)
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != tickets || len(r.Waiting) != 0 {
		t.Errorf("%d tickets are matched, %d wait", n, len(r.Waiting))
	}
}

func TestRunMeasuresTimesAndMemory(t *testing.T) {
	r, log, err := runGuest(t, "pair", 1000, func(o *dryrun.Options) { o.Cycles = 3 })
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cycles) != 3 || r.Memory < 1<<20 || r.Module.Size == 0 {
		t.Errorf("%d cycles, %d bytes of memory, %d of the module", len(r.Cycles), r.Memory, r.Module.Size)
	}
	if !slices.Equal(log, []string{"asked for pair"}) {
		t.Errorf("logged %q", log)
	}
	if len(r.Matches) != 500 {
		t.Errorf("%d matches: want those of one cycle", len(r.Matches))
	}
	r.Cycles = []dryrun.Times{{Run: 3, Compute: 1}, {Run: 9, Compute: 7}, {Run: 5, Compute: 2}}
	want := map[string]time.Duration{"run": 5, "compute": 2}
	for _, step := range r.Medians() {
		if step.Time != want[step.Name] {
			t.Errorf("the median of %s is %v", step.Name, step.Time)
		}
	}
}

func TestRunReturnsTheCauseOfAFailure(t *testing.T) {
	cause := func(err error) sandbox.Cause {
		if died, ok := errors.AsType[*sandbox.Error](err); ok {
			return died.Cause
		}
		return ""
	}
	_, log, err := runGuest(t, "panic", 2, nil)
	if died, ok := errors.AsType[*sandbox.Error](err); !ok || died.Cause != sandbox.Trap ||
		!strings.Contains(died.Stack, "main.match") {
		t.Errorf("panic: %v", err)
	}
	if !slices.Contains(log, "panic: as told") {
		t.Errorf("panic: logged %q", log)
	}
	_, _, err = runGuest(t, "hang", 2, func(o *dryrun.Options) { o.Budget = 50 * time.Millisecond })
	if cause(err) != sandbox.Deadline || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("hang: %v", err)
	}
	if _, _, err := runGuest(t, "fail", 2, nil); err == nil || err.Error() != "as told" {
		t.Errorf("fail: %v", err)
	}
	_, _, err = runGuest(t, "pair", 2, func(o *dryrun.Options) { o.Function = []byte("text") })
	if problem.KindOf(err) != problem.Invalid {
		t.Errorf("no module: %v", err)
	}
	broken := filter(0, 1, &pb.Segmentation{Distribution: "other"})
	if _, _, err := runGuest(t, "pair", 2, func(o *dryrun.Options) { o.Config.Pools = broken }); err == nil ||
		!strings.Contains(err.Error(), "pools.mid[0].segmentation") {
		t.Errorf("an invalid segmentation: %v", err)
	}
}
