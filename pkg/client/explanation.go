package client

import (
	"context"
	"net/http"
	"time"
)

// TicketExplanation is why a ticket waits.
type TicketExplanation struct {
	ID string `json:"id"`
	// State is waiting, matched, assigned or ended.
	State string `json:"state"`
	// Waited is how many seconds ago it was created.
	Waited  float64  `json:"waited"`
	Players int      `json:"players"`
	Queues  []string `json:"queues,omitempty"`
	// UnservedQueues are those of Queues that no config serves.
	UnservedQueues []string            `json:"unservedQueues,omitempty"`
	Configs        []ConfigExplanation `json:"configs"`
	// History is the latest matches in which it was; nil if the service is of an earlier version.
	History *TicketHistory `json:"history,omitempty"`
}

// TicketHistory is the latest matches in which a ticket was, the latest first: claims, and proposals to running games.
type TicketHistory struct {
	Matches []TicketMatch `json:"matches"`
	// Since is from when on events were looked at. Complete: that is all of the ticket's life, and there were no more
	// matches. Events that are not kept any more are missing in either case.
	Since    time.Time `json:"since"`
	Complete bool      `json:"complete"`
	// Ended is why the ticket is gone, and when it went; nil if no event says it.
	Ended *TicketEnd `json:"ended,omitempty"`
	// Error is why not more is known.
	Error string `json:"error,omitempty"`
}

// TicketEnd is why a ticket is gone: deleted, replaced, abandoned, unserved, unheard, declined, silent or expired.
type TicketEnd struct {
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"`
}

// TicketMatch is what became of a match in which a ticket was.
type TicketMatch struct {
	Match string `json:"match"`
	// State is asking, claimed, allocating, proposed, assigned, failed, released or rejected.
	State    string    `json:"state"`
	Config   string    `json:"config"`
	Revision int64     `json:"revision,omitempty"`
	Function string    `json:"function,omitempty"`
	Upload   int64     `json:"upload,omitempty"`
	Score    *float64  `json:"score,omitempty"`
	Backfill string    `json:"backfill,omitempty"`
	Created  time.Time `json:"created"`
	Ended    time.Time `json:"ended,omitzero"`
	// Failed: it ended, and the ticket has no connection by it.
	Failed bool `json:"failed"`
	// Reason is that of an event; Error is what players get, Detail what only the studio does. While the match goes on,
	// they say why there was no server at the last attempt.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// ConfigExplanation is what a config makes of a ticket.
type ConfigExplanation struct {
	Config   string `json:"config"`
	Function string `json:"function"`
	Queue    string `json:"queue,omitempty"`
	// Serves: the ticket waits in the config's queue. InPool: a pool of the config has it. The function gets the ticket
	// if both are true.
	Serves bool              `json:"serves"`
	InPool bool              `json:"inPool"`
	Pools  []PoolExplanation `json:"pools"`
	// Run is a run of the function that was asked about the ticket; nil if there was none.
	Run *RunExplanation `json:"run,omitempty"`
}

// PoolExplanation is which filters of a pool hold for a ticket.
type PoolExplanation struct {
	Pool    string              `json:"pool"`
	Holds   bool                `json:"holds"`
	Filters []FilterExplanation `json:"filters"`
}

// FilterExplanation is a filter of a pool. Value is what the ticket has, nil for nothing, and By how far that is
// outside of the bounds.
type FilterExplanation struct {
	Attribute string   `json:"attribute,omitempty"`
	Count     string   `json:"count,omitempty"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	Value     *float64 `json:"value,omitempty"`
	Holds     bool     `json:"holds"`
	By        *float64 `json:"by,omitempty"`
}

// RunExplanation is what came of a run, of which nothing was claimed.
type RunExplanation struct {
	// Error is why the run failed.
	Error string `json:"error,omitempty"`
	// Tickets is how many the function got.
	Tickets   int `json:"tickets"`
	Proposals int `json:"proposals"`
	// Proposed: a proposal has the ticket.
	Proposed bool     `json:"proposed"`
	Reasons  []Reason `json:"reasons"`
	// Place is where the ticket stands among these tickets, by age, from 1; 0 if nobody knows.
	Place int `json:"place,omitempty"`
	// Seen is how many runs for the config there were since the ticket was created; nil if nobody knows.
	Seen *Seen `json:"seen,omitempty"`
	// Best is the best proposal with the ticket, beside those of all configs; nil if there is none, or there were too many
	// to compare.
	Best *BestProposal `json:"best,omitempty"`
	// With are the best proposals with the ticket, the best first; five at most, of Holding.
	With    []BestProposal `json:"with,omitempty"`
	Holding int            `json:"holding,omitempty"`
}

// Seen is runs of a config's function, in all segments of its pools, and when the first of them was asked for. Runs of
// the first second may be missing, and of a ticket that waits for minutes those of a longer time.
type Seen struct {
	Runs  int       `json:"runs"`
	Since time.Time `json:"since"`
}

// BestProposal is a proposal, and the one that it loses to; nil if it wins.
type BestProposal struct {
	Score   float64         `json:"score"`
	Tickets int             `json:"tickets"`
	LosesTo *BetterProposal `json:"losesTo,omitempty"`
}

// BetterProposal is a proposal that has a ticket of another one, and a better score, or at the same score an older
// ticket.
type BetterProposal struct {
	Config string  `json:"config"`
	Score  float64 `json:"score"`
	By     float64 `json:"by"`
}

// Reason is what a function says of a ticket. Candidates is how many other tickets could be with it if it were not for
// the reason; nil if nobody knows.
type Reason struct {
	Reason     string `json:"reason"`
	Candidates *int   `json:"candidates,omitempty"`
}

// CaptureRun runs the function of a config that gets a ticket, and returns the run as a file: "mm function test
// --capture" repeats it. It has all that the function gets of the tickets that wait, their properties too. The token
// must be a developer's; the role Support is enough only with SupportRules.Properties. Nothing is claimed.
func (c *Client) CaptureRun(ctx context.Context, ticket, config string) ([]byte, error) {
	segment, err := segment("ticket id", ticket)
	if err != nil {
		return nil, err
	}
	var file []byte
	_, err = c.do(ctx, &request{
		method: http.MethodGet, path: "v1/tickets/" + segment + "/explanation/capture", repeatable: true,
		query: map[string][]string{"config": {config}},
	}, &file)
	return file, err
}

// ExplainTicket explains why a ticket waits. It runs functions: a project may ask once a second. The token must be a
// developer's.
func (c *Client) ExplainTicket(ctx context.Context, id string) (*TicketExplanation, error) {
	segment, err := segment("ticket id", id)
	if err != nil {
		return nil, err
	}
	explanation := new(TicketExplanation)
	_, err = c.do(ctx, &request{
		method: http.MethodGet, path: "v1/tickets/" + segment + "/explanation", repeatable: true,
	}, explanation)
	if err != nil {
		return nil, err
	}
	return explanation, nil
}
