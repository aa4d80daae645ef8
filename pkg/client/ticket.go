package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// TicketRequest asks for a match, for one player or a party that stays together.
type TicketRequest struct {
	// IdempotencyKey tells a repeated create from another one, so that a create whose answer was lost makes one ticket.
	// It has up to 128 printable ASCII characters. When it is empty, each call has a key of its own, which its
	// repetitions share.
	IdempotencyKey string `json:"-"`
	// Player is the identifier of the player who will own the ticket. It may be empty with a player's token, whose
	// subject it then is; a game service must name the player.
	Player string `json:"-"`
	// Attributes are the numbers that pools filter by. They must be finite.
	Attributes map[string]float64 `json:"attributes,omitempty"`
	// Properties are opaque bytes for the match function.
	Properties map[string][]byte `json:"properties,omitempty"`
	// Players are the ticket's players. Without any, its owner is the only one. The owner need not be among them.
	// With a player's token only the player may be.
	Players []Player `json:"players,omitempty"`
	// Queues are the queues that the ticket waits in, at most 16; without one it waits outside of queues. It is matched
	// once.
	Queues []string `json:"queues,omitempty"`
	// Receipts prove the player's latencies ([Receipts]), with a player's token alone. The status is 400 when one is too
	// old, or was measured from another network than the service sees.
	Receipts []string `json:"receipts,omitempty"`
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

// CreateTicket enters a ticket into matchmaking and returns its id. It repeats itself, with the same Idempotency-Key,
// so that a create whose answer was lost makes one ticket. When an answer was lost and the repetitions fail too, it
// asks once for the ticket that its key made.
//
// When that fails as well, the ticket may exist, unknown to the caller: call it again with the same IdempotencyKey
// within ten minutes to learn its id, or see [Client.Resume]. The status is 409 when the project's settings allow the
// player no further ticket, and 422 when the key was used for another ticket.
func (c *Client) CreateTicket(ctx context.Context, t TicketRequest) (id string, err error) {
	r, err := creation(t)
	if err != nil {
		return "", err
	}
	var created struct {
		ID string `json:"id"`
	}
	if _, err = c.do(ctx, r, &created); err == nil && created.ID == "" {
		err = errors.New("client: the answer to the create has no id")
	}
	if err != nil {
		return c.find(ctx, r, err)
	}
	return created.ID, nil
}

// creation is the request that creates a ticket.
func creation(t TicketRequest) (*request, error) {
	body, err := encode(t)
	if err != nil {
		return nil, err
	}
	header, err := onBehalfOf(t.Player)
	if err != nil {
		return nil, err
	}
	r := &request{method: http.MethodPost, path: "v1/tickets", header: header, body: body, repeatable: true}
	if t.IdempotencyKey == "" {
		r.ownKey = rand.Text()
	}
	key, err := quotedKey(cmp.Or(t.IdempotencyKey, r.ownKey))
	if err != nil {
		return nil, err
	}
	header.Set("Idempotency-Key", key)
	return r, nil
}

// quotedKey is an Idempotency-Key as its header has it.
func quotedKey(key string) (string, error) {
	if !printable(key) {
		return "", fmt.Errorf("client: Idempotency-Key %q: printable ASCII characters are expected", key)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`, nil
}

// find is the id of the ticket that a create made which failed with err, or err. It asks once, and only when a try may
// have made the ticket. It asks by a key that only this call had, so the ticket is no other one.
func (c *Client) find(ctx context.Context, r *request, err error) (id string, _ error) {
	if !r.unanswered || r.ownKey == "" || ctx.Err() != nil {
		return "", err
	}
	header := http.Header{}
	if player := r.header.Values("X-On-Behalf-Of"); player != nil {
		header["X-On-Behalf-Of"] = player
	}
	var list ticketList
	if _, failed := c.try(ctx, madeBy(r.ownKey, header), &list); failed != nil || len(list.Tickets) != 1 {
		return "", err
	}
	return list.Tickets[0].ID, nil
}

// madeBy asks for the ticket that a create with a key made.
func madeBy(key string, header http.Header) *request {
	return &request{method: http.MethodGet, path: "v1/tickets", query: url.Values{"key": {key}}, header: header,
		repeatable: true}
}

// ticketList is the answer to a GET of several tickets.
type ticketList struct {
	Tickets []*Ticket `json:"tickets"`
}

// Tickets lists a player's tickets that wait or whose results can still be read, the newest first, up to 32. The
// project's settings must say that tickets are listed (tickets.listed or tickets.perPlayer), otherwise the status is
// 409. A player's token lists its own.
func (c *Client) Tickets(ctx context.Context, player string) ([]*Ticket, error) {
	var list ticketList
	_, err := c.do(ctx, &request{method: http.MethodGet, path: "v1/tickets", query: url.Values{"player": {player}},
		repeatable: true}, &list)
	return list.Tickets, err
}

// GetTicket reads a ticket. Its status is 404 when there is no such ticket, or the token names another player than
// its owner and its players.
func (c *Client) GetTicket(ctx context.Context, id string) (*Ticket, error) {
	return c.getTicket(ctx, url.Values{"id": {id}}, nil)
}

// GetTicketWithEstimate reads a ticket, and for how much longer it is expected to wait.
func (c *Client) GetTicketWithEstimate(ctx context.Context, id string) (*Ticket, error) {
	return c.getTicket(ctx, url.Values{"id": {id}, "estimate": {"true"}}, nil)
}

func (c *Client) getTicket(ctx context.Context, query url.Values, header http.Header) (*Ticket, error) {
	r := &request{method: http.MethodGet, path: "v1/tickets", query: query, header: header, repeatable: true}
	t := new(Ticket)
	if _, err := c.do(ctx, r, t); err != nil {
		return nil, err
	}
	return t, nil
}

// onBehalfOf is the header that names the player; it is empty when there is none to name.
func onBehalfOf(player string) (http.Header, error) {
	if player == "" {
		return http.Header{}, nil
	}
	for _, b := range []byte(player) {
		if b < ' ' || b == 0x7f {
			return nil, fmt.Errorf("client: player %q holds a control character", player)
		}
	}
	player = string([]rune(player)) // what is no UTF-8 is U+FFFD, as in JSON
	if form := "utf-8'"; len(player) >= len(form) && strings.EqualFold(player[:len(form)], form) {
		player = "UTF-8''" + url.PathEscape(player) // or it would be read as such a form (RFC 8187)
	}
	return http.Header{"X-On-Behalf-Of": {player}}, nil
}

// MatchAnswer is what players of a ticket say to the match that asks them.
type MatchAnswer struct {
	// Ticket is their ticket, and Match the match of its [Acceptance].
	Ticket string `json:"-"`
	Match  string `json:"match"`
	Accept bool   `json:"accept"`
	// Player is the player that answers. It may be empty with a player's token.
	Player string `json:"-"`
	// Players are the players for whom a game service answers when Player is empty. None means all of the ticket.
	Players []string `json:"players,omitempty"`
}

// AnswerMatch accepts or declines a match. The first decline ends it: the ticket that declined ends, the others wait
// again. The same answer may be given again. The status is 404 when there is no such ticket, and 409 when the match
// does not ask its players any more.
func (c *Client) AnswerMatch(ctx context.Context, a MatchAnswer) error {
	return c.call(ctx, plainCall{method: http.MethodPost, path: "v1/tickets/acceptance",
		query: url.Values{"id": {a.Ticket}}, player: a.Player, body: a, repeatable: true}, nil)
}
