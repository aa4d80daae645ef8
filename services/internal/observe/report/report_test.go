package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/report"
)

// match is a match of tickets that waited so long.
func match(queue string, waits ...float64) *report.Match {
	return &report.Match{Key: report.Key{Config: "c", Revision: 1, Queue: queue}, Players: len(waits), Waits: waits}
}

// rows are the rows of a table of some books.
func rows(t *report.Table, books ...*report.Book) []report.Row {
	for _, b := range books {
		t.Add(b.Slot, b.Message())
	}
	return t.Rows()
}

func TestQuantilesAreAboutRight(t *testing.T) {
	var random *rand.Rand
	for name, draw := range map[string]func() float64{
		"seconds":      func() float64 { return random.ExpFloat64() * 20 },
		"skill":        func() float64 { return 1500 + 300*random.NormFloat64() },
		"below zero":   func() float64 { return -random.ExpFloat64() },
		"probability":  func() float64 { return random.Float64() },
		"tiny numbers": func() float64 { return random.Float64() * 1e-4 },
	} {
		random = rand.New(rand.NewPCG(1, 2)) // the same values, whichever comes first
		b := report.Spans()[0].NewBook(1)
		var values []float64
		for range 5000 {
			v := draw()
			m := match("", 1)
			m.Values = []report.Value{{Kind: report.Measure, Name: "m", Value: v}}
			values = append(values, v)
			b.Add(m)
		}
		slices.Sort(values)
		got := rows(&report.Table{}, b)[0].Distributions[1]
		if got.Kind != report.Measure || got.Name != "m" || got.Count != 5000 {
			t.Fatalf("%+v", got)
		}
		for q, estimate := range map[int]float64{10: got.P10, 50: got.P50, 90: got.P90} {
			if exact := values[q*50]; math.Abs(estimate-exact) > 0.1*math.Abs(exact) {
				t.Errorf("%s: the quantile of %d %% is %v, want %v", name, q, estimate, exact)
			}
		}
		mean := 0.0
		for _, v := range values {
			mean += v / 5000
		}
		if math.Abs(got.Mean-mean) > 1e-9*math.Abs(mean)+1e-12 {
			t.Errorf("%s: the mean is %v, want %v", name, got.Mean, mean)
		}
	}
}

// TestQuantilesAreNotAboveAllValues: few values lie anywhere in their buckets.
func TestQuantilesAreNotAboveAllValues(t *testing.T) {
	for _, values := range [][]float64{{2.2}, {2.2, 2.2, 2.2}, {1, 2, 2}, {0.5, 300, 300, 300}, {-3, -3}, {-8, -2, -2},
		{0, 0, 7}} {
		b := report.Spans()[0].NewBook(1)
		for _, v := range values {
			m := match("", 1)
			m.Values = []report.Value{{Kind: report.Measure, Name: "m", Value: v}}
			b.Add(m)
		}
		most := slices.Max(values) + 1e-9
		if d := rows(&report.Table{}, b)[0].Distributions[1]; d.P10 > most || d.P50 > most || d.P90 > most {
			t.Errorf("%v: %+v", values, d)
		}
	}
}

func TestValuesBeyondAllBoundsAreCounted(t *testing.T) {
	b := report.Spans()[0].NewBook(1)
	for _, v := range []float64{0, 1e-300, -1e-300, math.MaxFloat64, -math.MaxFloat64} {
		m := match("", 1)
		m.Values = []report.Value{{Kind: report.Measure, Name: "m", Value: v}}
		b.Add(m)
	}
	d := rows(&report.Table{}, b)[0].Distributions[1]
	if d.Count != 5 || d.Mean != 0 || math.Abs(d.P50) > 1e-6 || d.P90 < 1e11 || d.P10 > -1e11 {
		t.Errorf("%+v", d)
	}
}

