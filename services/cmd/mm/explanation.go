package main

import (
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/cmd/mm/dryrun"
)

// explanation is what is known of a ticket that somebody asked about.
type explanation struct {
	Ticket  string   `json:"ticket"`
	Matched bool     `json:"matched"`
	InPool  bool     `json:"inPool"`
	Reasons []reason `json:"reasons"`
}

// reason is why a ticket is in no match. Candidates is how many other tickets could be with it if it were not for that;
// nil if nobody knows.
type reason struct {
	Text       string `json:"reason"`
	Candidates *int64 `json:"candidates,omitempty"`
}

// explain adds what the function says of tickets.
func (r *report) explain(asked []string, result *dryrun.Result) {
	for _, id := range asked {
		waits := slices.Contains(r.Waiting, id)
		e := explanation{Ticket: id, Matched: !waits, InPool: result.InPools[id], Reasons: []reason{}}
		for _, x := range result.Explanations {
			if x.GetTicket() == id && waits {
				e.Reasons = append(e.Reasons, newReason(x))
			}
		}
		r.Explanations = append(r.Explanations, e)
	}
}

func newReason(x *pb.Explanation) reason {
	is := reason{Text: x.GetReason()}
	if n := x.GetCandidates(); n >= 0 {
		is.Candidates = &n
	}
	return is
}

// explanationTable is empty if nobody asked.
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
			candidates := any("")
			if reason.Candidates != nil {
				candidates = *reason.Candidates
			}
			g.add(e.Ticket, oneLine(reason.Text), candidates)
		}
	}
	return g
}
