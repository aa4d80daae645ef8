package invocation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/sandbox"
)

// measuredRun does a run of a function, and returns all of its proposals by score.
func measuredRun(
	t *testing.T, index *pool.Index, report *pb.Report, f func(*matchfn.Run),
) (map[float64]*pb.Proposal, error) {
	t.Helper()
	function := matchfn.New(func(r *matchfn.Run) error {
		f(r)
		return nil
	})
	all := map[float64]*pb.Proposal{}
	take := func(p *pb.RunPart) error {
		sent := proto.CloneOf(p)
		if err := proposals.Unpack(sent); err != nil {
			t.Fatal(err)
		}
		for _, one := range sent.GetProposals() {
			all[one.GetScore()] = one
		}
		return nil
	}
	last, err := new(Invoker).Invoke(t.Context(), &Run{
		Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Now: 9000, Report: report}, Index: index,
		Answer: take, Began: time.Now(), Deadline: time.Now().Add(time.Hour),
	}, native{Function: function}, NeedsOf(sandbox.Manifest{Attributes: []string{}, Properties: []string{}}))
	if err == nil {
		err = take(last)
	}
	return all, err
}

// measuredText is what was measured of a proposal.
func measuredText(p *pb.Proposal) string {
	m := p.GetMeasures()
	text := ""
	for _, one := range m.GetOwn() {
		text += fmt.Sprintf("%s=%v ", one.GetName(), one.GetValue())
	}
	for _, one := range m.GetAttributes() {
		gap := "none"
		if one.Gap != nil {
			gap = fmt.Sprintf("%.2f", one.GetGap())
		}
		text += fmt.Sprintf("%d:%v/%s ", one.GetAttribute(), one.GetSpread(), gap)
	}
	return text + fmt.Sprint(m.GetParties())
}

// The tickets have one to five players each, and a hundred more skill than the one before.
func TestProposalsAreMeasured(t *testing.T) {
	propose := func(r *matchfn.Run) {
		r.Propose(1).Team("red", 0, 3).Team("blue", 1, 2).Measure("gap", 2.5).Measure("chance", -0.5)
		r.Propose(2, 4, 5)
		r.Propose(3, 0)
		r.Propose(4).Team("", 0, 1).Team("")
	}
	for name, c := range map[string]struct {
		report *pb.Report
		want   map[float64]string
	}{
		"without a report": {nil, map[float64]string{1: "chance=-0.5 gap=2.5 []", 2: "[]", 3: "[]", 4: "[]"}},
		"with an empty one": {&pb.Report{}, map[float64]string{1: "chance=-0.5 gap=2.5 [1 3 1 2]", 2: "[4 5]", 3: "[]",
			4: "[]"}},
		"with attributes": {&pb.Report{Attributes: []string{"nobody's", "skill"}}, map[float64]string{
			1: "chance=-0.5 gap=2.5 1:300/58.33 [1 3 1 2]", 2: "1:100/none [4 5]", 3: "[]", 4: "1:100/none []"}},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := measuredRun(t, indexOf(t, 6, parties), c.report, propose)
			if err != nil {
				t.Fatal(err)
			}
			for score, want := range c.want {
				if got := measuredText(all[score]); got != want {
					t.Errorf("proposal %v has %q, want %q", score, got, want)
				}
			}
		})
	}
}

// There are more tickets than are read at a time, and some go while the function runs.
func TestManyProposalsAreMeasured(t *testing.T) {
	const n = 5*measured + 100
	index := indexOf(t, n, func(i int) *pb.Ticket {
		return &pb.Ticket{Id: fmt.Sprintf("t%05d", i), Created: int64(i + 1), AttributeNames: []string{"skill"},
			AttributeValues: []float64{math.Sqrt(float64(i))}}
	})
	all, err := measuredRun(t, index, &pb.Report{Attributes: []string{"skill"}}, func(r *matchfn.Run) {
		for i := uint32(0); i+1 < uint32(r.Tickets()); i += 2 {
			r.Propose(float64(i), i, i+1)
		}
		index.Drop("t00003")
	})
	if err != nil || len(all) != n/2 {
		t.Fatal(len(all), err)
	}
	for i := 0; i < n; i += 2 {
		values := all[float64(i)].GetMeasures().GetValues()
		if len(values) != 2 || i != 2 && values[0] != float32(math.Sqrt(float64(i))) ||
			i != 2 && values[1] != float32(math.Sqrt(float64(i+1))) || i == 2 && values[1] == values[1] {
			t.Fatalf("the tickets of proposal %d have %v", i, values)
		}
		want := fmt.Sprintf("0:%v/none []", math.Sqrt(float64(i+1))-math.Sqrt(float64(i)))
		if i == 2 {
			want = "[]" // one of them is gone
		}
		if got := measuredText(all[float64(i)]); got != want {
			t.Fatalf("proposal %d has %q, want %q", i, got, want)
		}
	}
}