// Matches are counted by the largest party, and waits by the ticket's own.
func TestTableDividesMatches(t *testing.T) {
	b := report.Spans()[0].NewBook(1)
	b.Add(match("q", 1, 1))
	b.Add(match("", 4, 4, math.NaN()))
	party := match("q", 10, 30)
	party.Players, party.Parties = 8, []uint32{1, 7}
	party.Values = []report.Value{{Kind: report.Gap, Name: "skill", Value: 3},
		{Kind: report.Spread, Name: "skill", Value: 9}}
	b.Add(party)
	unknown := match("q", 10, 30)
	unknown.Players = 3
	b.Add(unknown)
	text := func(by ...string) string {
		var lines []string
		for _, r := range rows(&report.Table{By: by}, b) {
			line := fmt.Sprintf("%s%s%s %d/%d/%d", r.Config, r.Queue, report.PartyName(r.Party), r.Matches, r.Tickets, r.Players)
			for _, d := range r.Distributions {
				line += fmt.Sprintf(" %s%s:%d", d.Kind, d.Name, d.Count)
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "; ")
	}
	for by, want := range map[string]string{
		"":      "unknown 4/9/16 wait:8 spreadskill:1 gapskill:1",
		"queue": "unknown 1/3/3 wait:2; qunknown 3/6/13 wait:6 spreadskill:1 gapskill:1",
		"party": "unknown 1/2/3 wait:2; 1 2/6/5 wait:5; 6+ 1/1/8 wait:1 spreadskill:1 gapskill:1",
		"queue,party": "1 1/3/3 wait:2; qunknown 1/2/3 wait:2; q1 1/3/2 wait:3; " +
			"q6+ 1/1/8 wait:1 spreadskill:1 gapskill:1",
	} {
		var dimensions []string
		if by != "" {
			dimensions = strings.Split(by, ",")
		}
		if got := text(dimensions...); got != want {
			t.Errorf("by %q: %s, want %s", by, got, want)
		}
	}
}

func TestTableSelectsConfigsAndRevisions(t *testing.T) {
	b := report.Spans()[0].NewBook(1)
	for config, revisions := range map[string][]int64{"a": {3, 4, 7}, "b": {5}} {
		for _, revision := range revisions {
			m := match("", 1)
			m.Key.Config, m.Key.Revision = config, revision
			b.Add(m)
		}
	}
	for want, table := range map[int64]*report.Table{
		4: {}, 3: {Config: "a"}, 2: {Config: "a", MinRevision: 4}, 1: {Config: "a", MaxRevision: 3},
	} {
		if got := rows(table, b); len(got) != 1 || got[0].Matches != want {
			t.Errorf("%+v selects %+v, want %d matches", table, got, want)
		}
	}
	if got := rows(&report.Table{By: []string{"revision"}}, b); len(got) != 4 || got[0].Config != "a" ||
		got[0].Revision != 3 || got[3].Config != "b" {
		t.Errorf("by revision: %+v", got)
	}
}

// A slot has a bound in bytes, and a config that takes all it can leaves room for others.
func TestBookIsBounded(t *testing.T) {
	b := report.Spans()[0].NewBook(1)
	for i := range 20_000 {
		m := match("", float64(i))
		m.Key.Config, m.Key.Region = "greedy", fmt.Sprint("region-", i%500)
		m.Values = []report.Value{{Kind: report.Measure, Name: fmt.Sprint("m", i%100), Value: math.Exp(float64(i%300) / 20)}}
		b.Add(m)
	}
	other := match("", 1, 2)
	other.Key.Config = "modest"
	b.Add(other)
	m := b.Message()
	if size := proto.Size(m); size > 64<<10 || size < 8<<10 {
		t.Errorf("the slot has %d bytes", size)
	}
	table := &report.Table{By: []string{"config"}}
	got := rows(table, b)
	if len(got) != 2 || got[1].Config != "modest" || got[1].Matches != 1 || got[1].Distributions[0].Count != 2 {
		t.Errorf("the other config: %+v", got)
	}
	if got[0].Matches+table.LeftOut() < 20_000 {
		t.Errorf("%d matches, %d left out", got[0].Matches, table.LeftOut())
	}
}

// The next leader goes on in the same slot.
func TestBooksOfOneSlotAreMerged(t *testing.T) {
	first, second := report.Spans()[0].NewBook(1), report.Spans()[0].NewBook(1)
	first.Add(match("q", 1, 100))
	second.Add(match("q", 1, 7))
	second.Add(match("r", 5, 5))
	second.Merge(first.Message())
	both := report.Spans()[0].NewBook(1)
	for _, m := range []*report.Match{match("q", 1, 100), match("q", 1, 7), match("r", 5, 5)} {
		both.Add(m)
	}
	by := []string{"queue"}
	if got, want := rows(&report.Table{By: by}, second), rows(&report.Table{By: by}, both); fmt.Sprint(got) !=
		fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	// What another version, or another program, wrote breaks nothing.
	second.Merge(&pb.ReportSlot{Series: []*pb.ReportSeries{{Distributions: []*pb.ReportDistribution{
		{Buckets: []int32{1, 2, 99_999}, Counts: []int64{-1}}}}}})
	for _, r := range rows(&report.Table{}, second) {
		for _, d := range r.Distributions {
			if math.IsNaN(d.P50) || math.IsNaN(d.Mean) {
				t.Errorf("%+v", d)
			}
		}
	}
}

// result is the event of a match's result, of a party of so many.
func result(config string, party int32, odds ...*pb.RatingOdds) *pb.Event {
	return &pb.Event{Config: config, Queue: "q", Outcome: &pb.MatchOutcome{Revision: 1, Party: party, Players: 4, Left: 1,
		Odds: odds}}
}

// Outcomes are added up like matches, within the bound of a slot; a leader goes on with what was stored.
func TestOutcomes(t *testing.T) {
	one := &pb.RatingOdds{Rating: "skill", Loss: 0.5, Squares: 0.25, Buckets: []int32{3, 9}, Pairs: []int64{2, 1},
		Odds: []float64{1.3, 0.97}, Won: []float64{1, 1}}
	first, second := report.Spans()[0].NewBook(1), report.Spans()[0].NewBook(1)
	m := match("q", 1)
	first.Add(m)
	first.AddOutcome(result("c", 1, one))
	second.AddOutcome(result("c", 9, one, &pb.RatingOdds{Rating: "aim", Buckets: []int32{0}, Pairs: []int64{1},
		Odds: []float64{0.5}, Won: []float64{0.5}}))
	second.Merge(first.Message())
	// What another program wrote breaks nothing.
	second.Merge(&pb.ReportSlot{Series: []*pb.ReportSeries{{Config: "c", Odds: []*pb.RatingOdds{
		{Rating: "skill", Buckets: []int32{-1, 10, 3, 4}, Pairs: []int64{1, 1, -1}, Odds: []float64{1, 1, 1},
			Won: []float64{1, 1, 1}},
		{Rating: "skill", Buckets: []int32{4}, Pairs: []int64{1}, Odds: []float64{1}}}}}})
	got := rows(&report.Table{}, second)[0]
	if got.Matches != 1 || got.Results != 2 || got.ResultPlayers != 8 || got.Left != 2 || len(got.Odds) != 2 {
		t.Fatalf("%+v", got)
	}
	skill := got.Odds[1]
	if got.Odds[0].Rating != "aim" || skill.Loss != 1 || skill.Squares != 0.5 || skill.Sum().Pairs != 6 ||
		skill.Buckets[3].Pairs != 4 || skill.Buckets[9].Won != 2 {
		t.Errorf("%+v", got.Odds)
	}
	divided := rows(&report.Table{By: []string{"party"}}, second)
	if len(divided) != 3 || divided[1].Results != 1 || divided[2].Party != report.LargestParty || divided[2].Results != 1 {
		t.Errorf("by party: %+v", divided)
	}
	full := report.Spans()[0].NewBook(1)
	for i := range 2000 {
		full.AddOutcome(result("greedy", 1, &pb.RatingOdds{Rating: fmt.Sprint("r", i), Buckets: []int32{0}, Pairs: []int64{1},
			Odds: []float64{0.5}, Won: []float64{1}}))
	}
	full.AddOutcome(result("modest", 1, one))
	table := &report.Table{By: []string{"config"}}
	got = rows(table, full)[1]
	if size := proto.Size(full.Message()); size > 64<<10 || got.Config != "modest" || len(got.Odds) != 1 ||
		table.LeftOut() < 1000 {
		t.Errorf("%d bytes, %+v, %d left out", size, got, table.LeftOut())
	}
}

func TestSlots(t *testing.T) {
	at := time.UnixMilli(7 * report.SlotTime.Milliseconds())
	if report.SlotOf(at) != 7 || report.SlotOf(at.Add(-time.Millisecond)) != 6 {
		t.Error(report.SlotOf(at), report.SlotOf(at.Add(-time.Millisecond)))
	}
}

func BenchmarkAdd(b *testing.B) {
	book := report.Spans()[0].NewBook(1)
	m := match("q", 1.5, 2.5)
	m.Values = []report.Value{{Kind: report.Spread, Name: "skill", Value: 40},
		{Kind: report.Measure, Name: "fun", Value: 0.5}}
	for i := 0; b.Loop(); i++ {
		m.Waits[0] = float64(i % 100)
		book.Add(m)
	}
}

// Tickets are divided by the latest ones of their queue, also by the next leader, and other tables have them once.
func TestDeciles(t *testing.T) {
	var divider report.Divider
	random := rand.New(rand.NewPCG(1, 2))
	book := report.Spans()[0].NewBook(1)
	add := func(to *report.Book, values ...float32) {
		m := match("q", float64(values[0]), float64(values[1]))
		m.Key.Region, m.Key.Canary = []string{"eu", "us"}[random.IntN(2)], 7
		m.Players, m.Parties = 4, []uint32{1, 3}
		m.Values = []report.Value{{Kind: report.Spread, Name: "skill", Value: float64(values[1] - values[0])},
			{Kind: report.Spread, Name: "other", Value: 1}, {Kind: report.Measure, Name: "skill", Value: 1}}
		divider.Divide(m, "skill", values)
		to.Add(m)
	}
	for range 1000 {
		v := random.Float32() * 999
		add(book, v, v+1)
	}
	add(book, float32(math.NaN()), 2000)
	by := []string{"queue", "decile", "region", "party"}
	got := rows(&report.Table{By: by}, book)
	if len(got) != 10 {
		t.Fatalf("%d rows: %+v", len(got), got)
	}
	tickets := int64(0)
	for i, row := range got {
		tickets += row.Tickets
		wait, spread, own := row.Distributions[0], row.Distributions[1], row.Distributions[2]
		if row.Decile != i+1 || row.Queue != "q" || row.Region != "" || row.Party != 0 || row.Tickets < 100 ||
			math.Abs(wait.Mean-float64(i*100+50)) > 40 || own.Kind != report.Own || own.Name != "skill" ||
			math.Abs(own.Mean-float64(i*100+50)) > 40 || spread.Count != row.Matches || spread.Name != "skill" ||
			len(row.Distributions) != 3 || row.Players < row.Tickets*3/2 {
			t.Errorf("%+v", row)
		}
	}
	if tickets != 1982 { // the first 19 are too few, and one has none
		t.Errorf("%d tickets have a decile", tickets)
	}
	if all := rows(&report.Table{By: []string{"queue"}}, book); len(all) != 1 || all[0].Matches != 1001 ||
		all[0].Tickets != 2002 {
		t.Errorf("by queue: %+v", all)
	}
	// The next leader goes on.
	next := report.Spans()[0].NewBook(1)
	next.Merge(book.Message())
	if again := rows(&report.Table{By: by}, next); fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("%+v, want %+v", again, got)
	}
	divider = report.Divider{}
	divider.Seed(book.Message())
	add(next, 10, 980)
	again := rows(&report.Table{By: by}, next)
	if again[0].Tickets != got[0].Tickets+1 || again[9].Tickets != got[9].Tickets+1 {
		t.Errorf("%+v, want %+v and one in the first and the last", again, got)
	}
	// Without an attribute nothing is kept of deciles.
	plain := report.Spans()[0].NewBook(1)
	m := match("q", 1, 2)
	divider.Divide(m, "", nil)
	plain.Add(m)
	if plain.Message().GetDeciles() != nil {
		t.Errorf("%v", plain.Message())
	}
	// Their part of a slot has a bound.
	for i := range 20_000 {
		m := match(fmt.Sprint("queue-", i%200), math.Exp(float64(i%300)/20), 1)
		divider.Divide(m, "skill", []float32{random.Float32(), 1})
		plain.Add(m)
	}
	if size := proto.Size(plain.Message().GetDeciles()); size > 64<<10 || size < 16<<10 {
		t.Errorf("deciles have %d bytes", size)
	}
}

