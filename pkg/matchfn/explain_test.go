package matchfn_test

import (
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/fake"
)

func TestExplainSaysWhyOfTicketsThatAreAskedAbout(t *testing.T) {
	long := strings.Repeat("é", block.MaxReason) // twice as many bytes as there may be
	f := matchfn.New(func(r *matchfn.Run) error {
		r.Explain(0, "not asked", 1)
		r.Explain(9, "not there", 1)
		r.Explain(1, "", 1)
		r.Explain(1, "near", 3)
		r.Explain(1, long, -1)
		for range 2 * block.MaxReasons {
			r.Explain(3, "again", 0)
		}
		r.Propose(1, r.Asked()...)
		return nil
	})
	request := fake.Request{Tickets: make([]fake.Ticket, 4), Asked: []uint32{1, 3}}
	got, err := fake.Explain(f, request)
	if err != nil {
		t.Fatal(err)
	}
	want := []block.Explanation{
		{Ticket: 1, Reason: "near", Candidates: 3},
		{Ticket: 1, Reason: long[:block.MaxReason], Candidates: -1},
	}
	for range block.MaxReasons {
		want = append(want, block.Explanation{Ticket: 3, Reason: "again"})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	proposals, err := fake.Run(f, request)
	if err != nil || len(proposals) != 1 || !slices.Equal(proposals[0].Tickets(), request.Asked) {
		t.Errorf("%+v, %v", proposals, err)
	}
}
