package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// PartyGone is the reason of [Client.FollowParty] where no other is known.
const PartyGone = "gone"

// FollowParty tells of a party, at first and whenever it changes, until it is gone for the player. Then it returns why:
// left, kicked, disbanded, silent (the player sent nothing for too long), or [PartyGone] where that is not known. Of
// changes in quick succession some may not be told; the last one always is. tell may be nil. The player is there while
// the party is followed. FollowParty comes back by itself when the connection breaks, the service asks for it or the
// token was renewed. Where the service offers no stream, or has no room for one, it goes on as [Client.NextParty].
//
// It ends early with ctx's error, or with what a request fails with: its status is 404 when the player is no member at
// first.
func (c *Client) FollowParty(ctx context.Context, id, player string, tell func(*Party)) (reason string, err error) {
	path, err := partyPath(id)
	if err != nil {
		return "", err
	}
	header, err := onBehalfOf(player)
	if err != nil {
		return "", err
	}
	f := &partyFollower{Client: c, id: id, player: player, tell: tell}
	events := &stream{Client: c, path: "v1/parties" + path + "/events", header: header, handle: f.handle}
	if err := events.run(ctx); errors.Is(err, errNoStream) {
		return f.wait(ctx)
	} else if err != nil {
		return "", err
	}
	return f.reason, nil
}

// partyFollower is a call of FollowParty.
type partyFollower struct {
	*Client
	id, player string
	tell       func(*Party)
	// known is the party that was told last, nil when none was.
	known  *Party
	reason string
}

// handle takes an event of the stream.
func (f *partyFollower) handle(e sent) (end bool, err error) {
	switch e.event {
	case "party":
		p := new(Party)
		if err = json.Unmarshal([]byte(e.data), p); err == nil {
			f.show(p)
		}
	case EventEnded:
		var told struct{ Reason string }
		err = json.Unmarshal([]byte(e.data), &told)
		f.reason, end = told.Reason, true
	}
	if err != nil {
		return false, fmt.Errorf("client: an event of party %s is not what the API says: %w", f.id, err)
	}
	return end, nil // false for one of a later version
}

// show tells of a party that is newer than the one that is known.
func (f *partyFollower) show(p *Party) {
	if f.known != nil && p.Revision <= f.known.Revision {
		return
	}
	if f.known = p; f.tell != nil {
		f.tell(p)
	}
}

// wait is FollowParty by held requests.
func (f *partyFollower) wait(ctx context.Context) (reason string, err error) {
	if f.known == nil {
		p, err := f.GetParty(ctx, f.id, f.player)
		if err != nil {
			return "", err
		}
		f.show(p)
	}
	for {
		p, err := f.NextParty(ctx, f.known, f.player)
		if Status(err) == http.StatusNotFound {
			return PartyGone, nil
		}
		if err != nil {
			return "", err
		}
		f.show(p)
	}
}