// Of several deciles with the same value a ticket is in the middle one; it has none where nearly all are the same.
func TestDecilesOfEqualValues(t *testing.T) {
	same := append(slices.Repeat([]float32{1}, 19), 9)
	for want, values := range map[string][]float32{
		"": same, " 2:1 6:3 9:1": {1, 5, 5, 5, 9}, " 3:2 7:3": {1, 1, 5, 5, 5},
	} {
		var divider report.Divider
		m := match("q", make([]float64, len(values))...)
		for range 100 {
			divider.Divide(m, "skill", values)
		}
		book, got := report.Spans()[0].NewBook(1), ""
		book.Add(m)
		for _, row := range rows(&report.Table{By: []string{"decile"}}, book) {
			got += fmt.Sprintf(" %d:%d", row.Decile, row.Tickets)
		}
		if got != want {
			t.Errorf("%v: deciles and tickets are %q, want %q", values, got, want)
		}
	}
}

// Long waits of a few tickets fit in a slot, in the shortest ones too.
func TestDecilesHaveRoomForLongWaits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, span := range report.Spans() {
		var divider report.Divider
		book := span.NewBook(1)
		var waits [11][]float64
		for range 20_000 {
			v := random.Float32()
			m := match("q", math.Exp(random.NormFloat64()*2), math.NaN())
			for i := range 8 {
				m.Values = append(m.Values, report.Value{Kind: report.Spread, Name: fmt.Sprint("a", i), Value: random.Float64()})
			}
			divider.Divide(m, "a0", []float32{v})
			book.Add(m)
			at := 1 + int(v*10)
			waits[at] = append(waits[at], m.Waits[0])
		}
		got := rows(&report.Table{By: []string{"decile"}}, book)
		if len(got) != 10 {
			t.Fatalf("%s: %d rows", span.Slot, len(got))
		}
		for _, row := range got {
			slices.Sort(waits[row.Decile])
			exact, wait := waits[row.Decile][len(waits[row.Decile])*9/10], row.Distributions[0]
			if wait.Count != row.Tickets || math.Abs(wait.P90-exact) > 0.25*exact {
				t.Errorf("%s, decile %d: %+v of %d tickets, want p90 %v", span.Slot, row.Decile, wait, row.Tickets, exact)
			}
		}
	}
}
