package main

import (
	"slices"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/cmd/mm/dryrun"
)

// explanation is what is known of a ticket in question.
type explanation struct {
	Ticket  string          `json:"ticket"`
	Matched bool            `json:"matched"`
	InPool  bool            `json:"inPool"`
	Reasons []client.Reason `json:"reasons"`
}

// explain adds what the function says of tickets.
func (r *report) explain(asked []string, result *dryrun.Result) {
	for _, id := range asked {
		waits := slices.Contains(r.Waiting, id)
		e := explanation{Ticket: id, Matched: !waits, InPool: result.InPools[id], Reasons: []client.Reason{}}
		for _, x := range result.Explanations {
			if x.GetTicket() == id && waits {
				e.Reasons = append(e.Reasons, newReason(x))
			}
		}
		r.Explanations = append(r.Explanations, e)
	}
}

func newReason(x *pb.Explanation) client.Reason {
	is := client.Reason{Reason: x.GetReason()}
	if n := int(x.GetCandidates()); n >= 0 {
		is.Candidates = &n
	}
	return is
}

// reasonCells are the cells of a reason: its text, and the candidates if they are known.
func reasonCells(r client.Reason) []any {
	if r.Candidates == nil {
		return []any{oneLine(r.Reason), ""}
	}
	return []any{oneLine(r.Reason), *r.Candidates}
}

// explanationTable is empty without a question.
func (r *report) explanationTable() grid {
	if len(r.Explanations) == 0 {
		return grid{}
	}
	g := grid{head: []any{"ticket", "why it is in no match", "candidates without that"}}
	for _, e := range r.Explanations {
		switch {
		case e.Matched:
			g.add(e.Ticket, "it is in a match", "")
		case !e.InPool:
			g.add(e.Ticket, "it is in no pool", "")
		case len(e.Reasons) == 0:
			g.add(e.Ticket, "the function does not say", "")
		}
		for _, reason := range e.Reasons {
			g.add(append([]any{e.Ticket}, reasonCells(reason)...)...)
		}
	}
	return g
}
