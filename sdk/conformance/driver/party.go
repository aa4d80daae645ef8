package main

import (
	"context"

	"matchmaker.dev/pkg/client"
)

// joinParty makes or joins a party, and follows it to its end.
func (d *driver) joinParty(ctx context.Context, c command) (err error) {
	var p *client.Party
	me := client.PartyMembership{Player: d.start.Player, NotReady: true}
	if c.Do == "party-create" {
		p, err = d.client.CreateParty(ctx, c.Size, me)
	} else {
		p, err = d.client.JoinParty(ctx, c.Code, me)
	}
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.party = p.ID
	d.mu.Unlock()
	var ticket string
	reason, err := d.client.FollowParty(ctx, p.ID, d.start.Player, func(p *client.Party) {
		members := []event{}
		for _, m := range p.Members {
			members = append(members, event{"id": m.ID, "ready": m.Ready})
		}
		d.emit(event{"event": "party", "code": p.Code, "leader": p.Leader, "members": members, "revision": p.Revision})
		if p.Search != nil && p.Search.Ticket != ticket {
			ticket = p.Search.Ticket
			d.run1(ctx, client.SearchOptions{Saved: &client.SavedSearch{Player: d.start.Player, Ticket: ticket}})
		}
	})
	if err == nil {
		d.emit(event{"event": "left", "reason": reason})
	}
	return err
}

func (d *driver) partyID() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.party
}

func (d *driver) partyReady(ctx context.Context, c command) error {
	_, err := d.client.UpdatePartyMember(ctx, d.partyID(), d.start.Player, client.PartyMembership{NotReady: !c.Ready})
	return err
}

func (d *driver) partySearch(ctx context.Context, c command) error {
	_, err := d.client.StartPartySearch(ctx, d.partyID(), client.TicketRequest{Player: d.start.Player, Queues: c.Queues,
		Attributes: c.Attributes})
	return err
}

func (d *driver) partyKick(ctx context.Context, c command) error {
	_, err := d.client.KickPartyMember(ctx, d.partyID(), c.Player, d.start.Player)
	return err
}

func (d *driver) partyLeave(ctx context.Context, _ command) error {
	return d.client.LeaveParty(ctx, d.partyID(), d.start.Player)
}