// A function that keeps its tickets is measured alike.
func TestProposalsOfKeptTicketsAreMeasured(t *testing.T) {
	w := newSession(t, func(*pairs) {})
	put := func(id string, kind, skill float64) {
		t.Helper()
		w.created++
		raw, err := proto.Marshal(&pb.Ticket{Id: id, Created: w.created, AttributeNames: []string{"kind", "skill"},
			AttributeValues: []float64{kind, skill}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.index.Put(id, raw); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		put(fmt.Sprint("a", i), float64(i), float64(i))
	}
	invoke := func() (spreads []float64) {
		t.Helper()
		r := w.run()
		r.Request.Report = &pb.Report{Attributes: []string{"skill"}}
		last, err := w.inv.Invoke(t.Context(), r, native{Function: w.f}, needsOf(w.f))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range last.GetProposals() {
			for _, one := range p.GetMeasures().GetAttributes() {
				spreads = append(spreads, one.GetSpread())
			}
		}
		return spreads
	}
	if got := invoke(); len(got) > 0 {
		t.Fatalf("nobody is paired: %v", got)
	}
	put("b", 7, 107.5)
	put("c", 9, 9)
	got := invoke()
	if slices.Sort(got); !slices.Equal(got, []float64{0, 100.5}) {
		t.Errorf("the spreads are %v", got)
	}
	if last := (*w.runs)[len(*w.runs)-1]; last != 2 {
		t.Errorf("the function got %d tickets, and keeps none", last)
	}
}

func TestMeasuresOfAFunctionAreBounded(t *testing.T) {
	for want, f := range map[string]func(matchfn.Proposal){
		"more than 8 of them":              func(p matchfn.Proposal) { p.Measure("nine", 1) },
		`"a" is not finite`:                func(p matchfn.Proposal) { p.Measure("a", math.NaN()) },
		"name is not 1 to 64 bytes of UTF": func(p matchfn.Proposal) { p.Measure("", 1) },
	} {
		_, err := measuredRun(t, indexOf(t, 2, parties), nil, func(r *matchfn.Run) {
			p := r.Propose(1, 0, 1)
			for i := range block.MaxMeasures {
				p.Measure(string(rune('a'+i)), 1)
			}
			f(p)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// BenchmarkMeasured is the runner's part of a run of 10,000 pairs, without a report and with one.
func BenchmarkMeasured(b *testing.B) {
	const n = 20_000
	index := pool.New()
	for i := range n {
		raw, err := proto.Marshal(&pb.Ticket{Id: fmt.Sprintf("019a9e3c-0000-7000-8000-%012d", i), Created: int64(i + 1),
			Owner: fmt.Sprint("p", i), AttributeNames: []string{"skill"}, AttributeValues: []float64{float64(i * 7919 % 3000)}})
		if err != nil {
			b.Fatal(err)
		}
		if err := index.Put(fmt.Sprintf("019a9e3c-0000-7000-8000-%012d", i), raw); err != nil {
			b.Fatal(err)
		}
	}
	function := matchfn.New(func(r *matchfn.Run) error {
		for i := uint32(0); i+1 < uint32(r.Tickets()); i += 2 {
			r.Propose(1, i, i+1)
		}
		return nil
	})
	for name, asked := range map[string]*pb.Report{"without": nil, "with": {Attributes: []string{"skill"}}} {
		b.Run(name, func(b *testing.B) {
			var inv Invoker
			for b.Loop() {
				_, err := inv.Invoke(b.Context(), &Run{
					Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Now: 9000, Report: asked}, Index: index,
					Answer: func(p *pb.RunPart) error { // as it is sent, and read again
						raw, err := proto.Marshal(p)
						if err != nil {
							return err
						}
						got := new(pb.RunPart)
						if err := proto.Unmarshal(raw, got); err != nil {
							return err
						}
						return proposals.Unpack(got)
					},
					Began: time.Now(), Deadline: time.Now().Add(time.Hour),
				}, native{Function: function}, NeedsOf(sandbox.Manifest{Attributes: []string{"skill"}, Properties: []string{}}))
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n/2), "ns/match")
		})
	}
}
