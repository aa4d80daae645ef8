package block_test

import (
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// askedRequest asks about two of three tickets.
func askedRequest(t *testing.T) []byte {
	t.Helper()
	var b block.RequestBuilder
	b.Start(block.Meta{Now: 1_700_000_010_000, Budget: 5000, Tickets: 3})
	copy(b.Created(), []float64{1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_002})
	copy(b.Asked(2), []uint32{0, 2})
	request, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var size block.RequestSize
	size.Meta(block.Meta{Tickets: 3}, 0)
	size.Asked(2)
	if got := size.Bytes(); got < int64(len(request)) || got > int64(len(request))+24 {
		t.Errorf("the size is %d, of %d bytes", got, len(request))
	}
	return request
}

func TestAskedTicketsAreChecked(t *testing.T) {
	for _, asked := range [][]uint32{{3}, {1, 0}, {1, 1}} {
		var b block.RequestBuilder
		b.Start(block.Meta{Tickets: 3})
		copy(b.Asked(len(asked)), asked)
		request, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		r, err := block.ParseRequest(request)
		if err != nil {
			t.Fatal(err)
		}
		if r.Check() == nil {
			t.Errorf("%v of three tickets is no error", asked)
		}
	}
}

func TestExplanationsReadBackAsWritten(t *testing.T) {
	var b block.AnswerBuilder
	want := []block.Explanation{
		{Ticket: 2, Reason: "near", Candidates: 0},
		{Ticket: 0, Reason: "é", Candidates: block.MaxCandidates},
		{Ticket: 0, Reason: strings.Repeat("x", block.MaxReason), Candidates: -1},
	}
	for range 2 { // the second answer has none of the first
		b.Reset()
		b.Propose(1, 0, 1)
		for _, e := range want {
			b.Explain(e)
		}
		a, err := block.ParseAnswer(b.Finish(), 3, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Explanations(); !slices.Equal(got, want) || a.Len() != 1 {
			t.Errorf("%d proposals, %+v", a.Len(), got)
		}
	}
	b.Reset()
	if a, err := block.ParseAnswer(b.Finish(), 3, 0); err != nil || len(a.Explanations()) > 0 {
		t.Errorf("an answer without any: %v, %v", a.Explanations(), err)
	}
	for range block.MaxAsked*block.MaxReasons + 1 {
		b.Explain(block.Explanation{Reason: "x"})
	}
	_, err := block.ParseAnswer(b.Finish(), 1000, 0)
	if err == nil || !strings.Contains(err.Error(), "explanations are more") {
		t.Errorf("too many: %v", err)
	}
}
