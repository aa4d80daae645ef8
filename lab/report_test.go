package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/lab/dryrun"
)

func TestMatchTableShowsBackfillTicketsAndServers(t *testing.T) {
	now := time.UnixMilli(60_000)
	match := func(ticket string, f *pb.Filling) *pb.Proposal {
		return &pb.Proposal{Score: 1, Teams: []*pb.Team{{Tickets: []string{ticket}}}, Filling: f}
	}
	changed := match("a", &pb.Filling{Backfill: "game", Contents: &pb.Backfill{
		AttributeNames: []string{"open", "skill"}, AttributeValues: []float64{2, 1.5},
		Properties: map[string][]byte{"map": []byte("cave")},
	}})
	changed.MatchProperties = []byte(`{ "map": "a cave with a name that goes on and on" }`)
	created := match("c",
		&pb.Filling{Contents: &pb.Backfill{AttributeNames: []string{"open"}, AttributeValues: []float64{1}}})
	created.Hosting = &pb.HostingOverride{Region: "eu", Fleet: "fast", Profile: "big"}
	created.AssignmentProperties = []byte(`{"map": 1}`)
	tickets := []*pb.Ticket{{Id: "a", Created: 60_000}, {Id: "b", Created: 60_000}, {Id: "c", Created: 60_000}}
	backfills := []*pb.Backfill{{Id: "game"}, {Id: "left"}, {Id: "as it was"}}
	v := newReport("ffa.wasm", tickets, backfills, &dryrun.Result{
		Matches: []*pb.Proposal{changed, match("b", &pb.Filling{Backfill: "left"}), created},
		Module:  &sandbox.Module{}, Cycles: make([]dryrun.Times, 1),
	}, now)

	if about := fmt.Sprint(v.summary().Rows); !strings.Contains(about, "[backfills 3, 2 of them get tickets]") {
		t.Error(about)
	}
	want := [][]any{ // match, score, teams, wait, backfill, connection, server region, fleet, profile, properties, error
		{1, "1", "a", "0", "game open=2 skill=1.5 map", "", "", "", "", `{"map":"a cave with a name that goes on…`, ""},
		{2, "1", "b", "0", "left", "", "", "", "", "", ""},
		{3, "1", "c", "0", "creates open=1", "", "eu", "fast", "big", `{"map":1}`, ""},
	}
	if diff := cmp.Diff(want, v.matchTable(10).Rows); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(v.Matches[0].Backfill)
	if err != nil || string(text) != `{"id":"game","attributes":{"open":2,"skill":1.5},"properties":{"map":"Y2F2ZQ=="}}` {
		t.Errorf("as JSON: %s, %v", text, err)
	}
}

func TestErrorsNameTheFileOrTheFunctionThatCausedThem(t *testing.T) {
	for want, err := range map[string]error{
		"a.wasm: too short":                problem.Wrap(problem.Invalid, errors.New("EOF"), "too short"),
		"not stored: full":                 problem.Wrap(problem.Unavailable, errors.New("full"), "not stored"),
		"the function failed: no map fits": errors.New("no map fits"),
	} {
		err := FunctionTest{File: "a.wasm"}.wrap(err)
		got := []string{err.Error()}
		if long, ok := errors.AsType[runError](err); ok {
			got = long.Lines()
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReportWithoutTicketsInPoolsHasNoTimes(t *testing.T) {
	tickets := []*pb.Ticket{{Id: "a"}, {Id: "b"}}
	v := newReport("ffa.wasm", tickets, nil,
		&dryrun.Result{Waiting: tickets, Outside: 2, Module: &sandbox.Module{}, Cycles: make([]dryrun.Times, 1)},
		time.UnixMilli(0))
	const want = "the function was not run, since no pool has a ticket"
	why := whyNone(v, new(pb.Config), tickets, nil)
	if steps := v.stepTable(); why != want || len(steps.Rows) > 0 {
		t.Errorf("it has the steps %v, and fails by %v", steps.Rows, why)
	}
	for _, c := range []struct {
		config *pb.Config
		queues []string
		want   string
	}{
		{&pb.Config{Queue: "five"}, nil, `: the config takes tickets of the queue "five", and none waits there`},
		{&pb.Config{Queue: "five"}, []string{"two"}, `: the config takes tickets of the queue "five", and none waits there`},
		{&pb.Config{}, []string{"two"}, ": the config has no queue, and all tickets wait in queues"},
		{&pb.Config{Queue: "two", Pools: map[string]*pb.Pool{"all": {Filters: []*pb.Filter{{Attribute: "skill"}}}}},
			[]string{"two"}, `: no ticket has the attribute "skill", which a pool filters by`},
	} {
		for _, ticket := range tickets {
			ticket.Queues = c.queues
		}
		if why := whyNone(v, c.config, tickets, nil); why != want+c.want {
			t.Errorf("%v, %v: %s", c.config, c.queues, why)
		}
	}
}
