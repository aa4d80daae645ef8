package director_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/state"
)

// measuredPairs is pairs, of matches that are measured.
func measuredPairs(r *pb.RunRequest, tickets []string, part func(...*pb.Proposal)) error {
	return pairs(r, tickets, func(all ...*pb.Proposal) {
		for _, p := range all {
			p.Hosting = &pb.HostingOverride{Region: "eu"}
			p.Measures = &pb.Measures{Own: []*pb.Measure{{Name: "fun", Value: 0.5}}, Parties: []uint32{1, 3}}
			p.Players = 4
			for i := range r.GetReport().GetAttributes() {
				p.Measures.Values = []float32{1000, 2000}
				p.Measures.Attributes = append(p.Measures.Attributes,
					&pb.AttributeMeasure{Attribute: uint32(i), Spread: 40, Gap: proto.Float64(10)})
			}
			// A runner of another version may report an attribute that was not requested.
			p.Measures.Attributes = append(p.Measures.Attributes, &pb.AttributeMeasure{Attribute: 99, Spread: 1})
		}
		part(all...)
	})
}

// enter creates tickets that have a time in their ids, as the Tickets API does.
func (w *world) enter(n int) (ids []string) {
	w.Helper()
	creator := w.store.Creator(w.bus.PokeTickets)
	for range n {
		now := w.store.Now()
		id := state.NewID(now)
		must(w, creator.Create(w.Context(), project, &pb.Ticket{Id: id, Owner: "player-" + id, Created: now.UnixMilli()}))
		ids = append(ids, id)
	}
	return ids
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reported is a report of now, in one row, and the empty row before there is one.
func (w *world) reported() report.Row {
	w.Helper()
	slot := report.SlotOf(w.store.Now())
	found, _, err := w.store.Report(w.Context(), project, "", []int64{slot - 2, slot - 1, slot})
	must(w, err)
	t := &report.Table{By: slices.DeleteFunc(report.Dimensions(), func(by string) bool { return by == "decile" })}
	for _, one := range found {
		t.Add(0, one)
	}
	if rows := t.Rows(); len(rows) > 0 {
		return rows[len(rows)-1]
	}
	return report.Row{}
}

// strongest is how many tickets of the eighth decile the report of now has: half of all are the same, the middle of
// five deciles.
func (w *world) strongest() int64 {
	w.Helper()
	slot := report.SlotOf(w.store.Now())
	found, _, err := w.store.Report(w.Context(), project, "", []int64{slot - 1, slot})
	must(w, err)
	t := &report.Table{By: []string{"decile"}}
	for _, one := range found {
		t.Add(0, one)
	}
	if rows := t.Rows(); len(rows) > 0 && rows[len(rows)-1].Decile == 8 {
		return rows[len(rows)-1].Tickets
	}
	return 0
}

// spanMatches is how many matches the stored reports of each span have now.
func (w *world) spanMatches() (all []int64) {
	w.Helper()
	for _, span := range report.Spans() {
		slot := span.SlotOf(w.store.Now())
		found, _, err := w.store.Report(w.Context(), project, span.Name, []int64{slot - 1, slot})
		must(w, err)
		n := int64(0)
		for _, one := range found {
			for _, series := range one.GetSeries() {
				n += series.GetMatches()
			}
		}
		all = append(all, n)
	}
	return all
}

// What is measured of a match is told by its event and by reports, on which the next leader goes on, and is not stored
// with the match.
func TestLeaderTellsHowGoodMatchesAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner("r", map[string]function{"f": measuredPairs})
	w.put(project, "c", &pb.Config{Function: "f", Report: &pb.Report{Attributes: []string{"skill"}}})
	stop := w.director("a", times())
	ids := w.enter(2)
	w.results(ids...)
	var first *pb.Event
	w.until("the event of the match is there", func() bool {
		_, err := w.bus.ReadEvents(t.Context(), project, bus.EventStart{}, false, func(m bus.EventMessage) bool {
			for _, e := range m.GetEvents() {
				if e.GetMatch() != "" && first == nil {
					first = e
				}
			}
			return true
		})
		must(t, err)
		return first != nil
	})
	want := &pb.Event{Region: "eu", Parties: []uint32{1, 3}, Measures: []*pb.EventMeasure{{Name: "fun", Value: 0.5}},
		Attributes: []*pb.EventAttribute{{Name: "skill", Spread: 40, Gap: proto.Float64(10)}}}
	got := &pb.Event{Region: first.GetRegion(), Parties: first.GetParties(), Measures: first.GetMeasures(),
		Attributes: first.GetAttributes()}
	if !proto.Equal(got, want) {
		t.Errorf("the event has %v, want %v", got, want)
	}
	w.until("the report is stored", func() bool { return w.reported().Matches == 1 })
	row := w.reported()
	if row.Config != "c" || row.Region != "eu" || row.Party != 3 || row.Tickets != 1 || row.Players != 4 {
		t.Errorf("the last row is %+v", row)
	}
	kinds := map[string]float64{}
	for _, d := range row.Distributions {
		kinds[d.Kind+d.Name] = d.Mean
	}
	if kinds["spreadskill"] != 40 || kinds["gapskill"] != 10 || kinds["measurefun"] != 0.5 || kinds["wait"] <= 0 ||
		kinds["wait"] > patience.Seconds() || len(kinds) != 4 {
		t.Errorf("it has %v", kinds)
	}
	w.results(w.enter(38)...)
	stop()
	if n := w.strongest(); n != 11 { // twenty have no decile but the last
		t.Errorf("the strongest decile has %d tickets", n)
	}
	w.director("b", times())
	w.results(w.enter(2)...)
	w.until("the next leader adds to it", func() bool { return w.reported().Matches == 21 })
	w.until("hours and days have all", func() bool { return slices.Equal(w.spanMatches(), []int64{21, 21, 21}) })
	w.results(w.enter(2)...)
	w.until("it goes on with the deciles", func() bool { return w.strongest() == 12 })
}

// The outcome that the event of a result tells is in the report, once, however often the publisher begins anew.
func TestLeaderComparesOddsWithOutcomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(project, "c", &pb.Config{Function: "f"})
	tell := func(o *pb.MatchOutcome) {
		must(t, w.store.AppendEvent(t.Context(), project, &pb.Event{Kind: pb.Event_KIND_RESULT, Match: "m", Config: "c",
			Outcome: o}))
	}
	o := &pb.MatchOutcome{Region: "eu", Party: 2, Players: 4, Left: 1, Odds: []*pb.RatingOdds{{Rating: "skill", Loss: 0.7,
		Buckets: []int32{3}, Pairs: []int64{1}, Odds: []float64{0.66}, Won: []float64{1}}}}
	for n, name := range []string{"a", "b"} {
		stop := w.director(name, times())
		tell(o)
		tell(nil) // a correction
		w.until("the report has the outcome", func() bool { return w.reported().Results == int64(n)+1 })
		stop()
	}
	row := w.reported()
	if row.Config != "c" || row.Region != "eu" || row.Party != 2 || row.ResultPlayers != 8 || row.Left != 2 ||
		len(row.Odds) != 1 || row.Odds[0].Buckets[3].Pairs != 2 || row.Matches != 0 {
		t.Errorf("%+v", row)
	}
}
