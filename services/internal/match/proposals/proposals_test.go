package proposals_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/proposals"
)

// anyProposals draws proposals of any form that a function can make.
func anyProposals(t *rapid.T) []*pb.Proposal {
	id := rapid.StringMatching("[a-z]{4}")
	if rapid.Bool().Draw(t, "ids of different lengths") {
		id = rapid.StringMatching("[a-zäß]{1,6}")
	}
	most := rapid.IntRange(1, 3).Draw(t, "most teams")
	team := rapid.Custom(func(t *rapid.T) *pb.Team {
		return &pb.Team{Tickets: rapid.SliceOfN(id, 0, 3).Draw(t, "tickets")}
	})
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) *pb.Proposal {
		return &pb.Proposal{
			Score: rapid.Float64().Draw(t, "score"), Oldest: rapid.Int64().Draw(t, "oldest"),
			Teams: rapid.SliceOfN(team, min(1, most-1), most).Draw(t, "teams"), Compare: rapid.Bool().Draw(t, "compare"),
			Players: rapid.Int32Range(0, 3).Draw(t, "players"),
		}
	})).Draw(t, "proposals")
}

func pack(p *proposals.Plain, all []*pb.Proposal) {
	p.Reset()
	for _, one := range all {
		p.Propose(one.GetScore(), one.GetOldest())
		if one.GetCompare() {
			p.Compare()
		}
		if one.GetPlayers() > 0 {
			p.Players(int(one.GetPlayers()))
		}
		for _, team := range one.GetTeams() {
			p.Team()
			for _, id := range team.GetTickets() {
				p.Ticket(id)
			}
		}
	}
}

func TestUnpackIsTheInverseOfPacking(t *testing.T) {
	var p proposals.Plain // is used again and again
	rapid.Check(t, func(t *rapid.T) {
		before := &pb.Proposal{Connection: "not plain"}
		want := anyProposals(t)
		pack(&p, want)
		if p.Len() != len(want) {
			t.Fatal(p.Len(), len(want))
		}
		looks := rapid.Bool().Draw(t, "the runner looks for players")
		sent, err := proto.Marshal(&pb.RunPart{Apart: looks, Plain: p.Message(), Proposals: []*pb.Proposal{before}})
		if err != nil {
			t.Fatal(err)
		}
		got := new(pb.RunPart)
		if err := proto.Unmarshal(sent, got); err != nil {
			t.Fatal(err)
		}
		if err := proposals.Unpack(got); err != nil {
			t.Fatal(err)
		}
		all := &pb.RunPart{Apart: looks, Proposals: append([]*pb.Proposal{before}, want...)}
		for _, one := range all.Proposals {
			one.Compare = one.Compare || !looks
		}
		if diff := cmp.Diff(all, got, protocmp.Transform()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Another version may send such columns.
func TestUnpackRefusesColumnsThatDoNotFit(t *testing.T) {
	whole := func() *pb.PlainProposals {
		return &pb.PlainProposals{
			Tickets: []byte("abcd"), Sizes: []uint32{1, 3}, Teams: []uint32{1, 1}, Counts: []uint32{2, 0},
			Scores: []float64{1, 2}, Oldest: []int64{3, 4},
		}
	}
	if err := proposals.Unpack(&pb.RunPart{Plain: whole()}); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*pb.PlainProposals){
		"a ticket less": func(p *pb.PlainProposals) { p.Tickets = []byte("abc") },
		"a ticket more": func(p *pb.PlainProposals) { p.Tickets = []byte("abcde") },
		"a size more":   func(p *pb.PlainProposals) { p.Sizes = []uint32{1, 2, 1} },
		"no sizes":      func(p *pb.PlainProposals) { p.Sizes = nil },
		"a team more":   func(p *pb.PlainProposals) { p.Teams = []uint32{1, 1, 0} },
		"a count less":  func(p *pb.PlainProposals) { p.Counts = []uint32{2} },
		"teams without counts": func(p *pb.PlainProposals) {
			p.Counts, p.Scores, p.Oldest = nil, []float64{1}, []int64{1}
		},
		"a mark of a proposal that is not there":  func(p *pb.PlainProposals) { p.Compare = []uint32{2} },
		"players of a proposal that is not there": func(p *pb.PlainProposals) { p.Players = []uint32{1, 0, 1} },
		"a score less": func(p *pb.PlainProposals) { p.Scores = []float64{1} },
		"no age":       func(p *pb.PlainProposals) { p.Oldest = nil },
		"four billion empty tickets": func(p *pb.PlainProposals) {
			p.Tickets, p.Sizes, p.Teams = nil, []uint32{0}, []uint32{4e9, 4e9}
		},
		"only tickets": func(p *pb.PlainProposals) {
			p.Sizes, p.Teams, p.Counts, p.Scores, p.Oldest = []uint32{4}, nil, nil, nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := whole()
			damage(p)
			if err := proposals.Unpack(&pb.RunPart{Plain: p}); err == nil {
				t.Error("columns that do not fit were accepted")
			}
		})
	}
}

func TestUnpackAllocatesNoMoreForManyProposals(t *testing.T) {
	var p proposals.Plain
	allocations := func(n int) float64 {
		p.Reset()
		for range n {
			p.Propose(1, 2)
			p.Team()
			p.Ticket("019a9e3c-0000-7000-8000-000000000001")
			p.Ticket("019a9e3c-0000-7000-8000-000000000002")
		}
		plain := p.Message()
		return testing.AllocsPerRun(10, func() {
			if err := proposals.Unpack(&pb.RunPart{Plain: plain}); err != nil {
				t.Error(err)
			}
		})
	}
	if few, many := allocations(10), allocations(10_000); many > few {
		t.Errorf("%v allocations for 10,000 proposals, %v for 10", many, few)
	}
}
