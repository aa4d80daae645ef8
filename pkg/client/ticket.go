package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// TicketRequest asks for a match, for one player or a party that stays together.
type TicketRequest struct {
	// Player is the identifier of the player who will own the ticket. It may be empty with a player's token, whose subject
	// it then is; a game service must name the player.
	Player string `json:"-"`
	// Attributes are the numbers that pools filter by. They must be finite.
	Attributes map[string]float64 `json:"attributes,omitempty"`
	// Properties are opaque bytes for the match function.
	Properties map[string][]byte `json:"properties,omitempty"`
}

// Ticket is a matchmaking request as the service keeps it.
type Ticket struct {
	ID         string             `json:"id"`
	Attributes map[string]float64 `json:"attributes"`
	Properties map[string][]byte  `json:"properties"`
	// Created is when the ticket was made, in Unix milliseconds, UTC.
	Created int64 `json:"created"`
	// Assignment is the outcome, nil while the ticket waits.
	Assignment *Assignment `json:"assignment"`
}

// Assignment is what became of a ticket: a connection, or an error.
type Assignment struct {
	// Connection is where the game server is, usually host:port.
	Connection string `json:"connection"`
	// Error says why there is no match, as PoolTimeout or AllocationError; empty when there is one. Match functions may
	// have their own.
	Error string `json:"error"`
	// Properties is a JSON object for this ticket alone, nil when there is none.
	Properties Object `json:"properties"`
	// MatchProperties is a JSON object that every ticket of the match and the game server get, nil when there is none.
	MatchProperties Object `json:"matchproperties"`
}

// Object is a JSON object of the match function's making, undecoded: read it with json.Unmarshal. It is nil when there
// is none.
type Object []byte

// UnmarshalJSON keeps the text of an object, and nothing of a null.
func (o *Object) UnmarshalJSON(text []byte) error {
	*o = nil
	if string(text) != "null" {
		*o = append(*o, text...)
	}
	return nil
}

// MarshalJSON is the text of the object, or null.
func (o Object) MarshalJSON() ([]byte, error) {
	if o == nil {
		return []byte("null"), nil
	}
	return o, nil
}

// CreateTicket enters a ticket into matchmaking and returns its id. It repeats itself after 429 only: after any other
// failure the ticket may exist, unknown to the caller, until its waiting limit.
func (c *Client) CreateTicket(ctx context.Context, t TicketRequest) (id string, err error) {
	body, err := encode(t)
	if err != nil {
		return "", err
	}
	header, err := onBehalfOf(t.Player)
	if err != nil {
		return "", err
	}
	var created struct {
		ID string `json:"id"`
	}
	_, err = c.do(ctx, &request{method: http.MethodPost, path: "v1/tickets", header: header, body: body}, &created)
	return created.ID, err
}

// GetTicket reads a ticket. Its status is 404 when there is no such ticket, or the token is not its owner's.
func (c *Client) GetTicket(ctx context.Context, id string) (*Ticket, error) {
	return c.getTicket(ctx, id, nil)
}

func (c *Client) getTicket(ctx context.Context, id string, header http.Header) (*Ticket, error) {
	r := &request{method: http.MethodGet, path: "v1/tickets", query: url.Values{"id": {id}}, header: header,
		repeatable: true}
	t := new(Ticket)
	if _, err := c.do(ctx, r, t); err != nil {
		return nil, err
	}
	return t, nil
}

// DeleteTicket ends matchmaking for a ticket: after it returned without error the ticket is never assigned. player is
// as in [TicketRequest]. Its status is 404 when there is no such ticket.
func (c *Client) DeleteTicket(ctx context.Context, id, player string) error {
	header, err := onBehalfOf(player)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, &request{
		method: http.MethodDelete, path: "v1/tickets", query: url.Values{"id": {id}}, header: header,
		repeatable: true, removes: true,
	}, nil)
	return err
}

// While a ticket waits, the service is asked to hold each GET until the ticket is resolved, for at most longPoll: it
// need not be asked often then. A service that does not know the request answers at once, and is asked again after
// firstPoll, then twice as long each time up to slowPoll.
const (
	longPoll  = 10 * time.Second
	firstPoll = 500 * time.Millisecond
	slowPoll  = 5 * time.Second
)

// Wait reads a ticket until it has an assignment, which may be an error: look at Assignment.Error. It ends early with
// ctx's error, or with what a read fails with: status 404 means that the ticket was deleted or has expired.
func (c *Client) Wait(ctx context.Context, id string) (*Ticket, error) {
	prefer := http.Header{"Prefer": {"wait=" + strconv.Itoa(int(longPoll/time.Second))}}
	interval := firstPoll
	for {
		asked := c.retry.Now()
		t, err := c.getTicket(ctx, id, prefer)
		if err != nil {
			return nil, err
		}
		if t.Assignment != nil {
			return t, nil
		}
		held := c.retry.Now().Sub(asked)
		if held >= interval {
			interval = firstPoll
			continue
		}
		// ±20 %, so that clients that began together do not stay together.
		pause := time.Duration(float64(interval-held) * (0.8 + 0.4*c.retry.Rand()))
		if err := c.retry.Sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("client: ticket %s is still waiting: %w", id, err)
		}
		interval = min(2*interval, slowPoll)
	}
}

// onBehalfOf is the header that names the player, nil when there is none to name.
func onBehalfOf(player string) (http.Header, error) {
	if player == "" {
		return nil, nil
	}
	for _, b := range []byte(player) {
		if b < ' ' || b == 0x7f {
			return nil, fmt.Errorf("client: player %q holds a control character", player)
		}
	}
	return http.Header{"X-On-Behalf-Of": {player}}, nil
}
