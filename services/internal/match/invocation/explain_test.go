package invocation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
)

// explained is what a function says in a run that asks about tickets.
func explained(t *testing.T, asked []string, k *Session, f func(*matchfn.Run)) []string {
	t.Helper()
	function := matchfn.New(func(r *matchfn.Run) error {
		f(r)
		return nil
	})
	last, err := new(Invoker).Invoke(t.Context(), &Run{
		Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Now: 9000, Explain: asked},
		Index:   indexOf(t, 4, parties), Session: k, Began: time.Now(), Deadline: time.Now().Add(time.Hour),
	}, native{Function: function}, NeedsOf(sandbox.Manifest{}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range last.GetExplanations() {
		got = append(got, fmt.Sprint(e.GetTicket(), " ", e.GetReason(), " ", e.GetCandidates()))
	}
	return got
}

func TestFunctionsExplainTicketsThatAreAskedAbout(t *testing.T) {
	every := func(r *matchfn.Run) {
		for ticket := range uint32(r.Tickets()) {
			r.Explain(ticket, "near", int(ticket))
			r.Explain(ticket, "far", -1)
		}
	}
	want := []string{"nobody " + notSeen + " -1", "t1 near 1", "t1 far -1", "t3 near 3", "t3 far -1"}
	for name, k := range map[string]*Session{"": nil, "a function that keeps tickets": {least: 1, most: 100,
		bases: map[string]*base{}}} {
		if got := explained(t, []string{"t3", "nobody", "t1"}, k, every); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
		if k != nil && len(k.bases) > 0 {
			t.Error("the function keeps tickets of a run that asks")
		}
	}
	if got := explained(t, nil, nil, every); got != nil {
		t.Errorf("nobody asks: %q", got)
	}
}

// Of an answer that does not keep to the limits only as much is taken as there may be.
func TestExplanationsAreBounded(t *testing.T) {
	var b block.AnswerBuilder
	for range 3 * block.MaxReasons {
		b.Explain(block.Explanation{Ticket: 1, Reason: "again"})
	}
	b.Explain(block.Explanation{Ticket: 2, Reason: "nobody asks"})
	for range block.MaxAsked {
		b.Explain(block.Explanation{Ticket: 3, Reason: strings.Repeat("x", block.MaxReason)})
	}
	a, err := block.ParseAnswer(b.Finish(), 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	index := indexOf(t, 4, parties)
	var inv Invoker
	if _, err := inv.Invoke(t.Context(), &Run{Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}}, Index: index,
		Began: time.Now(), Deadline: time.Now().Add(time.Hour),
	}, native{Function: matchfn.New(func(*matchfn.Run) error { return nil })}, NeedsOf(sandbox.Manifest{})); err != nil {
		t.Fatal(err)
	}
	of, size := map[string]int{}, 0
	for _, e := range explanations(a, []uint32{1, 3}, &inv.selection) {
		of[e.GetTicket()]++
		size += len(e.GetReason())
	}
	if of["t1"] != block.MaxReasons || of["t2"] != 0 || of["t3"] != block.MaxReasons || size > MaxExplained {
		t.Errorf("%v, %d bytes", of, size)
	}
}
