package ticket

import (
	"fmt"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
)

func TestComparisonSaysWhatAProposalLosesTo(t *testing.T) {
	of := func(score float64, tickets ...string) *pb.Proposal {
		return &pb.Proposal{Score: score, Teams: []*pb.Team{{Tickets: tickets}}}
	}
	filling := func(p *pb.Proposal, game string) *pb.Proposal {
		p.Filling = &pb.Filling{Backfill: game}
		return p
	}
	for name, c := range map[string]struct {
		ranked, casual []*pb.Proposal
		want           string
	}{
		"nobody proposes it":  {[]*pb.Proposal{of(1, "b", "c")}, nil, "<nil> <nil>"},
		"it wins":             {[]*pb.Proposal{of(1, "a", "b"), of(3, "a", "c")}, nil, "{3 2 <nil>} <nil>"},
		"it loses to another": {[]*pb.Proposal{of(1, "a", "b")}, []*pb.Proposal{of(5, "b", "c")}, "{1 2 casual 5 4} <nil>"},
		"both configs have it": {[]*pb.Proposal{of(1, "a", "b")}, []*pb.Proposal{of(5, "a", "c")},
			"{1 2 casual 5 4} {5 2 <nil>}"},
		"who beats it loses": {[]*pb.Proposal{of(1, "a", "b")}, []*pb.Proposal{of(2, "b", "c"), of(3, "c", "d")},
			"{1 2 <nil>} <nil>"},
		"another has the place": {[]*pb.Proposal{filling(of(1, "a"), "g")}, []*pb.Proposal{filling(of(2, "z"), "g")},
			"{1 1 casual 2 1} <nil>"},
	} {
		ranked, casual := new(configExplanation), new(configExplanation)
		ranked.Config, casual.Config = "ranked", "casual"
		var all comparison
		for of, proposals := range map[*configExplanation][]*pb.Proposal{ranked: c.ranked, casual: c.casual} {
			of.Run = new(response.RunExplanation)
			all.add(of, proposals)
		}
		all.judge("a")
		text := func(b *response.BestProposal) string {
			switch {
			case b == nil:
				return "<nil>"
			case b.LosesTo == nil:
				return fmt.Sprint("{", b.Score, " ", b.Tickets, " <nil>}")
			}
			return fmt.Sprintf("{%v %d %s %v %v}", b.Score, b.Tickets, b.LosesTo.Config, b.LosesTo.Score, b.LosesTo.By)
		}
		if got := text(ranked.Run.Best) + " " + text(casual.Run.Best); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	many := &configExplanation{ConfigExplanation: response.ConfigExplanation{Run: new(response.RunExplanation)}}
	var all comparison
	all.add(many, []*pb.Proposal{of(1, "a", "b"), of(8, "b", "c"), of(2, "a", "c"), of(3, "a", "d"), of(4, "a", "e"),
		of(5, "a", "f"), of(9, "a", "b")})
	all.judge("a")
	scores := ""
	for _, one := range many.Run.With {
		scores += fmt.Sprint(one.Score, " ", one.LosesTo != nil, ", ")
	}
	if want := "9 false, 5 true, 4 true, 3 true, 2 true, "; scores != want || many.Run.Holding != 6 ||
		*many.Run.Best != many.Run.With[0] {
		t.Errorf("of %d proposals: %s, want %s", many.Run.Holding, scores, want)
	}
	var crowd comparison
	of2 := &configExplanation{ConfigExplanation: response.ConfigExplanation{Run: new(response.RunExplanation)}}
	for range 3 {
		crowd.add(of2, make([]*pb.Proposal, mostCompared/2))
	}
	if crowd.judge("a"); len(crowd.all) > 0 || of2.Run.Best != nil {
		t.Error("too many proposals are compared")
	}
}
