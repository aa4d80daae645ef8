package lab

import (
	"slices"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/lab/dryrun"
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

// explanationTable is empty without a question.
func (r *report) explanationTable() Table {
	if len(r.Explanations) == 0 {
		return Table{}
	}
	g := Table{Head: []any{"ticket", "why it is in no match", "candidates without that"}}
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
			g.add(append([]any{e.Ticket}, format.Reason(reason)...)...)
		}
	}
	return g
}
