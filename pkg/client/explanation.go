package client

import (
	"context"
	"net/http"
)

// TicketExplanation is why a ticket waits.
type TicketExplanation struct {
	ID string `json:"id"`
	// State is waiting, matched, assigned or ended.
	State string `json:"state"`
	// Waited is how many seconds ago it was created.
	Waited  float64             `json:"waited"`
	Players int                 `json:"players"`
	Queues  []string            `json:"queues,omitempty"`
	Configs []ConfigExplanation `json:"configs"`
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
}

// Reason is what a function says of a ticket. Candidates is how many other tickets could be with it if it were not for
// the reason; nil if nobody knows.
type Reason struct {
	Reason     string `json:"reason"`
	Candidates *int   `json:"candidates,omitempty"`
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
