package client

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// PartyMembership is what a member says of itself.
type PartyMembership struct {
	// Player is as in [TicketRequest].
	Player string `json:"-"`
	// NotReady is set by a member that is not ready yet: the search cannot be started then.
	NotReady   bool               `json:"-"`
	Attributes map[string]float64 `json:"attributes,omitempty"`
	Properties map[string][]byte  `json:"properties,omitempty"`
	// Receipts are as in [TicketRequest].
	Receipts []string `json:"receipts,omitempty"`
}

// memberPath is a member of a party.
const memberPath = "v1/parties/{party id}/members/{player}"

// membership is the JSON of a PartyMembership, with what is asked for besides.
type membership struct {
	PartyMembership
	Ready bool   `json:"ready"`
	Code  string `json:"code,omitempty"`
	Size  int    `json:"size,omitempty"`
}

// CreateParty makes a party, whose leader the player is. size is how many members it may have, 0 for the most that the
// service allows. The code is [CodeAlreadyInParty] when the player is in one: [Client.MyParty] is that one.
func (c *Client) CreateParty(ctx context.Context, size int, m PartyMembership) (*Party, error) {
	return ask[Party](ctx, c, plainCall{method: http.MethodPost, path: "v1/parties", player: m.Player,
		body: membership{m, !m.NotReady, "", size}})
}

// JoinParty makes the player a member of the party with a code, as people type it. The code of the error is
// [CodePartyCodeUnknown], [CodePartyFull] or [CodeAlreadyInParty] when that cannot be.
func (c *Client) JoinParty(ctx context.Context, code string, m PartyMembership) (*Party, error) {
	if strings.TrimSpace(code) == "" {
		return nil, errors.New("client: the party code is empty")
	}
	return ask[Party](ctx, c, plainCall{method: http.MethodPost, path: "v1/parties/members", player: m.Player,
		body: membership{m, !m.NotReady, code, 0}, repeatable: true})
}

// NextParty waits until a party is not as the caller knows it, and returns it as it is then. It also tells the service
// that the member is there: a member who is silent for long leaves. Its status is 404 when the player is no member any
// more.
func (c *Client) NextParty(ctx context.Context, known *Party, player string) (*Party, error) {
	path, err := partyPath(known.ID)
	if err != nil {
		return nil, err
	}
	interval := firstPoll
	for {
		header, err := onBehalfOf(player)
		if err != nil {
			return nil, err
		}
		header = preferWait(header)
		header.Set("If-None-Match", `"`+strconv.FormatInt(known.Revision, 10)+`"`)
		asked := c.retry.Now()
		p := new(Party)
		_, err = c.do(ctx, &request{method: http.MethodGet, path: "v1/parties" + path, header: header, repeatable: true}, p)
		if Status(err) != http.StatusNotModified {
			if err != nil {
				return nil, err
			}
			return p, nil
		}
		held := c.retry.Now().Sub(asked)
		if held >= interval {
			interval = firstPoll
			continue
		}
		if err := c.retry.Sleep(ctx, interval-held); err != nil {
			return nil, err
		}
		interval = min(2*interval, slowPoll)
	}
}

// UpdatePartyMember replaces what the player says of itself.
func (c *Client) UpdatePartyMember(ctx context.Context, id, player string, m PartyMembership) (*Party, error) {
	return ask[Party](ctx, c, plainCall{method: http.MethodPut, path: memberPath, segments: []string{id, player},
		player: player, body: membership{m, !m.NotReady, "", 0}, repeatable: true})
}

// LeaveParty ends the player's membership, and stops the search. The oldest member follows a leader.
func (c *Client) LeaveParty(ctx context.Context, id, player string) error {
	return c.call(ctx, plainCall{method: http.MethodDelete, path: memberPath, segments: []string{id, player},
		player: player, repeatable: true, removes: true}, nil)
}

// KickPartyMember ends the membership of another member, who cannot join again. The party gets another code. leader is
// the player who does it, and cannot be the member: a leader leaves with [Client.LeaveParty]. A party that has removed
// 100 players removes no more: 409.
func (c *Client) KickPartyMember(ctx context.Context, id, member, leader string) (*Party, error) {
	if member == leader {
		return nil, errors.New("client: a leader does not kick itself, but leaves")
	}
	return ask[Party](ctx, c, plainCall{method: http.MethodDelete, path: memberPath, segments: []string{id, member},
		player: leader})
}

// StartPartySearch creates a ticket with all members. t.Player is the leader. A search that has begun goes on.
func (c *Client) StartPartySearch(ctx context.Context, id string, t TicketRequest) (*Party, error) {
	return ask[Party](ctx, c, plainCall{method: http.MethodPut, path: "v1/parties/{party id}/search",
		segments: []string{id}, player: t.Player, body: t, repeatable: true})
}

// partyPath is the path of a party below the path of all parties.
func partyPath(id string) (string, error) {
	party, err := segment("party id", id)
	return "/" + party, err
}
